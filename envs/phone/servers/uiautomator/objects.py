"""uiautomator's methods about objects: whether they are there, what they look like, what is in them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from coach_gym.envs.phone.servers.uiautomator.errors import NotFound
from coach_gym.envs.phone.servers.uiautomator.finder import Finder, Selector
from coach_gym.envs.phone.servers.uiautomator.lists import Lists
from coach_gym.envs.phone.servers.uiautomator.selectors import find
from coach_gym.ui import Node

POLL_SECONDS = 0.05
LONGEST_WAIT = 600.0  # seconds
GONE: ContextVar[Callable[[], bool]] = ContextVar("GONE", default=lambda: False)  # noqa: B039
"""Whether the client that waits has hung up."""


class Objects:
    """The objects on the screen.

    Args:
        finder: Finds them.
        lists: Scrolls to them.
        lock: Held by whoever works the phone; one thread may take it twice.
    """

    def __init__(self, finder: Finder, lists: Lists, lock: AbstractContextManager) -> None:
        self._finder, self._lists, self._lock = finder, lists, lock

    def exist(self, selector: Selector) -> bool:
        """Returns whether an object is on the screen."""
        return self._finder.first(selector) is not None

    def count(self, selector: Selector) -> int:
        """Returns how many objects fit."""
        return len(self._finder.all(selector))

    def objInfo(self, selector: Selector) -> dict[str, Any]:
        """Returns the attributes of an object."""
        return _info(self._finder.node(selector))

    def objInfoOfAllInstances(self, selector: Selector) -> list[dict[str, Any]]:
        """Returns the attributes of all objects that fit."""
        return [_info(found.node) for found in self._finder.all(selector)]

    def waitForExists(self, selector: Selector, timeout: float) -> bool:
        """Waits until an object is on the screen. Returns whether it is."""
        return self._wait(lambda: self.exist(selector), timeout)

    def waitUntilGone(self, selector: Selector, timeout: float) -> bool:
        """Waits until no object fits. Returns whether none does."""
        return self._wait(lambda: not self.exist(selector), timeout)

    def _wait(self, condition: Callable[[], bool], milliseconds: float) -> bool:
        """Looks again and again, and lets others work the phone meanwhile."""
        if math.isnan(milliseconds):
            raise ValueError("the time to wait is not a number")
        deadline = time.monotonic() + min(milliseconds / 1000, LONGEST_WAIT)
        while not GONE.get()():
            with self._lock:
                if condition():
                    return True
                if time.monotonic() >= deadline:
                    return False
            time.sleep(POLL_SECONDS)
        return False

    def getUiObject(self, selector: Selector) -> str:
        """Gives an object a name, and returns it."""
        self._finder.node(selector)
        return self._finder.name(self._finder.meaning(selector))

    def childByText(self, selector: Selector, child: dict, text: str, scroll: bool = False) -> str:
        """Names the first child of a kind that has a text, or contains something that has it."""
        if scroll:
            self._lists.scrollTo(selector, {"text": text})
        return self._child(selector, child, {"text": text})

    def childByDescription(self, selector: Selector, child: dict, text: str, scroll: bool = False) -> str:
        """Names the first child of a kind that has a description, or contains something that has it."""
        if scroll:
            self._lists.scrollTo(selector, {"description": text})
        return self._child(selector, child, {"description": text})

    def childByInstance(self, selector: Selector, child: dict, instance: int) -> str:
        """Names a child of a kind by its number."""
        meant = _below(self._finder.meaning(selector), {**child, "instance": instance})
        self._finder.node(meant)
        return self._finder.name(meant)

    def _child(self, selector: Selector, child: dict, wanted: dict[str, str]) -> str:
        kind = _below(self._finder.meaning(selector), child)
        for instance, found in enumerate(self._finder.all(kind)):
            if next(find(found.node, wanted), None) is not None:
                return self._finder.name(_below(self._finder.meaning(selector), {**child, "instance": instance}))
        raise NotFound(wanted)


def _below(selector: Mapping[str, Any], child: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the selector of something below what a selector means."""
    return {
        **selector,
        "childOrSibling": [*selector.get("childOrSibling", []), "child"],
        "childOrSiblingSelector": [*selector.get("childOrSiblingSelector", []), child],
    }


def _info(node: Node) -> dict[str, Any]:
    left, top, right, bottom = node.bounds
    bounds = {"left": left, "top": top, "right": right, "bottom": bottom}
    return {
        "bounds": bounds, "visibleBounds": bounds, "childCount": len(node.children), "className": node.cls,
        "contentDescription": node.desc, "packageName": node.package, "resourceName": node.id, "text": node.text,
        "checkable": node.checkable, "checked": node.checked, "clickable": node.clickable, "enabled": node.enabled,
        "focusable": node.focusable, "focused": node.focused, "longClickable": node.long_clickable,
        "scrollable": node.scrollable, "selected": node.selected,
    }  # fmt: skip
