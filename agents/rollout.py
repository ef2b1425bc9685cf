"""Episodes on a vector environment: one for each seed, sub-environments refilled as they become free."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from coach_gym.episode import Episode, Observation

# What a sub-environment with nothing left to do is given: the text of a model that stopped at once, which every
# environment that takes a model's text has to put up with.
IDLE_ACTION = ""


@dataclass
class Attempt:
    """One episode on its way.

    Attributes:
        number: position of its seed in the roll-out.
        index: sub-environment it runs on.
        episode: what is known of it; its steps are for the caller to append.
        observation: the state that waits for an action.
        length: steps taken.
        reward: sum of rewards so far.
        memory: the caller's.
    """

    number: int
    index: int
    episode: Episode
    observation: Observation
    length: int = 0
    reward: float = 0.0
    memory: Any = None


@dataclass
class Transition:
    """What one call of `VectorEnv.step` brought, sub-environment by sub-environment; idle ones are all zero."""

    rewards: np.ndarray
    dones: np.ndarray
    infos: list[dict[str, Any]]
    finished: list[Attempt]


class Rollout:
    """Plays one episode for each seed.

    A seed fixes task, parameters and device state of its episode, so a roll-out is reproducible, and episodes of
    one seed are attempts at the same task instance.

    Args:
        envs: with autoreset NEXT_STEP or DISABLED; observations are dicts with `goal` and `screenshot`, and
            `ui` and `last_action_error` where there are such.
        seeds: in the order of their start.
    """

    def __init__(self, envs: VectorEnv, seeds: Iterable[int]) -> None:
        self.envs = envs
        self._queue = deque(enumerate(seeds))
        self._attempts: dict[int, Attempt] = {}
        self._start()

    @property
    def waiting(self) -> list[Attempt]:
        """The attempts that need an action; none means that the roll-out is over."""
        return list(self._attempts.values())

    def step(self, actions: Sequence[str]) -> Transition:
        """Carries out one action for each of `waiting`, in its order."""
        texts = [IDLE_ACTION] * self.envs.num_envs
        active = self.waiting
        for attempt, action in zip(active, actions, strict=True):
            texts[attempt.index] = action
        observations, rewards, terminated, truncated, batched = self.envs.step(tuple(texts))
        infos = [sub_info(batched, index) for index in range(self.envs.num_envs)]
        busy = np.isin(np.arange(self.envs.num_envs), list(self._attempts))
        rewards, dones = np.where(busy, rewards, 0.0), busy & (terminated | truncated)
        for attempt in active:
            attempt.length += 1
            attempt.reward += float(rewards[attempt.index])
            attempt.observation = _observation(observations, attempt.index)
        finished = [attempt for attempt in active if dones[attempt.index]]
        for attempt in finished:
            _close(self._attempts.pop(attempt.index), infos[attempt.index])
        self._refill([attempt.index for attempt in finished])
        return Transition(rewards, dones, infos, finished)

    def _start(self) -> None:
        starting = range(min(self.envs.num_envs, len(self._queue)))
        seeds = [self._queue[index][1] if index in starting else None for index in range(self.envs.num_envs)]
        observations, infos = self.envs.reset(seed=seeds)  # type: ignore[arg-type]  # vector environments take lists
        for index in starting:
            self._begin(index, observations, infos)

    def _refill(self, free: list[int]) -> None:
        """Starts the next episodes on free sub-environments; the others are not touched."""
        starting = free[: len(self._queue)]
        if not starting:
            return
        mask = np.zeros(self.envs.num_envs, dtype=bool)
        mask[starting] = True
        seeds: list[int | None] = [None] * self.envs.num_envs
        for (_, seed), index in zip(self._queue, starting, strict=False):
            seeds[index] = seed
        observations, infos = self.envs.reset(seed=seeds, options={"reset_mask": mask})  # type: ignore[arg-type]
        for index in starting:
            self._begin(index, observations, infos)

    def _begin(self, index: int, observations: dict[str, Any], infos: dict[str, Any]) -> None:
        number, _ = self._queue.popleft()
        info = sub_info(infos, index)
        episode = Episode(
            goal=str(observations["goal"][index]),
            task=info.get("task", ""),
            params=dict(info.get("params", {})),
            fault=info.get("fault"),
        )
        self._attempts[index] = Attempt(number, index, episode, _observation(observations, index))


def as_vector_env(env: gym.Env | VectorEnv) -> VectorEnv:
    """The vector environment that agents run on.

    Args:
        env: a vector environment, returned as it is, or a single one.

    Raises:
        ValueError: its observations lack `goal` or `screenshot`, or it throws away last infos (SAME_STEP autoreset).
    """
    envs = env if isinstance(env, VectorEnv) else SyncVectorEnv([lambda: env])
    space = envs.single_observation_space
    keys = set(space.spaces) if isinstance(space, gym.spaces.Dict) else set()
    if not {"goal", "screenshot"} <= keys:
        raise ValueError(
            f"the agent reads observations that are dicts with 'goal' and 'screenshot', but this environment's space "
            f"is {space}; wrap it with gymnasium.wrappers.TransformObservation"
        )
    if envs.metadata.get("autoreset_mode") is AutoresetMode.SAME_STEP:
        raise ValueError(
            "the environment resets itself in the step that ends an episode (AutoresetMode.SAME_STEP); "
            "build it with vector_kwargs={'autoreset_mode': AutoresetMode.NEXT_STEP}"
        )
    return envs


def sub_info(infos: dict[str, Any], index: int) -> dict[str, Any]:
    """The info dict of one sub-environment, from the dict of arrays and masks that Gymnasium batches them into."""
    mine = {}
    for key, values in infos.items():
        mask = infos.get(f"_{key}")
        if mask is None or not mask[index]:
            continue
        value = sub_info(values, index) if isinstance(values, dict) else values[index]
        mine[key] = value.item() if isinstance(value, np.generic) else value
    return mine


def _observation(observations: dict[str, Any], index: int) -> Observation:
    return Observation(
        screenshot=np.array(observations["screenshot"][index]),  # a copy: a view would keep the whole batch alive
        ui=str(observations["ui"][index]) if "ui" in observations else "",
        last_action_error=str(observations["last_action_error"][index]) if "last_action_error" in observations else "",
    )


def _close(attempt: Attempt, info: dict[str, Any]) -> None:
    """Writes the verdict down: a fault gives none, nor does an `is_success` of None (a judge that failed)."""
    episode = attempt.episode
    episode.fault = info.get("fault", episode.fault)
    episode.answer = info.get("answer")
    unknown = episode.fault is not None or ("is_success" in info and info["is_success"] is None)
    episode.outcome = None if unknown else attempt.reward
