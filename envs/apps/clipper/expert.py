"""Expert of copying, which uses the text field of the home screen's search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element


@expert("SystemCopyToClipboard")
def copy(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Types the text into the search field of the home screen and copies it."""
    yield s.home()
    yield s.tap("Search apps")
    yield from s.fill(_field, p["text"])
    yield from s.select_text(_field)
    yield s.tap("Copy")


def _field(element: Element) -> bool:
    return element.editable
