"""Experts of the Files families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.experts.screen import Screen, expert

Params = Mapping[str, Any]


@expert("FilesDeleteFile")
def delete_file(s: Screen, p: Params) -> Iterator[str]:
    yield from s.open("Files")
    yield s.tap(p["folder"])
    yield from s.scroll_to(p["name"])
    yield s.long_press(p["name"])
    yield s.tap("Delete")
    yield s.tap("OK")
    yield s.finish()
