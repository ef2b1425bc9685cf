"""Families of the OsmAnd app: favourites, markers and tracks."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.apps.osmand import data, gpx
from coach_gym.envs.apps.osmand.data import MARKERS, PLACES, Place, Point
from coach_gym.envs.apps.osmand.gpx import TRACKS
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng, Pool

VILLAGES = Pool(";".join(PLACES))
NEAR = 0.001  # degrees of latitude and longitude: about a hundred meters


def close(a: Point, b: Point) -> bool:
    """Returns whether two points are less than `NEAR` apart in both directions."""
    return abs(a[0] - b[0]) < NEAR and abs(a[1] - b[1]) < NEAR


class MapTask(Task):
    """A task on a map with favourites and markers at `params["favorites"]` and `params["markers"]` (names)."""

    apps: ClassVar[tuple[str, ...]] = ("OsmAnd",)

    def setup(self, device: Device) -> None:
        """Writes the favourites and markers."""
        gpx.save_favorites(device, map(_village, self.params["favorites"]))
        with device.database(MARKERS) as db:
            for name in self.params["markers"]:
                data.add_marker(db, _village(name), device.now)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the wanted favourites, markers and tracks, and no others."""
        favorites = [place.point for place in gpx.favorites(device)]
        with device.database(MARKERS) as db:
            markers = [marker.place.point for marker in data.markers(db) if not marker.passed]
        right = _same(favorites, self.favorites()) and _same(markers, self.markers())
        return float(right and self.tracks_are_right(device))

    def favorites(self) -> list[Point]:
        """Returns where favourites must be in the end, and nowhere else."""
        return [PLACES[name] for name in self.params["favorites"]]

    def markers(self) -> list[Point]:
        """Returns where markers must be in the end, and nowhere else."""
        return [PLACES[name] for name in self.params["markers"]]

    def tracks_are_right(self, device: Device) -> bool:
        """Returns whether the saved tracks are the wanted ones; by default there are none."""
        return not device.listdir(TRACKS)


def _village(name: str) -> Place:
    return Place(name, PLACES[name])


def _same(found: list[Point], wanted: list[Point]) -> bool:
    """Returns whether there is exactly one point at each of the wanted ones."""
    return len(found) == len(wanted) and all(any(close(a, b) for a in found) for b in wanted)


class OsmAndFavorite(MapTask):
    """Add a favourite at a place given by its name or its coordinates."""

    template = "In OsmAnd, add {location} to the favorites."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a place, how to say it, and favourites and markers that exist."""
        place, other, *rest = VILLAGES.draw_many(rng, 6)
        said = f"{place}, {data.COUNTRY}" if rng.random() < 0.5 else "{}, {}".format(*PLACES[place])
        there = {"favorites": rest[: rng.randint(0, 2)], "markers": rest[2 : rng.randint(2, 4)]}
        return {"location": said, "place": place, "other": f"{other}, {data.COUNTRY}", **there}

    def favorites(self) -> list[Point]:
        """Adds the place."""
        return [*super().favorites(), PLACES[self.params["place"]]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another place."""
        return {**self.params, "location": self.params["other"]}


class OsmAndMarker(OsmAndFavorite):
    """Add a marker at a place given by its name or its coordinates."""

    template = "In OsmAnd, put a map marker at {location}."
    difficulty = "medium"

    def favorites(self) -> list[Point]:
        """Leaves the favourites as they are."""
        return MapTask.favorites(self)

    def markers(self) -> list[Point]:
        """Adds the place."""
        return [*super().markers(), PLACES[self.params["place"]]]


class OsmAndTrack(MapTask):
    """Save a line through two to four places as a track."""

    template = "In OsmAnd, plan a route through {through}, in this order, and save it as a track."
    difficulty = "hard"
    budget = 60

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to four places."""
        waypoints = VILLAGES.draw_many(rng, rng.randint(2, 4))
        return {"through": ", ".join(waypoints), "waypoints": waypoints, "favorites": [], "markers": []}

    def tracks_are_right(self, device: Device) -> bool:
        """Requires a track that passes the places in order."""
        tracks = [gpx.track(device, f"{TRACKS}/{name}") for name in device.listdir(TRACKS)]
        return any(passes(track, [PLACES[name] for name in self.params["waypoints"]]) for track in tracks)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with the places in reverse order."""
        return {**self.params, "waypoints": self.params["waypoints"][::-1]}


def passes(track: list[Point], through: list[Point]) -> bool:
    """Returns whether a line passes some points in order."""
    rest = iter(track)
    return all(any(close(point, target) for point in rest) for target in through)


TASKS: tuple[type[Task], ...] = (OsmAndFavorite, OsmAndMarker, OsmAndTrack)
