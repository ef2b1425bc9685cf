"""The adb commands whose output eight of AndroidLab's judges read."""

from __future__ import annotations

import shlex

from coach_gym.envs.devices.device import Device

FAILED = "ERROR"  # what upstream hands to the judge when a command fails


def ask(device: Device, query: str) -> str:
    """Runs `adb shell COMMAND` or `adb shell COMMAND | grep WORDS`. Returns what upstream's controller would report.

    The pipe and the search run here: no shell of the host sees any of it.
    """
    command, _, search = query.partition("|")
    words = shlex.split(command)[2:]  # after `adb shell`; the host's shell would have taken these quotes off
    output = shell(device, " ".join(words)).strip()
    if not search:
        return output
    words = shlex.split(search)[1:]
    found = [line for line in output.splitlines() if words and words[0] in line]
    return "\n".join(found) or FAILED


def shell(device: Device, command: str) -> str:
    """Returns what one of upstream's commands prints on a device, or `FAILED` if its exit code is not 0."""
    output, _, code = device.shell(f"{command}; echo $?").rstrip().rpartition("\n")
    return output if code == "0" else FAILED
