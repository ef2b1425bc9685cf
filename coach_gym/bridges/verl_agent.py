"""Episodes for verl-agent: an environment manager, with an exact hash of the phone's state as GiGPO's anchor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from coach_gym.bridges.talk import Talk
from coach_gym.checks import require_whole
from coach_gym.dialects import Dialect, ImageSlot

IMAGE = "<image>"
"""Where verl-agent puts a picture into a prompt."""

Observations = dict[str, Any]
"""`text`: a prompt each; `image`: (batch, height, width, 3) uint8; `anchor`: a hash each, or None."""


class AndroidEnvironmentManager:
    """A batch of environments with the interface of verl-agent's `EnvironmentManagerBase`.

    Environments of a group, which are neighbours, play the same task. A prompt has the goal, the last answers, and the
    current screen.

    Args:
        env: Id of the environments.
        groups: Number of groups.
        group_size: Environments of a group, verl-agent's `env.rollout.n`.
        seed: Fixes which tasks are played.
        same_tasks: True to play the same tasks after every reset, as for validation.
        dialect: How the model writes actions, or a dialect's name; it shows one picture a turn.
        history: Number of earlier answers in a prompt.
        anchor: `"state"` for the hash of the embedded phone; None for devices that have none.
        **kwargs: Arguments of the environments.
    """

    def __init__(
        self,
        env: str = "AndroidWorld-v0",
        groups: int = 8,
        group_size: int = 1,
        seed: int = 0,
        same_tasks: bool = False,
        dialect: Dialect | str | None = None,
        history: int = 2,
        anchor: Literal["state"] | None = "state",
        **kwargs: Any,
    ) -> None:
        require_whole(1, groups=groups, group_size=group_size)
        require_whole(0, seed=seed, history=history)
        self.groups, self.group_size, self.history, self.anchor = groups, group_size, history, anchor
        self.same_tasks, self._seed, self._rng = same_tasks, seed, np.random.default_rng(seed)
        self.talks = [Talk(env, dialect, **kwargs) for _ in range(groups * group_size)]
        self._threads = [ThreadPoolExecutor(1) for _ in self.talks]  # a device is used by one thread
        self._openings: list[str] = [""] * len(self.talks)
        self._answers: list[list[str]] = [[] for _ in self.talks]

    def reset(self, kwargs: Sequence[Mapping[str, Any]] | None = None) -> tuple[Observations, list[dict[str, Any]]]:
        """Starts an episode in every environment.

        Args:
            kwargs: `{"seed": …}` for each environment; None to draw them.
        """
        seeds = self._draw() if kwargs is None else [int(each["seed"]) for each in kwargs]
        turns = self._each(lambda talk, seed: talk.begin(seed), seeds)
        self._openings = [_safe("\n".join(str(part) for _, parts in opening for part in parts)) for opening in turns]
        self._answers = [[] for _ in self.talks]
        return self._observations(), [dict(talk.info) for talk in self.talks]

    def step(self, text_actions: Sequence[str]) -> tuple[Observations, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Carries out one answer in every environment; those whose episode is over stay as they are.

        Returns:
            Observations, rewards (batch,) float32, whether episodes are over (batch,), and infos with `won`,
            `is_action_valid` and `projected_action`.

        Raises:
            NoVerdict: A device failed, or no rule judges an episode.
        """
        results = self._each(_act, text_actions)
        for talk, answers, text in zip(self.talks, self._answers, text_actions, strict=True):
            talk.require_verdict()
            answers.append(text)
        rewards = np.array([reward for reward, _ in results], np.float32)
        dones = np.array([talk.over for talk in self.talks])
        return self._observations(), rewards, dones, [info for _, info in results]

    def build_text_obs(self) -> list[str]:
        """Returns the prompt of every environment."""
        return [text for text, _ in self._prompts()]

    def success_evaluator(self, *args: Any, **kwargs: Any) -> dict[str, np.ndarray]:
        """Returns `success_rate`: `won` of each episode's last active step."""
        success = defaultdict(list)
        for steps, infos in zip(kwargs["total_batch_list"], kwargs["total_infos"], strict=True):
            last = max(number for number, step in enumerate(steps) if step["active_masks"])
            success["success_rate"].append(float(infos[last]["won"]))
        return {name: np.array(values) for name, values in success.items()}

    def close(self) -> None:
        """Closes the devices."""
        self._each(lambda talk, _: talk.env.close(), self.talks)
        for thread in self._threads:
            thread.shutdown()

    def _draw(self) -> list[int]:
        rng = np.random.default_rng(self._seed) if self.same_tasks else self._rng
        return [int(seed) for seed in rng.integers(1 << 31, size=self.groups) for _ in range(self.group_size)]

    def _each(self, call: Any, arguments: Sequence[Any]) -> list[Any]:
        """Calls a function with every environment and its argument, side by side."""
        work = zip(self._threads, self.talks, arguments, strict=True)
        return [done.result() for done in [thread.submit(call, talk, each) for thread, talk, each in work]]

    def _observations(self) -> Observations:
        prompts = self._prompts()
        anchors = None
        if self.anchor is not None:
            anchors = self._each(lambda talk, _: talk.env.unwrapped.digest(), self.talks)
        return {
            "text": [text for text, _ in prompts],
            "image": np.stack([picture for _, picture in prompts]),
            "anchor": anchors,
        }

    def _prompts(self) -> list[tuple[str, np.ndarray]]:
        return [self._prompt(*each) for each in zip(self.talks, self._openings, self._answers, strict=True)]

    def _prompt(self, talk: Talk, opening: str, answers: list[str]) -> tuple[str, np.ndarray]:
        shown = talk.look()
        if len(shown.pictures) != 1:
            raise ValueError(f"the dialect shows {len(shown.pictures)} pictures a turn; verl-agent takes one")
        screen = "".join(IMAGE if isinstance(part, ImageSlot) else _safe(part) for part in shown.parts)
        last = [_safe(answer) for answer in answers[max(0, len(answers) - self.history) :]]
        earlier = ["Your last answers:", *last] if last else []
        return "\n".join([opening, *earlier, screen]), np.asarray(shown.pictures[0])


def _act(talk: Talk, text: str) -> tuple[float, dict[str, Any]]:
    if talk.over:
        return 0.0, _info(talk, "")
    before = talk.reward
    action = talk.answer(text)
    return talk.reward - before, _info(talk, action)


def _info(talk: Talk, action: str) -> dict[str, Any]:
    valid = talk.seen["last_action_error"] == ""
    won = bool(talk.info.get("is_success"))
    return {**talk.info, "won": won, "is_action_valid": np.array(valid), "projected_action": action}


def _safe(text: str) -> str:
    """Breaks up what verl-agent would take for the place of a picture."""
    return text.replace(IMAGE, "< image>")
