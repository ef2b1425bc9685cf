"""The XML that uiautomator reports for a screen."""

import re
from collections.abc import Iterator
from dataclasses import replace

from coach_gym.ui.markup import ILLEGAL_IN_XML, escape, read_bounds, start_tags
from coach_gym.ui.tree import SYSTEM_UI, Node

MAX_DEPTH = 200
"""Deeper nodes of a reported tree hang on their ancestor at this depth, because walks of the tree recurse."""

_KEYBOARD = ".inputmethod"  # part of the package names of keyboards
_CHARACTER_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}));")


def to_xml(root: Node, rotation: int = 0) -> str:
    """Writes a tree as uiautomator's hierarchy, with all windows and attributes.

    Args:
        root: The tree; a root of class `hierarchy` holds several windows.
        rotation: Quarter turns of the display, 0 to 3.
    """
    parts = [f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"{rotation}\">"]
    windows = root.children if root.cls == "hierarchy" else [root]
    for index, window in enumerate(windows):
        _write(window, index, parts)
    parts.append("</hierarchy>")
    return "".join(parts)


def to_dump(root: Node, rotation: int = 0) -> str:
    """Writes a tree as the command `uiautomator dump` does.

    Unlike `to_xml`, the command shows only the visible nodes of the front window, without system bars and keyboard,
    reports texts as Android does (see `as_reported`), and has no attributes for visibility and hints.

    Args:
        root: The tree.
        rotation: Quarter turns of the display, 0 to 3.
    """
    window = Node(cls=root.cls, package=root.package, bounds=root.bounds, children=list(_in_front(root)))
    return to_xml(window, rotation).replace(' visible-to-user="true"', "").replace(' hint=""', "")


def as_reported(node: Node) -> Node:
    """Returns the tree with the texts that Android reports: the hint of an empty field, dots for a password."""
    return replace(node, text=_reported(node), children=[as_reported(child) for child in node.children])


def _reported(node: Node) -> str:
    return "•" * len(node.text) if node.password else node.text or node.hint


def _in_front(node: Node) -> "Iterator[Node]":
    for child in node.children:
        if not child.decor and child.visible and _KEYBOARD not in child.package:
            yield replace(child, text=_reported(child), hint="", children=list(_in_front(child)))


def _write(node: Node, index: int, parts: list[str]) -> None:
    left, top, right, bottom = node.bounds
    parts.append(
        f'<node index="{index}" text="{escape(node.text)}" resource-id="{escape(node.id)}"'
        f' class="{escape(node.cls)}" package="{escape(node.package)}" content-desc="{escape(node.desc)}"'
        f' checkable="{_bool(node.checkable)}" checked="{_bool(node.checked)}"'
        f' clickable="{_bool(node.clickable)}" enabled="{_bool(node.enabled)}"'
        f' focusable="{_bool(node.focusable)}" focused="{_bool(node.focused)}"'
        f' scrollable="{_bool(node.scrollable)}" long-clickable="{_bool(node.long_clickable)}"'
        f' password="{_bool(node.password)}" selected="{_bool(node.selected)}"'
        f' visible-to-user="{_bool(node.visible)}" bounds="[{left},{top}][{right},{bottom}]"'
        f' hint="{escape(node.hint)}">'
    )
    for position, child in enumerate(node.children):
        _write(child, position, parts)
    parts.append("</node>")


def _bool(value: bool) -> str:
    return "true" if value else "false"


def node_from_xml(xml: str) -> Node:
    """Reads uiautomator's XML, from a real device or from `to_xml`.

    Args:
        xml: The dump. Real dumps contain characters that XML forbids; these are dropped.

    Returns:
        The root node. If the dump has several windows, a node of class `hierarchy` holds them.

    Raises:
        ValueError: The text is malformed, has no node, or has a document type.
    """
    hierarchy = Node(cls="hierarchy")
    path = [hierarchy]
    legal = ILLEGAL_IN_XML.sub("", _CHARACTER_REFERENCE.sub(_legal_reference, xml))
    for depth, _, attributes in start_tags(legal):
        if depth == 0:
            continue
        node = _node(attributes)
        del path[min(depth, MAX_DEPTH) :]
        path[-1].children.append(node)
        path.append(node)
    windows = hierarchy.children
    if not windows:
        raise ValueError("the screen's XML holds no node")
    _mark_decor(hierarchy)
    return windows[0] if len(windows) == 1 else hierarchy


def _legal_reference(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2])
    legal = code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD
    return found[0] if legal or 0x10000 <= code <= 0x10FFFF else ""


def _node(attributes: dict[str, str]) -> Node:
    get = attributes.get
    text, hint = get("text", ""), get("hint", "")
    return Node(
        cls=get("class", "") or "android.view.View",
        bounds=read_bounds(get("bounds", "[0,0][0,0]")),
        text="" if text == hint else text,  # Android reports the hint of an empty field as its text
        desc=get("content-desc", ""),
        id=get("resource-id", ""),
        package=get("package", ""),
        hint=hint,
        clickable=get("clickable") == "true",
        long_clickable=get("long-clickable") == "true",
        checkable=get("checkable") == "true",
        checked=get("checked") == "true",
        focusable=get("focusable") == "true",
        focused=get("focused") == "true",
        scrollable=get("scrollable") == "true",
        selected=get("selected") == "true",
        password=get("password") == "true",
        enabled=get("enabled") != "false",
        visible=get("visible-to-user") != "false",
    )


def _mark_decor(hierarchy: Node) -> None:
    """Marks the status bar and the navigation bar, which a reported tree does not tell apart.

    They are the system UI's nodes within the top or bottom fifteenth of the screen. The open notification shade belongs
    to the same package but reaches further, so it stays with everything in it.
    """
    height = max(window.bounds[3] for window in hierarchy.children)
    strip = height // 15

    def visit(node: Node) -> None:
        for child in node.children:
            if child.package != SYSTEM_UI:
                visit(child)
                continue
            child.decor = child.bounds[3] <= strip or child.bounds[1] >= height - strip

    visit(hierarchy)
