"""Names of real devices: the values of an environment's argument `device` other than `"phone"`."""

from __future__ import annotations

import re

from coach_gym.checks import LARGEST_PORT, WrongType
from coach_gym.envs.devices.device import Device

_ANDROID_ENV = re.compile(r"android_env:([0-9]{4,5})(?::([0-9]{4,5}))?")
# An address or a serial number. Serial numbers contain digits; mistyped words do not.
_ADB = re.compile(r"[\w.\-\[\]:]+:[0-9]{1,5}|(?=.*[0-9])[\w.\-]+", re.ASCII)


def check_name(name: str) -> None:
    """Checks that `open_device` can tell which kind of device a name means.

    Raises:
        TypeError: It is no text.
        ValueError: It cannot.
    """
    if not isinstance(name, str):
        raise WrongType(f"device={name!r} is of type {type(name).__name__}; pass the name of a device, or a callable")
    if not _ANDROID_ENV.fullmatch(name) and not _ADB.fullmatch(name):
        raise ValueError(
            f"device={name!r} is unknown; pass 'phone' (embedded), 'emulator-5554', 'host:port' or another serial "
            f"number that `adb devices` shows, 'android_env:5554', or a callable that returns a Device, e.g. a Fleet"
        )
    for port in re.findall(r":([0-9]{1,5})(?=:|$)", name):
        if int(port) > LARGEST_PORT:
            raise ValueError(f"device={name!r} has no port {port}; ports have the numbers 0 to {LARGEST_PORT}")


def adb_serial(name: str) -> str:
    """Returns the serial number under which adb knows a device.

    Raises:
        TypeError: The name is no text.
        ValueError: It does not denote a device.
    """
    check_name(name)
    found = _ANDROID_ENV.fullmatch(name)
    return f"emulator-{found[1]}" if found else name


def open_device(name: str) -> Device:
    """Connects to a device.

    Args:
        name: A serial number as `adb devices` shows it, or `host:port`; or `android_env:CONSOLE` or
            `android_env:CONSOLE:GRPC` with the ports of an emulator on this computer.

    Raises:
        ValueError: The name does not denote a device.
        DeviceError: The device cannot be reached.
    """
    check_name(name)
    if found := _ANDROID_ENV.fullmatch(name):
        from coach_gym.envs.devices.android_env_device import AndroidEnvDevice

        return AndroidEnvDevice(int(found[1]), int(found[2]) if found[2] else None)
    from coach_gym.envs.devices.adb_device import AdbDevice

    return AdbDevice(name)
