"""Families of the Clock app: alarms, timers, cities and their questions."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock import task_alarms as alarms
from coach_gym.envs.apps.clock.cities import OFFSETS, time_in
from coach_gym.envs.apps.clock.data import DAYS, Alarm
from coach_gym.envs.apps.clock.lab import HOURS_AHEAD
from coach_gym.envs.apps.clock.task_alarms import ClockTask
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone import preferences
from coach_gym.envs.tasks import answers, words
from coach_gym.envs.tasks.words import ParamRng


def values(device: Device) -> dict[str, preferences.Value]:
    """The Clock app's preferences."""
    return preferences.from_xml(device.read(clock_data.PREFERENCES) or b"<map />")


# new alarms


class ClockAddAlarm(ClockTask):
    template = "Set an alarm for {time}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        (hour, minute, *_), *others = alarms.entries(rng, rng.randint(1, 5))
        return {"time": alarms.clock(hour, minute), "alarms": others}

    def expected(self) -> list[Alarm]:
        return [*self.alarms, self.added()]

    def added(self) -> Alarm:
        """The new alarm."""
        return alarms.at(self.params["time"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "time": alarms.later(self.params["time"])}


class ClockAddAlarmWithLabel(ClockAddAlarm):
    template = "Set an alarm for {time} with the label {label}."
    difficulty = "medium"
    budget = 20

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        return {**super().sample(rng), "label": words.EVENTS.draw(rng)}

    def added(self) -> Alarm:
        return alarms.at(self.params["time"], label=self.params["label"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "label": f"{self.params['label']}s"}


class ClockAddRepeatingAlarm(ClockAddAlarm):
    template = "Set an alarm for {time} that repeats every {days}."
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        days = sorted(rng.sample(range(7), rng.choice((1, 2, 2, 3))))
        return {**super().sample(rng), "days": _listed([DAYS[day] for day in days])}

    def added(self) -> Alarm:
        days = sum(1 << i for i, day in enumerate(DAYS) if day in self.params["days"])
        return alarms.at(self.params["time"], days=days)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        missing = [day for day in DAYS if day not in self.params["days"]]
        return {**self.params, "days": f"{rng.choice(missing)} and {self.params['days']}"}


def _listed(names: list[str]) -> str:
    """Names as in a sentence: a, b and c."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


# alarms that are there


class _OneAlarm(ClockTask):
    """A task about one of several alarms, named by its time and its label."""

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        entries = alarms.entries(rng, rng.randint(2, 5))
        hour, minute, *_, label = rng.choice(entries)
        return {"time": alarms.clock(hour, minute), "label": label, "alarms": entries}

    @property
    def others(self) -> list[Alarm]:
        """All alarms but the one in question."""
        return [alarm for alarm in self.alarms if alarm.label != self.params["label"]]

    @property
    def chosen(self) -> Alarm:
        """The alarm in question."""
        return next(alarm for alarm in self.alarms if alarm.label == self.params["label"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        other = rng.choice(self.others)
        return {**self.params, "time": other.time, "label": other.label}


class ClockDeleteAlarm(_OneAlarm):
    template = "Delete the alarm at {time}."
    budget = 10

    def expected(self) -> list[Alarm]:
        return self.others


class ClockSwitchAlarm(_OneAlarm):
    template = "Turn the alarm at {time} {on_or_off}."
    budget = 8

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        params = super().sample(rng)
        on = rng.random() < 0.5
        for entry in params["alarms"]:
            entry[3] = not on if entry[4] == params["label"] else entry[3]
        return {**params, "on_or_off": "on" if on else "off"}

    def expected(self) -> list[Alarm]:
        return [*self.others, replace(self.chosen, enabled=self.params["on_or_off"] == "on")]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        other = rng.choice(self.others)
        return {**self.params, "time": other.time, "on_or_off": "off" if other.enabled else "on"}


class ClockMoveAlarm(_OneAlarm):
    """An alarm whose time is changed is on afterwards."""

    template = "Change the {label} alarm to {new_time}."
    difficulty = "medium"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        params = super().sample(rng)
        hour, minute = next(pair for pair in alarms.times(rng, 24) if _is_free(pair[0], params["alarms"]))
        return {**params, "new_time": alarms.clock(hour, minute)}

    def expected(self) -> list[Alarm]:
        moved = alarms.at(self.params["new_time"], days=self.chosen.days, label=self.chosen.label)
        return [*self.others, moved]


def _is_free(hour: int, entries: list[alarms.Entry]) -> bool:
    return all(entry[0] != hour for entry in entries)


class ClockLabelAlarm(_OneAlarm):
    """One alarm has no label yet."""

    template = "Give the alarm at {time} the label {new_label}."
    difficulty = "medium"
    budget = 16

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        params = super().sample(rng)
        taken = {entry[4] for entry in params["alarms"]}
        new = next(label for label in words.EVENTS.draw_many(rng, 8) if label not in taken)
        unlabelled = [[*entry[:4], "" if entry[4] == params["label"] else entry[4]] for entry in params["alarms"]]
        return {**params, "new_label": new, "alarms": unlabelled}

    @property
    def others(self) -> list[Alarm]:
        return [alarm for alarm in self.alarms if alarm.label]

    @property
    def chosen(self) -> Alarm:
        return next(alarm for alarm in self.alarms if not alarm.label)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "new_label": f"{self.params['new_label']}s"}

    def expected(self) -> list[Alarm]:
        return [*self.others, replace(self.chosen, label=self.params["new_label"])]


# questions


class ClockAlarmTime(_OneAlarm):
    template = "At what time is the {label} alarm?"
    budget = 6
    kind = "query"

    def evaluate(self, device: Device, answer: str | None) -> float:
        return super().evaluate(device, answer) * answers.same_time(answer, self.chosen.time)


class ClockCountAlarms(ClockTask):
    template = "How many alarms are {on_or_off}? Answer with the number."
    budget = 6
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        entries = alarms.entries(rng, rng.randint(2, 6))
        on = sum(entry[3] for entry in entries)
        if 2 * on == len(entries):  # as many are on as off: then nobody could tell which were counted
            entries[0][3] = not entries[0][3]
        return {"on_or_off": rng.choice(("on", "off")), "alarms": entries}

    def evaluate(self, device: Device, answer: str | None) -> float:
        wanted = self.params["on_or_off"] == "on"
        count = sum(alarm.enabled == wanted for alarm in self.alarms)
        return super().evaluate(device, answer) * answers.same_number(answer, count)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "on_or_off": "off" if self.params["on_or_off"] == "on" else "on"}


# timers and settings


class ClockStartTimer(ClockTask):
    template = "Start a timer of {minutes} minutes."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        return {"minutes": rng.randint(2, 59), "alarms": alarms.entries(rng, rng.randrange(4))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        found = [(timer.length, timer.state) for timer in clock_data.timers(values(device))]
        wanted = [(60_000 * self.params["minutes"], clock_data.RUNNING)]
        return super().evaluate(device, answer) * (found == wanted)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "minutes": self.params["minutes"] % 58 + 2}


class ClockSnoozeLength(ClockTask):
    template = "Make alarms snooze for {minutes} minutes."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        return {"minutes": rng.choice((5, 15, 20, 25, 30)), "alarms": alarms.entries(rng, rng.randrange(4))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        changed = values(device) == {"snooze_duration": str(self.params["minutes"])}
        return super().evaluate(device, answer) * changed

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return {**self.params, "minutes": 20 if self.params["minutes"] != 20 else 25}


# cities


class _Cities(ClockTask):
    """A task with some cities on the world clock, no two of which have the same time."""

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        cities: dict[float, str] = {}
        for name in words.CITIES.draw_many(rng, 12):
            cities.setdefault(OFFSETS[name], name)
        city, *shown = list(cities.values())[: rng.randint(3, 5)]
        return {"city": city, "cities": shown, "alarms": []}

    def setup(self, device: Device) -> None:
        super().setup(device)
        shown: list[str] = self.params["cities"]
        device.write(clock_data.PREFERENCES, preferences.to_xml(clock_data.city_values(shown)))


class ClockAddCity(_Cities):
    template = "Add {city} to the world clock."
    budget = 16

    def evaluate(self, device: Device, answer: str | None) -> float:
        return float(clock_data.cities(values(device)) == [*self.params["cities"], self.params["city"]])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        taken = {self.params["city"], *self.params["cities"]}
        return {**self.params, "city": rng.choice([name for name in OFFSETS if name not in taken])}


class ClockCityTime(_Cities):
    template = "What time is it in {city}?"
    budget = 6
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        params = super().sample(rng)
        shown = [params["city"], *params["cities"]]
        return {**params, "cities": rng.sample(shown, len(shown))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        now = device.now
        shown = [time_in(self.params["city"], now - timedelta(minutes=late), HOURS_AHEAD) for late in (0, 1)]
        return float(any(answers.same_time(answer, time.strftime("%H:%M")) for time in shown))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        other = rng.choice([name for name in self.params["cities"] if name != self.params["city"]])
        return {**self.params, "city": other}


TASKS = (
    ClockAddAlarm,
    ClockAddAlarmWithLabel,
    ClockAddRepeatingAlarm,
    ClockDeleteAlarm,
    ClockSwitchAlarm,
    ClockMoveAlarm,
    ClockLabelAlarm,
    ClockAlarmTime,
    ClockCountAlarms,
    ClockStartTimer,
    ClockSnoozeLength,
    ClockAddCity,
    ClockCityTime,
)
