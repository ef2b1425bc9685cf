"""The command line: ``coach-gym envs`` lists the environments, ``coach-gym phone`` serves embedded
phones to adb, ``coach-gym doctor`` tells what this computer lacks, ``coach-gym train`` trains an agent,
``coach-gym serve`` draws responses for several trainers.
"""

import argparse
import sys
from collections.abc import Sequence

import gymnasium as gym

from coach_gym.cli import doctor
from coach_gym.cli import phone as phone_command
from coach_gym.cli import serve as serve_command
from coach_gym.cli import train as train_command
from coach_gym.envs.suites.load import load_suite
from coach_gym.registration import env_ids


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of ``coach-gym`` and ``python -m coach_gym``."""
    parser = argparse.ArgumentParser(prog="coach-gym", description="Android environments for Gymnasium.")
    commands = parser.add_subparsers(required=True, metavar="command")
    envs = commands.add_parser("envs", help="list the ids of all environments")
    envs.set_defaults(run=list_envs)
    checks = commands.add_parser("doctor", help="tell what is missing for a purpose, and what mends it")
    checks.add_argument("--for", dest="purpose", choices=doctor.PURPOSES, default="phone", help="default: %(default)s")
    checks.add_argument("--device", metavar="SERIAL", help="the device to look at; by default the first that adb shows")
    checks.add_argument("--adb-port", type=int, default=doctor.DEFAULT_SERVER_PORT, help="of the adb server")
    checks.set_defaults(run=examine)
    phone_command.add_arguments(commands.add_parser("phone", help="serve embedded phones to adb and its clients"))
    train_command.add_arguments(commands.add_parser("train", help="train an agent, in one process or under torchrun"))
    serve_command.add_arguments(commands.add_parser("serve", help="draw responses for several trainers, with vLLM"))
    parsed, rest = parser.parse_known_args(arguments)
    options = vars(parsed)
    if "settings" in options:
        options["settings"] = rest
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    options.pop("run")(**options)


def list_envs() -> None:
    """Prints one line an id: difficulty, budget and apps of single tasks, the size of suites."""
    for id in env_ids():
        kwargs = gym.spec(id).kwargs
        families = load_suite(kwargs["benchmark"]).only(kwargs.get("tasks")).families
        if "tasks" not in kwargs:
            print(f"{id:60} draws from {len(families)} tasks")
            continue
        (task,) = families.values()
        print(f"{id:60} {task.difficulty:6} {task.budget:3} steps  {', '.join(task.apps)}")


def examine(purpose: str, device: str | None, adb_port: int) -> None:
    """Prints what was found; exits with 1 if something that the purpose needs is not in order."""
    text, code = doctor.report(doctor.examine(doctor.Host(serial=device, server_port=adb_port)), purpose)
    print(text)
    sys.exit(code)


if __name__ == "__main__":
    main()
