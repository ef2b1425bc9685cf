"""Families of MAPS.ME, each instance in a town of its own."""

from __future__ import annotations

import math
import random
import re
from typing import Any

from coach_gym.envs.apps.mapsme.data import DATABASE, Area, Place, Road, World, my_places, write
from coach_gym.envs.apps.mapsme.route import distances, route
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

KINDS = ("Café", "Hotel", "Pharmacy", "Restaurant")
WAYS = {"by car": "car", "on foot": "walk", "by bicycle": "bike"}  # by the words of goals: the app's modes
CENTER = (47.05, 8.3)
KM_A_DEGREE = 111.2
SIDE = 5  # crossings along each side of a town
CLEAR = 0.1  # km by which the nearest place of a kind is nearer than the next


def town(rng: ParamRng) -> dict[str, Any]:
    """Draws a town as JSON: streets in a grid, and places beside them, two or three of every kind."""
    xs, ys = _steps(rng), _steps(rng)
    crossings = [(x, y) for y in ys for x in xs]
    places: list[list] = [["", "", "", *_degrees(x, y)] for x, y in crossings]
    roads: list[list] = []
    for i, (x, y) in enumerate(crossings):
        for j in ([i + 1] if (i + 1) % SIDE else []) + ([i + SIDE] if i + SIDE < len(crossings) else []):
            km = math.dist((x, y), crossings[j])
            roads.append([i + 1, j + 1, round(1.04 * km, 2), rng.choice([30, 50, 50])])
    kinds = [kind for kind in KINDS for _ in range(rng.randint(2, 3))]
    corners = rng.sample(range(len(crossings)), len(kinds))
    for kind, corner, slug, street in zip(
        kinds, corners, words.slugs(rng, len(kinds)), words.LAST_NAMES.draw_many(rng, len(kinds)), strict=True
    ):
        (x, y), away = crossings[corner], rng.uniform(0.05, 0.2)
        spot = _degrees(x + 0.7 * away, y + 0.7 * away)
        places.append([slug.replace("_", " ").title(), kind, f"{street} Street, {rng.randint(1, 99)}", *spot])
        roads.append([corner + 1, len(places), round(1.04 * away + 0.01, 2), 30])
    return {"places": places, "roads": roads, "here": rng.choice(corners) + 1}


def _steps(rng: ParamRng) -> list[float]:
    """Draws where streets cross, in km from the middle."""
    gaps = [rng.uniform(0.4, 0.9) for _ in range(SIDE - 1)]
    return [sum(gaps[:i]) - sum(gaps) / 2 for i in range(SIDE)]


def _degrees(x: float, y: float) -> tuple[float, float]:
    """Returns latitude and longitude of a spot `x` km east and `y` km north of the middle."""
    lon = CENTER[1] + x / KM_A_DEGREE / math.cos(math.radians(CENTER[0]))
    return round(CENTER[0] + y / KM_A_DEGREE, 5), round(lon, 5)


def world_of(town: dict[str, Any]) -> World:
    """Returns the map of a town, with a lake beside it."""
    lake = [_degrees(x, y) for x, y in ((-1.6, -2.2), (1.8, -2.3), (1.2, -4.0), (-1.2, -3.8))]
    return World(
        tuple(Place(id, *place) for id, place in enumerate(town["places"], 1)),
        tuple(Road(*road) for road in town["roads"]), (), (Area("water", tuple(lake)),), town["here"],
    )  # fmt: skip


def named(world: World, name: str) -> Place:
    """Returns the place of a name."""
    return next(place for place in world.places if place.name == name)


class TownTask(Task):
    """A task in the town of `params["town"]` about one of its places."""

    apps = ("MAPS.ME",)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a town and one of its places."""
        drawn = town(rng)
        return {"name": rng.choice([name for name, *_ in drawn["places"] if name]), "town": drawn}

    @property
    def world(self) -> World:
        """The map of the town."""
        return world_of(self.params["town"])

    def setup(self, device: Device) -> None:
        """Puts the map on the phone."""
        with device.database(DATABASE) as db:
            write(db, self.world)

    def another(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another place."""
        names = [name for name, *_ in self.params["town"]["places"] if name and name != self.params["name"]]
        return {**self.params, "name": rng.choice(names)}


