"""The accessibility tree of a laid-out screen: what uiautomator dumps and agents read."""

from __future__ import annotations

from coach_gym.envs.phone.toolkit.paint import intersect
from coach_gym.envs.phone.toolkit.view import Rect, View
from coach_gym.ui import Node


def nodes(view: View, package: str, clip: Rect, decor: bool = False) -> list[Node]:
    """Returns the accessibility nodes of the visible part of a view: its own, or its children's if it is unimportant.
    """
    bounds = intersect(view.bounds, clip)
    if bounds is None:
        return []
    children = [node for child in view.children for node in nodes(child, package, bounds, decor)]
    if not view.important:
        return children
    return [
        Node(
            cls=view.cls,
            text="•" * len(view.text) if view.password else view.text,
            desc=view.desc,
            id=f"{package}:id/{view.id}" if view.id else "",
            package=package,
            bounds=bounds,
            hint=view.hint,
            clickable=bool(view.on_tap or view.input) and view.enabled,
            long_clickable=view.on_long is not None or view.on_hold is not None,
            checkable=view.checkable,
            checked=view.checked,
            focused=view.focused,
            focusable=view.focusable or bool(view.on_tap or view.input),
            selected=view.selected,
            scrollable=view.scroll is not None and view.scroll.limit > 0,
            enabled=view.enabled,
            password=view.password,
            children=children,
            decor=decor,
        )
    ]
