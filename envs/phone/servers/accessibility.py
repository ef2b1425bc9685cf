"""The accessibility tree as the forest that android_env's forwarder app reports.

The layout is the forwarder's: one window for each bar, keyboard, app or shade, the backmost first. The nodes of a
window are listed layer by layer and refer to each other by their position; the root is number 0.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby

from android_env.proto.a11y.android_accessibility_forest_pb2 import AndroidAccessibilityForest
from android_env.proto.a11y.android_accessibility_node_info_pb2 import AndroidAccessibilityNodeInfo
from android_env.proto.a11y.android_accessibility_tree_pb2 import AndroidAccessibilityTree
from android_env.proto.a11y.android_accessibility_window_info_pb2 import AndroidAccessibilityWindowInfo
from android_env.proto.a11y.rect_pb2 import ProtoRect

from coach_gym.envs.phone.system.keyboard import PACKAGE as KEYBOARD
from coach_gym.ui import ILLEGAL_IN_XML, SYSTEM_UI, Bounds, Node

_EDITABLE = ("EditText", "AutoCompleteTextView")
_SURROGATES = {code: "\N{REPLACEMENT CHARACTER}" for code in range(0xD800, 0xE000)}
_Type = AndroidAccessibilityWindowInfo


def forest(root: Node) -> AndroidAccessibilityForest:
    """Returns what the forwarder app would send for a screen.

    Args:
        root: The whole accessibility tree; its children are the contents of the windows, back to front.

    Returns:
        The forest; it always has an application window.
    """
    groups = [list(nodes) for _, nodes in groupby(root.children, key=lambda node: _window_key(node, root))]
    if not any(_window_type(group[0]) == _Type.TYPE_APPLICATION for group in groups):
        groups.insert(0, [])
    return AndroidAccessibilityForest(windows=[_window(nodes, i, root) for i, nodes in enumerate(groups)])


def _window_key(node: Node, root: Node) -> tuple[int, bool]:
    """Returns what neighbouring nodes of one window share. The two bars differ in the half of the screen they are in.
    """
    lower = node.decor and node.bounds[1] > (root.bounds[1] + root.bounds[3]) // 2
    return _window_type(node), lower


def _window_type(node: Node) -> int:
    if node.decor and node.package == KEYBOARD:
        return _Type.TYPE_INPUT_METHOD
    return _Type.TYPE_SYSTEM if node.package == SYSTEM_UI else _Type.TYPE_APPLICATION


def _window(nodes: list[Node], number: int, screen: Node) -> AndroidAccessibilityWindowInfo:
    kind = _window_type(nodes[0]) if nodes else _Type.TYPE_APPLICATION
    front = kind == _Type.TYPE_APPLICATION
    package = nodes[0].package if nodes else screen.package
    bounds = screen.bounds if front else _around(nodes)
    window_root = Node(cls="android.widget.FrameLayout", package=package, bounds=bounds, children=nodes)
    return AndroidAccessibilityWindowInfo(
        id=number + 1, layer=number, window_type=kind, is_active=front, is_focused=front,
        bounds_in_screen=_rect(bounds), tree=AndroidAccessibilityTree(nodes=_nodes(window_root, number + 1)),
    )  # fmt: skip


def _around(nodes: Iterable[Node]) -> Bounds:
    lefts, tops, rights, bottoms = zip(*(node.bounds for node in nodes), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _nodes(root: Node, window: int) -> Iterator[AndroidAccessibilityNodeInfo]:
    """Returns the nodes of a window, layer by layer; a node's number is its position in that order."""
    queue, numbered = deque([(root, 0)]), 1
    number = 0
    while queue:
        node, depth = queue.popleft()
        children = range(numbered, numbered + len(node.children))
        queue.extend((child, depth + 1) for child in node.children)
        numbered += len(node.children)
        yield _info(node, number, children, depth, window)
        number += 1


def _info(node: Node, number: int, children: range, depth: int, window: int) -> AndroidAccessibilityNodeInfo:
    editable = node.cls.endswith(_EDITABLE)
    cursor = len(node.text) if editable else -1
    return AndroidAccessibilityNodeInfo(
        unique_id=number, child_ids=children, depth=depth, window_id=window, bounds_in_screen=_rect(node.bounds),
        class_name=node.cls, package_name=node.package, view_id_resource_name=node.id,
        text=_legal(_shown(node, editable)), content_description=_legal(node.desc), hint_text=_legal(node.hint),
        text_selection_start=cursor, text_selection_end=cursor,
        is_checkable=node.checkable, is_checked=node.checked, is_clickable=node.clickable, is_editable=editable,
        is_enabled=node.enabled, is_focusable=node.focusable, is_focused=node.focused,
        is_long_clickable=node.long_clickable, is_password=node.password, is_scrollable=node.scrollable,
        is_selected=node.selected, is_visible_to_user=node.visible,
    )  # fmt: skip


def _shown(node: Node, editable: bool) -> str:
    """Returns the text that Android reports: the hint of an empty field, dots for a password."""
    if node.password:
        return "•" * len(node.text)
    return node.text or (node.hint if editable else "")


def _legal(text: str) -> str:
    """Replaces lone surrogates, which protocol buffers cannot hold."""
    return text.translate(_SURROGATES) if ILLEGAL_IN_XML.search(text) else text


def _rect(bounds: Bounds) -> ProtoRect:
    left, top, right, bottom = bounds
    return ProtoRect(left=left, top=top, right=right, bottom=bottom)
