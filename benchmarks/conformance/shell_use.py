"""Counts which shell commands, options and syntax other people's programs use on the embedded phone.

These run one after the other, while every shell of the phone is recorded: AndroidWorld's and AndroidLab's official
suites from their checkouts, solved by experts; the tests that adbutils, uiautomator2 and pure-python-adb bring along;
android_env, which starts an episode and makes each kind of request over adb; and coach-gym itself, with a built-in task
on a phone behind adb. `missing` are commands that they asked for and that the phone does not have, `unused`
those that the phone has and nobody ran. Android has more commands than either. `--docs docs/reference/shell.md` renews
the tables of that page.

    python -m benchmarks.conformance.shell_use --world ~/android_world --lab ~/Android-Lab --checkouts ~ --json use.json
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import adbutils  # noqa: E402  (after the number of threads is set)
import gymnasium as gym  # noqa: E402
from android_env import loader  # noqa: E402
from android_env.components import config_classes  # noqa: E402
from android_env.proto import adb_pb2  # noqa: E402

import coach_gym  # noqa: E402, F401
from benchmarks.conformance import android_lab, android_world, clients  # noqa: E402
from benchmarks.conformance.shell_recorder import Record  # noqa: E402
from coach_gym.envs.phone.shell import COMMANDS  # noqa: E402
from coach_gym.envs.suites.load import load_suite  # noqa: E402
from coach_gym.envs.suites.play import play  # noqa: E402

PACKAGE = "com.google.android.contacts"
ACTIVITY = "com.android.contacts.activities.PeopleActivity"
TABLES = "<!-- tables of benchmarks/results/shell_use.json -->"
"""Where the tables of a page begin."""

LOCAL_TASK = "ContactsAddContact"
_Request = adb_pb2.AdbRequest
REQUESTS = (
    _Request(get_current_activity=_Request.GetCurrentActivity()),
    _Request(start_activity=_Request.StartActivity(full_activity=f"{PACKAGE}/{ACTIVITY}")),
    _Request(send_broadcast=_Request.SendBroadcast(action="com.example.NOTHING")),
    _Request(settings=_Request.SettingsRequest(name_space=1, put=_Request.SettingsRequest.Put(key="a", value="1"))),
    _Request(settings=_Request.SettingsRequest(name_space=1, get=_Request.SettingsRequest.Get(key="a"))),
    _Request(package_manager=_Request.PackageManagerRequest(
        list=_Request.PackageManagerRequest.List(packages=_Request.PackageManagerRequest.List.Packages()))),
    _Request(package_manager=_Request.PackageManagerRequest(
        grant=_Request.PackageManagerRequest.Grant(
            package_name=PACKAGE, permissions=["android.permission.READ_CONTACTS"]))),
    _Request(package_manager=_Request.PackageManagerRequest(
        clear=_Request.PackageManagerRequest.Clear(package_name=PACKAGE))),
    _Request(dumpsys=_Request.DumpsysRequest(service="activity")),
    _Request(press_button=_Request.PressButton(button=_Request.PressButton.Button.HOME)),
    _Request(input_text=_Request.InputText(text="hello")),
    _Request(tap=_Request.Tap(x=100, y=100)),
    _Request(push=_Request.Push(content=b"hello", path="/sdcard/hello.txt")),
    _Request(pull=_Request.Pull(path="/sdcard/hello.txt")),
    _Request(force_stop=_Request.ForceStop(package_name=PACKAGE)),
)  # fmt: skip


def use_world(checkout: str | None, seeds: Sequence[int]) -> None:
    """Runs every task of AndroidWorld's official suite."""
    for task in load_suite("android_world", "official", checkout).families:
        rows = android_world.run_task(checkout, seeds, task)
        print(list(android_world.table(rows))[-1], flush=True)


def use_client(suite: clients.Suite, checkouts: Path) -> None:
    """Runs the tests that a client brings along."""
    print(clients.table(clients.run(suite, checkouts)), flush=True)


def use_android_env() -> None:
    """Loads android_env on a served phone, starts an episode, and makes each kind of request."""
    with tempfile.TemporaryDirectory() as home, clients.served(Path(home)) as (server, port):
        task = Path(home) / "task.textproto"
        task.write_text('id: "none"\nname: "none"\nmax_episode_sec: 3600\n')
        simulator = config_classes.EmulatorConfig(
            emulator_launcher=config_classes.EmulatorLauncherConfig(
                adb_port=server.adb_port, emulator_console_port=server.console_port, grpc_port=server.grpc_port
            ),
            adb_controller=config_classes.AdbControllerConfig(adb_path=adbutils.adb_path(), adb_server_port=port),
        )
        env = loader.load(
            config_classes.AndroidEnvConfig(
                task=config_classes.FilesystemTaskConfig(path=str(task)), simulator=simulator
            )
        )
        try:
            env.reset()
            for request in REQUESTS:
                env.execute_adb_call(request)
        finally:
            env.close()


