"""Training tasks as a file: which family, with which parameters, in which words.

A pool is JSON, a task a line. It can be read, filtered and shared, and no task in it is one of the tests:

    pool = read_pool("pool.jsonl")
    env = gym.make("AndroidWorld-v0", pool=[task for task in pool if task.difficulty == "easy"])
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coach_gym.checks import WrongType
from coach_gym.envs.errors import UsageError
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.seeds import instance_seed
from coach_gym.envs.suites.suite import Suite

BENCHMARKS = {"AndroidWorld-v0": "android_world", "AndroidLab-v0": "android_lab"}
NUMBER = 2000
"""Training tasks of the paper."""
TEST_SEED = 30
"""Seed of the instances that the benchmarks' runners, and `coach-gym evaluate`, play."""
_TRIES = 20  # draws of a family without a new instance, after which it has no more
_PREFIX = re.compile(r"^You should use .* to complete the following task:\s*")


@dataclass(frozen=True)
class PoolTask:
    """A task instance.

    Attributes:
        env: Id of the environment.
        task: Name of the family.
        params: Its parameters.
        goal: The instruction, for readers and for the overlap check.
        apps: Apps that the solution goes through.
        difficulty: `"easy"`, `"medium"` or `"hard"`.
        kind: `"operation"` or `"query"`.
    """

    env: str
    task: str
    params: dict[str, Any]
    goal: str
    apps: tuple[str, ...] = ()
    difficulty: str = "easy"
    kind: str = "operation"

    def __post_init__(self) -> None:
        for name, kind in (("env", str), ("task", str), ("goal", str), ("params", Mapping)):
            if not isinstance(value := getattr(self, name), kind):
                wanted = "a dict" if kind is Mapping else "text"
                raise WrongType(f"{name}={value!r:.60} is of type {type(value).__name__}; pass {wanted}")


def make_pool(
    envs: Sequence[str] = tuple(BENCHMARKS),
    number: int = NUMBER,
    seed: int = 0,
    without: Iterable[PoolTask] = (),
) -> list[PoolTask]:
    """Draws different training instances, equally many per environment and family as far as there are so many.

    Args:
        envs: Ids of environments.
        number: Tasks in all.
        seed: Seed of the draws.
        without: Tests, with which no task may overlap.

    Raises:
        UsageError: There are not so many different instances.
    """
    drawn: list[PoolTask] = []
    tested = _Tests(without)
    streams = [_instances(env, load_suite(BENCHMARKS[env]).of("train"), seed, tested) for env in envs]
    while streams and len(drawn) < number:
        for stream in list(streams):
            task = next(stream, None)
            if task is None:
                streams.remove(stream)
            elif len(drawn) < number:
                drawn.append(task)
    if len(drawn) < number:
        raise UsageError(f"{', '.join(envs)} have {len(drawn)} different training instances; ask for no more")
    return drawn


def _instances(env: str, suite: Suite, seed: int, tested: _Tests) -> Iterator[PoolTask]:
    """Yields different instances that are no tests, one of each family in turn, until no family has new ones."""
    met: set[str] = set()
    numbers = dict.fromkeys(suite.families, 0)
    while numbers:
        for name in list(numbers):
            for _ in range(_TRIES):
                task = _told(env, suite, name, instance_seed(seed, name, numbers[name]))
                numbers[name] += 1
                if (key := _key(task)) not in met and task not in tested:
                    met.add(key)
                    yield task
                    break
            else:
                del numbers[name]


def _told(env: str, suite: Suite, name: str, seed: int, params: dict[str, Any] | None = None) -> PoolTask:
    instance, family = suite.instance(name, params, seed), suite.family(name)
    return PoolTask(env, name, instance.params, instance.goal, tuple(family.apps), family.difficulty, family.kind)


def _key(task: PoolTask) -> str:
    return json.dumps([task.env, task.task, task.params], sort_keys=True)


def benchmark_instances(env: str, checkout: str | None = None, official: bool = False) -> list[PoolTask]:
    """Returns the instances on which the benchmarks' runners, and `coach-gym evaluate`, test.

    Args:
        env: Id of the environment.
        checkout: Folder of upstream's repository, as for the environment.
        official: Whether to return upstream's tasks instead of our counterparts.

    Raises:
        UsageError: Upstream is not installed.
    """
    suite = load_suite(BENCHMARKS[env], "official", checkout) if official else load_suite(BENCHMARKS[env])
    upstream = {"seed": TEST_SEED, "instance": 0} if official and env == "AndroidWorld-v0" else None
    return [_told(env, suite, name, instance_seed(TEST_SEED, name, 0), upstream) for name in suite.families]


def overlap(pool: Iterable[PoolTask], tested: Iterable[PoolTask]) -> list[PoolTask]:
    """Returns the tasks of a pool that are tests: the same family and parameters, or the same words.

    Words are compared without regard to case, punctuation and white space, and without the sentence that AndroidLab
    puts before every task.
    """
    tests = _Tests(tested)
    return [task for task in pool if task in tests]


class _Tests:
    """Tests, by parameters and by words."""

    def __init__(self, tests: Iterable[PoolTask]) -> None:
        tests = list(tests)
        self.keys, self.words = {_key(task) for task in tests}, {_words(task.goal) for task in tests}

    def __contains__(self, task: PoolTask) -> bool:
        return _key(task) in self.keys or _words(task.goal) in self.words


def _words(goal: str) -> str:
    return " ".join(re.findall(r"\w+", _PREFIX.sub("", goal).casefold()))


def write_pool(path: str | Path, pool: Iterable[PoolTask]) -> None:
    """Writes a pool, a task a line."""
    Path(path).write_text("".join(json.dumps(asdict(task), ensure_ascii=False) + "\n" for task in pool), "utf-8")


def tasks_of(pool: str | os.PathLike[str] | Iterable[PoolTask]) -> list[PoolTask]:
    """Returns the tasks of a pool, which is a file or tasks of one.

    Raises:
        TypeError: It is neither.
        UsageError: The file cannot be read.
    """
    if isinstance(pool, str | os.PathLike):
        return read_pool(os.fspath(pool))
    if not isinstance(pool, Iterable):
        raise WrongType(f"pool={pool!r:.60} is of type {type(pool).__name__}; pass a file, or tasks of one")
    tasks = list(pool)
    for task in tasks:
        if not isinstance(task, PoolTask):
            raise WrongType(f"pool has {task!r:.60} of type {type(task).__name__}; pass a file, or tasks of one")
    return tasks


def read_pool(path: str | Path) -> list[PoolTask]:
    """Reads a pool.

    Raises:
        UsageError: It cannot be read, or a line is no task.
    """
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:  # it is not there, or no text
        raise UsageError(f"the pool {str(path)!r} cannot be read ({error}); pass a file by coach-gym tasks") from error
    pool = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line:
            try:
                told = json.loads(line)
                pool.append(PoolTask(**{**told, "apps": tuple(told.get("apps", ()))}))
            except (ValueError, TypeError) as error:
                raise UsageError(f"line {number} of {path} is no task of a pool: {error}") from error
    return pool
