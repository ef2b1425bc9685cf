"""Episodes on a vector environment: one per seed, with sub-environments refilled as they become free."""

import logging
import math
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from coach_gym.agents.playing.claims import beneath
from coach_gym.answers import has_verdict, wrong_params, wrong_verdict
from coach_gym.episode import Episode, Observation
from coach_gym.protocols import Arrival, EventDriven, ForkableEnv, ForkableVectorEnv
from coach_gym.spaces import Unicode

_log = logging.getLogger(__name__)


LONGEST_GOAL = 32_768  # characters


@dataclass
class Attempt:
    """One episode in progress.

    Attributes:
        number: Position of its seed in the roll-out.
        index: Sub-environment it runs on.
        episode: The episode so far; the caller appends its steps.
        observation: The state that waits for an action.
        length: Steps taken.
        reward: Sum of rewards so far.
        memory: Anything the caller wants to keep with the episode.
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
    """The results of some actions, one entry per sub-environment; entries of idle ones are zero or empty.

    Attributes:
        rewards: Rewards, (number of sub-environments,).
        dones: Whether each episode is over, (number of sub-environments,) bool.
        infos: Info dicts, one per sub-environment.
        finished: The attempts that are over.
        stepped: The attempts that took a step, including the finished ones.
    """

    rewards: np.ndarray
    dones: np.ndarray
    infos: list[dict[str, Any]]
    finished: list[Attempt]
    stepped: list[Attempt] = field(default_factory=list)


class Rollout:
    """Plays one episode per seed.

    A seed determines the task, parameters and device state of its episode. Roll-outs are therefore reproducible, and
    episodes with the same seed attempt the same task instance. Every episode is played to its end.

    `step` waits for every sub-environment, as Gymnasium's vector environments do. `send` and `receive` are its two
    halves; with them, a caller serves ready sub-environments while the others are still busy.

    Args:
        envs: Vector environment, as `as_vector_env` returns it.
        seeds: Seeds in the order in which their episodes start; may be infinite.
        first: Number of the first episode.
        until: Number of the first episode that must not start yet; None for no limit.

    Raises:
        gymnasium.error.ClosedEnvironmentError: The environments are closed.
    """

    def __init__(self, envs: VectorEnv, seeds: Iterable[int], first: int = 0, until: int | None = None) -> None:
        if envs.unwrapped.closed:  # Gymnasium's own play on
            raise gym.error.ClosedEnvironmentError("these environments are closed; make new ones")
        self.num_envs = envs.num_envs
        settle(envs)
        self._envs: EventDriven = envs if isinstance(envs, EventDriven) else _Lockstep(envs)
        self._places = beneath(envs)
        for place in [place for place, latest in list(_LATEST.items()) if latest() is None]:
            _LATEST.pop(place, None)
        _LATEST.update(dict.fromkeys(self._places, weakref.ref(self)))
        self._of = weakref.ref(envs)
        self._seeds_left = iter(seeds)  # drawn only when an episode starts, as they may depend on those before it
        self._next = first
        self._until = until
        self._waiting: dict[int, Attempt] = {}
        self._acting: dict[int, Attempt] = {}
        self._starting: dict[int, int] = {}
        self._seeds: dict[int, int] = {}
        self._free = set(range(self.num_envs))
        self._begin()
        self._await_resets()

    @property
    def waiting(self) -> list[Attempt]:
        """The attempts that need an action, by number. Empty with nothing in progress means everything is over."""
        return sorted(self._waiting.values(), key=lambda attempt: attempt.number)

    @property
    def in_progress(self) -> list[Attempt]:
        """The attempts that have begun and are not over."""
        return [*self._waiting.values(), *self._acting.values()]

    @property
    def busy(self) -> int:
        """Number of sub-environments with a step or reset in progress."""
        return len(self._acting) + len(self._starting)

    @property
    def undisturbed(self) -> bool:
        """Whether this is the latest roll-out on these environments."""
        return all(place in _LATEST and _LATEST[place]() is self for place in self._places)

    def step(self, actions: Sequence[str]) -> Transition:
        """Executes one action per waiting attempt, in the order of `waiting`, and refills free sub-environments."""
        self.send(self.waiting, actions)
        transition = self.receive(self.busy)
        self._await_resets()
        return transition

    def fork(self, attempt: Attempt) -> ForkableEnv:
        """Returns a fork of the environment of an attempt that waits for an action.

        Raises:
            UsageError: It cannot be forked.
        """
        envs = self._of()
        assert isinstance(envs, ForkableVectorEnv)
        return envs.fork([attempt.index])[0]

    def begin_until(self, number: int) -> None:
        """Lets episodes with smaller numbers start; `receive` picks up their first states, unless they are there."""
        self._until = number
        self._begin()
        if isinstance(self._envs, _Lockstep):  # the others' next step would be theirs, too
            self._await_resets()

    def send(self, attempts: Sequence[Attempt], actions: Sequence[str]) -> None:
        """Starts one action for each of `attempts`, all of which must be waiting."""
        for attempt in attempts:
            self._acting[attempt.index] = self._waiting.pop(attempt.index)
        self._envs.send(list(actions), [attempt.index for attempt in attempts])

    def receive(self, min_ready: int = 1) -> Transition:
        """Waits for at least `min_ready` busy sub-environments and returns the steps of all that are ready."""
        rewards, dones = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=bool)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        transition = Transition(rewards, dones, infos, [])
        arrivals = self._envs.recv(min_ready) if self.busy else []
        # Sorted, because the order of arrival is random and would change the order of sampling.
        for arrival in sorted(arrivals, key=lambda arrival: arrival.env_id):
            if arrival.env_id in self._starting:
                self._start(arrival)
            else:
                self._advance(arrival, transition)
        self._begin()
        return transition

    def _begin(self) -> None:
        """Resets free sub-environments for the next episodes, if there are any."""
        seeds = {}
        for index in sorted(self._free):
            if self._until is not None and self._next >= self._until:
                break
            seed = next(self._seeds_left, None)
            if seed is None:
                break
            self._starting[index], seeds[index] = self._next, seed
            self._next += 1
        self._free -= seeds.keys()
        self._seeds |= seeds
        if seeds:
            self._envs.send_reset(list(seeds), list(seeds.values()))

    def _await_resets(self) -> None:
        while self._starting:
            self.receive(self.busy)

    def _start(self, arrival: Arrival) -> None:
        observation, info = arrival.observation, arrival.info
        wrong = wrong_params(info)
        episode = Episode(
            goal=goal_of(observation),
            task=str(info.get("task", "")),
            params={} if wrong else dict(info.get("params", {})),
            fault=info.get("fault", wrong),
            seed=self._seeds[arrival.env_id],
        )
        number = self._starting.pop(arrival.env_id)
        self._waiting[arrival.env_id] = Attempt(number, arrival.env_id, episode, observation_of(observation))

    def _advance(self, arrival: Arrival, transition: Transition) -> None:
        index, attempt = arrival.env_id, self._acting.pop(arrival.env_id)
        transition.rewards[index], transition.dones[index] = arrival.reward, arrival.over
        transition.infos[index] = arrival.info
        attempt.length += 1
        attempt.reward += arrival.reward
        attempt.observation = observation_of(arrival.observation)
        transition.stepped.append(attempt)
        if arrival.over:
            _close(attempt, arrival.info)
            transition.finished.append(attempt)
            self._free.add(index)
        else:
            self._waiting[index] = attempt


_LATEST: dict[int, weakref.ref[Rollout]] = {}
"""The latest roll-out on each environment. A dictionary of `weakref` would swallow a Ctrl-C while it removes one."""


def _close(attempt: Attempt, info: dict[str, Any]) -> None:
    """Records the verdict. A fault gives none, and neither does `is_success=None`, a judge that failed."""
    episode = attempt.episode
    episode.fault = info.get("fault", episode.fault or wrong_verdict(info))
    if episode.fault is None and not math.isfinite(attempt.reward):
        episode.fault = f"the environment's reward is {attempt.reward}, which is no finite number"
        _log.warning("an episode has no verdict: %s", episode.fault)
    episode.answer = info.get("answer")
    episode.last = attempt.observation
    episode.outcome = attempt.reward if episode.fault is None and has_verdict(info) else None


def as_vector_env(env: gym.Env | VectorEnv) -> VectorEnv:
    """Returns the vector environment that agents run on.

    Args:
        env: A vector environment, returned as it is, or a single environment. Observations are dicts with `goal` and
            `screenshot`, and optionally `ui` and `last_action_error`.

    Raises:
        ValueError: Keys are missing, or `env` is one of Gymnasium's vector environments that lose text or infos.
    """
    if not isinstance(env, VectorEnv | gym.Env):
        raise ValueError(
            f"{type(env).__name__} is neither a Gymnasium environment nor one of Gymnasium's vector environments; pass "
            f"what gym.make or gym.make_vec returns, also in place of Stable-Baselines3's DummyVecEnv"
        )
    envs = env if isinstance(env, VectorEnv) else SyncVectorEnv([lambda: env])
    space = envs.single_observation_space
    keys = set(space.spaces) if isinstance(space, gym.spaces.Dict) else set()
    if not {"goal", "screenshot"} <= keys:
        raise ValueError(
            f"the agent needs observations that are dicts with 'goal' and 'screenshot', but this environment's space "
            f"is {space}; wrap it with gymnasium.wrappers.TransformObservation"
        )
    inner = envs.unwrapped
    if isinstance(inner, AsyncVectorEnv) and not (inner.shared_memory and _only_our_texts(space)):
        raise ValueError(
            "AsyncVectorEnv loses track of resets without shared memory, and with it returns gymnasium.spaces.Text as "
            "zeros (Gymnasium 1.4); leave shared_memory=True and use coach_gym.spaces.Unicode for texts, or pass "
            "vectorization_mode='vector_entry_point', or 'sync' for environments without one"
        )
    if envs.metadata.get("autoreset_mode") is AutoresetMode.SAME_STEP:
        raise ValueError(
            "the environment resets itself in the step that ends an episode (AutoresetMode.SAME_STEP); "
            "build it with vector_kwargs={'autoreset_mode': AutoresetMode.NEXT_STEP}"
        )
    return envs


def _only_our_texts(space: gym.Space) -> bool:
    """Whether all texts of a dict space survive AsyncVectorEnv's shared memory."""
    parts = space.values() if isinstance(space, gym.spaces.Dict) else []
    return all(isinstance(part, Unicode) for part in parts if isinstance(part, gym.spaces.Text))


