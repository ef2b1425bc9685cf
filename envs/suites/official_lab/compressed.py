"""The screen as AndroidLab's judges and its models in XML mode read it, made from a `uiautomator dump`.

AndroidLab prunes the dump (layout without a meaning, nodes outside their parents, whatever a later sibling
overlaps) and turns it into nested dicts whose *keys* describe the elements:

    {"[n9c40] TextView ;click ; ;;Wi-Fi ": {"bounds": "[0,80][270,120]"}}

The result equals the upstream tool's character for character, except for the four hex digits in front of every
element: upstream draws them at random (so two siblings may collide, and one is lost); here they follow from the
element's place. Upstream's special rules for three Chinese apps, which no task uses, are left out.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from typing import Any

from coach_gym.ui import start_tags

Tree = dict[str, Any]
"""Nested dicts: descriptions of elements to what is inside them; attributes such as `bounds` to text."""

TITLE = "The current screenshot's description is shown"
_LAYOUTS = ("View", "FrameLayout", "LinearLayout", "RelativeLayout")
_FLAGS = (
    "checkable", "checked", "clickable", "focusable", "scrollable", "long-clickable", "password", "selected",
)  # fmt: skip
_ACTIONS = {"clickable": "click ", "scrollable": "scroll ", "long-clickable": "long-click ", "checkable": "check "}
_DROPPED = {
    "index", "text", "resource-id", "package", "content-desc", "enabled", "focused", "class", "NAF", *_FLAGS,
}  # fmt: skip
_ODD = 0x9E37  # times an odd number, counting mod 65536 meets every four hex digits once


def tree(xml: str) -> Tree | None:
    """Returns the nested dicts that judges read; None where upstream's tool fails too (nothing is visible).

    Args:
        xml: A `uiautomator dump`.

    Raises:
        ValueError: The dump is not well-formed.
    """
    result = _compress(xml)
    text = json.dumps(result, ensure_ascii=False)
    if result is not None and ": {}" in text:
        return json.loads(_json(result))
    return result


def as_json(xml: str) -> str:
    """Returns the tree as JSON, as upstream stores it."""
    return _json(_compress(xml) or {})


def as_text(xml: str) -> str:
    """Returns the tree as indented lines: the observation of AndroidLab's XML mode."""
    return "".join(_lines(_compress(xml) or {}, 0)).strip()


def _compress(xml: str) -> Tree | None:
    root = _parse(xml)
    for child in list(root.children):
        _prune(child)
    if not root.children:
        return None
    _remove_overlapped(root)
    return {TITLE: _describe(root)}


def _json(result: Tree) -> str:
    """Writes JSON as upstream does, including what its replacements do to texts that look like empty dicts."""
    return json.dumps(result, indent=4, ensure_ascii=False).replace(": {},", "").replace(": {}", "")


def _lines(branch: Tree, indent: int) -> Iterator[str]:
    for key, value in branch.items():
        if isinstance(value, dict):
            yield f"{' ' * indent}{key}: \n"
            yield from _lines(value, indent + 4)
        else:
            yield f"{' ' * indent}{key}: {value}\n"


# pruning


class _Element:
    """A node of the dump that can be moved: `attributes` as in the dump, `words` and `action` as upstream says them."""

    def __init__(self, attributes: dict[str, str], parent: _Element | None) -> None:
        self.attributes, self.parent = attributes, parent
        self.children: list[_Element] = []
        self.words = self.action = ""
        self.cls, self.id = attributes.get("class", ""), attributes.get("resource-id", "")
        self.box = _box(attributes["bounds"]) if "bounds" in attributes else None

    def splice(self, children: list[_Element]) -> None:
        """Puts elements in this one's place in its parent."""
        assert self.parent is not None
        siblings = self.parent.children
        place = siblings.index(self)
        siblings[place : place + 1] = children
        for child in children:
            child.parent = self.parent


def _box(bounds: str) -> tuple[int, ...]:
    return tuple(int(number) for number in bounds[1:-1].replace("][", ",").split(","))


