"""Calendar events as parameters of tasks, stored on the phone and compared with what it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import TypedDict

from coach_gym.envs.apps.calendar.data import ALL_DAY, DATABASE, DAY, REPETITIONS, rule_for
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.words import ParamRng

TODAY = date(2023, 10, 15)  # a Sunday
FIRST, LAST = date(2023, 10, 1), date(2023, 10, 31)  # when events of tasks take place
_COLUMNS = "title, location, description, start_ts, end_ts, repeat_interval, repeat_rule"


class EventParams(TypedDict):
    """An event as JSON: `start` in seconds since 1970, `repetition` in the app's words."""

    start: int
    minutes: int
    title: str
    location: str
    description: str
    repetition: str
    all_day: bool


def event(title: str, start: datetime, minutes: int, location: str = "", description: str = "") -> EventParams:
    """Returns an event that takes place once, at some hours of a day."""
    return EventParams(
        start=to_seconds(start), minutes=minutes, title=title, location=location, description=description,
        repetition="No repetition", all_day=False,
    )  # fmt: skip


def events(rng: ParamRng, days: Iterable[date]) -> list[EventParams]:
    """Returns an event on each of some days; they share no title, and no two start at the same time."""
    days = list(days)
    hours: dict[date, list[int]] = {}
    drawn = []
    for title, day in zip(words.EVENTS.draw_many(rng, len(days)), days, strict=True):
        hour = hours.setdefault(day, rng.sample(range(8, 20), 12)).pop()
        at = time(hour, rng.choice([0, 0, 15, 30, 45]))
        drawn.append(event(title, datetime.combine(day, at), rng.choice([15, 30, 45, 60])))
    return drawn


def random_days(rng: ParamRng, count: int, without: Iterable[date] = ()) -> list[date]:
    """Returns `count` days of October 2023, not necessarily different, none of them in `without`."""
    excluded = set(without)
    month = [FIRST + timedelta(days=n) for n in range((LAST - FIRST).days + 1)]
    return rng.choices([day for day in month if day not in excluded], k=count)


def note(rng: ParamRng) -> str:
    """Returns a short description."""
    return f"Bring the {words.NOUNS.draw(rng)}"


def store(device: Device, wanted: Iterable[EventParams]) -> None:
    """Adds events, none of them for all day, to a device's calendar."""
    rows = [_row(one) for one in wanted]
    with device.database(DATABASE) as db:
        db.executemany(f"INSERT INTO events({_COLUMNS}, source) VALUES (?,?,?,?,?,?,?,'imported-ics')", rows)


def holds(device: Device, wanted: Iterable[EventParams]) -> bool:
    """Returns whether the calendar holds these events and no others."""
    with device.database(DATABASE) as db:
        rows = db.execute(
            f"SELECT {_COLUMNS}, flags, repeat_limit != 0 OR repetition_exceptions != '[]' FROM events"
        ).fetchall()
    return Counter(map(_card, rows)) == Counter(_card((*_row(one), one["all_day"] * ALL_DAY, 0)) for one in wanted)


def _card(row: tuple) -> tuple:
    """Returns what is compared of an event: if it takes all day, its days and not its hours."""
    title, location, description, start, end, interval, rule, flags, curtailed = row
    all_day = bool(flags & ALL_DAY)
    hours = (start // DAY, end // DAY) if all_day else (start, end)
    return title, location, description, *hours, interval, rule, all_day, curtailed


def end(one: EventParams) -> int:
    """Returns the end of an event in seconds since 1970."""
    return one["start"] + 60 * one["minutes"]


def _row(one: EventParams) -> tuple:
    interval = REPETITIONS[one["repetition"]]
    rule = rule_for(interval, from_seconds(one["start"]).date())
    return one["title"], one["location"], one["description"], one["start"], end(one), interval, rule
