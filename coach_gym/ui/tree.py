"""The accessibility tree of a screen."""

from collections.abc import Iterator
from dataclasses import dataclass, field

Bounds = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are exclusive, as on Android."""

SYSTEM_UI = "com.android.systemui"
"""Package of the status bar, the navigation bar and the notification shade."""


@dataclass(slots=True)
class Node:
    """A node of an accessibility tree.

    Attributes:
        cls: Full class name, such as `android.widget.Button`.
        bounds: Visible rectangle in screen pixels.
        text: What the widget shows.
        desc: Content description, which names widgets without a text.
        id: Full resource id, such as `com.android.settings:id/title`.
        package: Package of the app that the node belongs to.
        hint: What an empty text field asks for.
        visible: False hides the whole subtree from `compress`.
        decor: True for the status bar and the navigation bar, which `to_xml` writes and `compress` omits.
        children: Child nodes in document order.
    """

    cls: str = "android.view.View"
    bounds: Bounds = (0, 0, 0, 0)
    text: str = ""
    desc: str = ""
    id: str = ""
    package: str = ""
    hint: str = ""
    clickable: bool = False
    long_clickable: bool = False
    checkable: bool = False
    checked: bool = False
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    selected: bool = False
    password: bool = False
    enabled: bool = True
    visible: bool = True
    decor: bool = False
    children: "list[Node]" = field(default_factory=list)

    def walk(self) -> "Iterator[Node]":
        """Yields this node and all its descendants in document order."""
        yield self
        for child in self.children:
            yield from child.walk()
