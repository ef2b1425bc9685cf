"""`coach-gym envs`: lists the environments."""

import argparse
import fnmatch
import json
import sys
from typing import Any

import gymnasium as gym

from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.pool import BENCHMARKS
from coach_gym.registration import BOTH, env_ids


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    parser.add_argument("pattern", nargs="?", default="*", help="part of an id, or a pattern such as 'AndroidLab/*'")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print a list of objects")
    parser.set_defaults(run=list_envs)


def list_envs(pattern: str = "*", as_json: bool = False) -> None:
    """Prints a line per id: difficulty, budget and apps of a task; number of tasks of a suite.

    Args:
        pattern: A part of the ids, in upper or lower case, or a pattern of them with `*` and `?`.
        as_json: Prints a list of objects instead of lines.
    """
    described = [_described(id) for id in env_ids() if _matches(id, pattern)]
    if not described:
        sys.exit(f"No id matches {pattern!r}; `coach-gym envs` lists them all.")
    print(json.dumps(described, indent=2) if as_json else "\n".join(map(_line, described)))


def _matches(id: str, pattern: str) -> bool:
    wild = pattern if set(pattern) & set("*?[") else f"*{pattern}*"
    return fnmatch.fnmatchcase(id.lower(), wild.lower())


def _described(id: str) -> dict[str, Any]:
    if id == BOTH:
        return {"id": id, "tasks": sum(len(load_suite(benchmark).families) for benchmark in BENCHMARKS.values())}
    kwargs = gym.spec(id).kwargs
    families = load_suite(kwargs["benchmark"]).only(kwargs.get("tasks")).families
    if "tasks" not in kwargs:
        return {"id": id, "tasks": len(families)}
    (task,) = families.values()
    return {"id": id, "difficulty": task.difficulty, "budget": task.budget, "apps": list(task.apps)}


def _line(env: dict[str, Any]) -> str:
    if "tasks" in env:
        return f"{env['id']:60} draws from {env['tasks']} tasks"
    return f"{env['id']:60} {env['difficulty']:6} {env['budget']:3} steps  {', '.join(env['apps'])}"
