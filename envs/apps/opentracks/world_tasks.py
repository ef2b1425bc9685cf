"""Families of the OpenTracks app: questions about recorded activities."""

from __future__ import annotations

import random
from abc import abstractmethod
from datetime import date, datetime, time, timedelta
from typing import Any

from coach_gym.envs.apps.opentracks.data import DATABASE, METERS_PER_MILE, save
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.tasks.answers import about, same_items, same_number
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng, Pool

Activity = list  # [name, category, description, start in seconds since 1970, minutes, meters]: JSON

TODAY = date(2023, 10, 15)  # a Sunday
MONDAY = date(2023, 10, 9)
FIRST = date(2023, 9, 20)
TOLERANCE = 10  # meters; the app shows hundredths of a mile
CATEGORIES = (
    "climbing", "cycling", "hiking", "kayaking", "rowing", "running", "sailing", "skateboarding", "skiing", "surfing",
    "swimming", "walking",
)  # fmt: skip
OUTINGS = Pool("""
    Along the river; Around the block; Around the lake; Back to form; Before breakfast; Charity challenge;
    City loop; Coast path; Cool down; Early bird; Easy day; Evening round; Foggy morning; Forest loop;
    Full moon; Half distance; Harbour tour; Hill repeats; Holiday special; Interval set; Into the wind;
    Last light; Long weekend; Lunch break; Midweek session; New shoes; North shore; Old railway; Out and back;
    Over the pass; Party of four; Personal best; Quick escape; Rainy loop; Recovery; Season opener; Slow start;
    Solo trip; South side; Steady pace; Sunday classic; Technique drill; Three bridges; To the tower;
    Training camp; Up and down; Village loop; Warm up; With the club; With the neighbours
""")
REMARKS = ("", "Felt strong", "Windy all the way", "Tired legs", "Great company", "Bring more water", "Perfect weather")


def activities(rng: ParamRng, days: list[date]) -> list[Activity]:
    """Returns an activity on each of some days; they share no name, and no two start at the same time."""
    hours: dict[date, list[int]] = {}
    drawn = []
    for name, day in zip(OUTINGS.draw_many(rng, len(days)), days, strict=True):
        hour = hours.setdefault(day, rng.sample(range(6, 15), 9)).pop()
        start = datetime.combine(day, time(hour, rng.choice([0, 10, 15, 30, 45])))
        drawn.append(
            [name, rng.choice(CATEGORIES), rng.choice(REMARKS), to_seconds(start), 5 * rng.randint(3, 50), _meters(rng)]
        )
    return drawn


def _meters(rng: ParamRng) -> int:
    """Returns a distance that the app shows without loss: hundredths of a mile, rounded to meters."""
    return round(rng.randint(60, 1200) / 100 * METERS_PER_MILE)


def some_days(rng: ParamRng, count: int) -> list[date]:
    """Returns days of the last weeks, some perhaps twice."""
    return [FIRST + timedelta(days=rng.randint(0, (TODAY - FIRST).days)) for _ in range(count)]


def day_of(activity: Activity) -> date:
    """Returns the day on which an activity began."""
    return from_seconds(activity[3]).date()


def spoken(day: date) -> str:
    """Returns a day as goals say it, e.g. `October 9`."""
    return f"{day:%B %-d}"


