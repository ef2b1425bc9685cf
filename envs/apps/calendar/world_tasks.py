"""Families of the Simple Calendar Pro app."""

from __future__ import annotations

import random
import re
from datetime import date, datetime, time, timedelta
from typing import Any

from coach_gym.envs.apps.calendar import task_events as events
from coach_gym.envs.apps.calendar.task_events import TODAY, EventParams
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.answers import plain, same_items
from coach_gym.envs.tasks.records import another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

MINUTE, HOUR = 60, 3600
NOW = datetime(2023, 10, 15, 15, 34)  # when every instance starts


def spoken(day: date) -> str:
    """Returns a day as goals say it, e.g. `October 20`."""
    return f"{day:%B %-d}"


def day_of(one: EventParams) -> date:
    """Returns the day on which an event starts."""
    return from_seconds(one["start"]).date()


def clock(seconds: int) -> str:
    """Returns the time of day, e.g. `14:30`."""
    return f"{from_seconds(seconds):%H:%M}"


class CalendarTask(Task):
    """A task on a calendar that holds `params["events"]` at the start."""

    apps = ("Simple Calendar Pro",)

    def setup(self, device: Device) -> None:
        """Stores the events."""
        events.store(device, self.params["events"])

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks that the calendar holds the expected events and no others."""
        return float(events.holds(device, self.expected()))

    def expected(self) -> list[EventParams]:
        """Returns the events that the calendar has to hold in the end."""
        return self.params["events"]


class SimpleCalendarAddOneEvent(CalendarTask):
    """A new event on a day given by its date."""

    template = (
        "Add an event to the calendar on {when} at {time} for {minutes} minutes. "
        "Title: {title}. Description: {description}"
    )
    difficulty = "medium"
    budget = 38

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the new event and up to ten others."""
        new, *old = events.events(rng, [cls.day(rng), *events.random_days(rng, rng.randint(0, 10))])
        when = {"when": cls.phrase(day_of(new)), "time": clock(new["start"])}
        return {**when, **new, "description": events.note(rng), "events": old}

    @classmethod
    def day(cls, rng: ParamRng) -> date:
        """Returns a day for the new event."""
        return TODAY + timedelta(days=rng.randint(0, 16))

    @classmethod
    def phrase(cls, day: date) -> str:
        """Returns the day as the goal names it."""
        return spoken(day)

    def expected(self) -> list[EventParams]:
        """Returns the old events and the new one."""
        new: Any = {key: self.params[key] for key in EventParams.__annotations__}
        return [*self.params["events"], new]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another start, length or title."""
        later = self.params["start"] + HOUR
        wrong = rng.choice([{"start": later}, {"minutes": self.params["minutes"] + 5}, {"title": "Meeting"}])
        return {**self.params, **wrong}


class SimpleCalendarAddOneEventRelativeDay(SimpleCalendarAddOneEvent):
    """A new event on a day of the coming week."""

    template = (
        "Add an event to the calendar for {when} at {time} for {minutes} minutes. "
        "Title: {title}. Description: {description}"
    )

    @classmethod
    def day(cls, rng: ParamRng) -> date:
        """Returns a day of the coming week."""
        return TODAY + timedelta(days=rng.randint(1, 6))

    @classmethod
    def phrase(cls, day: date) -> str:
        """Returns the weekday."""
        return f"this {day:%A}"


class SimpleCalendarAddOneEventTomorrow(SimpleCalendarAddOneEventRelativeDay):
    """A new event tomorrow."""

    @classmethod
    def day(cls, rng: ParamRng) -> date:
        """Returns tomorrow."""
        return TODAY + timedelta(days=1)

    @classmethod
    def phrase(cls, day: date) -> str:
        """Returns "tomorrow"."""
        return "tomorrow"


class SimpleCalendarAddOneEventInTwoWeeks(SimpleCalendarAddOneEventTomorrow):
    """A new event on the day two weeks from today."""

    @classmethod
    def day(cls, rng: ParamRng) -> date:
        """Returns the day in two weeks."""
        return TODAY + timedelta(days=14)

    @classmethod
    def phrase(cls, day: date) -> str:
        """Returns "two weeks from today"."""
        return "two weeks from today"


class SimpleCalendarAddRepeatingEvent(SimpleCalendarAddOneEvent):
    """A new event that repeats without end."""

    template = (
        "Add an event to the calendar that starts on {when} at {time}, takes {minutes} minutes and repeats {how}. "
        "Title: {title}. Description: {description}"
    )
    difficulty = "hard"
    budget = 42

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the repetition, too."""
        repetition = rng.choice(["Daily", "Weekly"])
        return {**super().sample(rng), "repetition": repetition, "how": repetition.lower()}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a monthly repetition."""
        return {**self.params, "repetition": "Monthly"}


class SimpleCalendarDeleteEvents(CalendarTask):
    """All events of a day given by its date."""

    template = "Delete all events on {when} from the calendar."
    budget = 18
    count = 3

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the events of the day and five to twelve others."""
        day = cls.day(rng)
        days = [day] * cls.count + events.random_days(rng, rng.randint(5, 12), without=[day])
        drawn = events.events(rng, days)
        return {"day": day.isoformat(), "when": cls.phrase(day), "events": rng.sample(drawn, len(drawn))}

    @classmethod
    def day(cls, rng: ParamRng) -> date:
        """Returns the day whose events are deleted."""
        return events.FIRST + timedelta(days=rng.randint(0, 30))

    @classmethod
    def phrase(cls, day: date) -> str:
        """Returns the day as the goal names it."""
        return spoken(day)

    def expected(self) -> list[EventParams]:
        """Returns the events of other days."""
        return [one for one in self.params["events"] if day_of(one).isoformat() != self.params["day"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another day with an event."""
        return {**self.params, "day": day_of(rng.choice(self.expected())).isoformat()}


class SimpleCalendarDeleteEventsOnRelativeDay(SimpleCalendarDeleteEvents):
    """All events of a day of the coming week."""

    template = "Delete all of {when}'s events from the calendar."
    difficulty = "medium"
    budget = 16
    count = 2

    @classmethod
    def day(cls, rng: ParamRng) -> date:
        """Returns a day of the coming week."""
        return TODAY + timedelta(days=rng.randint(1, 6))

    @classmethod
    def phrase(cls, day: date) -> str:
        """Returns the weekday."""
        return f"this {day:%A}"


class SimpleCalendarDeleteOneEvent(CalendarTask):
    """One of two events of a day, where another day has an event of the same title."""

    template = "Delete the event {title} on {when} at {time} from the calendar."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two events of a day, and one of the same title on another day."""
        day = events.FIRST + timedelta(days=rng.randint(0, 30))
        others = events.random_days(rng, rng.randint(3, 9), without=[day])
        chosen, *rest = events.events(rng, [day, day, *others])
        rest[-1]["title"] = chosen["title"]
        drawn = rng.sample([chosen, *rest], len(rest) + 1)
        about = {"title": chosen["title"], "when": spoken(day), "time": clock(chosen["start"])}
        return {**about, "start": chosen["start"], "events": drawn}

    def expected(self) -> list[EventParams]:
        """Returns the events that start at other times."""
        return [one for one in self.params["events"] if one["start"] != self.params["start"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another event."""
        wrong = rng.choice(self.expected())
        return {**self.params, "title": wrong["title"], "start": wrong["start"]}


class CalendarQuestion(CalendarTask):
    """A question that is answered with titles of events. The calendar has to stay as it is."""

    kind = "query"
    budget = 10

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks the answer; the calendar must not have changed."""
        return float(self.is_right(answer) and super().evaluate(device, answer))

    def is_right(self, answer: str | None) -> bool:
        """Returns whether the answer is right."""
        return same_items(answer, (one["title"] for one in self.params["events"] if self.fits(one)))

    def fits(self, one: EventParams) -> bool:
        """Returns whether the goal asks for an event."""
        return self.params["from"] <= one["start"] <= self.params["to"]


def _span(first: datetime, last: datetime) -> dict[str, int]:
    """Returns parameters: the times between which the events start that a goal asks for."""
    return {"from": to_seconds(first), "to": to_seconds(last)}


def _near(rng: ParamRng) -> tuple[date, str]:
    """Returns a day from today on, and its name in goals."""
    offset = rng.randint(0, 15)
    day = TODAY + timedelta(days=offset)
    return day, {0: "today", 1: "tomorrow"}.get(offset) or f"on {spoken(day)}"


class SimpleCalendarEventsOnDate(CalendarQuestion):
    """The events of a day."""

    template = "Which events are in the calendar {when}? Answer with their titles, separated by commas."

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws one to three events of the day, one of the day after, and others."""
        day, when = _near(rng)
        others = events.random_days(rng, rng.randint(4, 10), without=[day])
        drawn = events.events(rng, [day] * rng.randint(1, 3) + [day + timedelta(days=1)] + others)
        span = _span(datetime.combine(day, time()), datetime.combine(day, time(23, 59)))
        return {"when": when, **span, "events": rng.sample(drawn, len(drawn))}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the day after."""
        return {**self.params, **{end: self.params[end] + 24 * HOUR for end in ("from", "to")}}


class SimpleCalendarAnyEventsOnDate(SimpleCalendarEventsOnDate):
    """The same question, asked in passing."""

    template = "Is there anything in my calendar {when}? If so, answer with the titles, separated by commas."


class SimpleCalendarEventOnDateAtTime(CalendarQuestion):
    """The event at a time of a day."""

    template = "Which event starts {when} at {time}? Answer with its title."

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to four events of the day and picks one."""
        day, when = _near(rng)
        others = events.random_days(rng, rng.randint(3, 8), without=[day])
        drawn = events.events(rng, [day] * rng.randint(2, 4) + others)
        start = from_seconds(drawn[0]["start"])
        return {"when": when, "time": f"{start:%H:%M}", **_span(start, start), "events": rng.sample(drawn, len(drawn))}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the time of another event of the day."""
        day = from_seconds(self.params["from"]).date()
        same_day = [one["start"] for one in self.params["events"] if day_of(one) == day and not self.fits(one)]
        start = rng.choice(same_day)
        return {**self.params, "from": start, "to": start}


class SimpleCalendarEventsInTimeRange(CalendarQuestion):
    """The events between two times of a day."""

    template = "Which events start {when} between {first} and {last}? Answer with their titles, separated by commas."
    difficulty = "medium"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to five events of the day, and times around one or two of them."""
        day, when = _near(rng)
        others = events.random_days(rng, rng.randint(3, 8), without=[day])
        drawn = events.events(rng, [day] * rng.randint(3, 5) + others)
        starts = sorted(one["start"] for one in drawn if day_of(one) == day)[: rng.randint(1, 2)]
        first, last = starts[0] - 5 * MINUTE, starts[-1] + 5 * MINUTE  # no event starts at either
        times = {"first": clock(first), "last": clock(last), "from": first, "to": last}
        return {"when": when, **times, "events": rng.sample(drawn, len(drawn))}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the rest of the day."""
        return {**self.params, "from": self.params["to"], "to": self.params["to"] + 14 * HOUR}


class SimpleCalendarEventsInNextWeek(CalendarQuestion):
    """The events of the week that starts tomorrow."""

    template = (
        "Which events are in the calendar next week, from Monday to Sunday? "
        "Answer with their titles, separated by commas."
    )
    difficulty = "medium"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws one to four events of the week and eight others."""
        week = [TODAY + timedelta(days=n) for n in range(1, 8)]
        drawn = events.events(rng, rng.choices(week, k=rng.randint(1, 4)) + events.random_days(rng, 8, without=week))
        span = _span(datetime(2023, 10, 16), datetime(2023, 10, 22, 23, 59))
        return {**span, "events": rng.sample(drawn, len(drawn))}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the week after."""
        return {**self.params, **{end: self.params[end] + 7 * 24 * HOUR for end in ("from", "to")}}


class SimpleCalendarFirstEventAfterStartTime(CalendarQuestion):
    """The first event after a time of a day."""

    template = "Which is the first event that starts after {time} {when}? Answer with its title."
    difficulty = "medium"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to four events of the day and a time just before one of them."""
        day, when = _near(rng)
        others = events.random_days(rng, rng.randint(3, 8), without=[day])
        drawn = events.events(rng, [day] * rng.randint(2, 4) + others)
        starts = sorted(one["start"] for one in drawn if day_of(one) == day)
        chosen = rng.choice(starts)
        after = chosen - rng.choice([5, 10]) * MINUTE
        span = {"from": after, "to": chosen}
        return {"when": when, "time": clock(after), **span, "events": rng.sample(drawn, len(drawn))}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a later time, or an earlier one if nothing comes later."""
        day, chosen = from_seconds(self.params["from"]).date(), self.params["to"]
        later = any(one["start"] > chosen for one in self.params["events"] if day_of(one) == day)
        return {**self.params, "from": chosen if later else to_seconds(datetime.combine(day, time()))}


class SimpleCalendarNextEvent(CalendarQuestion):
    """The next event."""

    template = "Which is my next event in the calendar? Answer with its title."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws past and future events, some of them today."""
        offsets = [rng.randint(1, 4), *rng.choices(range(-14, 0), k=3), *rng.choices(range(5, 16), k=4)]
        if rng.random() < 0.5:
            offsets.append(0)
        drawn = events.events(rng, [TODAY + timedelta(days=offset) for offset in offsets])
        following = min(one["start"] for one in drawn if one["start"] > to_seconds(NOW))
        return {"from": to_seconds(NOW), "to": following, "events": rng.sample(drawn, len(drawn))}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the event after the next."""
        return {**self.params, "from": self.params["to"]}


class SimpleCalendarLocationOfEvent(CalendarQuestion):
    """The location of an event."""

    template = "What is the location of the event {title} in the calendar?"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to seven events with locations and picks one."""
        days = [TODAY + timedelta(days=rng.randint(0, 15)) for _ in range(rng.randint(3, 7))]
        drawn = events.events(rng, days)
        for one, street in zip(drawn, words.STREETS.draw_many(rng, len(drawn)), strict=True):
            one["location"] = street
        return {"title": rng.choice(drawn)["title"], "events": drawn}

    def is_right(self, answer: str | None) -> bool:
        """Compares the answer with the location."""
        place = next(one["location"] for one in self.params["events"] if one["title"] == self.params["title"])
        return plain(answer or "") == plain(place)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another event."""
        return another(rng, self.params, "title", [one["title"] for one in self.params["events"]])


class SimpleCalendarNextMeetingWithPerson(CalendarQuestion):
    """The date and time of the next meeting with a person."""

    template = "When is my next meeting with {name}? Answer with date and time, such as: October 3 2023 14:30"
    difficulty = "medium"
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws meetings with two people, among other events."""
        name, other = words.FIRST_NAMES.draw_many(rng, 2)
        offsets = [rng.randint(1, 8), rng.randint(9, 15), -rng.randint(1, 14), rng.randint(1, 15)]
        offsets += [rng.randint(-14, 15) for _ in range(rng.randint(2, 5))]
        drawn = events.events(rng, [TODAY + timedelta(days=offset) for offset in offsets])
        for one, person in zip(drawn, (name, name, name, other), strict=False):
            one["title"] = f"Meeting with {person}"
        return {"name": name, "other": other, "events": rng.sample(drawn, len(drawn))}

    def is_right(self, answer: str | None) -> bool:
        """Compares date and time."""
        title, now = f"Meeting with {self.params['name']}", to_seconds(NOW)
        start = min(one["start"] for one in self.params["events"] if one["title"] == title and one["start"] > now)
        given = plain(re.sub(r",|\bat\b", " ", answer or ""))
        return given == plain(f"{from_seconds(start):%B %-d %Y %H:%M}")

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other person."""
        return {**self.params, "name": self.params["other"]}


TASKS: tuple[type[Task], ...] = (
    SimpleCalendarAddOneEvent, SimpleCalendarAddOneEventRelativeDay, SimpleCalendarAddOneEventTomorrow,
    SimpleCalendarAddOneEventInTwoWeeks, SimpleCalendarAddRepeatingEvent, SimpleCalendarDeleteEvents,
    SimpleCalendarDeleteEventsOnRelativeDay, SimpleCalendarDeleteOneEvent, SimpleCalendarEventsOnDate,
    SimpleCalendarAnyEventsOnDate,
    SimpleCalendarEventOnDateAtTime, SimpleCalendarEventsInTimeRange, SimpleCalendarEventsInNextWeek,
    SimpleCalendarFirstEventAfterStartTime, SimpleCalendarNextEvent, SimpleCalendarLocationOfEvent,
    SimpleCalendarNextMeetingWithPerson,
)  # fmt: skip
