"""An episode as a conversation: screens are turns of text and pictures, a model's answers are actions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from PIL import Image

import coach_gym  # noqa: F401  registers the environments
from coach_gym.actions import ActionError, format_action
from coach_gym.dialects import Dialect, Frame, Part, Turn, UITars, pictures
from coach_gym.dialects.names import dialect_named
from coach_gym.episode import Observation

_CONTROL = re.compile(r"<\|(?=\w+\|>)")


class NoVerdict(RuntimeError):
    """The device failed, or no rule judges the episode."""


@dataclass(frozen=True)
class Shown:
    """The turn that shows a state to a model.

    Attributes:
        parts: Text, and `IMAGE` or `MARKED` where a picture goes.
        pictures: One picture for each of these, in the size that the model's coordinates refer to.
    """

    parts: list[Part]
    pictures: list[Image.Image]


class Talk:
    """Plays episodes of an environment with a model that speaks a dialect.

    Args:
        env: Id of an environment, or one with text actions and the observations of `AndroidEnv`.
        dialect: Prompt, action grammar and coordinate frame of the model family, or the name of one with its defaults.
        **kwargs: Arguments of the environment, if it is an id.

    Attributes:
        env: The environment.
        goal: Instruction of the current episode.
        seen: Its last observation.
        info: The last `info` of the environment.
        reward: Sum of the episode's rewards so far.
        steps: Number of steps so far.
        over: Whether the episode has ended.
    """

    def __init__(self, env: str | gym.Env, dialect: Dialect | str | None = None, **kwargs: Any) -> None:
        self.env: gym.Env = gym.make(env, disable_env_checker=True, **kwargs) if isinstance(env, str) else env
        self.dialect: Dialect = (
            dialect_named(dialect)() if isinstance(dialect, str) else dialect or UITars(ui_text=True)
        )
        self.goal = ""
        self.seen: dict[str, Any] = {}
        self.info: dict[str, Any] = {}
        self.reward = 0.0
        self.steps = 0
        self.over = True
        self._answers: list[str] = []

    def begin(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> list[Turn]:
        """Starts an episode and returns the turns before its first screen; arguments are those of the environment."""
        self.seen, self.info = self.env.reset(seed=seed, options=dict(options or {}))
        self.goal, self.reward, self.steps, self.over = self.seen["goal"], 0.0, 0, False
        self._answers = []
        turns = self.dialect.opening(self.goal, self._frame)
        return [(role, [_plain(part) for part in parts]) for role, parts in turns]

    def look(self) -> Shown:
        """Returns the turn that shows the current state."""
        observation = self._observation
        parts = self.dialect.observation(self.goal, observation, self.steps, self._frame, self._answers)
        shown = [_resized(picture, self._frame) for picture in pictures(parts, observation)]
        return Shown([_plain(part) for part in parts], shown)

    def answer(self, text: str) -> str:
        """Carries out the action of an answer and returns it in the canonical grammar, in pixels of the screen.

        An answer that is no action is passed on as it is; the environment tells the model so in the next turn.
        """
        action = self._canonical(text)
        self.seen, reward, terminated, truncated, self.info = self.env.step(action)
        self._answers.append(text)
        self.reward += float(reward)
        self.steps += 1
        self.over = terminated or truncated
        return action

    @property
    def fault(self) -> str | None:
        """How the device failed, if it did: then the episode has no verdict and must not be learned from."""
        return self.info.get("fault")

    @property
    def unruled(self) -> bool:
        """Whether the episode is over and no rule decides whether it succeeded: then it has no reward either."""
        return self.over and "is_success" in self.info and self.info["is_success"] is None

    def require_verdict(self) -> None:
        """Checks that the episode has a verdict, or may still get one.

        Raises:
            NoVerdict: The device failed, or no rule judges the episode.
        """
        if self.fault is not None or self.unruled:
            raise NoVerdict(self.fault or f"no rule judges {self.info.get('task')}")

    def _canonical(self, text: str) -> str:
        try:
            thought, action = self.dialect.parse(text, self._frame)
        except ActionError:
            return text
        return format_action(action, thought)

    @property
    def _observation(self) -> Observation:
        return Observation(self.seen["screenshot"], self.seen["ui"], self.seen["last_action_error"])

    @property
    def _frame(self) -> Frame:
        height, width = self.seen["screenshot"].shape[:2]
        return self.dialect.frame(width, height).showing(self.seen["ui"])


def _plain(part: Part) -> Part:
    """Breaks up the spelling of control tokens: a note that reads `<|im_end|>` must not end a turn."""
    return _CONTROL.sub("< |", part) if isinstance(part, str) else part


def _resized(picture: np.ndarray, frame: Frame) -> Image.Image:
    image = Image.fromarray(picture)
    return image if image.size == frame.image else image.resize(frame.image, Image.Resampling.BICUBIC)