def settle(envs: VectorEnv | None) -> None:
    """Waits for every call that a roll-out has left in progress, so that others can reset and step."""
    while isinstance(envs, EventDriven) and envs.pending:
        try:
            envs.recv(len(envs.pending))
        except ValueError as refused:  # that call has ended, too
            _log.warning("nobody waited for a call that failed: %s", refused)


def require_observation(observation: Any) -> None:
    """Checks that an observation is of the kind that our environments give, or a batch of them.

    Raises:
        TypeError: It is no dict.
        ValueError: It has no goals that are text, or no screenshots.
    """
    if not isinstance(observation, Mapping):
        raise TypeError(f"the observation is of type {type(observation).__name__}; pass the dict of an environment")
    for name in ("goal", "screenshot"):
        if name not in observation:
            raise ValueError(f"the observation has no {name!r}; pass that of an environment, which has a goal as text")
    if not isinstance(observation["goal"], str | Sequence | np.ndarray):
        raise ValueError(f"observation['goal']={observation['goal']!r:.60} is no text; pass the instruction")


def observation_of(observation: dict[str, Any]) -> Observation:
    """Copies one environment's observation for the agent.

    Raises:
        ValueError: The screenshot is none.
    """
    screenshot = np.array(observation["screenshot"])  # a view would keep the screens of the whole batch alive
    if screenshot.ndim != 3 or screenshot.shape[2] != 3 or screenshot.dtype != np.uint8 or not screenshot.size:
        raise ValueError(
            f"observation['screenshot'] is {screenshot.shape} of {screenshot.dtype}; the agent needs uint8 of shape "
            f"(height, width, 3)"
        )
    return Observation(
        screenshot=screenshot,
        ui=whole_text(observation.get("ui", "")),
        last_action_error=whole_text(observation.get("last_action_error", "")),
    )


