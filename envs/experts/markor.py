"""Experts of the Markor families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.experts.screen import Screen, expert

Params = Mapping[str, Any]


@expert("MarkorCreateNote")
def create_note(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield s.tap("Create a new file or folder")
    yield from s.fill("Name", p["name"])
    yield s.tap("OK")
    yield s.type(p["text"])
    yield s.tap("Save")
    yield s.finish()


@expert("MarkorDeleteNote")
def delete_note(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Markor")
    yield from s.scroll_to(p["name"])
    yield s.long_press(p["name"])
    yield s.tap("Delete")
    yield s.tap("OK")
    yield s.finish()
