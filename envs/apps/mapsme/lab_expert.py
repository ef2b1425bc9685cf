"""Experts of MAPS.ME."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from functools import partial
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "MAPS.ME"
CAR, WALK, SUBWAY, BICYCLE = "By car", "On foot", "By subway", "By bicycle"
CAMPUS, OXFORD = "Stanford Campus Oval", "Oxford Street & University Avenue"
COAST, ROUTE_51 = "2700 Coast Avenue", "Route 51"
DESTINATIONS = {  # of journeys by car, by family
    "map_12": "Stanford University", "map_13": "University South", "map_14": "OpenAI",
    "map_15": "University of California, Berkeley",
}  # fmt: skip


# questions about routes


@expert("map_1")
def walk_to_berkeley(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers how far and how long the walk is."""
    time, length = yield from _routed(s, CAMPUS, OXFORD, WALK)
    yield s.finish(f"{length}, {time}")


@expert("map_2")
def drive_to_bus(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers how far and how long the drive is."""
    time, length = yield from _routed(s, COAST, ROUTE_51, CAR)
    yield s.finish(f"{length}, {time}")


@expert("map_3")
def ride_to_berkeley(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers how long the ride by bicycle is."""
    time, _ = yield from _routed(s, CAMPUS, OXFORD, BICYCLE)
    yield s.finish(time)


@expert("map_4")
def lines_to_bus(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers which lines lead there."""
    _, *lines = yield from _routed(s, COAST, ROUTE_51, SUBWAY)
    yield s.finish(" and ".join(line.replace("Subway", "subway") for line in lines))


@expert("map_5")
def faster_to_bus(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers whether the bicycle or public transportation is faster."""
    yield from _compare(s, COAST, ROUTE_51)


@expert("map_6")
def faster_to_berkeley(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers whether the bicycle or public transportation is faster."""
    yield from _compare(s, CAMPUS, OXFORD)


# questions about what is near


@expert("map_7")
def nearest_restaurant(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers with the name of the nearest restaurant."""
    yield from _answer_nearest(s, "Restaurant")


@expert("map_8")
def walk_to_restaurant(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers with the nearest restaurant and the time that the walk takes."""
    yield from _search(s, "Restaurant")
    name = _name(_found(s)[0])
    yield from _route_to_first(s, WALK)
    yield s.finish(f"{name}, about {_summary(s)[0]}")


@expert("map_9")
def nearest_hotel(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers with the name of the nearest hotel."""
    yield from _answer_nearest(s, "Hotel")


@expert("map_10")
def drive_to_ikea(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers how long the drive is."""
    yield from _search(s, "IKEA")
    yield from _route_to_first(s, CAR)
    yield s.finish(_summary(s)[0])


@expert("MapsNearest")
def nearest(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers with the name of the nearest place of a kind."""
    yield from _answer_nearest(s, p["kind"])


@expert("MapsTravelTime")
def travel_time(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Answers how long a way takes."""
    time, _ = yield from _routed(s, p["start"], p["target"], p["how"].capitalize())
    yield s.finish(time)


# operations


@expert("map_11")
def work_at_openai(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Sets the place of work."""
    yield from _set_my_place(s, "Work", "OpenAI")


@expert("MapsSetMyPlace")
def set_my_place(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Sets home or work."""
    yield from _set_my_place(s, p["role"], p["name"])


@expert("MapsNavigate")
def navigate(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Starts a journey to a place."""
    yield from _go_to(s, p["name"], p["how"].capitalize())


def _drive_to(name: str, s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from _go_to(s, name, CAR)


for _family, _name_there in DESTINATIONS.items():
    expert(_family)(partial(_drive_to, _name_there))


# working the app


def _search(s: Screen, words: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Find")
    yield from _type_query(s, words)


def _type_query(s: Screen, words: str) -> Iterator[str]:
    """Types and puts the keyboard away."""
    yield from s.fill("Search", words)
    yield s.back()


def _choose(s: Screen, name: str) -> Iterator[str]:
    """Looks for a place and touches it."""
    yield from _type_query(s, name)
    yield s.tap(next(row for row in _found(s) if _name(row) == name))


def _plan(s: Screen, start: str, target: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Route")
    for end, name in (("From", start), ("To", target)):
        yield s.tap(end)
        yield from _choose(s, name)


def _routed(s: Screen, start: str, target: str, mode: str) -> Generator[str, None, list[str]]:
    """Plans a route and returns the texts below its map."""
    yield from _plan(s, start, target)
    yield s.tap(mode)
    return _summary(s)


def _answer_nearest(s: Screen, kind: str) -> Iterator[str]:
    yield from _search(s, kind)
    yield s.finish(_name(_found(s)[0]))


def _route_to_first(s: Screen, mode: str) -> Iterator[str]:
    """Plans a route to the first result of a search."""
    yield s.tap(_found(s)[0])
    yield s.tap("Route to")
    yield s.tap(mode)


def _go_to(s: Screen, name: str, mode: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("Find")
    yield from _choose(s, name)
    yield s.tap("Route to")
    if not s.find(mode).checked:
        yield s.tap(mode)
    yield s.tap("Start")


def _set_my_place(s: Screen, role: str, name: str) -> Iterator[str]:
    yield from s.open(APP)
    yield s.tap("My places")
    yield s.tap(role)
    yield from _choose(s, name)


def _compare(s: Screen, start: str, target: str) -> Iterator[str]:
    """Answers whether riding or public transportation is faster."""
    yield from _plan(s, start, target)
    riding = yield from _minutes(s, BICYCLE)
    subway = yield from _minutes(s, SUBWAY)
    yield s.finish("public transportation" if subway < riding else "riding")


def _minutes(s: Screen, mode: str) -> Generator[str, None, int]:
    yield s.tap(mode)
    words = _summary(s)[0].split()
    return sum(int(number) * (60 if unit == "hr" else 1) for number, unit in zip(words[::2], words[1::2], strict=True))


def _summary(s: Screen) -> list[str]:
    """Returns the texts below the map of a route: its time, and its length or lines."""
    below = s.find("Map").bounds[3]
    return [element.label for element in s.elements if element.bounds[1] >= below and element.cls == "TextView"]


def _found(s: Screen) -> list[Element]:
    """Returns the results of a search from top to bottom: the rows that give a distance."""
    return [element for element in s.elements if element.clickable and element.label.endswith(("km", " m"))]


def _name(row: Element) -> str:
    """Returns the name of a place: everything before its kind."""
    return row.label.split(" • ")[0].rpartition(", ")[0]