def goal_of(observation: dict[str, Any]) -> str:
    """Returns the instruction of one environment's observation.

    Raises:
        ValueError: It is longer than any model reads.
    """
    goal = whole_text(observation["goal"])
    if len(goal) > LONGEST_GOAL:
        raise ValueError(f"the goal has {len(goal)} characters, more than {LONGEST_GOAL}; shorten it")
    return goal


def whole_text(text: Any) -> str:
    """Replaces lone surrogates, halves of characters that no tokenizer takes; two that belong together become one."""
    return str(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sub_observation(observations: dict[str, Any], index: int) -> dict[str, Any]:
    """Returns the observation of one sub-environment from a batch."""
    return {key: values[index] for key, values in observations.items()}


def sub_info(infos: dict[str, Any], index: int) -> dict[str, Any]:
    """Returns the info dict of one sub-environment from Gymnasium's arrays and masks."""
    mine = {}
    for key, values in infos.items():
        mask = infos.get(f"_{key}")
        if mask is None or not mask[index]:
            continue
        value = sub_info(values, index) if isinstance(values, dict) else values[index]
        mine[key] = value.item() if isinstance(value, np.generic) else value
    return mine


class _Lockstep:
    """Drives any Gymnasium vector environment event by event, although all its sub-environments step at once.

    A sub-environment with nothing to do resets itself, or receives an empty text. A model that stops at once writes
    that too, so every environment has to accept it.
    """

    def __init__(self, envs: VectorEnv) -> None:
        self._envs = envs
        self._begun = False
        self._arrivals: list[Arrival] = []

    @property
    def pending(self) -> tuple[int, ...]:
        return tuple(arrival.env_id for arrival in self._arrivals)

    def send_reset(self, env_ids: Sequence[int], seeds: Sequence[int | None]) -> None:
        chosen = dict(zip(env_ids, seeds, strict=True))
        everyone: Any = [chosen.get(index) for index in range(self._envs.num_envs)]
        mask = np.array([index in chosen for index in range(self._envs.num_envs)])
        options = {"reset_mask": mask} if self._begun else None
        self._begun = True
        observations, infos = self._envs.reset(seed=everyone, options=options)
        self._arrivals += [Arrival(i, sub_observation(observations, i), sub_info(infos, i)) for i in env_ids]

    def send(self, actions: Sequence[str], env_ids: Sequence[int]) -> None:
        chosen = dict(zip(env_ids, actions, strict=True))
        texts = tuple(chosen.get(index, "") for index in range(self._envs.num_envs))
        observations, rewards, terminated, truncated, infos = self._envs.step(texts)
        for i in env_ids:
            ended = bool(terminated[i]), bool(truncated[i])
            arrival = Arrival(i, sub_observation(observations, i), sub_info(infos, i), float(rewards[i]), *ended)
            self._arrivals.append(arrival)

    def recv(self, min_ready: int) -> list[Arrival]:
        arrivals, self._arrivals = self._arrivals, []
        return arrivals
