"""The adb commands whose output eight of AndroidLab's judges read."""

from __future__ import annotations

import shlex

from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import DeviceError
from coach_gym.envs.phone import shell as phone_shell

FAILED = "ERROR"  # what upstream hands to the judge when a command fails


def ask(device: Device, query: str) -> str:
    """The output of `adb shell COMMAND` or of `adb shell COMMAND | grep WORDS`, as upstream's controller reports it.

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
    """What a command of upstream's prints on a device; `FAILED` if it exits with another code than 0.

    Raises:
        DeviceError: The device offers no shell.
    """
    if isinstance(device, PhoneDevice):
        done = phone_shell.run(device.phone, command)
        return FAILED if done.code else done.stdout.decode(errors="replace")
    if not hasattr(device, "shell"):
        raise DeviceError(f"{device.name} has no shell, which this task needs")
    output, _, code = device.shell(f"{command}; echo $?").rstrip().rpartition("\n")
    return output if code == "0" else FAILED
