"""A person at a device: plays freely, or solves a task as an agent does, and their episode is kept like an agent's."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from coach_gym.actions import Action, ActionError, format_action, require_on_screen
from coach_gym.answers import wrong_reward, wrong_verdict
from coach_gym.envs.devices.device import Device
from coach_gym.episode import Candidate, Episode, Observation, Step
from coach_gym.recording.origin import Origin, environment_of
from coach_gym.recording.store import EpisodeStore
from coach_gym.ui import compress

KEYS = {"overview": 187, "power": 26, "volume_up": 24, "volume_down": 25, "delete": 67, "tab": 61}
"""Hardware keys that are no actions of an agent, with Android's codes; they work outside tasks."""


class Refused(ValueError):
    """What a person asked for is not possible now; the message says why."""


class Hands:
    """A device, and the task on it if one was chosen. Any thread may call its methods.

    A task is played on an environment with a device of its own, so that nobody else moves that phone or its clock, and
    the episode can be played again exactly.

    Args:
        device: The device to play with freely.
        lock: Held whenever the device is used; one thread may take it twice.
        env_settings: Arguments of the environments that tasks are played on.
        out: Folder that finished episodes are written to.
        player: Who plays, as the episodes say.

    Attributes:
        episode: The episode of the task; None without a task.
        verdict: Whether the task was solved, once it is over; None if nothing decides.
        turn: Counts what was asked of it, so that a page learns what another page did.

    Raises:
        DeviceError: All methods that look at the device or work it raise this when it fails; they can be called again.
    """

    def __init__(
        self, device: Device, lock: AbstractContextManager[Any], env_settings: Mapping[str, Any], out: Path,
        player: str = "person",
    ) -> None:  # fmt: skip
        self.device = device
        self.lock = lock
        self.env_settings = dict(env_settings)
        self.out = out
        self.player = player
        self.episode: Episode | None = None
        self.verdict: bool | None = None
        self.turn = 0
        self._env: gym.Env | None = None
        self._observation: dict[str, Any] = {}
        self._info: dict[str, Any] = {}
        self._over = False
        self._error = ""

    def screenshot(self) -> np.ndarray:
        """Returns the screen, (height, width, 3) uint8."""
        with self.lock:
            return self.device.screenshot() if self._env is None else self._observation["screenshot"]

    def screen_text(self) -> str:
        """Returns the compact text of the screen."""
        with self.lock:
            return compress(self.device.ui()) if self._env is None else self._observation["ui"]

    def told(self) -> dict[str, Any]:
        """Returns what the page says about the device and the task."""
        with self.lock:
            task = None
            if self.episode is not None:
                task = {
                    "id": self._env.spec.id if self._env is not None and self._env.spec is not None else "",
                    "goal": self.episode.goal,
                    "seed": self.episode.seed,
                    "steps": self.episode.length,
                    "budget": self._info["budget"],
                    "over": self._over,
                    "success": self.verdict,
                    "reward": self.episode.outcome,
                    "fault": self.episode.fault,
                }
            about = {"device": self.device.name, "size": self.device.size, "turn": self.turn}
            return {**about, "error": self._error, "task": task}

    def act(self, action: Action) -> None:
        """Carries out an action; in a task, it is a step of the episode.

        Raises:
            Refused: The episode is over.
        """
        with self.lock:
            self.turn += 1
            if self._env is not None:
                self._step(format_action(action))
                return
            self._error = ""
            try:
                require_on_screen(action, self.device.size)
                if action.kind != "finished":
                    self.device.perform(action)
            except ActionError as refusal:
                self._error = str(refusal)

    def press(self, key: str) -> None:
        """Presses one of `KEYS`.

        Raises:
            Refused: There is no such key, or a task is played, whose agents have none.
        """
        with self.lock:
            if key not in KEYS:
                raise Refused(f"there is no key {key!r}; the keys are {', '.join(KEYS)}")
            if self._env is not None:
                raise Refused("agents have no such key, so a task is played without; leave the task first")
            self.device.shell(f"input keyevent {KEYS[key]}")

    def reset(self) -> None:
        """Returns the device to its initial state, and the task to its beginning.

        Raises:
            Refused: The device of the task fails; the task is left.
        """
        with self.lock:
            self.turn += 1
            self._error = ""
            if self.episode is None:
                self.device.reset_state()
            else:
                assert self.episode.seed is not None
                self._begin(self.episode.seed)

    def choose(self, id: str, seed: int, **settings: Any) -> None:
        """Begins an episode.

        Args:
            id: Id of the environment, such as `"AndroidWorld/ContactsAddContact-v0"`.
            seed: Seed of the task instance.
            settings: Further arguments of the environment, such as `split="test"`.

        Raises:
            Refused: There is no such environment, or the device cannot be prepared.
        """
        if id not in gym.registry:  # gym.make would import any module that an id names before a colon
            raise Refused(f"there is no environment {id}")
        with self.lock:
            self.leave()
            try:
                self._env = gym.make(id, disable_env_checker=True, **self.env_settings, **settings)
            except (gym.error.Error, ValueError) as error:
                raise Refused(str(error)) from error
            self._begin(seed)

    def leave(self) -> None:
        """Leaves the task; an unfinished episode is dropped."""
        with self.lock:
            self.turn += 1
            env, self._env, self.episode, self.verdict, self._error = self._env, None, None, None, ""
            if env is not None:
                env.close()

    def _begin(self, seed: int) -> None:
        assert self._env is not None
        try:
            self._observation, self._info = self._env.reset(seed=seed)
        except (gym.error.Error, ValueError) as error:
            self.leave()
            raise Refused(str(error)) from error
        if "fault" in self._info:
            self.leave()
            raise Refused(f"the device of the task failed: {self._info['fault']}")
        self._over, self.verdict, self._error = False, None, ""
        told = self._info["task"], dict(self._info["params"])
        self.episode = Episode(self._observation["goal"], task=told[0], params=told[1], seed=seed)

    def _step(self, text: str) -> None:
        assert self._env is not None and self.episode is not None
        if self._over:
            raise Refused("the episode is over; reset it or choose another task")
        self.episode.steps.append(Step(_seen(self._observation), [Candidate(text, [], [])], 0, text))
        self._observation, reward, terminated, truncated, self._info = self._env.step(text)
        self._error = self._observation["last_action_error"]
        if terminated or truncated:
            self._finish(reward)

    def _finish(self, reward: Any) -> None:
        """Notes the verdict and writes the episode. A fault, or a task without a rule, leaves none."""
        assert self._env is not None and self.episode is not None
        self._over, episode = True, self.episode
        episode.fault = self._info.get("fault", wrong_reward(reward) or wrong_verdict(self._info))
        episode.last = _seen(self._observation)
        self.verdict = None if episode.fault is not None else self._info["is_success"]
        episode.outcome = None if self.verdict is None else float(reward)
        EpisodeStore(self.out).write(episode, Origin(self.player, None, self.player, environment_of(self._env)))


def _seen(observation: Mapping[str, Any]) -> Observation:
    return Observation(observation["screenshot"], observation["ui"], observation["last_action_error"])
