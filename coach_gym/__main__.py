"""The command line, `coach-gym`; each command is a module of `coach_gym.cli`."""

import argparse
import os
import sys
from collections.abc import Sequence

import coach_gym
from coach_gym.cli import (
    critic,
    data,
    doctor,
    envs,
    evaluate,
    label,
    mcp,
    openenv,
    ors,
    phone,
    plan,
    serve,
    sft,
    tasks,
    train,
    view,
)

COMMANDS = {
    "envs": (envs, "list the ids of all environments"),
    "phone": (phone, "serve embedded phones to adb and its clients"),
    "mcp": (mcp, "serve a phone to clients of the Model Context Protocol"),
    "openenv": (openenv, "serve environments to trainers that speak OpenEnv"),
    "ors": (ors, "serve environments to trainers that speak the Open Reward Standard"),
    "plan": (plan, "compute the memory and time that a training will take"),
    "doctor": (doctor, "report what this computer lacks for a purpose, and how to get it"),
    "train": (train, "train an agent, in one process or under torchrun"),
    "tasks": (tasks, "write a pool of training tasks to a file, without any of the tests"),
    "data": (data, "write AndroidControl, experts or roll-outs as episodes on disk"),
    "label": (label, "label a policy's responses to demonstrations, for judge and critic"),
    "sft": (sft, "fine-tune a process reward model on labels, or a policy on demonstrations"),
    "critic": (critic, "teach a critic before the agent learns: by forks, from labels or from roll-outs"),
    "evaluate": (evaluate, "play every task of a suite in order, and report as the benchmarks do"),
    "view": (view, "show runs, their curves and their episodes in the browser"),
    "serve": (serve, "generate responses for several trainers, with vLLM"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a command.

    Args:
        arguments: Words of the command line; by default those of this process.
    """
    parser = _parser()
    parsed, rest = parser.parse_known_args(arguments)
    options = vars(parsed)
    if "settings" in options:
        options["settings"] = rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        options.pop("run")(**options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `coach-gym envs | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="coach-gym", description="Reinforcement learning for Android agents.")
    parser.add_argument("--version", action="version", version=f"coach-gym {coach_gym.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, (module, summary) in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=summary))
    return parser


if __name__ == "__main__":
    main()
