"""A task on an Android device, as a Gymnasium environment."""

from __future__ import annotations

import copy
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, Literal, Self, TypeVar, get_args

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random

from coach_gym.actions import Action, ActionError, parse_action, require_on_screen
from coach_gym.bugs import OthersCode, is_bug
from coach_gym.checks import LARGEST_SIDE, WrongType, is_finite, require_seconds, require_switch, require_whole
from coach_gym.envs.devices.device import Device, Forkable, ForkableDevice, LentDevice
from coach_gym.envs.devices.names import check_name, open_device
from coach_gym.envs.errors import TaskError, UsageError
from coach_gym.envs.looking import LOOK_TIMEOUT, asked_again, look
from coach_gym.envs.page import Page
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.pool import BENCHMARKS, PoolTask, tasks_of
from coach_gym.envs.suites.splits import Unseen
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.task import Params, Task
from coach_gym.envs.tasks.words import Split
from coach_gym.recording.notebook import Shown
from coach_gym.spaces import Pixels, Unicode
from coach_gym.ui import Node, compress

PIXEL_6 = (1080, 2400)
MAX_ACTION = 8192  # characters of the spaces' longest texts
MAX_GOAL = 8192
MAX_UI = 1 << 20

Answer = TypeVar("Answer")
TaskErrors = Literal["raise", "fault"]
_OPTIONS = ("task", "params", "params_seed")
_PROGRESS = ("_steps", "_over", "_fault", "_error", "_screenshot", "_ui", "_tree")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Snapshot:
    """An environment in the middle of an episode. Only the environment that made it can return to it."""

    device: Any
    task: Task
    random: np.random.Generator
    progress: dict[str, Any]


class _RenderModes(list[str]):
    """What environments can render; Gymnasium looks here first, and takes what it does not find for a text."""

    def __contains__(self, mode: object) -> bool:
        if not isinstance(mode, str):
            raise WrongType(
                f"render_mode={mode!r:.60} is of type {type(mode).__name__}; pass None, 'rgb_array' or 'human'"
            )
        return super().__contains__(mode)


