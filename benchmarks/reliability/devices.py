"""Devices that fail, hang and lie when their screen is looked at, and how many episodes that costs."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import DeviceError
from coach_gym.envs.vector import AndroidVectorEnv

Fault = Literal["raise", "stall", "hang", "lie"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
"""An error; an error after a time limit, as adb's; no answer ever; a picture or a tree that is none."""

RATES = (0.05, 0.2, 0.5)
"""Probabilities with which a look at the screen fails."""

SIZE = (90, 200)
STEPS = 14  # of an episode, as long as those of many task families
STALL = 0.01  # seconds after which a driver gives up; adb's waits 30
LIMITS: dict[str, dict[str, float]] = {"hang": {"step_timeout": 5.0, "reset_timeout": 20.0}}
"""Seconds that the environment waits, a fifth of a step for a look; the others answer by themselves."""


@dataclass
class Weather:
    """How devices behave, one after the other.

    Attributes:
        fault: What goes wrong.
        rate: How often.
        rng: Decides when.
        over: Set when devices that hang may go on.
        faults: What went wrong so far.
    """

    fault: Fault
    rate: float
    rng: np.random.Generator
    over: threading.Event = field(default_factory=threading.Event)
    faults: int = 0

    def strikes(self) -> bool:
        """Returns whether this look fails."""
        struck = bool(self.rng.random() < self.rate)
        self.faults += struck
        return struck


class Faulty(PhoneDevice):
    """An embedded phone whose screen cannot always be seen. Pictures and trees fail together, once a look."""

    def __init__(self, weather: Weather) -> None:
        super().__init__(*SIZE)
        self._weather = weather
        self._no_tree = False

    def screenshot(self) -> Any:
        """Returns the screen, unless it fails."""
        weather = self._weather
        if not weather.strikes():
            return super().screenshot()
        if weather.fault == "lie":
            return self._lie()
        if weather.fault == "stall":
            time.sleep(STALL)
        if weather.fault == "hang":
            weather.over.wait()
        raise DeviceError("the connection was reset")

    def _lie(self) -> Any:
        picture = super().screenshot()
        lies = (picture[1:], picture.astype(np.float32), picture[..., 0], None, "a picture", picture)
        choice = int(self._weather.rng.integers(len(lies)))
        self._no_tree = choice == len(lies) - 1  # the picture is right, then
        return lies[choice]

    def ui(self) -> Any:
        """Returns the screen's tree, unless it fails."""
        lies, self._no_tree = self._no_tree, False
        return "<hierarchy/>" if lies else super().ui()


@dataclass
class Played:
    """What became of some episodes.

    Attributes:
        episodes: How many were played.
        lost: How many ended with a fault.
        lies: How many of those were told as a verdict.
        threads: Threads that are left after the end.
        faults: What went wrong at devices.
    """

    episodes: int = 0
    lost: int = 0
    lies: int = 0
    threads: int = 0
    faults: int = 0

    @property
    def share(self) -> float:
        """Share of the episodes that were lost."""
        return self.lost / self.episodes


def play(fault: Fault, rate: float, episodes: int, seed: int) -> Played:
    """Plays episodes of waiting on one device after the other."""
    weather, before = Weather(fault, rate, np.random.default_rng(seed)), threading.enumerate()
    make = partial(AndroidEnv, device=partial(Faulty, weather), screen_size=SIZE, max_steps=STEPS)
    envs = AndroidVectorEnv([make], **LIMITS.get(fault, {}))
    played = Played(episodes)
    for episode in range(episodes):
        envs.reset(seed=1000 * seed + episode)
        reward, over = 0.0, False
        while not over:
            _, rewards, terminations, truncations, infos = envs.step(["wait()"])
            reward += float(rewards[0])
            over = bool(terminations[0] or truncations[0])
        lost = "fault" in infos
        played.lost += lost
        played.lies += lost and (reward != 0 or bool(infos["is_success"][0]))
    weather.over.set()
    envs.close()
    played.faults, played.threads = weather.faults, threads_left(before)
    return played


def without_asking_again(rate: float) -> float:
    """Returns the share of episodes in which some look fails; the first look is the reset's."""
    return 1 - (1 - rate) ** (STEPS + 1)


def threads_left(before: list[threading.Thread]) -> int:
    """Returns how many threads there are that were not there before, after those that end have ended."""
    until = time.monotonic() + 5
    while (new := set(threading.enumerate()).difference(before)) and time.monotonic() < until:
        time.sleep(0.01)
    return len(new)
