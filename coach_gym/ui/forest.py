"""The accessibility forest that android_env's forwarder app reports, as a tree."""

from android_env.proto.a11y.android_accessibility_forest_pb2 import AndroidAccessibilityForest
from android_env.proto.a11y.android_accessibility_node_info_pb2 import AndroidAccessibilityNodeInfo
from android_env.proto.a11y.android_accessibility_window_info_pb2 import AndroidAccessibilityWindowInfo

from coach_gym.ui.tree import SYSTEM_UI, Node
from coach_gym.ui.uiautomator import MAX_DEPTH

_KEYBOARD = AndroidAccessibilityWindowInfo.TYPE_INPUT_METHOD


def node_from_forest(forest: AndroidAccessibilityForest) -> Node:
    """Returns the tree of a screen, with the contents of all windows, back to front.

    Keyboards, and the system UI's nodes in the top and bottom fifteenth of the screen, count as decor. Children that a
    forest names but does not hold are left out, as on screens that changed while they were read.
    """
    windows = sorted(forest.windows, key=lambda window: window.layer)
    roots = [root for window in windows if (root := _window(window)) is not None]
    height = max((root.bounds[3] for root in roots), default=0)
    for root in roots:
        for node in root.walk():
            top, bottom = node.bounds[1], node.bounds[3]
            within_a_bar = bottom <= height // 15 or top >= height - height // 15
            node.decor = node.decor or (node.package == SYSTEM_UI and within_a_bar)
    return Node(cls="hierarchy", children=roots)


def _window(window: AndroidAccessibilityWindowInfo) -> Node | None:
    infos = {info.unique_id: info for info in window.tree.nodes}
    if not infos:
        return None
    root = _node(window.tree.nodes[0])
    root.decor = window.window_type == _KEYBOARD
    waiting, met = [(root, window.tree.nodes[0], 1)], {window.tree.nodes[0].unique_id}
    while waiting:
        node, info, depth = waiting.pop()
        for number in info.child_ids:
            if number in infos and number not in met and depth < MAX_DEPTH:
                met.add(number)
                node.children.append(_node(infos[number]))
                waiting.append((node.children[-1], infos[number], depth + 1))
    return root


def _node(info: AndroidAccessibilityNodeInfo) -> Node:
    bounds = info.bounds_in_screen
    return Node(
        cls=info.class_name or "android.view.View",
        bounds=(bounds.left, bounds.top, bounds.right, bounds.bottom),
        # an empty field reports its hint as its text
        text="" if info.is_editable and info.text == info.hint_text else info.text,
        desc=info.content_description, id=info.view_id_resource_name, package=info.package_name, hint=info.hint_text,
        clickable=info.is_clickable, long_clickable=info.is_long_clickable, checkable=info.is_checkable,
        checked=info.is_checked, focusable=info.is_focusable, focused=info.is_focused, scrollable=info.is_scrollable,
        selected=info.is_selected, password=info.is_password, enabled=info.is_enabled, visible=info.is_visible_to_user,
    )  # fmt: skip
