"""Experts of the families of Simple Draw Pro in which something must be seen: they read `Screen.pixels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from PIL import Image

from coach_gym.envs.apps.draw.app import COLORS
from coach_gym.envs.apps.draw.sight_tasks import INKS, WAYS, drawing
from coach_gym.envs.apps.gallery import expert as gallery
from coach_gym.envs.apps.gallery.sight_expert import shown
from coach_gym.envs.tasks import looking
from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]


@expert("DrawNameDrawing")
def name_drawing(s: Screen, p: Params) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    seen = _framed(shown(s))
    drawings = {way: Image.fromarray(_framed(np.asarray(drawing(way, "Blue", 0)))) for way in WAYS}
    yield s.finish(looking.most_alike(seen, drawings, inset=0.0))


def _framed(picture: np.ndarray) -> np.ndarray:
    """Returns what is drawn on white, in black and cut to its edges: H x W x 3 uint8."""
    drawn = picture.min(axis=-1) < 160
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    inside = drawn[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return np.repeat(np.where(inside, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


@expert("DrawInColorOfPicture")
def draw_in_color(s: Screen, p: Params) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    ink = min(INKS, key=lambda name: _distance(COLORS[name], shown(s)))
    yield from s.open("Simple Draw Pro")
    yield s.tap("Change color")
    yield s.tap(ink)
    left, top, right, bottom = s.find("Canvas").bounds
    yield s.drag("Canvas", ((left + 3 * right) // 4, (top + 3 * bottom) // 4))
    yield s.tap("Save")
    yield s.type(p["file_name"].rpartition(".")[0])  # in place of the name that is proposed, which is selected
    yield from s.follow("PNG", "OK", "Show roots", "sdk_gphone_x86_64", "Pictures", "SAVE")


def _distance(color: str, picture: np.ndarray) -> float:
    rgb = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return float(np.abs(picture.mean(axis=(0, 1)) - rgb).sum())
