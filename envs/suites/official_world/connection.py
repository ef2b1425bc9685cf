"""Upstream's environment for whichever device an episode runs on."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any, Protocol, runtime_checkable

import dm_env
import numpy as np
from android_env import env_interface
from android_env.proto import adb_pb2

from coach_gym.envs.devices.adb import Adb
from coach_gym.envs.devices.device import Device, LentDevice
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import UsageError
from coach_gym.envs.phone.servers.accessibility import forest
from coach_gym.envs.suites.official_world import upstream
from coach_gym.envs.suites.official_world.commands import Calls, HostAdb, PhoneAdb


def connect(device: Device) -> Any:
    """Returns upstream's `AsyncAndroidEnv` over one of our devices.

    Upstream's adb requests go to adb. Screenshots and screen elements are those that the device shows to agents, so
    neither an accessibility forwarder nor an emulator's gRPC port is needed.

    Raises:
        UsageError: Upstream needs more of a device than this one offers.
    """
    return upstream.module("env.interface").AsyncAndroidEnv(_controller(device))


def pass_time(device: Device) -> AbstractContextManager[None]:
    """Lets upstream's sleeps pass at once on an embedded phone's clock; on other devices it really sleeps."""
    if isinstance(device, PhoneDevice):
        phone = device.phone
        return upstream.sleeping(lambda seconds: phone.elapse(timedelta(seconds=seconds)))
    return nullcontext()


@runtime_checkable
class BehindAdb(Protocol):
    """A device that adb reaches."""

    adb: Adb


class DeviceEnv(env_interface.AndroidEnvInterface):
    """A device of ours as android_env's environment: adb requests and screenshots, no episodes of its own."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._calls = _calls(device)

    def execute_adb_call(self, call: adb_pb2.AdbRequest) -> adb_pb2.AdbResponse:
        """Carries out one of upstream's requests to adb."""
        return self._calls.parse(call)

    def action_spec(self) -> dict[str, Any]:
        """Returns no actions: upstream never asks for them."""
        return {}

    def observation_spec(self) -> dict[str, Any]:
        """Returns no observations: upstream never asks for them."""
        return {}

    def reset(self) -> dm_env.TimeStep:
        """Looks at the screen."""
        return dm_env.restart({"pixels": self._device.screenshot()})

    def step(self, action: dict[str, np.ndarray]) -> dm_env.TimeStep:
        """Looks at the screen. Upstream acts through adb, and agents through the device."""
        return dm_env.transition(0.0, {"pixels": self._device.screenshot()})

    def close(self) -> None:
        """Does nothing: whoever started the device closes it."""


def _controller(device: Device) -> Any:
    controllers = upstream.module("env.android_world_controller")
    methods = controllers.A11yMethod

    class Controller(controllers.AndroidWorldController):  # type: ignore[name-defined, misc]
        """Upstream's controller, which reads the screen's elements off the device."""

        def __init__(self) -> None:
            super().__init__(DeviceEnv(device), methods.NONE)
            self._a11y_method = methods.A11Y_FORWARDER_APP

        def get_a11y_forest(self) -> Any:
            return forest(device.ui())

    return Controller()


def _calls(device: Device) -> Calls:
    """Returns what carries out upstream's requests to adb."""
    if isinstance(device, PhoneDevice):
        return Calls(PhoneAdb(device.phone))
    itself = device.lent if isinstance(device, LentDevice) else device
    if isinstance(itself, BehindAdb):
        return Calls(HostAdb(itself.adb))
    raise UsageError(f"suite='official' needs the embedded phone or a device that adb reaches, not {device.name!r}")