class AndroidEnv(gym.Env[dict[str, Any], str]):
    """One device, one task instance an episode.

    An action is text in the canonical grammar of `coach_gym.actions`. Text that is no action, or one
    that cannot be carried out, is a step that does nothing; the next observation says why in
    `last_action_error`. The episode terminates when the agent says `finished`; only then is the task
    evaluated, and the verdict is the reward (`must_finish` changes that). It is truncated when the budget is
    spent, or when the device fails: `info["fault"]` then says how, and the episode must not be learned from. The
    device is started by the first `reset` and replaced by the next one after a fault. Where no rule decides, as in
    tasks for an outcome verifier, `info["is_success"]` is None at the end.

    Args:
        benchmark: `"android_world"`, `"android_lab"` or `"android_sight"`.
        device: `"phone"` for the embedded phone; `"emulator-5554"`, `"host:port"` or a phone's serial number for
            a device that adb reaches; `"android_env:5554"` for an emulator with gRPC; or a callable that starts and
            returns a device, such as a `coach_gym.envs.devices.fleet.Fleet`.
        screen_size: Width and height in pixels; the embedded phone takes any, other devices must match.
        suite: `"builtin"`, the default, for our own task families, `"official"` for upstream's, or a suite.
        checkout: Folder of upstream's repository, for the official suite; None for the one that the environment
            variable of its page names, or an installed package.
        apps: Packages of further apps for the embedded phone, whose tasks join the suite.
        tasks: Names of the families to draw from; None for the whole suite.
        max_steps: Budget of every episode; None for the budget of its task.
        split: `"train"`, `"validation"` or `"test"`, which have no instance in common; None for the whole suite.
        unseen: What validation and test have that training lacks: `"instances"`, `"words"`, `"families"` or `"apps"`.
        must_finish: False to evaluate an episode that has used up its budget, too, as if the agent had finished
            without an answer; True to give it no reward, unless its benchmark judges such episodes itself.
        ui: False to show pictures only, as to UI-TARS: `observation["ui"]` is then always empty.
        forkable: False to refuse `fork`, `snapshot` and `restore` on the embedded phone, too, as all other devices do:
            the control for what was learned from forks.
        task_errors: `"raise"` to raise a mistake in the code of your own task or app; `"fault"` to end its episode as
            when a device fails.
        pool: Instances to draw from, a file or tasks of one, see `coach_gym.envs.suites.pool`; only those of this
            benchmark count. None to draw parameters.
        look_timeout: Seconds that a device may take to show its screen, or the elements on it, before it is asked once
            more. It is asked in a thread of its own, one call at a time; None to ask it in the environment's thread and
            to wait for as long as it takes, as for the embedded phone of `"phone"`.
        render_mode: `"rgb_array"` lets `render()` return the last screenshot; `"human"` shows every screen on a page in
            the browser, whose address is printed (needs `coach-gym[view]`).

    Raises:
        ValueError: An argument is not one of those above.

    Example:
        >>> import coach_gym, gymnasium as gym
        >>> env = gym.make("AndroidWorld/ContactsAddContact-v0", screen_size=(270, 600))
        >>> observation, info = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.step("open_app(app_name='Contacts')")
    """

    metadata = {"render_modes": _RenderModes(["rgb_array", "human"]), "render_fps": 4}

    def __init__(
        self,
        benchmark: str = "android_world",
        *,
        device: str | Callable[[], Device] = "phone",
        screen_size: tuple[int, int] = PIXEL_6,
        suite: str | Suite | None = None,
        checkout: str | None = None,
        apps: Iterable[str] = (),
        tasks: Iterable[str] | None = None,
        max_steps: int | None = None,
        split: Split | None = None,
        unseen: Unseen = "instances",
        must_finish: bool = True,
        ui: bool = True,
        forkable: bool = True,
        pool: str | os.PathLike[str] | Iterable[PoolTask] | None = None,
        task_errors: TaskErrors = "raise",
        look_timeout: float | None = LOOK_TIMEOUT,
        render_mode: str | None = None,
    ) -> None:
        if not callable(device) and device != "phone":
            check_name(device)
        apps = _names(apps=apps)
        tasks = None if tasks is None else _names(tasks=tasks)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode={render_mode!r} is unknown; pass None, 'rgb_array' or 'human'")
        if task_errors not in get_args(TaskErrors):
            raise ValueError(f"task_errors={task_errors!r} is unknown; pass 'raise' or 'fault'")
        require_switch(must_finish=must_finish, ui=ui, forkable=forkable)
        if max_steps is not None:
            require_whole(1, max_steps=max_steps)
        if look_timeout is not None:
            require_seconds(look_timeout=look_timeout)
        self.screen_size = _checked_size(screen_size)
        loaded = suite if isinstance(suite, Suite) else load_suite(benchmark, suite, checkout)
        loaded = loaded.with_apps(apps)
        self._pool = None if pool is None else _drawn_from(pool, loaded, split, tasks)
        self.suite = loaded.of(split, unseen, tasks if self._pool is None else sorted({t.task for t in self._pool}))
        self.selection = self.suite.selection
        if not self.suite.families:
            raise ValueError(f"there are no tasks to draw from: tasks={tasks} of the {loaded.benchmark} suite")
        self.max_steps = max_steps
        self.must_finish = must_finish
        self.ui = ui
        self.forkable = forkable
        self.task_errors = task_errors
        self.look_timeout = None if device == "phone" else look_timeout
        self._always_ruled = all(family.always_ruled for family in self.suite.families.values())
        self._callers_code = OthersCode(self.suite.families.values(), apps)
        self.render_mode = render_mode
        self._page = Page() if render_mode == "human" else None
        self.observation_space = _observation_space(self.screen_size)
        self.action_space = Unicode(MAX_ACTION)
        self._start_device = device if callable(device) else partial(self._open_device, device)
        self._device: Device | None = None
        self._device_name = device if isinstance(device, str) and device != "phone" else ""  # until it is open
        self._task: Task | None = None
        self._steps = 0
        self._over = True
        self._fault: str | None = None
        self._error = ""
        self._screenshot = np.zeros((self.screen_size[1], self.screen_size[0], 3), np.uint8)
        self._ui = ""
        self._tree = Node()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Starts an episode on a task instance.

        Args:
            seed: Fixes this instance and, as long as no other seed is given, all later ones.
            options: `task` names the family, `params` gives the instance's parameters, `params_seed`
                the seed that they are drawn with. What is missing or None is drawn.

        Returns:
            The first observation and `info`. If the device fails, `info["fault"]` says how, and the first
            step truncates the episode.

        Raises:
            UsageError: An unknown option or task, parameters that lack what the task needs or that the embedded phone
                cannot be set up with, or a device whose screen is not of `screen_size`.
            TaskError: The code of your own task or app is wrong, unless `task_errors` is `"fault"`.
        """
        super().reset(seed=seed)
        try:
            begun = self._begin(options or {})
        except Exception as error:
            self._raise_if_callers(error)
            raise
        self._show("")
        return begun

    def _begin(self, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        previous, self._task = self._task, self._draw_task(options)
        self._steps, self._over, self._fault, self._error = 0, False, None, ""
        try:
            self._prepare(previous, self._task)
        except UsageError:
            raise
        except Exception as error:
            if isinstance(self._device, Forkable):  # which is never to blame
                self._raise_if_params(error, self._task.name, options)
            self._fail(error)
        return self._observation(), self._info()

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carries out one action; the class says what ends an episode.

        Raises:
            gymnasium.error.ResetNeeded: The episode is over, or none was begun.
            TaskError: As for `reset`.
        """
        if self._over:
            raise gym.error.ResetNeeded("the episode is over: call reset() before the next step()")
        started = time.perf_counter()
        self._steps += 1
        self._error, terminated = "", False
        score: float | None = 0.0
        if self._fault is None:
            try:
                self._error, terminated, score = self._act(action)
            except Exception as exception:
                self._fail(exception)
        if self._steps >= self._budget and not terminated and self._fault is None and self._judges_unfinished:
            score = self._verdict()
        score = self._finite(score)
        truncated = not terminated and (self._fault is not None or self._steps >= self._budget)
        self._over = terminated or truncated
        info = self._info()
        info["step_latency"] = time.perf_counter() - started
        if self._over:
            unknown = score is None and self._fault is None
            info["is_success"] = None if unknown else score is not None and score >= 1.0
        elif self._always_ruled and not self._judges_unfinished:
            info["is_success"] = False  # if a wrapper cuts the episode here, as TimeLimit does
        self._show(action)
        return self._observation(), score or 0.0, terminated, truncated, info

    def render(self) -> np.ndarray | None:
        """Returns the last screenshot, (height, width, 3) uint8, if `render_mode` is `"rgb_array"`; the page of
        `"human"` shows every state by itself.
        """
        return self._screenshot.copy() if self.render_mode == "rgb_array" else None

    def _show(self, action: str) -> None:
        if self._page is not None and self._task is not None:
            self._page.show(self._task.goal, self._task.name, self._steps, str(action), self._screenshot)

    def snapshot(self) -> Snapshot:
        """Returns the state of the episode, for `restore`: device, task, steps taken and random numbers.

        It takes about a tenth of a millisecond on the embedded phone, and is exact.

        Raises:
            UsageError: No episode is under way, or the device cannot be put back into an earlier state.
        """
        device, task = self._forkable()
        progress = {name: getattr(self, name) for name in _PROGRESS}
        return Snapshot(device.snapshot(), task.fork(), copy.deepcopy(self.np_random), progress)

    def restore(self, snapshot: Snapshot) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns to a snapshot of this environment, as often as wanted.

        Returns:
            The observation and `info` of that moment.

        Raises:
            UsageError: As for `snapshot`.
        """
        device, _ = self._forkable()
        if not isinstance(snapshot, Snapshot):
            raise UsageError(f"{snapshot!r:.60} is of type {type(snapshot).__name__}; pass what snapshot() returned")
        device.restore(snapshot.device)
        self._task, self.np_random = snapshot.task.fork(), copy.deepcopy(snapshot.random)
        for name, value in snapshot.progress.items():
            setattr(self, name, value)
        self._screenshot = self._screenshot.copy()  # every observation has an array of its own
        return self._observation(), self._info()

    def fork(self) -> Self:
        """Returns another environment in the same state. From then on neither influences the other.

        Raises:
            UsageError: As for `snapshot`.
        """
        device, task = self._forkable()
        twin = self.idle()
        twin._device, twin._task, twin._over = device.fork(), task.fork(), self._over
        return twin

    def idle(self) -> Self:
        """Returns another environment with the same arguments and random numbers, without a device or an episode."""
        twin = object.__new__(type(self))  # copy.copy would ask for what a pickle holds
        twin.__dict__.update(self.__dict__)
        twin._page = None  # it shows this one
        twin._device, twin._task, twin._over, twin.np_random = None, None, True, copy.deepcopy(self.np_random)
        return twin

    def digest(self) -> str:
        """Returns a hash of the device's state, the same exactly for the same state, its clock included.

        Raises:
            UsageError: As for `snapshot`.
        """
        return self._forkable()[0].digest()

    def __getstate__(self) -> dict[str, Any]:
        """Returns what a pickle holds.

        Raises:
            TypeError: A device is open.
        """
        if self._device is not None:
            raise TypeError(
                f"this environment holds the open device {self._device_name!r}, which no other process can use; "
                f"pickle the function that makes the environment, or close() it first. fork() copies an episode"
            )
        return self.__dict__

    def _forkable(self) -> tuple[ForkableDevice, Task]:
        """Returns the device and the task of the current episode."""
        if self._device is None or self._task is None:
            raise UsageError("no episode is under way on a working device: call reset() first")
        if not self.forkable:
            raise UsageError("this environment was made with forkable=False, so it cannot be forked; pass True")
        if not isinstance(self._device, Forkable):
            raise UsageError(
                f"{self._device_name} cannot be put back into an earlier state in mid-episode; only the embedded phone "
                f"can (device='phone')"
            )
        return self._device, self._task

    def task_of(self, seed: int) -> str:
        """Returns the task family of the episode that `reset(seed=seed)` starts."""
        name, drawn = self._drawn(np_random(seed)[0])
        return name if self._pool is None else self._pool[drawn % len(self._pool)].task

    def close(self) -> None:
        """Releases the device, which `reset` would start again, and the page of `render_mode="human"`."""
        if self._page is not None:
            self._page.close()
        device, self._device, task, self._task, self._over = self._device, None, self._task, None, True
        if device is not None:
            try:
                if task is not None:
                    task.teardown(device)
            except Exception as error:
                _log.warning("tearing down %s on %r failed: %s", task, self._device_name, error)
            finally:
                device.close()

    def _open_device(self, name: str) -> Device:
        if name != "phone":
            return open_device(name)
        from coach_gym.envs.devices.phone import PhoneDevice

        return PhoneDevice(*self.screen_size, self.suite.profile)

    def _draw_task(self, options: dict[str, Any]) -> Task:
        """Returns the next instance. Draws are made even if not needed, so that options never shift later episodes."""
        if not isinstance(options, Mapping):
            raise UsageError(f"options={options!r:.60} is of type {type(options).__name__}; pass a dict or None")
        unknown = sorted(options.keys() - set(_OPTIONS))
        if unknown:
            raise UsageError(f"options {unknown} are unknown; reset() takes {', '.join(_OPTIONS)}")
        name, params_seed = self._drawn(self.np_random)
        if self._pool is not None and not any(options.get(each) is not None for each in _OPTIONS):
            drawn = self._pool[params_seed % len(self._pool)]
            return self.suite.instance(drawn.task, drawn.params)
        if options.get("params_seed") is not None:
            params_seed = options["params_seed"]
            _require_option("params_seed", params_seed, Integral, "a whole number of at least 0")
            if params_seed < 0:
                raise UsageError(f"params_seed={params_seed} is negative; pass a whole number of at least 0")
        if options.get("task") is not None:
            _require_option("task", options["task"], str, "the name of a task")
        if options.get("params") is not None:
            _require_option("params", options["params"], Mapping, "a dict of the task's parameters")
        name = options.get("task") or name
        try:
            task = self.suite.instance(name, options.get("params"), int(params_seed))
            length = len(task.goal)
        except Exception as error:
            self._raise_if_params(error, name, options)
            raise
        if length > MAX_GOAL:
            raise UsageError(f"the goal has {length} characters, more than {MAX_GOAL}; pass shorter params")
        return task

    def _drawn(self, rng: np.random.Generator) -> tuple[str, int]:
        """Draws a family and the seed of its parameters, or of the place in the pool."""
        names = tuple(self.suite.families)
        return names[rng.integers(len(names))], int(rng.integers(1 << 31))

    def _prepare(self, previous: Task | None, task: Task) -> None:
        """Brings a device, a new one if need be, into the initial state of `task`."""
        if self._device is None:
            self._device = self._start_device()
            self._device_name = self._device.name
        elif previous is not None:
            previous.teardown(self._device)
        if self._device.size != self.screen_size:
            raise UsageError(
                f"the screen of {self._device_name} has {self._device.size} pixels, but the environment was made "
                f"for {self.screen_size}; pass screen_size={self._device.size}"
            )
        self._device.reset_state()
        task.setup(self._device)
        self._look(self._device)

    def _act(self, text: str) -> tuple[str, bool, float | None]:
        """Carries out an action. Returns why it did nothing (`""` if it did), whether that ends the episode, and the
        verdict: 0 as long as it goes on, None if no rule decides.
        """
        assert self._device is not None and self._task is not None
        refusal, over = "", False
        try:
            action = self._parse(text)
            over = self._task.watch(self._device, self._tree, action) or action.kind == "finished"
            if action.kind != "finished":
                self._device.perform(action)
        except ActionError as error:
            refusal = str(error)
        self._look(self._device)
        if not over:
            return refusal, False, 0.0
        answer = action.content if action.kind == "finished" else None
        return refusal, True, asked_again(partial(self._task.evaluate, self._device, answer))

    def _verdict(self) -> float | None:
        """Judges an episode that the agent did not finish. Returns None if no rule decides, or the device fails."""
        assert self._device is not None and self._task is not None
        try:
            return asked_again(partial(self._task.evaluate, self._device, None))
        except Exception as exception:
            self._fail(exception)
            return None

    def _finite(self, score: float | None) -> float | None:
        """Returns a verdict; one that is no finite number, of a task of your own, is a fault and none."""
        if score is None or is_finite(score):
            return score
        assert self._task is not None
        self._fault = f"the verdict of {self._task.name} is {score}, which is no finite number"
        _log.warning("an episode has no verdict: %s", self._fault)
        return None

    def _parse(self, text: str) -> Action:
        if not isinstance(text, str):
            raise ActionError(f"an action is text, not {type(text).__name__}")
        if len(text) > MAX_ACTION:
            raise ActionError(f"an action has at most {MAX_ACTION} characters, and this one has {len(text)}")
        _, action = parse_action(text)
        require_on_screen(action, self.screen_size)
        return action

    def _look(self, device: Device) -> None:
        self._screenshot, self._tree = look(device, self._screenshot.shape, self.look_timeout)
        ui = compress(self._tree) if self.ui else ""
        # Whole lines only: what is cut must still parse.
        self._ui = ui if len(ui) <= MAX_UI else ui[:MAX_UI].rpartition("\n")[0]

    def _fail(self, error: Exception) -> None:
        """Ends the episode without a verdict; the next reset starts another device.

        Raises:
            TaskError: It is no failure of the device but a mistake in the caller's own code.
        """
        self._raise_if_callers(error)
        reason = str(error).partition("\n")[0][:300]
        self._fault = f"{type(error).__name__}: {reason}"
        _log.warning("device %r failed: %s", self._device_name, self._fault)
        _log.debug("the traceback of that failure", exc_info=error)
        device, self._device = self._device, None
        if device is not None:
            try:
                if isinstance(device, LentDevice):
                    device.blame(error)
                device.close()
            except Exception as second:
                _log.warning("closing the failed device %r failed too: %s", self._device_name, second)

    def _raise_if_callers(self, error: Exception) -> None:
        """Raises a mistake in the caller's own code, with its traceback."""
        if self.task_errors == "raise" and is_bug(error) and self._callers_code.raised(error):
            self._over = True
            name = self._task.name if self._task is not None else "no task yet"
            raise TaskError(
                f"the code of your own task or app ({name}) raised {type(error).__name__}: {error}; mend it, or pass "
                f"task_errors='fault' to count such episodes as faults"
            ) from error

    def _raise_if_params(self, error: Exception, task: str, options: Mapping[str, Any]) -> None:
        """Raises what a task of ours makes of the caller's parameters; those that it draws itself are right."""
        params = options.get("params")
        if params is None or isinstance(error, UsageError) or not is_bug(error) or self._callers_code.raised(error):
            return
        self._task, self._over = None, True
        raise UsageError(
            f"{task} cannot begin with these params, which give {type(error).__name__}: {error}; pass such as "
            f"params_seed draws, in place of {dict(params)!r:.300}"
        ) from error

    def _observation(self) -> dict[str, Any]:
        assert self._task is not None
        return Shown(
            goal=self._task.goal,
            # A working device gave a new array; after a fault the last one is shown once more.
            screenshot=self._screenshot if self._fault is None else self._screenshot.copy(),
            ui=self._ui,
            last_action_error=self._error,
        )

    def _info(self) -> dict[str, Any]:
        assert self._task is not None
        info: dict[str, Any] = {
            "task": self._task.name,
            "params": Params(self._task.params),
            "device": self._device_name,
            "suite": self.suite.source,
            **self.suite.selection.report(),
            "difficulty": self._task.difficulty,
            "budget": self._budget,
            **self._task.report(),
        }
        if self._task.holds_at_start:
            info["holds_at_start"] = True
        if self._fault is not None:
            info["fault"] = self._fault
        return info

    @property
    def _judges_unfinished(self) -> bool:
        assert self._task is not None
        return not self.must_finish or self._task.judged_unfinished

    @property
    def _budget(self) -> int:
        assert self._task is not None
        return self.max_steps or self._task.budget