def _parse(xml: str) -> _Element:
    root: _Element | None = None
    path: list[_Element] = []
    for depth, _, attributes in start_tags(xml):
        element = _Element(attributes, path[depth - 1] if depth else None)
        del path[depth:]
        path.append(element)
        if element.parent is None:
            root = element
        else:
            element.parent.children.append(element)
    assert root is not None  # well-formed XML has one
    return root


def _prune(element: _Element) -> None:
    """Drops an element without a meaning, its children taking its place; then looks at these."""
    children = list(element.children)
    if _is_idle(element):
        element.splice(children)
    else:
        _prepare(element)
    for child in children:
        _prune(child)


def _is_idle(element: _Element) -> bool:
    box, around = element.box, element.parent.box if element.parent else None
    assert box is not None
    if box[0] < 0 or box[1] < 0 or box[0] >= box[2] or box[1] >= box[3]:
        return True
    if around and not (box[0] >= around[0] and box[1] >= around[1] and box[2] <= around[2] and box[3] <= around[3]):
        return True
    get = element.attributes.get
    return all(get(flag) != "true" for flag in _FLAGS) and not get("text") and not get("content-desc")


def _prepare(element: _Element) -> None:
    get = element.attributes.get
    element.words = "".join(f"{get(name)} " for name in ("text", "content-desc") if get(name))
    cls = element.cls.rpartition(".")[2]
    element.cls = "" if cls in _LAYOUTS else cls
    element.id = element.id.partition(":id/")[2]
    element.action = "".join(word for flag, word in _ACTIONS.items() if get(flag) == "true")
    if not element.action and get("focusable") == "true":
        element.action = "focusable "
    if element.parent is not None and "material_clock_face" in element.parent.id:
        element.action += "click"


def _remove_overlapped(root: _Element) -> None:
    """Drops, level by level, what a later sibling overlaps; parts that it does not overlap stay."""
    waiting = deque([root])
    while waiting:
        element = waiting.popleft()
        cover = _cover(element)
        if cover is None:
            waiting.extend(element.children)
        else:
            kept = list(_clear_of(element, cover))
            element.splice(kept)
            waiting.extend(kept)


def _cover(element: _Element) -> tuple[int, ...] | None:
    """Returns the box of the first later sibling that overlaps an element."""
    if element.parent is None:
        return None
    siblings = element.parent.children
    later = siblings[siblings.index(element) + 1 :]
    return next((sibling.box for sibling in later if _overlap(element.box, sibling.box)), None)


def _clear_of(element: _Element, cover: tuple[int, ...]) -> Iterator[_Element]:
    for child in element.children:
        if _overlap(child.box, cover):
            yield from _clear_of(child, cover)
        else:
            yield child


def _overlap(one: tuple[int, ...] | None, other: tuple[int, ...] | None) -> bool:
    assert one is not None and other is not None
    return one[0] < other[2] and one[2] > other[0] and one[1] < other[3] and one[3] > other[1]


# describing


def _describe(root: _Element) -> Tree:
    count = 0

    def branch(element: _Element) -> Tree:
        nonlocal count
        result: Tree = {name: value for name, value in element.attributes.items() if name not in _DROPPED}
        for child in element.children:
            count += 1
            key = f"[n{count * _ODD & 0xFFFF:04x}] {_description(child)}"
            result[key] = branch(child)
        return result

    described = branch(root)
    described.pop("rotation", None)
    return described


def _description(element: _Element) -> str:
    on = {flag for flag in _FLAGS if element.attributes.get(flag) == "true"}
    state = "".join(f"{flag} " for flag in ("checked", "password", "selected") if flag in on)
    state += "unchecked " if "checkable" in on and "checked" not in on else ""
    more = " you can input password, " if "password" in on else ""
    more += " selected, " if "selected" in on else ""
    cls = f"{element.cls} " if element.cls else ""
    return f"{cls};{element.action}; {state};{more};{element.words}".replace("\n", "")
