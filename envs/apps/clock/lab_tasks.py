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
from coach_gym.envs.tasks.records import another
from coach_gym.envs.tasks.words import ParamRng


def values(device: Device) -> dict[str, preferences.Value]:
    """Returns the Clock app's preferences."""
    return preferences.from_xml(device.read(clock_data.PREFERENCES) or b"<map />")


# new alarms


class ClockAddAlarm(ClockTask):
    """A new alarm."""

    template = "Set an alarm for {time}."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a time and one to five other alarms."""
        (hour, minute, *_), *others = alarms.entries(rng, rng.randint(1, 5))
        return {"time": alarms.clock(hour, minute), "alarms": others}

    def expected(self) -> list[Alarm]:
        """Returns the alarms of the start and the new one."""
        return [*self.alarms, self.added()]

    def added(self) -> Alarm:
        """Returns the new alarm."""
        return alarms.at(self.params["time"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a time one hour later."""
        return {**self.params, "time": alarms.later(self.params["time"])}


class ClockAddAlarmWithLabel(ClockAddAlarm):
    """A new alarm with a label."""

    template = "Set an alarm for {time} with the label {label}."
    difficulty = "medium"
    budget = 20

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a label, too."""
        return {**super().sample(rng), "label": words.EVENTS.draw(rng)}

    def added(self) -> Alarm:
        """Returns the new alarm with its label."""
        return alarms.at(self.params["time"], label=self.params["label"])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a label with one more letter."""
        return {**self.params, "label": f"{self.params['label']}s"}


class ClockAddRepeatingAlarm(ClockAddAlarm):
    """A new alarm that rings on some days of every week."""

    template = "Set an alarm for {time} that repeats every {days}."
    difficulty = "medium"
    budget = 18

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws one to three days, too."""
        days = sorted(rng.sample(range(7), rng.choice((1, 2, 2, 3))))
        return {**super().sample(rng), "days": _listed([DAYS[day] for day in days])}

    def added(self) -> Alarm:
        """Returns the new alarm with its days."""
        days = sum(1 << i for i, day in enumerate(DAYS) if day in self.params["days"])
        return alarms.at(self.params["time"], days=days)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns one more day."""
        missing = [day for day in DAYS if day not in self.params["days"]]
        return {**self.params, "days": f"{rng.choice(missing)} and {self.params['days']}"}


def _listed(names: list[str]) -> str:
    """Joins names as in a sentence: a, b and c."""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


# alarms that are there


class _OneAlarm(ClockTask):
    """A task about one of several alarms, named by its time and its label."""

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to five alarms and picks one."""
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
        """Returns another alarm."""
        other = rng.choice(self.others)
        return {**self.params, "time": other.time, "label": other.label}


class ClockDeleteAlarm(_OneAlarm):
    """An alarm removed."""

    template = "Delete the alarm at {time}."
    budget = 10

    def expected(self) -> list[Alarm]:
        """Returns the other alarms."""
        return self.others


class ClockSwitchAlarm(_OneAlarm):
    """An alarm turned on or off."""

    template = "Turn the alarm at {time} {on_or_off}."
    budget = 8

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the state, and gives the alarm the other one."""
        params = super().sample(rng)
        on = rng.random() < 0.5
        for entry in params["alarms"]:
            entry[3] = not on if entry[4] == params["label"] else entry[3]
        return {**params, "on_or_off": "on" if on else "off"}

    def expected(self) -> list[Alarm]:
        """Returns the alarms with one of them turned on or off."""
        return [*self.others, replace(self.chosen, enabled=self.params["on_or_off"] == "on")]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another alarm, and the state that it does not have."""
        other = rng.choice(self.others)
        return {**self.params, "time": other.time, "on_or_off": "off" if other.enabled else "on"}


class ClockMoveAlarm(_OneAlarm):
    """An alarm whose time is changed is on afterwards."""

    template = "Change the {label} alarm to {new_time}."
    difficulty = "medium"
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a new time in an hour that has no alarm."""
        params = super().sample(rng)
        hour, minute = next(pair for pair in alarms.times(rng, 24) if _is_free(pair[0], params["alarms"]))
        return {**params, "new_time": alarms.clock(hour, minute)}

    def expected(self) -> list[Alarm]:
        """Returns the alarms with one of them moved."""
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
        """Draws a new label, and takes that of the alarm away."""
        params = super().sample(rng)
        taken = {entry[4] for entry in params["alarms"]}
        new = next(label for label in words.EVENTS.draw_many(rng, 8) if label not in taken)
        unlabelled = [[*entry[:4], "" if entry[4] == params["label"] else entry[4]] for entry in params["alarms"]]
        return {**params, "new_label": new, "alarms": unlabelled}

    @property
    def others(self) -> list[Alarm]:
        """The alarms that have a label already."""
        return [alarm for alarm in self.alarms if alarm.label]

    @property
    def chosen(self) -> Alarm:
        """The alarm without a label."""
        return next(alarm for alarm in self.alarms if not alarm.label)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a label with one more letter."""
        return {**self.params, "new_label": f"{self.params['new_label']}s"}

    def expected(self) -> list[Alarm]:
        """Returns the alarms, all of them with labels."""
        return [*self.others, replace(self.chosen, label=self.params["new_label"])]


# questions


class ClockAlarmTime(_OneAlarm):
    """A question about a time."""

    template = "At what time is the {label} alarm?"
    budget = 6
    kind = "query"

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer with the time; the alarms must not have changed."""
        return super().evaluate(device, answer) * answers.same_time(answer, self.chosen.time)


