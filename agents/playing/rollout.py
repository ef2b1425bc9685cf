"""Episodes on a vector environment: one for each seed, sub-environments refilled as they become free."""

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
    """What some actions brought, sub-environment by sub-environment; idle ones are zero and empty.

    Attributes:
        rewards: (number of sub-environments,).
        dones: likewise, whether the episode is over.
        infos: likewise, the info dicts.
        finished: the attempts that are over.
        stepped: the attempts that took a step, those that are over among them.
    """

    rewards: np.ndarray
    dones: np.ndarray
    infos: list[dict[str, Any]]
    finished: list[Attempt]
    stepped: list[Attempt] = field(default_factory=list)


class Rollout:
    """Plays one episode for each seed.

    A seed fixes task, parameters and device state of its episode, so a roll-out is reproducible, and episodes of
    one seed are attempts at the same task instance. All episodes are played to their end.

    `step` waits for every sub-environment, as Gymnasium's vector environments do. Under it lie `send` and `receive`,
    by which those are served that are ready while the others are still busy.

    Args:
        envs: of `as_vector_env`.
        seeds: in the order of their start; may be endless.
        first: number of the first episode.
        until: number before which to stop beginning episodes; None as long as there are seeds.
    """

    def __init__(self, envs: VectorEnv, seeds: Iterable[int], first: int = 0, until: int | None = None) -> None:
        self.num_envs = envs.num_envs
        self._envs = _SendReceive(envs) if hasattr(envs, "send_reset") else _Lockstep(envs)
        _LATEST[envs] = weakref.ref(self)
        self._of = weakref.ref(envs)
        self._queue = enumerate(seeds, first)
        self._next = next(self._queue, None)
        self._until = until
        self._waiting: dict[int, Attempt] = {}
        self._acting: dict[int, Attempt] = {}
        self._starting: dict[int, int] = {}
        self._free = set(range(self.num_envs))
        self._begin()
        self._await_resets()

    @property
    def waiting(self) -> list[Attempt]:
        """The attempts that need an action, by number; none while nothing is under way means that all is over."""
        return sorted(self._waiting.values(), key=lambda attempt: attempt.number)

    @property
    def busy(self) -> int:
        """Sub-environments with a step or a reset under way."""
        return len(self._acting) + len(self._starting)

    @property
    def undisturbed(self) -> bool:
        """Whether nobody else has begun a roll-out on these environments since."""
        envs = self._of()
        return envs is not None and _LATEST[envs]() is self

    def step(self, actions: Sequence[str]) -> Transition:
        """Carries out one action for each of `waiting`, in its order, and begins episodes where one has ended."""
        self.send(self.waiting, actions)
        transition = self.receive(self.busy)
        self._await_resets()
        return transition

    def begin_until(self, number: int) -> None:
        """Lets episodes begin whose number is smaller; their first states are received like those after a step."""
        self._until = number
        self._begin()

    def send(self, attempts: Sequence[Attempt], actions: Sequence[str]) -> None:
        """Begins one action for each of some attempts that wait for one."""
        for attempt in attempts:
            self._acting[attempt.index] = self._waiting.pop(attempt.index)
        self._envs.send({attempt.index: action for attempt, action in zip(attempts, actions, strict=True)})

    def receive(self, min_ready: int = 1) -> Transition:
        """Waits until that many of the busy sub-environments are done, and tells of the steps among all that are."""
        rewards, dones = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        transition = Transition(rewards, dones, infos, [])
        for arrival in self._envs.receive(min_ready) if self.busy else []:
            if arrival.index in self._starting:
                self._start(arrival)
            else:
                self._advance(arrival, transition)
        self._begin()
        return transition

    def _begin(self) -> None:
        """Resets free sub-environments for the next episodes, as long as there are any."""
        seeds = {}
        for index in sorted(self._free):
            if self._next is None or (self._until is not None and self._next[0] >= self._until):
                break
            self._starting[index], seeds[index] = self._next
            self._next = next(self._queue, None)
        self._free -= seeds.keys()
        if seeds:
            self._envs.reset(seeds)

    def _await_resets(self) -> None:
        while self._starting:
            self.receive(self.busy)

    def _start(self, arrival: "_Arrival") -> None:
        observation, info = arrival.observation, arrival.info
        episode = Episode(
            goal=str(observation["goal"]),
            task=info.get("task", ""),
            params=dict(info.get("params", {})),
            fault=info.get("fault"),
        )
        number = self._starting.pop(arrival.index)
        self._waiting[arrival.index] = Attempt(number, arrival.index, episode, observation_of(observation))

    def _advance(self, arrival: "_Arrival", transition: Transition) -> None:
        index, attempt = arrival.index, self._acting.pop(arrival.index)
        transition.rewards[index], transition.dones[index] = arrival.reward, arrival.done
        transition.infos[index] = arrival.info
        attempt.length += 1
        attempt.reward += arrival.reward
        attempt.observation = observation_of(arrival.observation)
        transition.stepped.append(attempt)
        if arrival.done:
            _close(attempt, arrival.info)
            transition.finished.append(attempt)
            self._free.add(index)
        else:
            self._waiting[index] = attempt


_LATEST: "weakref.WeakKeyDictionary[VectorEnv, weakref.ref[Rollout]]" = weakref.WeakKeyDictionary()


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


def settle(envs: Any) -> None:
    """Waits until nothing is under way that a roll-out has left, so that others can reset and step."""
    while getattr(envs, "pending", ()):
        envs.recv(len(envs.pending))


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
        self._arrivals: list[_Arrival] = []

    def reset(self, seeds: dict[int, int]) -> None:
        everyone: Any = [seeds.get(index) for index in range(self._envs.num_envs)]
        mask = np.array([index in seeds for index in range(self._envs.num_envs)])
        options = {"reset_mask": mask} if self._begun else None
        self._begun = True
        observations, infos = self._envs.reset(seed=everyone, options=options)
        self._arrivals += [_Arrival(i, sub_observation(observations, i), sub_info(infos, i)) for i in seeds]

    def send(self, actions: dict[int, str]) -> None:
        texts = tuple(actions.get(index, "") for index in range(self._envs.num_envs))
        observations, rewards, terminated, truncated, infos = self._envs.step(texts)
        ended = terminated | truncated
        self._arrivals += [
            _Arrival(i, sub_observation(observations, i), sub_info(infos, i), float(rewards[i]), bool(ended[i]))
            for i in actions
        ]

    def receive(self, min_ready: int) -> list[_Arrival]:
        arrivals, self._arrivals = self._arrivals, []
        return arrivals


class _SendReceive:
    """A vector environment that can be driven in parts, as `AndroidVectorEnv` can: the idle are left alone."""

    def __init__(self, envs: Any) -> None:
        self._envs = envs
        settle(envs)

    def reset(self, seeds: dict[int, int]) -> None:
        self._envs.send_reset(list(seeds), list(seeds.values()))

    def send(self, actions: dict[int, str]) -> None:
        self._envs.send(list(actions.values()), list(actions))

    def receive(self, min_ready: int) -> list[_Arrival]:
        # Sorted, because the order of arrival is chance and the order of sampling would follow it.
        arrivals = sorted(self._envs.recv(min_ready), key=lambda arrival: arrival.env_id)
        return [_Arrival(a.env_id, a.observation, a.info, a.reward, a.over) for a in arrivals]
