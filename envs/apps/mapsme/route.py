"""The fastest way from one place to another, by car, on foot, by bicycle or by public transport (Dijkstra)."""

from __future__ import annotations

import heapq
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from coach_gym.envs.apps.mapsme.data import World

MODES = {"car": "By car", "walk": "On foot", "transit": "By subway", "bike": "By bicycle"}
WALKING, RIDING = 5.63, 17.73  # km/h
MOTORWAY = 85  # km/h; where cars go faster nobody walks or rides
WAITING = 3  # minutes for a train or bus

_State = tuple[int, str]  # a place, and the line that the traveller sits in there


class Route(NamedTuple):
    """A route from one place to another.

    Attributes:
        minutes: How long it takes.
        km: Its length on roads.
        places: Ids of the places that it leads through.
        lines: The lines of public transport that it takes, in order.
    """

    minutes: float
    km: float
    places: tuple[int, ...]
    lines: tuple[str, ...]


class _Edge(NamedTuple):
    target: int
    minutes: float
    km: float
    line: str = ""


@lru_cache(maxsize=64)
def route(world: World, start: int, end: int, mode: str) -> Route | None:
    """Returns the fastest way in a mode of `MODES`; None if there is none."""
    return _fastest(_edges(world, mode), start, end)


@lru_cache(maxsize=8)
def distances(world: World) -> dict[int, float]:
    """Returns the distance by road from the phone, in km, of every place that can be reached."""
    near: dict[int, float] = {}
    queue = [] if world.here is None else [(0.0, world.here)]
    roads = defaultdict(list)
    for road in world.roads:
        roads[road.a].append((road.km, road.b))
        roads[road.b].append((road.km, road.a))
    while queue:
        km, place = heapq.heappop(queue)
        if place not in near:
            near[place] = km
            for length, target in roads[place]:
                heapq.heappush(queue, (km + length, target))
    return near


@lru_cache(maxsize=16)
def _edges(world: World, mode: str) -> dict[int, list[_Edge]]:
    """Returns the steps from each place, with the time that they take in a mode."""
    edges = defaultdict(list)
    for road in world.roads:
        if mode != "car" and road.kmh > MOTORWAY:
            continue
        speed = {"car": road.kmh, "bike": RIDING}.get(mode, WALKING)
        for start, end in ((road.a, road.b), (road.b, road.a)):
            edges[start].append(_Edge(end, 60 * road.km / speed, road.km))
    for line in world.lines if mode == "transit" else ():
        for start, end in ((line.a, line.b), (line.b, line.a)):
            edges[start].append(_Edge(end, line.minutes, 0.0, line.name))
    return edges


def _fastest(edges: dict[int, list[_Edge]], start: int, end: int) -> Route | None:
    """Finds the fastest way along some edges; changing to another line takes `WAITING` more."""
    queue: list[tuple[float, int, _State]] = [(0.0, 0, (start, ""))]
    came: dict[_State, tuple[_State, _Edge] | None] = {(start, ""): None}
    times = {(start, ""): 0.0}
    order = 0
    while queue:
        minutes, _, state = heapq.heappop(queue)
        if state[0] == end:
            return _traced(came, state, minutes)
        if minutes > times[state]:
            continue
        for edge in edges.get(state[0], ()):
            waiting = WAITING if edge.line and edge.line != state[1] else 0
            target, total = (edge.target, edge.line), minutes + edge.minutes + waiting
            if total < times.get(target, float("inf")):
                times[target], came[target] = total, (state, edge)
                order += 1
                heapq.heappush(queue, (total, order, target))
    return None


def _traced(came: dict[_State, tuple[_State, _Edge] | None], state: _State, minutes: float) -> Route:
    """Returns the way that led to a state."""
    places, lines, km = [state[0]], [], 0.0
    while (step := came[state]) is not None:
        state, edge = step
        places.append(state[0])
        lines.append(edge.line)
        km += edge.km
    lines.reverse()
    taken = [line for before, line in zip(["", *lines], lines, strict=False) if line and line != before]
    return Route(minutes, km, tuple(reversed(places)), tuple(taken))
