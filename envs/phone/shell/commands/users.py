"""`--user`: whom commands are for. The phone has one user, 0."""

from __future__ import annotations

import re

ALL = -1
_NAMES = {"all": ALL, "current": 0, "cur": 0}


class BadUser(Exception):
    """The word is no user; the message is Android's."""


def read(word: str) -> int:
    """Returns the number of a user.

    Raises:
        BadUser: The word is neither a number nor a name.
    """
    if word not in _NAMES and not re.fullmatch("[0-9]{1,9}", word):
        raise BadUser(f"Bad user number: {word}")
    return _NAMES[word] if word in _NAMES else int(word)


def taken(args: list[str]) -> tuple[list[str], int]:
    """Returns the arguments without `--user` and its value, and the user, who is 0 if none is named.

    Raises:
        BadUser: The value is missing, or no user.
    """
    rest, user = list(args), 0
    while "--user" in rest:
        at = rest.index("--user")
        if at + 1 == len(rest):
            raise BadUser('Argument expected after "--user"')
        user = read(rest[at + 1])
        del rest[at : at + 2]
    return rest, user
