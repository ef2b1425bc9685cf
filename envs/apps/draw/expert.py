"""The expert of Simple Draw Pro."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert


@expert("SimpleDrawProCreateDrawing")
def draw(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Draws a line and saves it under its name and format."""
    name, _, ending = p["file_name"].rpartition(".")
    yield from s.open("Simple Draw Pro")
    left, top, right, bottom = s.find("Canvas").bounds
    yield s.drag("Canvas", ((left + 3 * right) // 4, (top + 3 * bottom) // 4))
    yield s.tap("Save")
    yield s.type(name)  # replaces the proposed name, which is selected
    yield from s.follow(ending.upper(), "OK", "Show roots", "sdk_gphone_x86_64", "Pictures", "SAVE")
