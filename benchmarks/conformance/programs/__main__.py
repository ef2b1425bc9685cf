"""Runs whole programs of others, unchanged and from their checkouts, on the embedded phone.

| program | what it does here |
|---|---|
| AndroidWorld's `run.py` and `minimal_task_runner.py` | plays and judges tasks with its agent T3A |
| AndroidLab's `eval.py` and `generate_result.py` | starts emulators, plays tasks with its text agent, judges them |
| android_env's `run_random_agent.py` and `run_human_agent.py` | start an emulator and act on it |
| uiautodev's server | every request for an Android phone, with both of its drivers |

They need their own requirements: AndroidWorld's protocol buffers compiled, and pandas 2 for AndroidLab's results.
Models are scripts (`scripts.py`), and the emulator that programs start is ours (`emulator.py`). A row is passed if the
program itself says so: by its verdict, or by ending without an error. The programs use the default ports of adb and of
emulators; `unshare -rn sh -c 'ip link set lo up; ...'` gives them a network of their own.

    python -m benchmarks.conformance.programs --checkouts . --json result.json
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import adbutils  # noqa: E402  (after the number of threads is set)

from benchmarks.conformance.clients import Row, summary, table  # noqa: E402
from benchmarks.conformance.programs import model  # noqa: E402

WORLD_TASKS = (
    "ContactsAddContact", "ClockStopWatchRunning", "ClockStopWatchPausedVerify", "CameraTakePhoto", "OpenAppTaskEval",
    "SystemWifiTurnOff",
)  # fmt: skip
LAB_TASKS = ("setting_0", "setting_7", "contacts_1")
SECONDS = 900  # for one program
ROOT = Path(__file__).parents[3]


class Home:
    """A home folder with an Android SDK whose emulator is the embedded phone.

    Args:
        folder: An empty folder.
        checkouts: The folder that holds the checkouts.
    """

    def __init__(self, folder: Path, checkouts: Path) -> None:
        self.folder, self.checkouts = folder, checkouts
        sdk = folder / "Android/Sdk"
        self.adb, self.emulator = sdk / "platform-tools/adb", sdk / "emulator/emulator"
        self.adb.parent.mkdir(parents=True)
        self.adb.symlink_to(adbutils.adb_path())
        self.emulator.parent.mkdir()
        module = "benchmarks.conformance.programs.emulator"
        self.emulator.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m {module} "$@"\n')
        self.emulator.chmod(0o755)
        self.environment = {
            **os.environ, "HOME": str(folder), "OPENAI_API_KEY": "none", "SDL_VIDEODRIVER": "dummy",
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554",
            "PATH": os.pathsep.join([str(self.adb.parent), str(self.emulator.parent), os.environ["PATH"]]),
        }  # fmt: skip

    def run(self, program: str, *arguments: str, address: str = "none") -> str:
        """Runs a program of a checkout in its own folder, and returns what it printed.

        Raises:
            RuntimeError: It failed.
        """
        script = self.checkouts / program
        if not script.is_file():
            raise FileNotFoundError(f"{script} is missing: pass --checkouts")
        command = [sys.executable, "-m", "benchmarks.conformance.programs.model", address, script.name, *arguments]
        environment = {**self.environment, "PYTHONPATH": f"{script.parent}{os.pathsep}{ROOT}"}
        log = self.folder / f"{script.stem}.log"
        with log.open("w") as out:
            done = subprocess.run(
                command, cwd=script.parent, env=environment, stdout=out, stderr=subprocess.STDOUT, timeout=SECONDS,
                check=False,
            )  # fmt: skip
        shown = log.read_text(errors="replace")
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}: {shown[-1500:]}")
        return shown


def android_world_suite(home: Home, address: str) -> list[Row]:
    """Has `run.py` play tasks with the agent T3A."""
    emulator = _started(home, "android_world")
    try:
        shown = home.run(
            "android_world/run.py", "--agent_name=t3a_gpt4", f"--tasks={','.join(WORLD_TASKS)}",
            f"--output_path={home.folder / 'runs'}", address=address,
        )  # fmt: skip
    finally:
        _ended(home, emulator)
    verdicts = dict(re.findall(r"Running task (\w+) with goal.*?Task (Successful|Failed)", shown, re.DOTALL))
    return [_row("android_world", f"run.py {task}", verdicts.get(task, "no verdict")) for task in WORLD_TASKS]


def android_world_task(home: Home, address: str) -> list[Row]:
    """Has `minimal_task_runner.py` play one task."""
    emulator = _started(home, "android_world")
    try:
        program, task = "android_world/minimal_task_runner.py", "ClockStopWatchRunning"
        shown = home.run(program, f"--task={task}", address=address)
    finally:
        _ended(home, emulator)
    verdict = re.search(r"Task (Successful|Failed)", shown)
    return [_row("android_world", f"minimal_task_runner.py {task}", verdict[1] if verdict else "no verdict")]


def android_lab(home: Home, address: str) -> list[Row]:
    """Has `eval.py` start emulators and play tasks, and `generate_result.py` judge them."""
    avds, logs, results = home.folder / ".android/avd", home.folder / "logs", home.folder / "results"
    (avds / "android_lab.avd").mkdir(parents=True)
    (avds / "android_lab.avd/config.ini").touch()
    (avds / "android_lab.ini").write_text(f"path={avds}/android_lab.avd\n")
    settings = {
        "agent": {"name": "OpenAIAgent", "args": {"api_key": "none", "api_base": address, "model_name": "gpt-4o"}},
        "task": {
            "class": "TextOnlyMobileTask_AutoTest",
            "args": {"save_dir": str(logs), "max_rounds": 25, "request_interval": 1, "mode": "in_app"},
        },
        "eval": {"avd_base": str(avds), "avd_name": "android_lab", "avd_log_dir": str(home.folder / "emulator")},
    }
    config = home.folder / "config.yaml"
    config.write_text(json.dumps(settings))  # YAML contains JSON
    home.run("Android-Lab/eval.py", "-n", "script", "-c", str(config), "--task_id", *LAB_TASKS, address=address)
    home.environment["OPENAI_BASE_URL"] = address
    home.run(
        "Android-Lab/generate_result.py", "--input_folder", str(logs), "--output_folder", str(results),
        "--output_excel", str(home.folder / "result.xlsx"), "--judge_model", "gpt-4o-2024-05-13",
    )  # fmt: skip
    lines = [line for file in results.rglob("results.jsonl") for line in file.read_text().splitlines()]
    complete = {line["task_id"]: line["result"].get("complete") for line in map(json.loads, lines)}
    return [
        _row("Android-Lab", f"eval.py {task}", "Successful" if complete.get(task) else "Failed") for task in LAB_TASKS
    ]


def android_env_random(home: Home, _: str) -> list[Row]:
    """Has `run_random_agent.py` start an emulator and act on it 200 times."""
    home.run("android_env/examples/run_random_agent.py", "--num_steps=200", *_android_env(home))
    return [_row("android_env", "run_random_agent.py", "Successful")]


def android_env_human(home: Home, _: str) -> list[Row]:
    """Has `run_human_agent.py` start an emulator and follow the mouse until the window is closed."""
    home.run("android_env/examples/run_human_agent.py", *_android_env(home))
    return [_row("android_env", "run_human_agent.py", "Successful")]


def uiautodev(home: Home, _: str) -> list[Row]:
    """Asks uiautodev's server everything it knows about an Android phone."""
    emulator = _started(home, "android_world")
    try:
        command = [sys.executable, "-m", "benchmarks.conformance.programs.uiautodev_calls"]
        environment = {**home.environment, "PYTHONPATH": f"{home.checkouts / 'uiautodev'}{os.pathsep}{ROOT}"}
        done = subprocess.run(
            command, cwd=home.folder, env=environment, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=True
        )
    finally:
        _ended(home, emulator)
    return [Row("uiautodev", *row) for row in json.loads(done.stdout.splitlines()[-1])]


