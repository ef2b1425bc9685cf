"""Runs AndroidWorld's official tasks on the embedded phone, untouched and solved by experts.

Upstream's own code prepares and judges every task. An expert reads the screen text and yields actions, like an agent.
What a picture, a film or a map shows is not in that text; if a task asks for it, the instance's parameters tell the
expert. Upstream judges four states of every instance: the prepared phone, the phone after the expert, the phone without
the expert's last action (or after a wrong answer), and the phone after an expert that was told something slightly
wrong. If a built-in family has the task's name and asks for the same, its checker judges these states too; `agreement`
is the share of states on which the two agree. The figures say that the tasks can be solved on the embedded phone, and
nothing about a model or about Android.

    python -m benchmarks.conformance.android_world --upstream ~/android_world --seeds 0 1 2 --json result.json
"""

from __future__ import annotations

import argparse
import copy
import json
import logging
import os
import random
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium as gym  # noqa: E402  (after the number of threads is set)

import coach_gym  # noqa: E402, F401
from benchmarks.android_world_counterparts import INCOMPARABLE, STRICTER, counterpart  # noqa: E402
from coach_gym.actions import Action, format_action, parse_action  # noqa: E402
from coach_gym.envs.devices.device import Device  # noqa: E402
from coach_gym.envs.devices.phone import PhoneDevice  # noqa: E402
from coach_gym.envs.profiles import ANDROID_WORLD  # noqa: E402
from coach_gym.envs.suites.experts import app_expert  # noqa: E402
from coach_gym.envs.suites.load import load_suite  # noqa: E402
from coach_gym.envs.suites.official_world import upstream  # noqa: E402
from coach_gym.envs.suites.official_world.connection import connect  # noqa: E402
from coach_gym.envs.suites.play import play  # noqa: E402
from coach_gym.envs.suites.suite import Suite  # noqa: E402
from coach_gym.envs.tasks.task import Task  # noqa: E402

SCREEN = (540, 1200)
STAGES = ("setup", "evaluate", "teardown")


@dataclass
class Run:
    """The result of one instance of a task.

    Attributes:
        seed: Seed of upstream's suite.
        initialised: Whether initialising raised no error.
        torn_down: Whether tearing down raised no error.
        no_op: Upstream's verdict, 0 to 1, on the prepared phone; None if there was none, as in the next three.
        expert: Verdict on the phone after the expert.
        near_miss: Verdict on the phone without the expert's last action.
        mistake: Verdict on the phone after a misled expert.
        ours: Verdicts of the built-in family's checker on the same states; empty if there is none to compare.
        steps: Number of the expert's actions, of at most `budget`.
        ms: Milliseconds of initialising, checking and tearing down, by the wall clock.
        core_ms: The same in processor time, which other programs on the machine do not lengthen.
        error: The first error.
    """

    task: str
    seed: int
    budget: int = 0
    initialised: bool = False
    torn_down: bool = False
    no_op: float | None = None
    expert: float | None = None
    near_miss: float | None = None
    mistake: float | None = None
    ours: dict[str, float] = field(default_factory=dict)
    steps: int = 0
    ms: dict[str, float] = field(default_factory=dict)
    core_ms: dict[str, float] = field(default_factory=dict)
    error: str = ""

    @property
    def solved(self) -> bool:
        """Whether the expert reached upstream's full score within the budget."""
        return self.expert == 1.0 and self.steps <= self.budget

    @property
    def agreements(self) -> dict[str, bool]:
        """Whether both checkers agree on success, for each state that both judged."""
        return {
            state: (getattr(self, state) == 1.0) == (score == 1.0)
            for state, score in self.ours.items()
            if getattr(self, state) is not None
        }


