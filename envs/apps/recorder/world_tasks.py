"""Families of Audio Recorder."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.apps.recorder.data import EXTENSION, RECORDS
from coach_gym.envs.devices.device import Device
from coach_gym.envs.phone.media import audio, mp4
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import ParamRng, slug


class RecordingTask(Task):
    """A task on a phone with `params["earlier"]` recordings."""

    apps = ("Audio Recorder",)

    def setup(self, device: Device) -> None:
        """Writes the earlier recordings."""
        for number in range(1, self.params["earlier"] + 1):
            device.write(f"{RECORDS}/Record-{number}{EXTENSION}", mp4.silence(5 * number))
        self.before = set(device.listdir(RECORDS))

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires one more recording than before, and that it fits."""
        names = set(device.listdir(RECORDS))
        new = names - self.before
        return float(self.before <= names and len(new) == 1 and all(self.fits(device, name) for name in new))

    def fits(self, device: Device, name: str) -> bool:
        """Returns whether a new file is the recording that was asked for."""
        sound = audio.sound(device.read(f"{RECORDS}/{name}") or b"")
        return sound is not None and sound.seconds > 0


class AudioRecorderRecordAudio(RecordingTask):
    """Record one clip."""

    template = "Record one audio clip with Audio Recorder and save it."
    budget = 10

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws up to three earlier recordings."""
        return {"clips": 1, "earlier": rng.randint(0, 3)}

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with one clip too many."""
        return {**self.params, "clips": 2}


class AudioRecorderRecordAudioWithFileName(RecordingTask):
    """Record one clip and give it a name."""

    template = 'Record an audio clip with Audio Recorder and save it with the name "{file_name}".'
    budget = 14

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a name and up to three earlier recordings."""
        return {"file_name": slug(rng), "earlier": rng.randint(0, 3)}

    def fits(self, device: Device, name: str) -> bool:
        """Requires the name, too."""
        return super().fits(device, name) and name == self.params["file_name"] + EXTENSION

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the parameters with a letter more in the name."""
        return {**self.params, "file_name": self.params["file_name"] + "s"}


TASKS: tuple[type[Task], ...] = (AudioRecorderRecordAudio, AudioRecorderRecordAudioWithFileName)
