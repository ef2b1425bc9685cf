"""The command line: ``coach-gym envs`` lists the environments."""

import argparse
from collections.abc import Sequence

import gymnasium as gym

from coach_gym.envs.suites.suite import builtin_suite
from coach_gym.registration import env_ids


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of ``coach-gym`` and ``python -m coach_gym``."""
    parser = argparse.ArgumentParser(prog="coach-gym", description="Android environments for Gymnasium.")
    commands = parser.add_subparsers(required=True, metavar="command")
    envs = commands.add_parser("envs", help="list the ids of all environments")
    envs.set_defaults(run=list_envs)
    parser.parse_args(arguments).run()


def list_envs() -> None:
    """Prints one line an id: difficulty, budget and apps of single tasks, the size of suites."""
    for id in env_ids():
        kwargs = gym.spec(id).kwargs
        families = builtin_suite(kwargs["benchmark"]).only(kwargs.get("tasks")).families
        if "tasks" not in kwargs:
            print(f"{id:60} draws from {len(families)} tasks")
            continue
        (task,) = families.values()
        print(f"{id:60} {task.difficulty:6} {task.budget:3} steps  {', '.join(task.apps)}")


if __name__ == "__main__":
    main()