class Observer:
    """Observes what happens inside the environment: the time of each stage, and the built-in checker's verdicts.

    Upstream prepares an instance once; its further states begin with a copy of the prepared phone.

    Attributes:
        done: Stages that raised no error.
        seconds: Time of each stage, by both clocks.
        ours: The built-in checker's last verdict; None if there is no such checker.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}
        self.done: list[str] = []
        self.ours: float | None = None
        self._counterpart: Task | None = None
        self._prepared: tuple[Any, ...] = (None,) * 4  # instance and device, upstream's task, its parameters, the phone

    @contextmanager
    def timing(self, stage: str) -> Iterator[None]:
        """Times a `with` block."""
        wall, core = time.perf_counter(), time.process_time()
        yield
        self.seconds[stage] = time.perf_counter() - wall, time.process_time() - core
        self.done.append(stage)

    def prepare(self, task: Any, device: PhoneDevice, setup: Callable[[], None]) -> None:
        """Sets an official task up, or restores the result of an earlier setup."""
        instance = task.name, task.params["seed"], id(device)  # after a failure there is another device
        known, upstreams, params, phone = self._prepared
        if instance == known:  # drawn again it may differ: MarkorCreateFolder takes its name from this computer's clock
            task._task, task._env, task.params = copy.deepcopy(upstreams), connect(device), params
            device.phone.restore(phone)
        else:
            with self.timing("setup"):
                setup()
            self._prepared = instance, copy.deepcopy(task._task), task.params, device.phone.snapshot()
        self._counterpart = counterpart(task, device)

    def misled(self, rng: random.Random) -> dict[str, Any] | None:
        """Returns almost correct parameters for the built-in family's expert, or None if there are none here."""
        if self._counterpart is None:
            return None
        try:
            return self._counterpart.near_miss(rng)
        except (
            LookupError,
            StopIteration,
        ):  # needs what only a built-in instance knows, or has no alternative
            return None

    def judge(self, device: Device, answer: str | None) -> None:
        """Notes the built-in checker's verdict just before the official task is judged."""
        self.ours = None if self._counterpart is None else self._counterpart.evaluate(device, answer)

    def observed(self, family: type[Task]) -> type[Task]:
        """Returns the same family, under observation."""
        observer = self

        class Observed(family):  # type: ignore[valid-type, misc]
            name = family.name

            def setup(self, device: PhoneDevice) -> None:
                observer.prepare(self, device, partial(super().setup, device))

            def evaluate(self, device: Device, answer: str | None) -> float:
                observer.judge(device, answer)
                with observer.timing("evaluate"):
                    return super().evaluate(device, answer)

            def teardown(self, device: Device) -> None:
                with observer.timing("teardown"):
                    super().teardown(device)

        return Observed


class Conformance:
    """Runs instances in one environment.

    Args:
        suite: Upstream's suite.
    """

    def __init__(self, suite: Suite) -> None:
        self.observer = Observer()
        families = {name: self.observer.observed(family) for name, family in suite.families.items()}
        observed = replace(suite, families=families)
        self.env = gym.make("AndroidWorld-v0", suite=observed, screen_size=SCREEN, max_steps=1000, task_errors="fault")

    def run(self, task: str, seed: int) -> Run:
        """Runs all four states of an instance."""
        row = Run(task, seed)
        self._leave_alone(row)
        if row.initialised:
            actions = self._let_expert_play(row)
            if actions:
                self._miss(row, actions)
                self._err(row)
        return row

    def _reset(self, row: Run) -> tuple[dict[str, Any], dict[str, Any]]:
        self.observer.ours = None
        return self.env.reset(options={"task": row.task, "params": {"seed": row.seed, "instance": 0}})

    def _leave_alone(self, row: Run) -> None:
        self.observer.done.clear()
        self._reset(row)
        current = self.env.unwrapped._task  # type: ignore[attr-defined]
        row.budget = current.budget
        info = self.env.step(format_action(Action("finished")))
        row.no_op, row.error = info[1], info[4].get("fault", "")
        device = self.env.unwrapped._device  # type: ignore[attr-defined]
        row.initialised = "setup" in self.observer.done
        try:
            if device is not None:
                current.teardown(device)
        except Exception as error:
            row.error = row.error or f"{type(error).__name__}: {error}"[:200]
        row.torn_down = "teardown" in self.observer.done
        if "evaluate" not in self.observer.done:
            row.no_op = None
        self._compare(row, "no_op")
        took = {stage: self.observer.seconds[stage] for stage in STAGES if stage in self.observer.done}
        row.ms = {stage: round(1e3 * wall, 1) for stage, (wall, _) in took.items()}
        row.core_ms = {stage: round(1e3 * core, 1) for stage, (_, core) in took.items()}

    def _let_expert_play(self, row: Run) -> list[str]:
        try:
            shown = play(self.env, *self._reset(row))
        except KeyError as error:
            row.error = row.error or f"no expert: {error}"
            return []
        except Exception as error:  # an expert's error is a finding, not the end of the run
            row.error = row.error or f"the expert fails: {type(error).__name__}: {error}"[:300]
            return []
        row.steps, row.error = len(shown.steps), row.error or shown.info.get("fault", "")
        row.expert = None if "fault" in shown.info else shown.reward
        self._compare(row, "expert")
        return shown.actions

    def _miss(self, row: Run, actions: list[str]) -> None:
        """Repeats the expert's actions without the last one, or gives a wrong answer."""
        answer = parse_action(actions[-1])[1].content
        last = Action("finished", content="none of them" if answer else "")
        self._reset(row)
        for action in actions[:-1] if answer else actions[:-2]:
            self.env.step(action)
        _, reward, _, _, info = self.env.step(format_action(last))
        row.near_miss = None if "fault" in info else reward
        self._compare(row, "near_miss")

    def _err(self, row: Run) -> None:
        """Has the built-in family's expert do almost the right thing."""
        observation, info = self._reset(row)
        misled = self.observer.misled(random.Random(row.seed))
        if misled is None:
            return
        try:
            shown = play(self.env, observation, info, misled, app_expert(ANDROID_WORLD, row.task))
        except Exception:  # what the expert was told may be impossible
            return
        if "is_success" in shown.info and "fault" not in shown.info:
            row.mistake = shown.reward
            self._compare(row, "mistake")

    def _compare(self, row: Run, state: str) -> None:
        if self.observer.ours is not None:
            row.ours[state] = self.observer.ours


