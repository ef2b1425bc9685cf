"""Episodes on a vector environment: one for each seed, sub-environments refilled as they become free."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from coach_gym.episode import Episode, Observation


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
    """What one round of actions brought, sub-environment by sub-environment; idle ones are zero and empty.

    Attributes:
        rewards: (number of sub-environments,).
        dones: likewise, whether the episode is over.
        infos: likewise, the info dicts.
        finished: the attempts that are over.
    """

    rewards: np.ndarray
    dones: np.ndarray
    infos: list[dict[str, Any]]
    finished: list[Attempt]


class Rollout:
    """Plays one episode for each seed.

    A seed fixes task, parameters and device state of its episode, so a roll-out is reproducible, and episodes of
    one seed are attempts at the same task instance. All episodes are played to their end.

    Args:
        envs: of `as_vector_env`.
        seeds: in the order of their start.
    """

    def __init__(self, envs: VectorEnv, seeds: Iterable[int]) -> None:
        self.num_envs = envs.num_envs
        self._envs = _SendReceive(envs) if hasattr(envs, "send_reset") else _Lockstep(envs)
        self._queue = deque(enumerate(seeds))
        self._attempts: dict[int, Attempt] = {}
        self._begin(range(self.num_envs))

    @property
    def waiting(self) -> list[Attempt]:
        """The attempts that need an action; none means that the roll-out is over."""
        return list(self._attempts.values())

    def step(self, actions: Sequence[str]) -> Transition:
        """Carries out one action for each of `waiting`, in its order."""
        rewards, dones = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        finished = []
        for arrival in self._envs.step(dict(zip(self._attempts, actions, strict=True))):
            index, attempt = arrival.index, self._attempts[arrival.index]
            rewards[index], dones[index], infos[index] = arrival.reward, arrival.done, arrival.info
            attempt.length += 1
            attempt.reward += arrival.reward
            attempt.observation = observation_of(arrival.observation)
            if arrival.done:
                finished.append(self._attempts.pop(index))
                _close(attempt, arrival.info)
        self._begin(attempt.index for attempt in finished)
        return Transition(rewards, dones, infos, finished)

    def _begin(self, free: Iterable[int]) -> None:
        """Starts the next episodes on free sub-environments, as long as there are any."""
        starting = {index: self._queue.popleft() for index in free if self._queue}
        if not starting:
            return
        for arrival in self._envs.reset({index: seed for index, (_, seed) in starting.items()}):
            observation, info = arrival.observation, arrival.info
            episode = Episode(
                goal=str(observation["goal"]),
                task=info.get("task", ""),
                params=dict(info.get("params", {})),
                fault=info.get("fault"),
            )
            number, _ = starting[arrival.index]
            self._attempts[arrival.index] = Attempt(number, arrival.index, episode, observation_of(observation))


def _close(attempt: Attempt, info: dict[str, Any]) -> None:
    """Writes the verdict down: a fault gives none, nor does an `is_success` of None (a judge that failed)."""
    episode = attempt.episode
    episode.fault = info.get("fault", episode.fault)
    episode.answer = info.get("answer")
    unknown = episode.fault is not None or ("is_success" in info and info["is_success"] is None)
    episode.outcome = None if unknown else attempt.reward


def as_vector_env(env: gym.Env | VectorEnv) -> VectorEnv:
    """The vector environment that agents run on.

    Args:
        env: a vector environment, returned as it is, or a single one. Observations are dicts with `goal` and
            `screenshot`, and `ui` and `last_action_error` where there are such.

    Raises:
        ValueError: Keys are missing, or it is one of Gymnasium's vector environments that lose text or infos.
    """
    envs = env if isinstance(env, VectorEnv) else SyncVectorEnv([lambda: env])
    space = envs.single_observation_space
    keys = set(space.spaces) if isinstance(space, gym.spaces.Dict) else set()
    if not {"goal", "screenshot"} <= keys:
        raise ValueError(
            f"the agent reads observations that are dicts with 'goal' and 'screenshot', but this environment's space "
            f"is {space}; wrap it with gymnasium.wrappers.TransformObservation"
        )
    if isinstance(envs.unwrapped, AsyncVectorEnv):
        raise ValueError(
            "AsyncVectorEnv hands out text as zeros with shared memory, and without it forgets that an environment "
            "was reset (Gymnasium 1.4); use vectorization_mode='vector_entry_point', or 'sync' for environments "
            "that have none"
        )
    if envs.metadata.get("autoreset_mode") is AutoresetMode.SAME_STEP:
        raise ValueError(
            "the environment resets itself in the step that ends an episode (AutoresetMode.SAME_STEP); "
            "build it with vector_kwargs={'autoreset_mode': AutoresetMode.NEXT_STEP}"
        )
    return envs


def observation_of(observation: dict[str, Any]) -> Observation:
    """The agent's copy of one environment's observation."""
    return Observation(
        screenshot=np.array(observation["screenshot"]),  # a view would keep the screens of the whole batch alive
        ui=str(observation.get("ui", "")),
        last_action_error=str(observation.get("last_action_error", "")),
    )


def sub_observation(observations: dict[str, Any], index: int) -> dict[str, Any]:
    """The observation of one sub-environment, out of a batch."""
    return {key: values[index] for key, values in observations.items()}


def sub_info(infos: dict[str, Any], index: int) -> dict[str, Any]:
    """The info dict of one sub-environment, out of the arrays and masks that Gymnasium makes of them."""
    mine = {}
    for key, values in infos.items():
        mask = infos.get(f"_{key}")
        if mask is None or not mask[index]:
            continue
        value = sub_info(values, index) if isinstance(values, dict) else values[index]
        mine[key] = value.item() if isinstance(value, np.generic) else value
    return mine


@dataclass(frozen=True)
class _Arrival:
    """What a reset or a step of one sub-environment led to."""

    index: int
    observation: dict[str, Any]
    info: dict[str, Any]
    reward: float = 0.0
    done: bool = False


class _Lockstep:
    """Any Gymnasium vector environment: all sub-environments step at once, wanted or not.

    One that has nothing to do resets itself and is given an empty text, that of a model that stopped at once,
    which every environment that takes a model's text has to put up with.
    """

    def __init__(self, envs: VectorEnv) -> None:
        self._envs = envs
        self._begun = False

    def reset(self, seeds: dict[int, int]) -> list[_Arrival]:
        everyone: Any = [seeds.get(index) for index in range(self._envs.num_envs)]
        mask = np.array([index in seeds for index in range(self._envs.num_envs)])
        options = {"reset_mask": mask} if self._begun else None
        self._begun = True
        observations, infos = self._envs.reset(seed=everyone, options=options)
        return [_Arrival(i, sub_observation(observations, i), sub_info(infos, i)) for i in seeds]

    def step(self, actions: dict[int, str]) -> list[_Arrival]:
        texts = tuple(actions.get(index, "") for index in range(self._envs.num_envs))
        observations, rewards, terminated, truncated, infos = self._envs.step(texts)
        ended = terminated | truncated
        return [
            _Arrival(i, sub_observation(observations, i), sub_info(infos, i), float(rewards[i]), bool(ended[i]))
            for i in actions
        ]


class _SendReceive:
    """A vector environment that can be driven in parts, as `AndroidVectorEnv` can: the idle are left alone."""

    def __init__(self, envs: Any) -> None:
        self._envs = envs
        while envs.pending:  # an interrupted roll-out left calls under way
            envs.recv(len(envs.pending))

    def reset(self, seeds: dict[int, int]) -> list[_Arrival]:
        self._envs.send_reset(list(seeds), list(seeds.values()))
        return self._receive(len(seeds))

    def step(self, actions: dict[int, str]) -> list[_Arrival]:
        self._envs.send(list(actions.values()), list(actions))
        return self._receive(len(actions))

    def _receive(self, number: int) -> list[_Arrival]:
        # Sorted, because the order of arrival is chance and the order of sampling would follow it.
        arrivals = sorted(self._envs.recv(number), key=lambda transition: transition.env_id)
        return [_Arrival(t.env_id, t.observation, t.info, t.reward, t.over) for t in arrivals]
