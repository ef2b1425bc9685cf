"""Experts of the OpenTracks app: they read the list and add up what it says."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

APP = "OpenTracks"
METERS = {"mi": 1609.344, "ft": 0.3048}
_ROW = re.compile(
    r"(?P<name>.*), (?P<day>\w{3} \d+ \d{4}), (?P<time>\d\d:\d\d), \[(?P<category>.*?)\](?P<text>.*?),"
    r" (?P<length>[\d:]+), (?P<distance>[\d.,]+) (?P<unit>mi|ft)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Activity:
    """A row of the list."""

    start: datetime
    category: str
    minutes: int
    meters: int


@expert("SportsTrackerActivitiesCountForWeek")
def count(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Counts the activities."""
    found = yield from _search(s, p)
    yield s.finish(str(len(found)))


@expert("SportsTrackerActivityDuration", "SportsTrackerTotalDurationForCategoryThisWeek")
def total_minutes(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Adds up the minutes."""
    found = yield from _search(s, p)
    yield s.finish(str(sum(activity.minutes for activity in found)))


@expert("SportsTrackerLongestDistanceActivity")
def longest(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Finds the longest distance."""
    found = yield from _search(s, p)
    yield s.finish(str(max((activity.meters for activity in found), default=0)))


@expert("SportsTrackerTotalDistanceForCategoryOverInterval")
def total_meters(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Adds up the distances."""
    found = yield from _search(s, p)
    yield s.finish(str(sum(activity.meters for activity in found)))


@expert("SportsTrackerActivitiesOnDate")
def types_on_day(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Names the types of the day's activities."""
    yield from s.open(APP)
    found = yield from _read(s, date.fromisoformat(p["from"]))
    day = date.fromisoformat(p["from"])
    yield s.finish(", ".join(activity.category for activity in found if activity.start.date() == day))


def _search(s: Screen, p: Mapping[str, Any]) -> Generator[str, None, list[Activity]]:
    """Reads the activities of a category between two days."""
    first, last = date.fromisoformat(p["from"]), date.fromisoformat(p["to"])
    yield from s.open(APP)
    yield s.tap("Search")
    yield s.type(p["category"])
    yield s.back()  # puts the keyboard away
    found = yield from _read(s, first)
    return [a for a in found if a.category == p["category"] and first <= a.start.date() <= last]


def _read(s: Screen, first: date) -> Generator[str, None, list[Activity]]:
    """Scrolls down until the activities are older than `first`: the latest stand at the top."""
    seen: dict[str, Activity] = {}
    while True:
        seen |= {e.label: activity for e in s.elements if e.clickable and (activity := _activity(e.label))}
        oldest = min((activity.start.date() for activity in seen.values()), default=first)
        if oldest < first or not any(element.scrollable for element in s.elements):
            break
        before = s.text
        yield s.scroll("down")
        if s.text == before:
            break
    return list(seen.values())


def _activity(label: str) -> Activity | None:
    """Returns the activity of a row; None if a part of it is hidden at the edge of the list."""
    row = _ROW.fullmatch(label)
    if row is None:
        return None
    *hours, minutes, _ = (int(part) for part in row["length"].split(":"))
    return Activity(
        start=datetime.strptime(f"{row['day']} {row['time']}", "%b %d %Y %H:%M"),
        category=row["category"],
        minutes=60 * sum(hours) + minutes,
        meters=round(float(row["distance"].replace(",", "")) * METERS[row["unit"]]),
    )
