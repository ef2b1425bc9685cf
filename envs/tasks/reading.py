"""How checks read a screen: what somebody typed into a text field is not what an app shows."""

from __future__ import annotations

from collections.abc import Iterator

from coach_gym.ui import Node

_TEXT_FIELDS = ("EditText", "AutoCompleteTextView")


def shown(node: Node) -> Iterator[Node]:
    """Yields a node and all its descendants in document order, without text fields and what is in them."""
    if not node.cls.endswith(_TEXT_FIELDS):
        yield node
        for child in node.children:
            yield from shown(child)
