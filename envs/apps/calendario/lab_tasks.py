"""AndroidLab's families of the calendar: they change one event, or ask about one."""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import Any

from coach_gym.envs.apps.calendar import task_events as events
from coach_gym.envs.apps.calendar.data import REPETITIONS
from coach_gym.envs.apps.calendar.task_events import TODAY, EventParams
from coach_gym.envs.apps.calendar.world_tasks import day_of, spoken
from coach_gym.envs.apps.calendario import task_events as calendario
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.answers import same_time
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng


class CalendarTask(Task):
    """A task on a calendar that holds `params["events"]` at the start."""

    apps = ("Calendar",)

    def setup(self, device: Device) -> None:
        """Fills the calendar."""
        calendario.store(device, self.params["events"])

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the calendar with `expected`."""
        return float(calendario.holds(device, self.expected()))

    def expected(self) -> list[EventParams]:
        """Returns what the calendar has to hold in the end, and nothing else."""
        return self.params["events"]


class CalendarAddEvent(CalendarTask):
    """A new event with a title, at any hours of a day."""

    template = "Create an event titled {title} on {when} in the calendar."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a title, a day of the next two weeks, and two to eight other events."""
        day = TODAY + timedelta(days=rng.randint(0, 16))
        new, *old = events.events(rng, [day, *events.random_days(rng, rng.randint(2, 8))])
        return {"title": new["title"], "day": day.isoformat(), "when": spoken(day), "events": old}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Takes the hours of the new event from the calendar and compares all the rest."""
        new = calendario.titled(device, self.params["title"])
        right_day = new is not None and day_of(new).isoformat() == self.params["day"]
        return float(right_day and calendario.holds(device, [*self.params["events"], *([new] if new else [])]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the day before."""
        day = date.fromisoformat(self.params["day"])
        return {**self.params, "day": (day - timedelta(days=1)).isoformat()}


def _busy_day(rng: ParamRng) -> tuple[dict[str, Any], list[EventParams]]:
    """Draws two events of one day and others. Returns how a goal names the first, and all events."""
    day = TODAY + timedelta(days=rng.randint(-14, 16))
    drawn = events.events(rng, [day, day, *events.random_days(rng, rng.randint(2, 8))])
    return {"title": drawn[0]["title"], "day": day.isoformat(), "when": spoken(day)}, drawn


class ChangeEvent(CalendarTask):
    """Some columns of an event changed: `params["changes"]`, as in `EventParams`."""

    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two events of one day and others, and what is to become of the first."""
        about, drawn = _busy_day(rng)
        changes = cls.changes(rng, drawn[0], drawn.pop()["title"])
        return {**about, **cls.told(changes), "changes": changes, "events": rng.sample(drawn, len(drawn))}

    @classmethod
    def changes(cls, rng: ParamRng, one: EventParams, unused: str) -> dict[str, Any]:
        """Returns what is to become of an event; `unused` is a title that no event has."""
        raise RuntimeError(f"{cls.__name__} changes nothing")

    @classmethod
    def told(cls, changes: dict[str, Any]) -> dict[str, Any]:
        """Returns the changes as fields of the goal."""
        return {"new": next(iter(changes.values()))}

    def expected(self) -> list[EventParams]:
        """Returns the events with one of them changed."""
        chosen, changes = self.params["title"], self.params["changes"]
        changed: Any = [{**one, **(changes if one["title"] == chosen else {})} for one in self.params["events"]]
        return changed

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another event, to be changed in the same way."""
        wrong = rng.choice([one for one in self.params["events"] if one["title"] != self.params["title"]])
        return {**self.params, "title": wrong["title"], "day": day_of(wrong).isoformat()}


class CalendarRenameEvent(ChangeEvent):
    """Another title."""

    template = "Rename the event {title} on {when} to {new}."

    @classmethod
    def changes(cls, rng: ParamRng, one: EventParams, unused: str) -> dict[str, Any]:
        """Returns another title."""
        return {"title": unused}


class CalendarDescribeEvent(ChangeEvent):
    """A description where there was none."""

    template = "Add the description {new} to the event {title} on {when}."

    @classmethod
    def changes(cls, rng: ParamRng, one: EventParams, unused: str) -> dict[str, Any]:
        """Draws a description."""
        return {"description": events.note(rng)}


class CalendarLocateEvent(ChangeEvent):
    """A location where there was none."""

    template = "Set the location of the event {title} on {when} to {new}."

    @classmethod
    def changes(cls, rng: ParamRng, one: EventParams, unused: str) -> dict[str, Any]:
        """Draws a street."""
        return {"location": words.STREETS.draw(rng)}


class CalendarRepeatEvent(ChangeEvent):
    """A repetition for an event that took place once."""

    template = "Make the event {title} on {when} repeat {new}."

    @classmethod
    def changes(cls, rng: ParamRng, one: EventParams, unused: str) -> dict[str, Any]:
        """Draws how often it takes place."""
        return {"repetition": rng.choice([name for name, interval in REPETITIONS.items() if interval])}

    @classmethod
    def told(cls, changes: dict[str, Any]) -> dict[str, Any]:
        """Returns the repetition in lower case."""
        return {"new": changes["repetition"].lower()}


class CalendarAllDayEvent(ChangeEvent):
    """Hours given up for the whole day."""

    template = "Turn the event {title} on {when} into an all-day event."

    @classmethod
    def changes(cls, rng: ParamRng, one: EventParams, unused: str) -> dict[str, Any]:
        """Returns that it lasts all day."""
        return {"all_day": True}


class CalendarMoveEvent(ChangeEvent):
    """The same hours of another day."""

    template = "Move the event {title} from {when} to {new}, at the same time of day."
    difficulty = "medium"
    budget = 18

    @classmethod
    def changes(cls, rng: ParamRng, one: EventParams, unused: str) -> dict[str, Any]:
        """Draws another day, at most three days away."""
        days = rng.choice([-3, -2, -1, 1, 2, 3])
        return {"start": one["start"] + 86_400 * days}

    @classmethod
    def told(cls, changes: dict[str, Any]) -> dict[str, Any]:
        """Returns the other day."""
        return {"new": spoken(from_seconds(changes["start"]).date())}


class CalendarStartOfEvent(CalendarTask):
    """A question about an hour."""

    template = "At what time does the event {title} on {when} start?"
    kind = "query"
    budget = 8

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two events of one day and others."""
        about, drawn = _busy_day(rng)
        return {**about, "events": rng.sample(drawn, len(drawn))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer with the hour; the calendar must not have changed."""
        start = next(one["start"] for one in self.params["events"] if one["title"] == self.params["title"])
        return float(same_time(answer, f"{from_seconds(start):%H:%M}") and super().evaluate(device, answer))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other event of the day."""
        day, title = self.params["day"], self.params["title"]
        same_day = [one["title"] for one in self.params["events"] if day_of(one).isoformat() == day]
        return {**self.params, "title": rng.choice([other for other in same_day if other != title])}


TASKS: tuple[type[Task], ...] = (
    CalendarAddEvent, CalendarRenameEvent, CalendarDescribeEvent, CalendarLocateEvent, CalendarRepeatEvent,
    CalendarAllDayEvent, CalendarMoveEvent, CalendarStartOfEvent,
)  # fmt: skip