class MapsNavigate(TownTask):
    """Start a journey."""

    template = "In MAPS.ME, start to navigate {how} from my location to {name}."
    difficulty = "medium"
    budget = 20

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a town, a place and a way to travel."""
        return {**super().sample(rng), "how": rng.choice(list(WAYS))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires just this journey from the phone's place."""
        with device.database(DATABASE) as db:
            journeys = db.execute("SELECT start, target, mode FROM journeys").fetchall()
        world = self.world
        return float(journeys == [(world.here, named(world, self.params["name"]).id, WAYS[self.params["how"]])])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another place or another way to travel."""
        if rng.random() < 0.5:
            return self.another(rng)
        return {**self.params, "how": rng.choice([way for way in WAYS if way != self.params["how"]])}


class MapsSetMyPlace(TownTask):
    """Set home or work."""

    template = "In MAPS.ME, set {name} as the {role} place among my places."
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a town, a place and its role."""
        return {**super().sample(rng), "role": rng.choice(["Home", "Work"])}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires just this place in just this role."""
        with device.database(DATABASE) as db:
            mine = my_places(db)
        return float(mine == {self.params["role"]: named(self.world, self.params["name"]).id})

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another place or the other role."""
        if rng.random() < 0.5:
            return self.another(rng)
        return {**self.params, "role": "Home" if self.params["role"] == "Work" else "Work"}


class MapsNearest(TownTask):
    """Name the nearest place of a kind."""

    template = "According to MAPS.ME, what is the name of the nearest {kind}?"
    kind = "query"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a town in which the nearest place of a kind is clearly nearer than the next."""
        while True:
            drawn = town(rng)
            away = distances(world_of(drawn))
            kind = rng.choice(KINDS)
            near = sorted(away[id] for id, (_, each, *_) in enumerate(drawn["places"], 1) if each == kind)
            if near[1] - near[0] > CLEAR:
                return {"kind": kind, "town": drawn}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the name of the nearest place."""
        away = distances(self.world)
        places = [place for place in self.world.places if place.kind == self.params["kind"]]
        nearest = min(places, key=lambda place: away[place.id])
        return float(plain(answer or "") == plain(nearest.name))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another kind."""
        return {**self.params, "kind": rng.choice([kind for kind in KINDS if kind != self.params["kind"]])}


class MapsTravelTime(TownTask):
    """Say how long a route takes."""

    template = "According to MAPS.ME, how long does it take to get {how} from {start} to {target}?"
    kind = "query"
    difficulty = "medium"
    budget = 28

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two places so far apart that the three modes take different times."""
        while True:
            drawn = town(rng)
            world = world_of(drawn)
            start, target = rng.sample([name for name, *_ in drawn["places"] if name], 2)
            times = {way: _minutes(world, start, target, mode) for way, mode in WAYS.items()}
            if len(set(times.values())) == len(WAYS):
                return {"start": start, "target": target, "how": rng.choice(list(WAYS)), "town": drawn}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the time, to the minute."""
        p = self.params
        return float(_told(answer or "") == _minutes(self.world, p["start"], p["target"], WAYS[p["how"]]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with another way to travel."""
        return {**self.params, "how": rng.choice([way for way in WAYS if way != self.params["how"]])}


def _minutes(world: World, start: str, target: str, mode: str) -> int:
    way = route(world, named(world, start).id, named(world, target).id, mode)
    assert way is not None  # all streets of a town are connected
    return max(1, round(way.minutes))


def _told(answer: str) -> int | None:
    """Returns the minutes of an answer that is a time and nothing else: `1 hr 5 min`, `65 minutes`."""
    found = re.fullmatch(r"(?:(\d{1,3}) ?(?:h|hr|hrs|hours?))? ?(?:(\d{1,4}) ?(?:m|min|mins|minutes?))?", plain(answer))
    if found is None or not (found[1] or found[2]):
        return None
    return 60 * int(found[1] or 0) + int(found[2] or 0)


TASKS: tuple[type[Task], ...] = (
    MapsNavigate,
    MapsNearest,
    MapsSetMyPlace,
    MapsTravelTime,
)
