"""Experts that read pictures of maps: they find the pin and the river in `Screen.pixels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from coach_gym.envs.apps.gallery import expert as gallery
from coach_gym.envs.apps.osmand import map as osmand_map
from coach_gym.envs.apps.osmand.data import PLACES
from coach_gym.envs.apps.osmand.expert import APP, find_place
from coach_gym.envs.apps.osmand.sight_tasks import COUNTRY, MIDDLE
from coach_gym.envs.tasks import looking
from coach_gym.envs.tasks.scenes import SIDE
from coach_gym.envs.tasks.screen import Screen, expert

Params = Mapping[str, Any]
TIP = 0.4 * 32 / SIDE  # from the middle of a pin to where it stands, as a share of the picture


def _picture(s: Screen) -> np.ndarray:
    """The map on the whole screen, uncut: places on it count."""
    return looking.crop(s.pixels, looking.middle_square(s.find("gestures_view").bounds), 0.0).astype(int)


def _pin(picture: np.ndarray) -> tuple[float, float]:
    """Where the pin stands: x and y as shares of the picture."""
    red, green, blue = picture[:, :, 0], picture[:, :, 1], picture[:, :, 2]
    rows, columns = np.nonzero((red > green + 70) & (red > blue + 70))
    side = len(picture)
    return float(columns.min() + columns.max() + 1) / 2 / side, float(rows.min() + rows.max() + 1) / 2 / side + TIP


@expert("OsmAndSideOfRiver")
def side_of_river(s: Screen, p: Params) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    picture = _picture(s)
    x, y = _pin(picture)
    side = len(picture)
    rows = picture[max(0, round((y - 0.1) * side)) : round((y + 0.1) * side)]
    water = np.nonzero((rows[:, :, 2] > rows[:, :, 0] + 45) & (rows[:, :, 1] > rows[:, :, 0] + 20))[1]
    yield s.finish("east" if x * side > water.mean() else "west")


@expert("OsmAndMarkPinnedVillage")
def mark_pinned_village(s: Screen, p: Params) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    x, y = _pin(_picture(s))
    view = osmand_map.View(MIDDLE, COUNTRY, SIDE, SIDE)
    places = {name: view.place(PLACES[name]) for name in (p["a"], p["b"], p["c"])}
    yield from s.open(APP)
    yield from find_place(s, min(places, key=lambda name: (places[name][0] - x) ** 2 + (places[name][1] - y) ** 2))
    yield s.tap("Marker")
