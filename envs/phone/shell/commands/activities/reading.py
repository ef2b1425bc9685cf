"""How arguments of commands describe intents."""

from __future__ import annotations

import re
from collections.abc import Callable

from coach_gym.envs.phone import intents
from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import state, users

_EXTRAS: dict[str, Callable[[str], object]] = {  # option: how its value is read
    "-e": str, "--es": str, "--ei": int, "--el": int, "--ef": float, "--ed": float,
    "--ez": lambda text: text.lower() in ("true", "t", "1"), "--eu": str, "--ecn": str, "--esa": str, "--eia": str,
    "--efa": str, "--ela": str, "--esal": str,
}  # fmt: skip
_ALONE = (
    "-W", "-S", "-D", "-N", "-R", "--grant-read-uri-permission", "--grant-write-uri-permission",
    "--include-stopped-packages", "--receiver-foreground", "--allow-background-activity-starts",
)  # fmt: skip
CLEAR_TASK, CLEAR_TOP = 0x8000, 0x4000000
_FLAGS = {
    "--activity-clear-task": CLEAR_TASK, "--activity-clear-top": CLEAR_TOP, "--activity-single-top": 0x20000000,
    "--activity-reset-task-if-needed": 0x200000, "--activity-brought-to-front": 0x400000,
    "--activity-launched-from-history": 0x100000, "--activity-previous-is-top": 0x1000000,
    "--activity-no-animation": 0x10000, "--activity-no-user-action": 0x40000, "--activity-task-on-home": 0x4000,
    "--activity-match-external": 0x800,
}  # fmt: skip
"""Only the first two make a difference here."""
REFUSED = 0x488A0000
"""Flags that would, and are not supported: several tasks or documents of an app, no history, order, no recents."""

EVERYBODY, NOBODY = "for all users", "for a user that there is not"


class BadIntent(Exception):
    """The arguments describe no intent; the message is Android's."""


def read_intent(args: list[str]) -> tuple[Intent, list[str]]:
    """Returns the intent that the arguments of `am start` or `am broadcast` describe, and the flags among them.

    Raises:
        BadIntent: A value is missing or malformed, or an option is unknown.
        BadUser: What `--user` names is no user.
    """
    fields: dict[str, str] = {}
    extras: dict[str, object] = {}
    categories, flags, bits, rest = [], [], 0, [word for word in args if word]
    while rest:
        word = rest.pop(0)
        if word in _EXTRAS:
            key, value = _value(word, rest), _value(word, rest)
            extras[key] = _typed(word, value)
        elif word == "--user":
            user = users.read(_value(word, rest))
            flags += [EVERYBODY] if user == users.ALL else [NOBODY] * (user != 0)
        elif word == "-f":
            bits = _bits(_value(word, rest))
        elif word in ("-a", "-d", "-t", "-n", "-p", "--display", "-i"):
            fields[word] = _value(word, rest)
        elif word == "-c":
            categories.append(_value(word, rest))
        elif word == "--esn":
            _value(word, rest)
        elif word in _FLAGS:
            bits |= _FLAGS[word]
        elif word in _ALONE:
            flags.append(word)
        elif word.startswith("-"):
            raise BadIntent(f"Unknown option: {word}")
        else:
            _positional(word, fields)
    package, _, activity = fields.get("-n", "").partition("/")
    if "-n" in fields and not activity:
        raise BadIntent(f"Bad component name: {fields['-n']}")
    return Intent(
        fields.get("-a", ""), fields.get("-d", ""), fields.get("-t", ""), package or fields.get("-p", ""),
        package + activity if activity.startswith(".") else activity, tuple(categories), extras, bits,
    ), flags  # fmt: skip


def _value(option: str, rest: list[str]) -> str:
    if not rest:
        raise BadIntent(f'Argument expected after "{option}"')
    return rest.pop(0)


def _bits(text: str) -> int:
    """Returns flags from a number as Java's `Integer.decode` reads it: 0x1f, 017 or 15."""
    try:
        return int(text, 16 if text[:2] in ("0x", "0X") else 8 if text[:1] == "0" else 10)
    except ValueError:
        raise BadIntent(f'java.lang.NumberFormatException: For input string: "{text}"') from None


def _typed(option: str, value: str) -> object:
    try:
        return _EXTRAS[option](value)
    except ValueError:
        raise BadIntent(f'java.lang.NumberFormatException: For input string: "{value}"') from None


def _positional(word: str, fields: dict[str, str]) -> None:
    """Takes a last word as a URI, a component, or a package."""
    fields["-d" if ":" in word else "-n" if "/" in word else "-p"] = word


def shown(intent: Intent, flags: int = 0) -> str:
    """Returns an intent as Android prints it, perhaps with further flags."""
    flags |= intent.flags
    parts = [
        f"act={intent.action}" if intent.action else "",
        f"cat=[{','.join(intent.categories)}]" if intent.categories else "",
        f"dat={_safe(intent.data)}" if intent.data else "", f"typ={intent.type}" if intent.type else "",
        f"flg=0x{flags:x}" if flags else "",
        f"pkg={intent.package}" if intent.package and not intent.activity else "",
        f"cmp={state.short(f'{intent.package}/{intent.activity}')}" if intent.activity else "",
        "(has extras)" if intent.extras else "",
    ]  # fmt: skip
    return f"Intent {{ {' '.join(part for part in parts if part)} }}"


def _safe(uri: str) -> str:
    """Returns a URI without what may be private in it, as Android prints it."""
    scheme, colon, rest = uri.partition(":")
    if scheme.lower() in ("tel", "sip", "sms", "smsto", "mailto", "nfc"):
        return f"{scheme}:" + re.sub(r"[^-@.]", "x", rest)
    if scheme.lower() in ("http", "https", "ftp", "rtsp"):
        host = rest.removeprefix("//").partition("/")[0].rpartition("@")[2]
        return f"{scheme}://{host.partition('?')[0]}/..."
    return scheme + colon + re.split("[?#]", rest, maxsplit=1)[0]


def resolved(phone: Phone, intent: Intent) -> str | None:
    """Returns the activity that an intent opens, as `package/class`, or None. Tries it on a fork of the phone."""
    if intent.activity and intent.activity not in state.activities(phone, intent.package):
        return None
    named = phone.apps.get(intent.package)
    if intent.package and not intent.activity and not _is_main(phone, intent):
        return None
    twin = phone.fork()
    if named and not intent.activity and intent.action not in ("", intents.MAIN):
        package = named.package if twin.opened(twin.apps[named.package], intent) else None
    else:
        package = twin.start(intent)
    return None if package is None else state.component(twin, package)


def _is_main(phone: Phone, intent: Intent) -> bool:
    """Returns whether a package's main activity has an intent's categories; True if it asks for something else."""
    app = state.app_of(phone, intent.package)
    if app is None or intent.action not in ("", intents.MAIN):
        return app is not phone.launcher  # which has no other activity
    own = intents.HOME if app is phone.launcher else intents.LAUNCHER
    return {own, intents.DEFAULT, app.role}.issuperset(intent.categories)
