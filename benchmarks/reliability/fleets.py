"""An hour of a fleet whose emulators die and fail to start, many times faster than time goes."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.reliability.devices import SIZE, threads_left
from coach_gym.actions import Action
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.fleet import Fleet
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import DeviceError
from coach_gym.envs.vector import AndroidVectorEnv

HOUR = 3600.0
MEMBERS, ENVS, STEPS = 8, 6, 10
FAILED_STARTS = 0.1  # of all starts

# Seconds of an emulator's time, with the fleet's own defaults for the rest.
BOOT, STEP, LIFE = 30.0, 2.0, 600.0
FLEET = {"stagger": 5.0, "patience": 540.0, "first_delay": 2.0, "longest_delay": 300.0, "check_every": 30.0}


@dataclass
class World:
    """Emulators whose time goes faster than ours.

    Attributes:
        speed: How many of their seconds go by in one of ours.
        rng: Decides who fails to start, and how long the others live.
        over: Set when nobody dies or fails to start any more.
        deaths: Emulators that have died, whether anybody has noticed or not.
        failed_starts: Starts that have failed.
        noticed: Deaths that a device has told, as the name of its emulator and the number of its life.
    """

    speed: float
    rng: np.random.Generator
    over: threading.Event = field(default_factory=threading.Event)
    deaths: int = 0
    failed_starts: int = 0
    noticed: set[tuple[str, int]] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, seconds: float) -> None:
        """Lets seconds of the emulators' time go by."""
        time.sleep(seconds / self.speed)

    def fails(self) -> bool:
        """Returns whether a start fails."""
        with self.lock:
            failed = bool(self.rng.random() < FAILED_STARTS) and not self.over.is_set()
            self.failed_starts += failed
            return failed

    def end_of_life(self) -> float:
        """Returns when an emulator that starts now will die, on the monotonic clock."""
        with self.lock:
            return time.monotonic() + float(self.rng.exponential(LIFE)) / self.speed


class MortalEmulator:
    """A stand-in for an emulator, as a member of a fleet.

    Args:
        name: Its name.
        world: Where it lives.
    """

    def __init__(self, name: str, world: World) -> None:
        self.name, self._world = name, world
        self.life, self._end, self._dead = 0, 0.0, True

    def start(self) -> None:
        """Boots, or fails to."""
        self._world.wait(BOOT)
        if self._world.fails():
            raise DeviceError(f"{self.name} ended while it booted")
        self.life, self._end, self._dead = self.life + 1, self._world.end_of_life(), False

    def check(self) -> None:
        """Raises if it is dead."""
        if not self._dead and time.monotonic() > self._end and not self._world.over.is_set():
            self._dead = True
            with self._world.lock:
                self._world.deaths += 1
        if self._dead:
            raise DeviceError(f"{self.name} is gone")

    def device(self) -> Device:
        """Connects to it."""
        return MortalDevice(self, self._world)

    def stop(self) -> None:
        """Stops it."""
        self._dead = True


class MortalDevice(PhoneDevice):
    """The phone in an emulator, which is gone with it."""

    def __init__(self, emulator: MortalEmulator, world: World) -> None:
        super().__init__(*SIZE)
        self._emulator, self._world, self._life = emulator, world, emulator.life

    def _require_alive(self) -> None:
        try:
            self._emulator.check()
        except DeviceError:
            with self._world.lock:
                self._world.noticed.add((self._emulator.name, self._life))
            raise

    def perform(self, action: Action) -> None:
        """Takes the time of a step."""
        self._world.wait(STEP)
        self._require_alive()
        super().perform(action)

    def screenshot(self) -> np.ndarray:
        """Returns the screen of an emulator that lives."""
        self._require_alive()
        return super().screenshot()

    def reset_state(self) -> None:
        """Resets an emulator that lives."""
        self._require_alive()
        super().reset_state()


@dataclass
class Lived:
    """What became of the episodes of a fleet.

    Attributes:
        episodes: Episodes that were played to their end or lost.
        lost: Those that ended with a fault.
        unexplained: Faults during which no emulator had died.
        verdicts: Faults that were told as a success or with a reward.
        deaths: Emulators that died.
        failed_starts: Starts that failed.
        missing: Emulators that were not ready again at the end.
        threads: Threads that are left after the end.
    """

    episodes: int = 0
    lost: int = 0
    unexplained: int = 0
    verdicts: int = 0
    deaths: int = 0
    failed_starts: int = 0
    missing: int = 0
    threads: int = 0


def live(hours: float, speed: float, seed: int) -> Lived:
    """Plays episodes on a fleet for hours of its emulators' time."""
    before, world, lived = threading.enumerate(), World(speed, np.random.default_rng(seed)), Lived()
    members = [MortalEmulator(f"emulator {number}", world) for number in range(MEMBERS)]
    fleet = Fleet(members, **{name: seconds / speed for name, seconds in FLEET.items()})
    make = partial(AndroidEnv, device=fleet, screen_size=SIZE, max_steps=STEPS)
    envs = AndroidVectorEnv([make] * ENVS, on_close=fleet.close)
    try:
        _play(envs, time.monotonic() + hours * HOUR / speed, seed, lived)
        world.over.set()
        lived.unexplained = lived.lost - len(world.noticed)
        lived.deaths, lived.failed_starts = world.deaths, world.failed_starts
        lived.missing = _not_back(fleet)
    finally:
        envs.close()
    lived.threads = threads_left(before)
    return lived


def _play(envs: AndroidVectorEnv, until: float, seed: int, lived: Lived) -> None:
    """Plays whole episodes, each environment at its own pace; none begins after a moment."""
    envs.reset(seed=seed)
    envs.send(["wait()"] * ENVS)
    while envs.pending:
        for arrival in envs.recv():
            over = arrival.terminated or arrival.truncated
            if over:
                _count(arrival, lived)
            if not over or time.monotonic() < until:
                envs.send(["wait()"], [arrival.env_id])


def _count(arrival: Any, lived: Lived) -> None:
    lived.episodes += 1
    if "fault" in arrival.info:
        lived.lost += 1
        lived.verdicts += bool(arrival.reward) or bool(arrival.info["is_success"])


def _not_back(fleet: Fleet) -> int:
    """Returns how many members are neither lent nor ready after all had time to start again."""
    until = time.monotonic() + 60.0
    while True:
        missing = sum(state not in ("lent", "ready") for state in fleet.states.values())
        if not missing or time.monotonic() > until:
            return missing
        time.sleep(0.01)
