"""`coach-gym doctor`: reports what this computer lacks for a purpose, and how to get it.

It installs nothing and changes no device. What it cannot look at, it reports as not checked, never as in order.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence

from coach_gym.cli.checks import benchmarks, device, emulator, training
from coach_gym.cli.checks.finding import Finding, Host
from coach_gym.envs.devices.adb import DEFAULT_SERVER_PORT

PURPOSES = {
    "phone": ("packages",),
    "device": ("packages", "adb", "device", "screen"),
    "emulator": ("packages", "KVM", "SDK", "emulator", "system image", "AVD", "adb"),
    "android_world": (
        "packages", "adb", "device", "screen", "root", "AndroidWorld", "AndroidWorld's packages", "AndroidWorld's apps",
    ),
    "android_lab": ("packages", "adb", "device", "screen", "root", "AndroidLab", "AndroidLab's apps"),
    "training": ("packages",),
    "gpu_training": ("packages", "GPU", "vLLM"),
}  # fmt: skip
"""The findings each purpose needs. Training a pocket model needs no more than the embedded phone does: our packages."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    parser.add_argument("--for", dest="purpose", choices=PURPOSES, help="by default, a summary of all")
    parser.add_argument("--device", metavar="SERIAL", help="the device to check; by default the first that adb lists")
    parser.add_argument("--adb-port", type=int, default=DEFAULT_SERVER_PORT, help="port of the adb server")
    parser.set_defaults(run=run)


def run(purpose: str | None, device: str | None, adb_port: int) -> None:
    """Prints the report; exits with 1 if the purpose needs something that is not in order."""
    findings = examine(Host(serial=device, server_port=adb_port))
    text, code = (summary(findings), 0) if purpose is None else report(findings, purpose)
    print(text)
    sys.exit(code)


def examine(host: Host) -> list[Finding]:
    """Runs all checks, in the order in which one would set things up."""
    return [
        training.packages("packages", ""),
        emulator.kvm(host),
        emulator.android_sdk(host),
        emulator.emulator(host),
        emulator.system_image(host),
        emulator.avd(host),
        device.adb(),
        *device.devices(host),
        benchmarks.android_world(host),
        training.packages("AndroidWorld's packages", "official"),
        benchmarks.android_lab(host),
        training.gpu(host),
        training.vllm(),
    ]


def report(findings: Iterable[Finding], purpose: str) -> tuple[str, int]:
    """Writes the report on one purpose.

    Args:
        findings: All findings; those that the purpose does not need are left out.
        purpose: One of `PURPOSES`.

    Returns:
        The text, and the exit code: 1 if anything the purpose needs is missing or was not checked.
    """
    needed = [finding for finding in findings if finding.name in PURPOSES[purpose]]
    lacking = _lacking(needed)
    verdict = f"Not in order: {', '.join(lacking)}." if lacking else f"Everything {purpose} needs is in order."
    return "\n".join([*_lines(needed), "", verdict]), int(bool(lacking))


def summary(findings: Sequence[Finding]) -> str:
    """Writes all findings, and what each purpose lacks."""
    lines = [*_lines(findings), ""]
    for purpose, names in PURPOSES.items():
        lacking = _lacking([finding for finding in findings if finding.name in names])
        lines.append(f"{purpose:16} {'lacks ' + ', '.join(lacking) if lacking else 'in order'}")
    return "\n".join(lines)


def _lines(findings: Iterable[Finding]) -> list[str]:
    lines = []
    for finding in findings:
        lines.append(f"{finding.state:12} {finding.name:24} {finding.found}")
        if finding.state != "ok":
            lines += [f"{'':14}-> {line}" for line in finding.mend.splitlines()]
    return lines


def _lacking(findings: Iterable[Finding]) -> list[str]:
    return [finding.name for finding in findings if finding.state != "ok"]