def use_own_device() -> None:
    """Has an expert solve a built-in task on a phone behind adb."""
    with tempfile.TemporaryDirectory() as home, clients.served(Path(home)) as (server, port):
        os.environ["ANDROID_ADB_SERVER_PORT"] = str(port)
        try:
            serial = f"emulator-{server.console_port}"
            env = gym.make(f"AndroidWorld/{LOCAL_TASK}-v0", device=serial, disable_env_checker=True)
            play(env, *env.reset(seed=0))
            env.close()
        finally:
            del os.environ["ANDROID_ADB_SERVER_PORT"]


def measure(world: str | None, lab: str | None, checkouts: Path, seeds: Sequence[int], only: Sequence[str]) -> Record:
    """Runs the sources one after the other, or only those named, and returns what they asked for."""
    sources: dict[str, Callable[[], Any]] = {
        "AndroidWorld": lambda: use_world(world, seeds),
        "AndroidLab": lambda: android_lab.run(android_lab.checkout.find(lab)),
        **{suite.name: partial(use_client, suite, checkouts) for suite in clients.SUITES},
        "android_env": use_android_env,
        "coach-gym": use_own_device,
    }
    record = Record()
    for name, use in sources.items():
        if not only or name in only:
            print(f"{name} ...", flush=True)
            with record.listening(name):
                use()
    return record


def report(record: Record) -> dict[str, Any]:
    """Returns the record as JSON: commands and constructs, most used first, and what is missing or unused."""
    commands = [
        {"command": name, "uses": dict(sorted(uses.items())), "options": sorted(record.options[name])}
        for name, uses in sorted(record.commands.items(), key=lambda item: (-item[1].total(), item[0]))
    ]
    syntax = [
        {"construct": name, "scripts": dict(sorted(uses.items()))}
        for name, uses in sorted(record.syntax.items(), key=lambda item: (-item[1].total(), item[0]))
    ]
    used = {name.partition(" ")[0] for name in record.commands}
    headline = {
        "runs": sum(uses.total() for uses in record.commands.values()),
        "used": len(used & COMMANDS.keys()), "known": len(COMMANDS), "missing": len(record.missing),
    }  # fmt: skip
    return {
        "headline": headline, "where": "embedded phone", "commands": commands, "syntax": syntax,
        "missing": sorted(record.missing), "unused": sorted(COMMANDS.keys() - used),
    }  # fmt: skip


def table(result: dict[str, Any]) -> str:
    """Returns the report as the tables of `docs/reference/shell.md`."""
    lines = ["| command | options | runs | by |", "|---|---|---|---|"]
    for row in result["commands"]:
        options = " ".join(f"`{option}`" for option in row["options"])
        missing = " (not found)" if row["command"] in result["missing"] else ""
        runs, users = sum(row["uses"].values()), ", ".join(row["uses"])
        lines.append(f"| `{row['command']}`{missing} | {options} | {runs} | {users} |")
    lines += ["", "| syntax | scripts | by |", "|---|---|---|"]
    for row in result["syntax"]:
        construct = row["construct"].replace("|", "\\|")
        lines.append(f"| `{construct}` | {sum(row['scripts'].values())} | {', '.join(row['scripts'])} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", help="AndroidWorld's checkout; by default the one that COACH_ANDROID_WORLD names")
    parser.add_argument("--lab", help="AndroidLab's checkout; by default the one that COACH_ANDROID_LAB names")
    parser.add_argument("--checkouts", type=Path, default=Path("."), help="the folder with the clients' checkouts")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="instances of AndroidWorld's tasks")
    parser.add_argument("--sources", nargs="+", default=[], help="only these")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    parser.add_argument("--docs", type=Path, help="the page whose tables are renewed")
    given = parser.parse_args(arguments)
    record = measure(given.world, given.lab, given.checkouts.resolve(), given.seeds, given.sources)
    result = report(record)
    print(table(result))
    print("missing:", *result["missing"], "\nunused:", *result["unused"])
    print(f"rerun: python -m benchmarks.conformance.shell_use {shlex.join(sys.argv[1:])}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1) + "\n")
    if given.docs:
        text = given.docs.read_text()
        given.docs.write_text(text[: text.index(TABLES)] + f"{TABLES}\n{table(result)}\n")


if __name__ == "__main__":
    main()