@lru_cache(maxsize=1)
def conformance(checkout: str | None) -> Conformance:
    """Returns this process's environment."""
    logging.getLogger("coach_gym").setLevel(logging.ERROR)  # failures are in the result
    return Conformance(load_suite("android_world", "official", checkout))


def run_task(checkout: str | None, seeds: Sequence[int], task: str) -> list[Run]:
    """Runs all instances of a task."""
    return [conformance(checkout).run(task, seed) for seed in seeds]


def table(rows: Sequence[Run]) -> Iterator[str]:
    """Prints a line per task, over its seeds."""
    yield f"{'task (embedded phone)':<50}  init  no-op  solved  miss  err  down    steps     ms"
    for task in dict.fromkeys(row.task for row in rows):
        mine = [row for row in rows if row.task == task]
        counts = (
            sum(row.initialised for row in mine), sum(row.no_op == 1.0 for row in mine),
            sum(row.solved for row in mine), sum(row.near_miss == 1.0 for row in mine),
            sum(row.mistake == 1.0 for row in mine), sum(row.torn_down for row in mine),
        )  # fmt: skip
        marks = " ".join(f"{count:>{width}}" for count, width in zip(counts, (5, 6, 7, 5, 4, 5), strict=True))
        steps = f"{max(row.steps for row in mine)}/{mine[0].budget}"
        differing = {state: row.ours[state] for row in mine for state, agreed in row.agreements.items() if not agreed}
        why = next((row.error for row in mine if row.error), "") or (f"ours: {differing}" if differing else "")
        yield f"{task:<50} {marks} {steps:>8} {median(sum(row.ms.values()) for row in mine):>6.0f}  {why}"


def summary(rows: Sequence[Run]) -> dict[str, float]:
    """Returns the headline: tasks of which all instances succeeded, and the median milliseconds of an instance."""

    def tasks(good: Any) -> int:
        return sum(all(good(row) for row in rows if row.task == task) for task in {row.task for row in rows})

    agreements = [agreed for row in rows for agreed in row.agreements.values()]
    return {
        "initialised": tasks(lambda row: row.initialised),
        "torn_down": tasks(lambda row: row.torn_down),
        "solved": tasks(lambda row: row.solved),
        "agreement": round(mean(agreements), 4) if agreements else 0.0,
        "median_ms": round(median(sum(row.ms.values()) for row in rows), 1),
        "median_core_ms": round(median(sum(row.core_ms.values()) for row in rows), 1),
    }


def differences(rows: Sequence[Run]) -> list[dict[str, Any]]:
    """Returns the states on which upstream's checker and ours disagree, and why."""
    return [
        {
            "task": row.task, "seed": row.seed, "state": state, "upstream": getattr(row, state),
            "ours": row.ours[state], "why": STRICTER.get(row.task, "not explained"),
        }
        for row in rows for state, agreed in row.agreements.items() if not agreed
    ]  # fmt: skip


def commit_of(folder: str) -> str:
    """Returns the commit of a checkout, as far as git knows."""
    command = ["git", "-C", folder, "rev-parse", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", help=f"a checkout of it; by default {upstream.VARIABLE}, or what is installed")
    parser.add_argument("--commit", help="upstream's commit, if the folder is not a git checkout")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--tasks", nargs="*", help="check only these tasks")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    given = parser.parse_args()
    families = load_suite("android_world", "official", given.upstream).families
    tasks, rows = given.tasks or list(families), []
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        for mine in pool.map(partial(run_task, given.upstream, given.seeds), tasks):
            rows += mine
            print(list(table(mine))[-1], flush=True)
    folder = str(Path(upstream.module().__path__[0]).parent)
    result = {
        "headline": summary(rows), "device": "embedded phone", "screen": SCREEN, "seeds": given.seeds,
        "upstream": given.commit or commit_of(folder), "incomparable": INCOMPARABLE,
        "differences": differences(rows), "runs": [asdict(row) for row in rows],
    }  # fmt: skip
    print(*(f"{name}: {value} (embedded phone)" for name, value in summary(rows).items()), sep="\n")
    print(f"rerun: python -m benchmarks.conformance.android_world {shlex.join(sys.argv[1:])}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
