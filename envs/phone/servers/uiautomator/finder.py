"""Objects: what a selector, or the name that was given to an object, means on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.uiautomator.errors import NotFound
from coach_gym.envs.phone.servers.uiautomator.screen import reported
from coach_gym.envs.phone.servers.uiautomator.selectors import Found, find
from coach_gym.ui import Node

Selector = Mapping[str, Any] | str
"""A selector, or the name of an object, as returned by `childByText` and the like."""

MOST_NAMES = 1000


class Finder:
    """Finds the nodes of a phone's screen.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._names: dict[str, Mapping[str, Any]] = {}
        self._named = 0

    def all(self, selector: Selector) -> list[Found]:
        """Returns all nodes that fit."""
        return list(find(reported(self._phone), self.meaning(selector)))

    def first(self, selector: Selector) -> Found | None:
        """Returns the first node that fits, or None."""
        return next(islice(find(reported(self._phone), self.meaning(selector)), 1), None)

    def node(self, selector: Selector) -> Node:
        """Returns the first node that fits.

        Raises:
            NotFound: No node fits.
        """
        found = self.first(selector)
        if found is None:
            raise NotFound(self.meaning(selector))
        return found.node

    def name(self, selector: Mapping[str, Any]) -> str:
        """Gives a name to what a selector means. The oldest of very many names is forgotten."""
        if len(self._names) >= MOST_NAMES:
            del self._names[next(iter(self._names))]
        self._named += 1
        self._names[str(self._named)] = selector
        return str(self._named)

    def meaning(self, selector: Selector) -> Mapping[str, Any]:
        """Returns the selector behind a name; a selector stands for itself.

        Raises:
            NotFound: The name is unknown.
        """
        if not isinstance(selector, str):
            return selector
        if selector not in self._names:
            raise NotFound(f"object {selector}")
        return self._names[selector]