def _require_option(name: str, value: Any, kind: type, wanted: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UsageError(f"options[{name!r}]={value!r:.60} is of type {type(value).__name__}; pass {wanted}")


def _drawn_from(
    pool: str | os.PathLike[str] | Iterable[PoolTask], suite: Suite, split: Split | None, tasks: Iterable[str] | None
) -> list[PoolTask]:
    """Returns the tasks of a pool that a suite has."""
    if split is not None:
        raise ValueError(f"split={split!r} says which instances there are, and so does pool; pass one of them")
    every = tasks_of(pool)
    wanted = None if tasks is None else set(tasks)
    found = [
        task for task in every
        if BENCHMARKS.get(task.env) == suite.benchmark and (wanted is None or task.task in wanted)
    ]  # fmt: skip
    if not found:
        raise ValueError(f"none of the {len(every)} tasks of this pool is one of {suite.benchmark}'s")
    return found


def _names(**given: Iterable[str]) -> tuple[str, ...]:
    """Returns the names in an argument; those in a single text would be its letters."""
    ((argument, names),) = given.items()
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise WrongType(f"{argument}={names!r:.60} is of type {type(names).__name__}; pass a list of names")
    names = tuple(names)
    for name in names:
        if not isinstance(name, str):
            raise WrongType(f"{argument} has {name!r:.60} of type {type(name).__name__}; pass a list of names")
    return names


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(size, Sequence) or len(size) != 2:
        raise WrongType(f"screen_size={size!r} must be a width and a height, such as {PIXEL_6}")
    width, height = size
    require_whole(-1, width=width, height=height)
    if min(width, height) < 1:
        raise ValueError(f"screen_size={tuple(size)} must be a width and a height of at least one pixel")
    if max(width, height) > LARGEST_SIDE:
        raise ValueError(f"screen_size={tuple(size)} is too large; a side has at most {LARGEST_SIDE} pixels")
    return int(width), int(height)


def _observation_space(size: tuple[int, int]) -> spaces.Dict:
    width, height = size
    return spaces.Dict(
        {
            "goal": Unicode(MAX_GOAL),
            "screenshot": Pixels((height, width, 3)),
            "ui": Unicode(MAX_UI),
            "last_action_error": Unicode(MAX_GOAL),
        }
    )