class ClockCountAlarms(ClockTask):
    """A question about how many alarms are on, or off."""

    template = "How many alarms are {on_or_off}? Answer with the number."
    budget = 6
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws two to six alarms, not as many of them on as off."""
        entries = alarms.entries(rng, rng.randint(2, 6))
        on = sum(entry[3] for entry in entries)
        if 2 * on == len(entries):  # as many are on as off: then nobody could tell which were counted
            entries[0][3] = not entries[0][3]
        return {"on_or_off": rng.choice(("on", "off")), "alarms": entries}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer with the number; the alarms must not have changed."""
        wanted = self.params["on_or_off"] == "on"
        count = sum(alarm.enabled == wanted for alarm in self.alarms)
        return super().evaluate(device, answer) * answers.same_number(answer, count)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other state."""
        return {**self.params, "on_or_off": "off" if self.params["on_or_off"] == "on" else "on"}


# timers and settings


class ClockStartTimer(ClockTask):
    """A timer that runs."""

    template = "Start a timer of {minutes} minutes."
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the minutes and up to three alarms."""
        return {"minutes": rng.randint(2, 59), "alarms": alarms.entries(rng, rng.randrange(4))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires just this timer, running, and the alarms of the start."""
        found = [(timer.length, timer.state) for timer in clock_data.timers(values(device))]
        wanted = [(60_000 * self.params["minutes"], clock_data.RUNNING)]
        return super().evaluate(device, answer) * (found == wanted)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns other minutes."""
        return {**self.params, "minutes": self.params["minutes"] % 58 + 2}


class ClockSnoozeLength(ClockTask):
    """A setting."""

    template = "Make alarms snooze for {minutes} minutes."
    budget = 12

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the minutes and up to three alarms."""
        return {"minutes": rng.choice((5, 15, 20, 25, 30)), "alarms": alarms.entries(rng, rng.randrange(4))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires this setting to be the only change."""
        changed = values(device) == {"snooze_duration": str(self.params["minutes"])}
        return super().evaluate(device, answer) * changed

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns other minutes."""
        return {**self.params, "minutes": 20 if self.params["minutes"] != 20 else 25}


# cities


class _Cities(ClockTask):
    """A task with some cities on the world clock, no two of which have the same time."""

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a city to ask about, and others."""
        cities: dict[float, str] = {}
        for name in words.CITIES.draw_many(rng, 12):
            cities.setdefault(OFFSETS[name], name)
        city, *shown = list(cities.values())[: rng.randint(3, 5)]
        return {"city": city, "cities": shown, "alarms": []}

    def setup(self, device: Device) -> None:
        """Writes the cities that are shown."""
        super().setup(device)
        shown: list[str] = self.params["cities"]
        device.write(clock_data.PREFERENCES, preferences.to_xml(clock_data.city_values(shown)))


class ClockAddCity(_Cities):
    """A city added to the world clock."""

    template = "Add {city} to the world clock."
    budget = 16

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the new city after those of the start."""
        return float(clock_data.cities(values(device)) == [*self.params["cities"], self.params["city"]])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns a city that nobody asked for."""
        taken = {self.params["city"], *self.params["cities"]}
        return {**self.params, "city": rng.choice([name for name in OFFSETS if name not in taken])}


class ClockCityTime(_Cities):
    """A question about the time elsewhere."""

    template = "What time is it in {city}?"
    budget = 6
    kind = "query"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws the cities; the one asked about is among those shown."""
        params = super().sample(rng)
        shown = [params["city"], *params["cities"]]
        return {**params, "cities": rng.sample(shown, len(shown))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Accepts the time of now and of a minute ago."""
        now = device.now
        shown = [time_in(self.params["city"], now - timedelta(minutes=late), HOURS_AHEAD) for late in (0, 1)]
        return float(any(answers.same_time(answer, time.strftime("%H:%M")) for time in shown))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another city that is shown."""
        return another(rng, self.params, "city", self.params["cities"])


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