class SportsTask(Task):
    """A question about those of `params["activities"]` that belong to a category and fall on some days."""

    apps = ("OpenTracks",)
    kind = "query"
    budget = 20

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws activities of the category on the days, one of another category there, and others elsewhere."""
        first, last = cls.days(rng)
        span = {"from": first.isoformat(), "to": last.isoformat()}
        wanted, other = rng.sample(CATEGORIES, 2)
        inside = [first + timedelta(days=rng.randint(0, (last - first).days)) for _ in range(cls.count(rng))]
        drawn = activities(rng, [*inside, first, *some_days(rng, rng.randint(8, 12))])
        for activity in drawn[: len(inside)]:
            activity[1] = wanted
        drawn[len(inside)][1] = other
        drawn = [*drawn[: len(inside) + 1], *(a for a in drawn[len(inside) + 1 :] if a[1] != wanted)]
        when = {"first": spoken(first), "last": spoken(last), "category": wanted, "other": other}
        return {**when, **span, "activities": rng.sample(drawn, len(drawn))}

    @classmethod
    def days(cls, rng: ParamRng) -> tuple[date, date]:
        """Returns the first and the last day that are asked about."""
        return MONDAY, TODAY

    @classmethod
    def count(cls, rng: ParamRng) -> int:
        """Returns how many activities of the category there are on those days."""
        return rng.randint(2, 4)

    def setup(self, device: Device) -> None:
        """Stores the activities."""
        with device.database(DATABASE) as db:
            for name, category, description, start, minutes, meters in self.params["activities"]:
                begin = from_seconds(start)
                save(db, name, begin, begin + timedelta(minutes=minutes), category, description, meters)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Checks the answer; no activity may be missing or added."""
        with device.database(DATABASE) as db:
            kept = db.execute("SELECT count(*) FROM tracks").fetchone()[0] == len(self.params["activities"])
        return float(kept and self.is_right(answer))

    @abstractmethod
    def is_right(self, answer: str | None) -> bool:
        """Returns whether the answer is the one asked for."""

    @property
    def counted(self) -> list[Activity]:
        """The activities that are asked about."""
        first, last = (date.fromisoformat(self.params[key]) for key in ("from", "to"))
        found = [a for a in self.params["activities"] if first <= day_of(a) <= last]
        return [a for a in found if a[1] == self.params["category"]]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another category, or one without activities if its answer is the same."""
        wrong = {**self.params, "category": self.params["other"]}
        if type(self)(wrong).result == self.result:
            wrong["category"] = "chess"
        return wrong

    @property
    def result(self) -> float:
        """The right answer, as a number."""
        return float(len(self.counted))


class SportsTrackerActivitiesCountForWeek(SportsTask):
    """The number of activities of a category this week."""

    template = (
        "In OpenTracks, how many {category} activities are there in this week, which began on Monday? "
        "Answer with the number."
    )

    def is_right(self, answer: str | None) -> bool:
        """Compares the number."""
        return same_number(answer, int(self.result))


class SportsTrackerActivityDuration(SportsTask):
    """The length of the only activity of a category on a day."""

    template = "In OpenTracks, how long was my {category} activity of {first}? Answer with the number of minutes."

    @classmethod
    def days(cls, rng: ParamRng) -> tuple[date, date]:
        """Returns one of the last eleven days."""
        day = TODAY - timedelta(days=rng.randint(0, 10))
        return day, day

    @classmethod
    def count(cls, rng: ParamRng) -> int:
        """Returns one: the question is about a single activity."""
        return 1

    @property
    def result(self) -> float:
        """The minutes of the activities that are asked about."""
        return float(sum(activity[4] for activity in self.counted))

    def is_right(self, answer: str | None) -> bool:
        """Compares the minutes."""
        return same_number(answer, int(self.result))


class SportsTrackerTotalDurationForCategoryThisWeek(SportsTrackerActivityDuration):
    """The total length of all activities of a category this week."""

    template = (
        "In OpenTracks, how long were this week's {category} activities taken together? The week began on Monday. "
        "Answer with the number of minutes."
    )
    difficulty = "hard"
    days = SportsTask.days
    count = SportsTask.count


class SportsTrackerLongestDistanceActivity(SportsTask):
    """The distance of the longest activity of a category this week."""

    template = (
        "In OpenTracks, how far did I go in the longest {category} activity of this week, which began on Monday? "
        "Answer with the meters as a whole number; a mile has 1609.344."
    )
    difficulty = "medium"

    @property
    def result(self) -> float:
        """The longest distance in meters."""
        return float(max((activity[5] for activity in self.counted), default=0))

    def is_right(self, answer: str | None) -> bool:
        """Compares the meters, within ten."""
        return about(answer, self.result, TOLERANCE)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a category without activities."""
        return {**self.params, "category": "chess"}


class SportsTrackerTotalDistanceForCategoryOverInterval(SportsTrackerLongestDistanceActivity):
    """The total distance of all activities of a category between two days."""

    template = (
        "In OpenTracks, how far did I go in all {category} activities from {first} to {last} together? "
        "Answer with the meters as a whole number; a mile has 1609.344."
    )
    difficulty = "hard"

    @classmethod
    def days(cls, rng: ParamRng) -> tuple[date, date]:
        """Returns a day of early October and one of the week after."""
        return date(2023, 10, rng.randint(1, 9)), date(2023, 10, rng.randint(10, 15))

    @property
    def result(self) -> float:
        """The sum of the distances in meters."""
        return float(sum(activity[5] for activity in self.counted))


class SportsTrackerActivitiesOnDate(SportsTask):
    """The categories of the activities on a day."""

    template = "In OpenTracks, which types of activities did I record on {first}? Answer with the types alone."
    difficulty = "medium"
    budget = 22

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two or three categories for a day, and another for a different day."""
        day, other = rng.sample([TODAY - timedelta(days=n) for n in range(21)], 2)
        kinds = rng.sample(CATEGORIES, rng.randint(2, 3) + 1)
        elsewhere = [d for d in some_days(rng, rng.randint(8, 12)) if d not in (day, other)]
        drawn = activities(rng, [*[day] * (len(kinds) - 1), other, *elsewhere])
        for activity, kind in zip(drawn, kinds, strict=False):
            activity[1] = kind
        span = {"from": day.isoformat(), "to": day.isoformat(), "other": other.isoformat()}
        return {"first": spoken(day), **span, "activities": rng.sample(drawn, len(drawn))}

    def is_right(self, answer: str | None) -> bool:
        """Compares the categories, in any order."""
        day = date.fromisoformat(self.params["from"])
        return same_items(answer, [a[1] for a in self.params["activities"] if day_of(a) == day])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the different day."""
        return {**self.params, "from": self.params["other"], "to": self.params["other"]}


TASKS: tuple[type[Task], ...] = (
    SportsTrackerActivitiesCountForWeek, SportsTrackerActivitiesOnDate, SportsTrackerActivityDuration,
    SportsTrackerLongestDistanceActivity, SportsTrackerTotalDistanceForCategoryOverInterval,
    SportsTrackerTotalDurationForCategoryThisWeek,
)  # fmt: skip
