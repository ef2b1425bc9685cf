"""Runs the tests that clients of adb bring along, from their own checkouts, against a served embedded phone.

The clients are those installed here (adbutils, uiautomator2) or those of the checkout (pure-python-adb); their tests
come unchanged from the checkouts. The phone's battery is full, as an emulator's is. `share` is the part of the tests
that apply and pass. Tests that cannot apply are left out, each with its reason: they need an app that is not on the
phone, wait for the clock of the wall, restart the device, or fail on every Android since version 9. The figure says how
much these clients notice of the difference from Android, and nothing about a model.

    git clone https://github.com/openatx/adbutils && git clone https://github.com/openatx/uiautomator2
    git clone https://github.com/Swind/pure-python-adb
    python -m benchmarks.conformance.clients --checkouts . --json result.json
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import adbutils  # noqa: E402  (after the number of threads is set)

from benchmarks.conformance.client_plugin import ADDRESSES, LEFT_OUT, OMITTED  # noqa: E402
from coach_gym.envs.phone.servers.server import PhoneServer  # noqa: E402
from coach_gym.envs.profiles import world_phone  # noqa: E402

SIZE = (1080, 2400)
SECONDS = 600  # for the tests of one folder
_FOREIGN = "needs an app that is not on the phone"
_REAL_TIME = "waits for the clock of the wall; the phone's shell runs on the phone's clock"


@dataclass(frozen=True)
class Suite:
    """The tests of one client.

    Attributes:
        name: The folder of the checkout.
        folders: The folders of the tests that talk to a device.
        left_out: Why tests do not apply, by `file.py::test` and by `@fixture`.
        failing: Why tests that apply are known to fail, by `file.py::test`.
        own_code: Whether the client is imported from the checkout.
        console: The port of the console if the tests know only one; 0 takes a free one.
    """

    name: str
    folders: tuple[str, ...]
    left_out: Mapping[str, str]
    failing: Mapping[str, str]
    own_code: bool = False
    console: int = 0


SUITES = (
    Suite(
        "adbutils", ("e2etests",),
        {
            "test_device_base.py::test_adb_shell_raise_timeout": _REAL_TIME,
            "test_adb.py::test_wait_for": "needs a phone on USB",
        },
        {},
    ),
    Suite(
        "uiautomator2", ("demo_tests", "mobile_tests"),
        {
            "@app": _FOREIGN, "@dev": _FOREIGN,
            **{
                f"test_app.py::test_{name}": _FOREIGN
                for name in (
                    "wait_activity", "app_start_stop", "app_clear", "app_info", "auto_grant_permissions", "session",
                )
            },
            "test_swipe.py::test_swipe_duration": _REAL_TIME,
        },
        {},
    ),
    Suite(
        "pure-python-adb", ("test",),
        {
            "test_device.py::test_shell_echo_timeout": _REAL_TIME,
            "test_device.py::test_reboot_than_wait_boot": "restarts the device, which the embedded phone refuses",
            "test_plugins.py::test_get_traffic": "fails on Android since version 9, which has not the file it reads",
            "test_device.py::test_install_uninstall_success":
                "fails on Android since version 9, where an installation replaces by default",
        },
        {
            "test_host_serial.py::test_shell_sync":
                "the test before it has adb drop the emulator, waits a second, as long as adb does before it looks "
                "for emulators again, and then takes one that is listed for one that has answered",
        },
        own_code=True,
        console=5554,
    ),
)  # fmt: skip


@dataclass
class Row:
    """The outcome of one test: "passed", "failed", "left out" or "skipped" (by the suite itself)."""

    suite: str
    test: str
    outcome: str
    why: str = ""


@contextmanager
def served(home: Path, console: int = 0) -> Iterator[tuple[PhoneServer, int]]:
    """Serves a phone as an emulator, with an adb server of its own. Yields both, the adb server by its port."""
    port = _free_port()
    environment = {**os.environ, "HOME": str(home), "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554"}

    def adb(*args: str) -> None:
        subprocess.run([adbutils.adb_path(), "-P", str(port), *args], env=environment, capture_output=True, timeout=60)

    console = console or _free_port()
    with PhoneServer(world_phone(*SIZE), adb_port=console + 1, console_port=console) as server:
        server.hardware.battery = 100
        adb("start-server")
        try:
            request = f"host:emulator:{server.adb_port}".encode()
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"%04x" % len(request) + request)
            adb("-s", f"emulator-{console}", "wait-for-device")
            yield server, port
        finally:
            adb("kill-server")


def _free_port() -> int:
    """Returns an even port that is free as the one after it is."""
    while True:
        port = random.randrange(20_000, 32_000, 2)
        try:
            with socket.socket() as first, socket.socket() as second:
                first.bind(("127.0.0.1", port))
                second.bind(("127.0.0.1", port + 1))
                return port
        except OSError:
            continue


def run(suite: Suite, checkouts: Path, chosen: str = "") -> list[Row]:
    """Runs the tests of a suite, each folder on a new phone.

    Raises:
        FileNotFoundError: The checkout is missing.
    """
    rows = []
    for folder in suite.folders:
        tests = checkouts / suite.name / folder
        if not tests.is_dir():
            raise FileNotFoundError(f"{tests} is missing: clone {suite.name} into {checkouts}, or pass --checkouts")
        with tempfile.TemporaryDirectory() as home, served(Path(home), suite.console) as (server, port):
            rows += _run_folder(suite, tests, Path(home), server, port, chosen)
    return rows


def _run_folder(
    suite: Suite, tests: Path, home: Path, server: PhoneServer, port: int, chosen: str
) -> list[Row]:
    serial = f"emulator-{server.console_port}"
    addresses = {
        "adb_host": "127.0.0.1", "adb_port": port, "device_serial": serial, "emulator_port": server.console_port,
    }  # fmt: skip
    roots = [str(Path(__file__).parents[2]), *([str(tests.parent)] if suite.own_code else [])]
    environment = {
        **os.environ, "HOME": str(home), "ANDROID_ADB_SERVER_PORT": str(port), "ANDROID_SERIAL": serial,
        "PYTHONPATH": os.pathsep.join([*roots, *filter(None, [os.environ.get("PYTHONPATH")])]),
        LEFT_OUT: json.dumps(dict(suite.left_out)),
        ADDRESSES: json.dumps(addresses),
    }  # fmt: skip
    report = home / "report.xml"
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "benchmarks.conformance.client_plugin", "-p", "no:cacheprovider",
        "-o", "addopts=", f"--junitxml={report}", f"--rootdir={tests}", str(tests), *(["-k", chosen] if chosen else []),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=SECONDS)
    if not report.exists():
        raise RuntimeError(f"the tests of {tests} did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return [_row(suite.name, case) for case in ElementTree.parse(report).iter("testcase")]


def _row(suite: str, case: ElementTree.Element) -> Row:
    file = case.get("classname", "").rpartition(".")[2]
    test = f"{file}.py::{case.get('name')}"
    bad = next((found for kind in ("failure", "error") if (found := case.find(kind)) is not None), None)
    if bad is not None:
        return Row(suite, test, "failed", (bad.get("message") or "-").splitlines()[0][:200])
    skipped = case.find("skipped")
    if skipped is None:
        return Row(suite, test, "passed")
    why = skipped.get("message") or ""
    left_out = why.startswith(OMITTED)
    return Row(suite, test, "left out" if left_out else "skipped", why.removeprefix(OMITTED))


def summary(rows: Sequence[Row]) -> dict[str, float]:
    """Returns the headline: how many tests apply, how many of them pass, and their share."""
    passed = sum(row.outcome == "passed" for row in rows)
    applying = passed + sum(row.outcome == "failed" for row in rows)
    return {"share": passed / applying if applying else 0.0, "passed": passed, "applying": applying}


def table(rows: Sequence[Row]) -> str:
    """Returns a line for each suite, and one for each test that did not pass, with the reason."""
    lines = [f"{'suite':16} {'applying':>8} {'passed':>7} {'share':>6} {'left out':>9}"]
    for name in dict.fromkeys(row.suite for row in rows):
        mine = [row for row in rows if row.suite == name]
        found = summary(mine)
        left = sum(row.outcome in ("left out", "skipped") for row in mine)
        lines.append(f"{name:16} {found['applying']:8} {found['passed']:7} {found['share']:6.1%} {left:9}")
    known = {test: why for suite in SUITES for test, why in suite.failing.items()}
    for row in rows:
        if row.outcome != "passed":
            lines.append(f"  {row.outcome:8} {row.suite} {row.test}: {known.get(row.test) or row.why}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the suites and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--checkouts", type=Path, default=Path("."), help="the folder that holds the checkouts")
    parser.add_argument("--suites", nargs="+", choices=[suite.name for suite in SUITES], help="default: all")
    parser.add_argument("--tests", default="", help="only tests whose names fit this expression of pytest's -k")
    parser.add_argument("--json", type=Path, help="where to write the result")
    given = parser.parse_args(arguments)
    wanted = [suite for suite in SUITES if not given.suites or suite.name in given.suites]
    rows = [row for suite in wanted for row in run(suite, given.checkouts.resolve(), given.tests)]
    print(table(rows))
    print(f"rerun: python -m benchmarks.conformance.clients {shlex.join(sys.argv[1:])}")
    if given.json:
        result = {"headline": summary(rows), "where": "embedded phone", "rows": [asdict(row) for row in rows]}
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
