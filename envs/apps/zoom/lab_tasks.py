"""Families of Zoom."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.apps.zoom.app import AUDIO, AUDIO_CHOICES, DATABASE, PREFERENCES, SKIN_TONE, SKIN_TONES, spaced
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone import preferences
from coach_gym.envs.tasks import words
from coach_gym.envs.tasks.answers import plain
from coach_gym.envs.tasks.records import another
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng

OCTOBER = 1696118400  # the first of October 2023, in seconds: when the first of the recent meetings was joined
DAY = 86400


def numbers(rng: ParamRng, count: int) -> list[str]:
    """Returns different meeting numbers, as they are written."""
    return [spaced(str(number)) for number in rng.sample(range(2_000_000_000, 9_999_999_999), count)]


def _digits(number: str) -> str:
    return number.replace(" ", "")


class ZoomJoinMeeting(Task):
    """Number, name and both join options."""

    apps = ("Zoom",)
    template = "In Zoom, join the meeting {number} under the name {name}, {how}."
    difficulty = "medium"
    budget = 22

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws number, name and both options."""
        number, name = numbers(rng, 1)[0], words.FIRST_NAMES.draw(rng)
        return {"number": number, "name": name, "audio": rng.random() < 0.5, "video": rng.random() < 0.5}

    @property
    def goal(self) -> str:
        """The template with the options in words."""
        audio, video = ("with" if self.params[key] else "without" for key in ("audio", "video"))
        how = f"{audio} audio and {video} video"
        return self.template.format(number=self.params["number"], name=self.params["name"], how=how)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the only meeting joined with number, name and options."""
        with device.database(DATABASE) as db:
            joined = db.execute("SELECT meeting, name, audio, video FROM joined").fetchall()
        p = self.params
        return float(joined == [(_digits(p["number"]), p["name"], int(p["audio"]), int(p["video"]))])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns one option the other way round."""
        option = rng.choice(["audio", "video"])
        return {**self.params, option: not self.params[option]}


class _PreferenceTask(Task):
    """A setting of Zoom that has to become `params[parameter]`."""

    apps = ("Zoom",)
    budget = 12
    key, parameter = "", ""
    choices: tuple[str, ...] = ()

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        return {cls.parameter: rng.choice(cls.choices[1:])}  # the first is set already

    def evaluate(self, device: Device, answer: str | None) -> float:
        stored = device.read(PREFERENCES)
        return float(stored is not None and preferences.from_xml(stored).get(self.key) == self.params[self.parameter])

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        return another(rng, self.params, self.parameter, self.choices)


class ZoomAutoConnectAudio(_PreferenceTask):
    """The way in which audio is connected."""

    template = "In Zoom's settings, set auto-connect to audio to {choice}."
    key, parameter, choices = AUDIO, "choice", AUDIO_CHOICES


class ZoomReactionSkinTone(_PreferenceTask):
    """The color of a raised hand."""

    template = "In Zoom's settings, set the reaction skin tone to {tone}."
    key, parameter, choices = SKIN_TONE, "tone", tuple(SKIN_TONES)


class ZoomNameInMeeting(Task):
    """The name used in one of the recent meetings."""

    apps = ("Zoom",)
    template = "Under which name did I join the Zoom meeting {number} before?"
    kind = "query"
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws three to seven meetings with a name for each, and picks one."""
        count = rng.randint(3, 7)
        meetings = dict(zip(numbers(rng, count), words.FIRST_NAMES.draw_many(rng, count), strict=True))
        return {"number": rng.choice(list(meetings)), "meetings": meetings}

    def setup(self, device: Device) -> None:
        """Stores the meetings, a day apart."""
        rows = [
            (_digits(number), name, 1, 1, 1000 * (OCTOBER + i * DAY))
            for i, (number, name) in enumerate(self.params["meetings"].items())
        ]
        with device.database(DATABASE) as db:
            db.executemany("INSERT INTO joined(meeting, name, audio, video, at) VALUES (?, ?, ?, ?, ?)", rows)

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Compares the answer with the name."""
        return float(plain(answer or "") == plain(self.params["meetings"][self.params["number"]]))

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns another meeting."""
        return another(rng, self.params, "number", self.params["meetings"])


TASKS: tuple[type[Task], ...] = (
    ZoomAutoConnectAudio,
    ZoomJoinMeeting,
    ZoomNameInMeeting,
    ZoomReactionSkinTone,
)
