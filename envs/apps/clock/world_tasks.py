"""AndroidWorld's families of the Clock app. What is running or typed is only on the screen, so that is checked."""

from __future__ import annotations

import random
from typing import Any

from coach_gym.envs.apps.clock import task_alarms as alarms
from coach_gym.envs.apps.clock.data import PACKAGE
from coach_gym.envs.apps.clock.task_alarms import ClockTask
from coach_gym.envs.devices.device import Device
from coach_gym.envs.tasks.reading import shown
from coach_gym.envs.tasks.words import ParamRng
from coach_gym.ui import Node


class _OnScreen(ClockTask):
    """A state of the Clock app that has to be in front; the alarms stay as they are."""

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws up to three alarms."""
        return {"alarms": alarms.entries(rng, rng.randrange(4))}

    def evaluate(self, device: Device, answer: str | None) -> float:
        """Requires the state in front and the alarms of the start."""
        in_front = device.foreground == PACKAGE
        nodes = [node for node in shown(device.ui()) if node.visible and not node.decor] if in_front else []
        return super().evaluate(device, answer) if self.reached(nodes) else 0.0

    def reached(self, nodes: list[Node]) -> bool:
        """Returns whether what the screen shows is the wanted state."""
        return False


def _texts(nodes: list[Node]) -> list[str]:
    """Returns texts and descriptions."""
    return [text for node in nodes for text in (node.text, node.desc)]


class ClockStopWatchRunning(_OnScreen):
    """The stopwatch, running."""

    template = "Run the stopwatch."
    budget = 8

    def reached(self, nodes: list[Node]) -> bool:
        """Looks for the buttons of a running stopwatch."""
        return {"Pause", "Lap"} <= set(_texts(nodes))


class ClockStopWatchPausedVerify(_OnScreen):
    """The stopwatch stands still from the start; it has to be looked at."""

    template = "Show the stopwatch and make sure that it is paused."
    budget = 6

    def reached(self, nodes: list[Node]) -> bool:
        """Looks for the stopwatch with its "Start" button."""
        texts = _texts(nodes)
        return "Start" in texts and texts.count("Stopwatch") >= 2


class ClockTimerEntry(_OnScreen):
    """A timer typed in and not started."""

    template = "Enter a timer of {hours} hours, {minutes} minutes and {seconds} seconds. Do not start it."
    budget = 20

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a length, with some seconds."""
        minutes, seconds = rng.randrange(60), rng.randrange(1, 60)
        return {"hours": rng.randrange(24), "minutes": minutes, "seconds": seconds, **super().sample(rng)}

    def reached(self, nodes: list[Node]) -> bool:
        """Looks for the length on the keypad's display."""
        length = "{hours:02d}h {minutes:02d}m {seconds:02d}s".format(**self.params)
        return any(node.id.endswith(":id/timer_setup_time") and node.text == length for node in nodes)

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns other seconds."""
        return {**self.params, "seconds": self.params["seconds"] % 59 + 1}


TASKS = (ClockStopWatchRunning, ClockStopWatchPausedVerify, ClockTimerEntry)