PROGRAMS: dict[str, Callable[[Home, str], list[Row]]] = {
    "run.py": android_world_suite, "minimal_task_runner.py": android_world_task, "eval.py": android_lab,
    "run_random_agent.py": android_env_random, "run_human_agent.py": android_env_human, "uiautodev": uiautodev,
}  # fmt: skip


def _android_env(home: Home) -> list[str]:
    """Returns the flags that android_env's examples share."""
    task = home.folder / "task.textproto"
    task.write_text('id: "none"\nname: "none"\nmax_episode_sec: 3600\n')
    return [
        "--avd_name=android_world", f"--task_path={task}", f"--emulator_path={home.emulator}", f"--adb_path={home.adb}",
        f"--android_sdk_root={home.adb.parent.parent}", f"--android_avd_home={home.folder}", "--run_headless=true",
    ]  # fmt: skip


def _started(home: Home, avd: str) -> subprocess.Popen:
    """Starts an emulator for programs that expect one, and waits for it."""
    emulator = subprocess.Popen([home.emulator, "-avd", avd], env=home.environment)
    subprocess.run([home.adb, "wait-for-device"], env=home.environment, check=True, timeout=60)
    return emulator


def _ended(home: Home, emulator: subprocess.Popen) -> None:
    """Stops an emulator, as its owner does with Ctrl-C."""
    emulator.terminate()
    emulator.wait()


def _row(suite: str, test: str, verdict: str) -> Row:
    return Row(suite, test, "passed") if verdict == "Successful" else Row(suite, test, "failed", verdict)


def run(name: str, checkouts: Path) -> list[Row]:
    """Runs one program in a new home folder. A program that breaks is a failed row."""
    with tempfile.TemporaryDirectory() as folder, model.served() as (address, faults):
        home = Home(Path(folder), checkouts)
        try:
            rows = PROGRAMS[name](home, address)
        except (RuntimeError, subprocess.SubprocessError) as error:
            rows = [Row(name, name, "failed", str(error))]
        finally:
            subprocess.run([home.adb, "kill-server"], env=home.environment, capture_output=True, check=False)
    for fault in faults:
        print(f"{name}: {fault}", file=sys.stderr)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the programs and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkouts", type=Path, default=Path("."), help="the folder that holds the checkouts")
    parser.add_argument("--programs", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS), help="default: all")
    parser.add_argument("--json", type=Path, help="where to write the result")
    given = parser.parse_args(arguments)
    rows = [row for name in given.programs for row in run(name, given.checkouts.resolve())]
    print(table(rows))
    print(f"rerun: python -m benchmarks.conformance.programs {shlex.join(sys.argv[1:])}")
    if given.json:
        result = {"headline": summary(rows), "where": "embedded phone", "rows": [asdict(row) for row in rows]}
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
