"""Several Android environments at once: event-driven inside, a Gymnasium vector environment outside."""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from coach_gym.answers import wrong_reset, wrong_step
from coach_gym.checks import WrongType, require_seconds
from coach_gym.envs import forking
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.both import BothBenchmarks
from coach_gym.envs.errors import DeviceError, UsageError
from coach_gym.envs.forking import SubSnapshot
from coach_gym.envs.remote.host import Limits
from coach_gym.envs.remote.workers import Workers, hire
from coach_gym.envs.suites.splits import Selection
from coach_gym.envs.worker import Worker
from coach_gym.interruptions import held_back
from coach_gym.protocols import Arrival, EventDriven, ForkableEnv

STEP_TIMEOUT = 120.0  # a healthy device answers within seconds
RESET_TIMEOUT = 600.0  # an emulator may have to boot
_CLOSE_TIMEOUT = 5.0
_PATIENCE = 0.1  # seconds that Ctrl-C waits at most
_LOOKS = 5  # a step looks four times at most, twice at the picture and twice at the tree, and acts
_log = logging.getLogger(__name__)


@dataclass
class _Slot:
    """The place of one environment. Without a worker it is empty, and the next reset builds an environment."""

    make_env: Callable[[], gym.Env]
    observation: dict[str, Any]
    worker: Worker | None = None
    begun: bool = False  # a reset was requested
    over: bool = False  # the episode has ended; the next action resets
    resetting: bool = False
    deadline: float | None = None  # of the call in progress, on the monotonic clock
    episode: dict[str, Any] = field(default_factory=dict)  # info of the reset that began the episode
    fault: str | None = None  # how the reset failed, reported by the episode's only step


