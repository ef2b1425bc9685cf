"""`coach-gym envs`: lists the environments."""

import argparse

import gymnasium as gym

from coach_gym.envs.suites.load import load_suite
from coach_gym.registration import env_ids


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command, which has no options."""
    parser.set_defaults(run=list_envs)


def list_envs() -> None:
    """Prints a line per id: difficulty, budget and apps of a task; number of tasks of a suite."""
    for id in env_ids():
        kwargs = gym.spec(id).kwargs
        families = load_suite(kwargs["benchmark"]).only(kwargs.get("tasks")).families
        if "tasks" not in kwargs:
            print(f"{id:60} draws from {len(families)} tasks")
            continue
        (task,) = families.values()
        print(f"{id:60} {task.difficulty:6} {task.budget:3} steps  {', '.join(task.apps)}")
