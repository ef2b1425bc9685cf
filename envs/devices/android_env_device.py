"""An emulator on this computer, through gRPC and adb as in android_env.

Screenshots (exact pixels, not JPEG) and touch go through the emulator's gRPC port, everything else through adb. The
messages are android_env's own, but not its simulator class, which has no time limits, restarts the adb server on any
failure, and reads the adb server's port from the environment of the whole process.
"""

from __future__ import annotations

import time
from typing import Any

import grpc
import numpy as np
from android_env.proto import emulator_controller_pb2 as messages
from android_env.proto.emulator_controller_pb2_grpc import EmulatorControllerStub

from coach_gym.actions import Point
from coach_gym.checks import require_port
from coach_gym.envs.devices.adb import TIMEOUT
from coach_gym.envs.devices.adb_device import AdbDevice
from coach_gym.envs.errors import DeviceError

GRPC_OFFSET = 3000  # emulator-5554 listens on 8554 by default
_FRAME = 1 / 60  # seconds between two points of a moving finger
_RGBA = messages.ImageFormat(format=messages.ImageFormat.RGBA8888)


class AndroidEnvDevice(AdbDevice):
    """An emulator, identified by its ports.

    Args:
        console_port: The console's port, such as 5554 for `emulator-5554`.
        grpc_port: The port passed to the emulator as `-grpc`; by default 3000 above the console's.
        settings: Further arguments of `AdbDevice`.

    Raises:
        DeviceError: The emulator cannot be reached. All methods raise it when the emulator fails.
    """

    def __init__(self, console_port: int = 5554, grpc_port: int | None = None, **settings: Any) -> None:
        require_port(console_port=console_port, grpc_port=0 if grpc_port is None else grpc_port)
        address = f"localhost:{grpc_port or console_port + GRPC_OFFSET}"
        no_limit = [("grpc.max_receive_message_length", -1)]
        self._channel = grpc.secure_channel(address, grpc.local_channel_credentials(), no_limit)
        self._emulator = EmulatorControllerStub(self._channel)
        super().__init__(f"emulator-{console_port}", **settings)
        self._name = f"android_env:{console_port} {self._name.partition(' ')[2]}"

    def screenshot(self) -> np.ndarray:
        """Returns the screen as a new (height, width, 3) uint8 array."""
        image = self._ask(self._emulator.getScreenshot, _RGBA)
        width, height = image.format.width, image.format.height
        if len(image.image) != width * height * 4:
            raise DeviceError(f"{self.name}: a screenshot of {width} x {height} has {len(image.image)} bytes")
        return self._checked(np.frombuffer(image.image, np.uint8).reshape(height, width, 4)[..., :3].copy())

    def _press(self, at: Point, seconds: float) -> None:
        self._touch(at, down=True)
        time.sleep(seconds)
        self._touch(at, down=False)

    def _slide(self, start: Point, end: Point, seconds: float) -> None:
        frames = max(1, round(seconds / _FRAME))
        for frame in range(frames + 1):
            share = frame / frames
            x, y = (round(a + (b - a) * share) for a, b in zip(start, end, strict=True))
            self._touch((x, y), down=True)
            time.sleep(_FRAME)
        self._touch(end, down=False)

    def _touch(self, at: Point, down: bool) -> None:
        touch = messages.Touch(x=at[0], y=at[1], identifier=0, pressure=int(down))
        self._ask(self._emulator.sendTouch, messages.TouchEvent(touches=[touch]))

    def _ask(self, method: Any, request: Any) -> Any:
        try:
            return method(request, timeout=TIMEOUT)
        except grpc.RpcError as error:
            raise DeviceError(f"{self.name}: gRPC: {error.code().name}: {error.details()}") from error
        except ValueError as error:  # gRPC raises this when the channel is closed
            raise DeviceError(f"{self.name} is closed") from error

    def close(self) -> None:
        """Closes both connections."""
        self._channel.close()
        super().close()