class AndroidVectorEnv(VectorEnv[dict[str, Any], Sequence[str], np.ndarray], EventDriven):
    """Runs each environment in a worker, so that a device that raises, hangs or dies costs only one episode.

    `reset` and `step` are Gymnasium's, with next-step autoreset. They are built on `send`, `send_reset` and `recv`,
    with which an agent serves ready environments while the others are still busy (`EventDriven`).

    An environment that raises or exceeds its time limit ends its episode with a fault: it is truncated, its reward is
    0, and `info["fault"]` names the reason. The environment is abandoned, and the next episode builds another.
    Environments are built in their workers at the first reset; one that defines the spaces is built at once.

    Args:
        env_fns: One function per environment that builds it.
        workers: `"thread"` for devices that are waited for; `"process"` for embedded phones, which then run on all
            cores; `"ray"` for actors on the machines of a Ray cluster. What lives in another process cannot be forked.
        actor_options: Ray's options of each actor, such as `{"resources": {"phone": 1}}`; by default it takes a CPU.
        step_timeout: Seconds that a step may take. A look at the screen may take a fifth of them, or the environment's
            own `look_timeout` if that is less, so that a device that hangs in one can be asked again.
        reset_timeout: Seconds that a reset may take.
        on_close: Called after all environments are closed.

    Example:
        >>> import coach_gym, gymnasium as gym
        >>> envs = gym.make_vec("AndroidWorld-v0", num_envs=8, vectorization_mode="vector_entry_point")
        >>> observations, infos = envs.reset(seed=0)
        >>> observations, rewards, terminations, truncations, infos = envs.step(["press_home()"] * 8)
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], gym.Env]],
        *,
        workers: Workers = "thread",
        actor_options: Mapping[str, Any] | None = None,
        step_timeout: float = STEP_TIMEOUT,
        reset_timeout: float = RESET_TIMEOUT,
        on_close: Callable[[], object] = bool,
    ) -> None:
        env_fns = list(env_fns) if isinstance(env_fns, Iterable) else [env_fns]
        if wrong := [each for each in env_fns if not callable(each)]:
            raise WrongType(f"env_fns has {wrong[0]!r:.60}; pass a list with a function for each environment")
        if not env_fns:
            raise ValueError("a vector environment needs at least one environment; pass one function in env_fns")
        require_seconds(step_timeout=step_timeout, reset_timeout=reset_timeout)
        self._crew = hire(workers, actor_options, Limits(reset_timeout, step_timeout))
        env_fns = [partial(_with_time_for_looks, make_env, step_timeout / _LOOKS) for make_env in env_fns]
        first = env_fns[0]()
        self.num_envs = len(env_fns)
        self.metadata = {**first.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.render_mode = first.render_mode
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, self.num_envs)
        self.action_space = batch_space(first.action_space, self.num_envs)
        self.step_timeout = step_timeout
        self.reset_timeout = reset_timeout
        self._on_close = on_close
        bare = first.unwrapped
        self.selection = bare.selection if isinstance(bare, AndroidEnv | BothBenchmarks) else Selection()
        self._first = first  # tells tasks, also once it is closed
        self._slots = [_Slot(make_env, _blank(first.observation_space)) for make_env in env_fns]
        if workers == "thread":
            self._slots[0].make_env = _first_then(first, env_fns[0])
        else:
            first.close()
        self._ready: list[Arrival] = []  # ended without a worker

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "these environments run in workers, which no other process can use; pickle the function that makes them"
        )

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Resets all environments, or those that `options["reset_mask"]` selects, in parallel.

        Args:
            seed: One seed per environment, or the first of consecutive seeds.
            options: Options for every environment, except for `reset_mask`, a boolean array, and `per_env`, a list with
                one dict of further options per environment (or None).

        Returns:
            Observations and infos in Gymnasium's batched format.

        Raises:
            UsageError: The seeds or options are invalid.
        """
        seeds = self._seeds(seed)
        if isinstance(seed, Integral):
            super().reset(seed=int(seed))
        shared = dict(_options("options", options))
        chosen = self._chosen(shared.pop("reset_mask", None))
        further = self._one_each("options['per_env']", shared.pop("per_env", None))
        per_env = [{**shared, **_options("an entry of options['per_env']", each)} for each in further]
        self._require_idle()
        self.send_reset(chosen, [seeds[i] for i in chosen], [per_env[i] for i in chosen])
        try:
            arrivals = self.recv(len(chosen))
        except UsageError:
            self._forget_pending()
            raise
        return self._observations(), self._infos(arrivals)

    def step(
        self, actions: Sequence[str]
    ) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Executes one action per environment, in parallel.

        An environment whose episode ended with the previous step is reset instead, and its action is ignored.
        """
        self._require_idle()
        self.send(actions)
        arrivals = sorted(self.recv(self.num_envs), key=lambda arrival: arrival.env_id)
        return (
            self._observations(),
            np.array([arrival.reward for arrival in arrivals], np.float64),
            np.array([arrival.terminated for arrival in arrivals], np.bool_),
            np.array([arrival.truncated for arrival in arrivals], np.bool_),
            self._infos(arrivals),
        )

    def send(self, actions: Sequence[str], env_ids: Iterable[int] | None = None) -> None:
        """Starts a step in the given environments (all by default) and returns at once.

        Args:
            actions: One action for each of `env_ids`. If the episode is over, it is ignored and a reset starts.
            env_ids: Environments without a call in progress.

        Raises:
            UsageError: An environment was never reset, has a call in progress, or there is not one action for each, of
                the action space's kind. Nothing was sent.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
        """
        ids = self._idle_ids(env_ids)
        several = isinstance(actions, Sequence | np.ndarray) and not isinstance(actions, str | bytes)
        if not several or len(actions) != len(ids):
            given = f"{len(actions)} actions" if several else f"{actions!r:.60} of type {type(actions).__name__}"
            raise UsageError(f"{given} for {len(ids)} environments; pass a sequence with one action for each")
        for env_id, action in zip(ids, actions, strict=True):
            if not self._slots[env_id].begun:
                raise UsageError(f"environment {env_id} was never reset; call reset() first")
            self._require_text(env_id, action)
        for env_id, action in zip(ids, actions, strict=True):
            slot = self._slots[env_id]
            if slot.over:
                self._begin_reset(env_id, None, None)
            elif slot.worker is None:
                self._ready.append(self._faulty_step(env_id, slot.fault or ""))
            else:
                self._begin(slot, partial(slot.worker.step, action), self.step_timeout)

    def _require_text(self, env_id: int, action: object) -> None:
        """Refuses what is no text where actions are texts: it would seem a fault of the environment."""
        texts = isinstance(self.single_action_space, spaces.Text)
        if texts and not self._slots[env_id].over and not isinstance(action, str):
            kind = type(action).__name__
            raise UsageError(f"the action for environment {env_id} is {action!r:.60} of type {kind}; pass a text")

    def send_reset(
        self,
        env_ids: Iterable[int] | None = None,
        seeds: Sequence[int | None] | None = None,
        options: Sequence[dict[str, Any] | None] | None = None,
    ) -> None:
        """Starts new episodes in the given environments (all by default) and returns at once.

        Args:
            env_ids: Environments without a call in progress; an unfinished episode is abandoned.
            seeds: One seed for each of `env_ids`.
            options: One options dict for each of `env_ids`.

        Raises:
            UsageError: An environment has a call in progress, or there is not one seed or options dict for each.
                Nothing was sent.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
        """
        ids = self._idle_ids(env_ids)
        nothing = [None] * len(ids)
        seeds, options = nothing if seeds is None else seeds, nothing if options is None else options
        if not len(seeds) == len(options) == len(ids):
            raise UsageError(f"{len(seeds)} seeds and {len(options)} options for {len(ids)} environments")
        for env_id, seed, option in zip(ids, seeds, options, strict=True):
            self._begin_reset(env_id, seed, option)

    def recv(self, min_ready: int = 1) -> list[Arrival]:
        """Waits until `min_ready` calls have ended, and returns the results of all that have.

        Args:
            min_ready: Number of calls to wait for; capped at the number in progress.

        Raises:
            UsageError: No call is in progress, or the options of a reset were invalid. In the latter case that
                environment needs another reset, and all other results can still be received.
            gymnasium.error.ClosedEnvironmentError: `close` was called.
        """
        self._require_open()
        if not self.pending:
            raise UsageError("no call is in progress; send() an action before recv()")
        min_ready = min(min_ready, len(self._ready) + sum(slot.deadline is not None for slot in self._slots))
        while len(self._ready) < min_ready:
            self._take(_PATIENCE)
        while self._take(0.0):
            pass
        received, self._ready = self._ready, []
        return received

    def fork(self, env_ids: Iterable[int] | None = None) -> list[ForkableEnv]:
        """Returns a fork of each of the given environments (all by default), in mid-episode.

        Forks are single environments, which reset and step in the calling thread. They and the originals do not
        influence one another.

        Args:
            env_ids: Environments with an episode under way and without a call in progress.

        Raises:
            UsageError: One of them has no episode, has a call in progress, or cannot be forked.
        """
        return [forking.fork(self._worker_of(env_id), self.step_timeout) for env_id in self._ids(env_ids)]

    def snapshot(self, env_ids: Iterable[int] | None = None) -> list[SubSnapshot]:
        """Returns the states of the given environments (all by default), for `restore`. Raises as `fork` does."""
        return [
            forking.snapshot(self._worker_of(env_id), self.step_timeout, self._slots[env_id].episode)
            for env_id in self._ids(env_ids)
        ]

    def restore(
        self, snapshots: Sequence[SubSnapshot], env_ids: Iterable[int] | None = None
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Returns each of the given environments (all by default) to a snapshot that it made, as often as wanted.

        Returns:
            Observation and info of that moment, for each of `env_ids`.

        Raises:
            UsageError: As for `fork`; or another environment made a snapshot, such as one that a fault has ended.
        """
        restored = []
        for env_id, kept in zip(self._ids(env_ids), snapshots, strict=True):
            observation, info = forking.restore(self._worker_of(env_id), self.step_timeout, kept)
            slot = self._slots[env_id]
            slot.observation, slot.episode, slot.over = observation, dict(kept.episode), False
            restored.append((observation, info))
        return restored

    def task_of(self, seed: int) -> str:
        """Returns the task family of the episode that a reset with this seed starts, in any of the environments.

        Raises:
            UsageError: They cannot tell.
        """
        if not self._first.has_wrapper_attr("task_of"):
            raise UsageError(f"{self._first.unwrapped!r} does not tell the task of a seed; give it `task_of(seed)`")
        return str(self._first.get_wrapper_attr("task_of")(seed))

    @property
    def pending(self) -> tuple[int, ...]:
        """The environments whose result `recv` has not returned yet."""
        return tuple(env_id for env_id in range(self.num_envs) if self._is_busy(env_id))

    def render(self) -> tuple[np.ndarray, ...] | None:
        """Returns the latest screenshots; None without a `render_mode`."""
        if self.render_mode is None:
            return None
        return tuple(slot.observation["screenshot"].copy() for slot in self._slots)

    def close_extras(self, **kwargs: Any) -> None:
        """Closes all environments without waiting for one that hangs."""
        workers = [slot.worker for slot in self._slots if slot.worker is not None]
        for worker in workers:
            worker.stop()
        until = time.monotonic() + _CLOSE_TIMEOUT
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))
        for slot in self._slots:
            slot.deadline = None
        self._ready = []
        self._on_close()

    def _begin_reset(self, env_id: int, seed: int | None, options: dict[str, Any] | None) -> None:
        slot = self._slots[env_id]
        if slot.worker is None:
            slot.worker = self._crew.start(env_id, slot.make_env)
            if slot.begun and seed is None:  # a rebuilt environment has lost the generator of the first seed
                seed = int(self.np_random.integers(1 << 31))
        slot.begun, slot.resetting = True, True
        self._begin(slot, partial(slot.worker.reset, seed, options), self.reset_timeout)

    def _begin(self, slot: _Slot, call: Callable[[], object], timeout: float) -> None:
        """Starts a call. If Ctrl-C comes meanwhile, nobody knows whether it has begun: the environment is abandoned."""
        worker = slot.worker
        assert worker is not None
        try:
            call()
            slot.deadline = time.monotonic() + timeout
        except BaseException:
            slot.worker, slot.deadline, slot.resetting = None, None, False
            worker.stop()
            raise

    def _take(self, patience: float) -> bool:
        """Takes the next result, for which it waits so many seconds. Returns whether there is one.

        Ctrl-C comes before or after: a result that it has taken and forgotten would be waited for in vain.

        Raises:
            UsageError: It is that the options of a reset were invalid.
        """
        with held_back():
            ended = self._next_outcome(patience)
            if ended is None:
                return False
            env_id, outcome = ended
            if isinstance(outcome, UsageError):
                self._refused(env_id)
                raise outcome
            self._ready.append(self._arrival(env_id, outcome))
            return True

    def _next_outcome(self, patience: float) -> tuple[int, Any] | None:
        """The next environment that is done or too late, with its result; None if there is none."""
        while True:
            now = time.monotonic()
            deadline = min((slot.deadline for slot in self._slots if slot.deadline is not None), default=now)
            done = self._crew.outcome(min(max(0.0, deadline - now), patience))
            if done is None:
                return self._overdue(deadline) if patience and time.monotonic() >= deadline else None
            worker, outcome = done
            if self._slots[worker.env_id].worker is worker:  # else it had been abandoned
                return worker.env_id, outcome

    def _overdue(self, deadline: float) -> tuple[int, Any]:
        """Abandons the environment that exceeded this deadline. Its thread ends when the device answers, if ever."""
        env_id, slot = next((i, slot) for i, slot in enumerate(self._slots) if slot.deadline == deadline)
        assert slot.worker is not None
        slot.worker.stop()
        limit = self.reset_timeout if slot.resetting else self.step_timeout
        return env_id, TimeoutError(f"{'reset' if slot.resetting else 'step'} took longer than {limit:g} s")

    def _arrival(self, env_id: int, outcome: Any) -> Arrival:
        slot = self._slots[env_id]
        resetting, slot.resetting, slot.deadline = slot.resetting, False, None
        if not isinstance(outcome, BaseException):
            wrong = (wrong_reset if resetting else wrong_step)(outcome, self.single_observation_space)
            if wrong is not None:
                assert slot.worker is not None
                slot.worker.stop()
                outcome = DeviceError(wrong)
        if isinstance(outcome, BaseException):
            return self._broken(env_id, resetting, outcome)
        if resetting:
            slot.observation, slot.episode = outcome
            slot.over, slot.fault = False, None
            return Arrival(env_id, slot.observation, dict(slot.episode))
        observation, reward, terminated, truncated, info = outcome
        slot.observation, slot.over = observation, terminated or truncated
        return Arrival(env_id, observation, info, float(reward), terminated, truncated)

    def _broken(self, env_id: int, resetting: bool, error: BaseException) -> Arrival:
        """Abandons an environment; the next reset builds another."""
        slot = self._slots[env_id]
        slot.worker = None
        fault = f"{type(error).__name__}: {str(error).partition(chr(10))[0][:300]}"
        _log.warning("environment %d failed: %s", env_id, fault)
        _log.debug("the traceback of that failure", exc_info=error)
        if not resetting:
            return self._faulty_step(env_id, fault)
        slot.observation, slot.episode = _blank(self.single_observation_space), {}
        slot.over, slot.fault = False, fault
        return Arrival(env_id, copy.deepcopy(slot.observation), {"fault": fault})

    def _faulty_step(self, env_id: int, fault: str) -> Arrival:
        slot = self._slots[env_id]
        slot.over = True
        info = {**slot.episode, "fault": fault, "is_success": False}
        return Arrival(env_id, copy.deepcopy(slot.observation), info, truncated=True)

    def _refused(self, env_id: int) -> None:
        slot = self._slots[env_id]
        slot.resetting, slot.deadline, slot.over = False, None, True

    def _forget_pending(self) -> None:
        while self.pending:
            try:
                self.recv(self.num_envs)
            except UsageError as error:
                _log.warning("another reset was refused: %s", error)

    def _idle_ids(self, env_ids: Iterable[int] | None) -> list[int]:
        """Checks that calls can begin in the given environments."""
        self._require_open()
        ids = self._ids(env_ids)
        if len(set(ids)) != len(ids) or not all(0 <= env_id < self.num_envs for env_id in ids):
            raise UsageError(f"env_ids={ids} must be different numbers from 0 to {self.num_envs - 1}")
        for env_id in ids:
            if self._is_busy(env_id):
                raise UsageError(f"environment {env_id} has a call in progress; recv() its result before sending more")
        return ids

    def _require_open(self) -> None:
        if self.closed:
            raise gym.error.ClosedEnvironmentError("these environments are closed; make new ones")

    def _worker_of(self, env_id: int) -> Worker:
        """Returns the worker of an environment that has an episode and no call in progress."""
        (env_id,) = self._idle_ids([env_id])
        worker = self._slots[env_id].worker
        if worker is None:
            raise UsageError(f"environment {env_id} has no episode on a working device; reset it first")
        return worker

    def _is_busy(self, env_id: int) -> bool:
        return self._slots[env_id].deadline is not None or any(told.env_id == env_id for told in self._ready)

    def _require_idle(self) -> None:
        if self.pending:
            raise UsageError(f"environments {list(self.pending)} have a call in progress; recv() the results first")

    def _ids(self, env_ids: Iterable[int] | None) -> list[int]:
        return list(range(self.num_envs) if env_ids is None else map(int, env_ids))

    def _chosen(self, mask: np.ndarray | None) -> list[int]:
        if mask is None:
            return list(range(self.num_envs))
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise UsageError(f"options['reset_mask'] must be a boolean array of shape ({self.num_envs},), not {mask!r}")
        if not mask.any():
            raise UsageError("options['reset_mask'] selects no environment")
        return [int(i) for i in np.flatnonzero(mask)]

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        """Returns a seed for each environment."""
        given = [seed] if isinstance(seed, Integral) else self._one_each("seed", seed)
        for each in given:
            if each is not None and (not isinstance(each, Integral) or isinstance(each, bool) or each < 0):
                raise UsageError(f"seed={each!r:.60} is none; pass a whole number of at least 0")
        if isinstance(seed, Integral):
            return [int(seed) + i for i in range(self.num_envs)]
        return [None if each is None else int(each) for each in given]

    def _one_each(self, name: str, values: Any) -> Sequence[Any]:
        if values is None:
            return [None] * self.num_envs
        if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
            raise UsageError(f"{name}={values!r:.60} is of type {type(values).__name__}; pass one for each environment")
        if len(values) != self.num_envs:
            raise UsageError(f"{name} has {len(values)} entries for {self.num_envs} environments")
        return list(values)

    def _observations(self) -> dict[str, Any]:
        space = self.single_observation_space
        batch: Any = create_empty_array(space, self.num_envs, fn=np.empty)
        filled: Any = concatenate(space, [slot.observation for slot in self._slots], batch)
        return filled

    def _infos(self, arrivals: list[Arrival]) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for arrival in sorted(arrivals, key=lambda arrival: arrival.env_id):
            infos = self._add_info(infos, arrival.info, arrival.env_id)
        return infos


