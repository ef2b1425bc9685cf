"""uiautomator's selectors: descriptions of nodes, and the nodes of a screen that fit them.

A selector is a JSON object as the uiautomator2 client sends it: criteria such as `{"text": "OK", "instance": 1}`,
followed in `childOrSibling` and `childOrSiblingSelector` by steps to nodes below or beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from coach_gym.envs.phone.patterns import TooSlow
from coach_gym.envs.phone.servers.uiautomator import icu
from coach_gym.ui import Node

Test = Callable[[Any, Any], bool]
LONGEST = 32  # steps of a selector at most
MOST_SECONDS = 3.0  # of processor time for a search of the screen


@dataclass(frozen=True, eq=False)
class Found:
    """A node with its parent and its position among the parent's children."""

    node: Node
    parent: Found | None = None
    index: int = 0

    def children(self) -> Iterator[Found]:
        """The nodes below it."""
        return (Found(child, self, i) for i, child in enumerate(self.node.children))


def find(root: Node, selector: Mapping[str, Any]) -> Iterator[Found]:
    """Yields the nodes that fit a selector, in the order of the tree.

    Args:
        root: The whole tree.
        selector: What the client sent. With `instance` in its last step it fits at most one node.

    Raises:
        ValueError: The selector is malformed: an unknown criterion, a value of the wrong type, a bad regular
            expression, or too many steps.
        TooSlow: The search takes too long, as where a pattern takes almost as long as it may at every node.
    """
    steps = _steps(selector)
    until = time.thread_time() + MOST_SECONDS
    found = _search(Found(root), steps, [step.instance or 0 for step in steps], 0, set(), until)
    last = steps[-1].instance
    return found if last is None else islice(found, last, last + 1)


@dataclass(frozen=True)
class _Step:
    """One step of a selector. With `upwards`, it searches below the parent of the last node, not below that node."""

    tests: tuple[tuple[Test, Any], ...]
    instance: int | None
    upwards: bool

    def matches(self, found: Found) -> bool:
        return all(test(found, wanted) for test, wanted in self.tests)


def _search(
    found: Found, steps: list[_Step], skip: list[int], at: int, seen: set[tuple[int, int]], until: float
) -> Iterator[Found]:
    """Searches depth first, as uiautomator does; `skip` counts the matches of each step still to be passed over."""
    if (id(found.node), at) in seen:
        return
    seen.add((id(found.node), at))
    if time.thread_time() > until:
        raise TooSlow(f"the search of the screen takes longer than {MOST_SECONDS:g} s")
    last = at == len(steps) - 1
    if steps[at].matches(found):
        if last:
            yield found
        elif skip[at]:
            skip[at] -= 1
        else:
            at += 1
            if steps[at].upwards and found.parent is None:
                return
            found = found.parent if steps[at].upwards and found.parent else found
    for child in found.children():
        yield from _search(child, steps, skip, at, seen, until)


# from JSON


def _steps(selector: Mapping[str, Any]) -> list[_Step]:
    steps = [_step(selector, False)]
    pending = _next(selector)
    while pending:
        relation, following = pending.pop(0)
        steps.append(_step(following, relation == "sibling"))
        pending = _next(following) + pending
        if len(steps) + len(pending) > LONGEST:
            raise ValueError(f"a selector has at most {LONGEST} steps")
    return steps


def _next(selector: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    relations = selector.get("childOrSibling", [])
    following = selector.get("childOrSiblingSelector", [])
    if not isinstance(relations, list) or not isinstance(following, list) or len(relations) != len(following):
        raise ValueError("childOrSibling and childOrSiblingSelector must be lists of the same length")
    if any(relation not in ("child", "sibling") for relation in relations):
        raise ValueError("a relation must be child or sibling")
    return list(zip(relations, following, strict=True))


def _step(selector: Mapping[str, Any], upwards: bool) -> _Step:
    if not isinstance(selector, Mapping):
        raise ValueError("a selector must be an object")
    tests, instance = [], None
    for name, wanted in selector.items():
        if name in ("mask", "childOrSibling", "childOrSiblingSelector"):
            continue
        if name not in _CRITERIA:
            raise ValueError(f"{name[:40]!r} is not a criterion of selectors")
        kind, test = _CRITERIA[name]
        if type(wanted) is not kind:
            raise ValueError(f"{name} must be of type {kind.__name__}")
        if name.endswith("Matches"):
            wanted = icu.compiled(wanted)
        if name == "instance":
            instance = max(0, wanted)
        else:
            tests.append((test, wanted))
    return _Step(tuple(tests), instance, upwards)


def _same(field: str) -> Test:
    return lambda found, wanted: getattr(found.node, field) == wanted


def _contains(field: str) -> Test:
    return lambda found, wanted: wanted.lower() in getattr(found.node, field).lower()


def _starts(field: str) -> Test:
    return lambda found, wanted: getattr(found.node, field).lower().startswith(wanted.lower())


def _fits(field: str) -> Test:
    return lambda found, wanted: wanted.fullmatch(getattr(found.node, field)) is not None


def _at(found: Found, wanted: int) -> bool:
    return found.index == wanted


_CRITERIA: dict[str, tuple[type, Test]] = {
    "text": (str, _same("text")),
    "textContains": (str, _contains("text")),
    "textMatches": (str, _fits("text")),
    "textStartsWith": (str, _starts("text")),
    "description": (str, _same("desc")),
    "descriptionContains": (str, _contains("desc")),
    "descriptionMatches": (str, _fits("desc")),
    "descriptionStartsWith": (str, _starts("desc")),
    "className": (str, _same("cls")),
    "classNameMatches": (str, _fits("cls")),
    "packageName": (str, _same("package")),
    "packageNameMatches": (str, _fits("package")),
    "resourceId": (str, _same("id")),
    "resourceIdMatches": (str, _fits("id")),
    "checkable": (bool, _same("checkable")),
    "checked": (bool, _same("checked")),
    "clickable": (bool, _same("clickable")),
    "longClickable": (bool, _same("long_clickable")),
    "scrollable": (bool, _same("scrollable")),
    "enabled": (bool, _same("enabled")),
    "focusable": (bool, _same("focusable")),
    "focused": (bool, _same("focused")),
    "selected": (bool, _same("selected")),
    "index": (int, _at),
    "instance": (int, _at),
}
