"""The screen as Android's accessibility service reports it to uiautomator."""

from __future__ import annotations

from itertools import groupby

from coach_gym.envs.phone.phone import Phone
from coach_gym.ui import Node, as_reported

CONTENT = "android:id/content"
"""The id of what holds everything an app's window shows."""


def reported(phone: Phone) -> Node:
    """Returns the tree of the screen, with the views of the app in front in one frame."""
    root = as_reported(phone.ui())
    children: list[Node] = []
    for app, group in groupby(root.children, key=lambda node: node.package == phone.foreground and not node.decor):
        nodes = list(group)
        children += [_frame(root, nodes)] if app else nodes
    root.children = children
    return root


def _frame(root: Node, nodes: list[Node]) -> Node:
    left, top, right, bottom = zip(*(node.bounds for node in nodes), strict=True)
    bounds = (min(left), min(top), max(right), max(bottom))
    return Node(root.cls, bounds, id=CONTENT, package=nodes[0].package, children=nodes)
