"""Whether a device is there, asked before work that would find it missing in every episode."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from coach_gym.envs.devices.adb import Adb
from coach_gym.envs.devices.fleet_file import attached_serials
from coach_gym.envs.devices.names import adb_serial
from coach_gym.envs.errors import DeviceError

PATIENCE = 3.0  # seconds; a device that is there appears in one, also if adb has to be started
_log = logging.getLogger(__name__)


def require_reachable(device: str) -> None:
    """Checks that adb finds a device, or at least one of the attached devices of a fleet.

    Args:
        device: As for `AndroidEnv`: `"phone"`, a name, or the file of a fleet, whose emulators are started later.

    Raises:
        ValueError: The name denotes no device, or the file describes no fleet.
        DeviceError: No device is there.
    """
    if device == "phone":
        return
    if isinstance(device, str) and device.endswith(".toml"):
        serials, starts_others = attached_serials(device)
    else:
        serials, starts_others = [adb_serial(device)], False
    with ThreadPoolExecutor(max(1, len(serials))) as pool:
        troubles = [trouble for trouble in pool.map(_trouble, serials) if trouble is not None]
    if troubles and len(troubles) == len(serials) and not starts_others:
        look = f"coach-gym doctor --for device --device {serials[0]}"
        raise DeviceError(f"{'; '.join(troubles)}. Start or connect the device; {look} looks closer")
    for trouble in troubles:
        _log.warning("%s", trouble)


def _trouble(serial: str) -> str | None:
    """Says why adb cannot use a device; None if it can."""
    try:
        Adb(serial).connect(PATIENCE)
    except DeviceError as error:
        return str(error)
    return None
