"""Experts of the OsmAnd app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "OsmAnd"


@expert("OsmAndFavorite")
def add_favorite(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Finds the place and saves it as a favourite."""
    yield from s.open(APP)
    yield from find_place(s, p["location"])
    yield s.tap("Add to favorites")
    yield s.tap("Save")


@expert("OsmAndMarker")
def add_marker(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Finds the place and puts a marker there."""
    yield from s.open(APP)
    yield from find_place(s, p["location"])
    yield s.tap("Marker")


@expert("OsmAndTrack")
def save_track(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Adds each place to a route and saves it."""
    yield from s.open(APP)
    yield s.tap("Show main menu")
    yield s.tap("Plan a route")
    for name in p["waypoints"]:
        yield from find_place(s, name)
        yield s.tap("Add")
    yield s.tap("Done")
    yield s.tap("Save")


def find_place(s: Screen, location: str) -> Iterator[str]:
    """Searches for a place and shows it on the map; of several, the one of exactly that name."""
    yield s.tap("Search")
    yield s.type(location)
    name = location.split(", ")[0]
    rows = s.find_all(_is_result)
    yield s.tap(next((row for row in rows if row.label.split(", ")[0] == name), rows[0]))


def _is_result(element: Element) -> bool:
    return element.clickable and element.label.endswith(("km", " m"))