def _with_time_for_looks(make_env: Callable[[], gym.Env], longest: float) -> gym.Env:
    """Builds an environment that gives up a look at its screen after `longest` seconds."""
    env = make_env()
    if not isinstance(env, gym.Env):
        raise WrongType(f"a function of env_fns returned {env!r:.60} of type {type(env).__name__}; return a gym.Env")
    bare = env.unwrapped
    for part in bare.parts.values() if isinstance(bare, BothBenchmarks) else [bare]:
        if isinstance(part, AndroidEnv) and part.look_timeout is not None:
            part.look_timeout = min(part.look_timeout, longest)
    return env


def _options(name: str, given: Any) -> Mapping[str, Any]:
    """Returns the options of a reset; none if none are given."""
    if not isinstance(given, Mapping | None):
        raise UsageError(f"{name}={given!r:.60} is of type {type(given).__name__}; pass a dict or None")
    return given or {}


def _first_then(first: gym.Env, make_env: Callable[[], gym.Env]) -> Callable[[], gym.Env]:
    """Returns a function that gives `first` once, and new environments from then on."""
    spare = [first]
    return lambda: spare.pop() if spare else make_env()


def _blank(space: gym.Space) -> Any:
    """An empty observation."""
    if isinstance(space, spaces.Dict):
        return {key: _blank(part) for key, part in space.items()}
    return "" if isinstance(space, spaces.Text) else np.zeros(space.shape or (), space.dtype)
