"""A phone on ports of this machine, where adb, uiautomator2 and the clients of emulators find it.

    with PhoneServer(Phone()) as server:
        subprocess.run(["adb", "connect", server.address])
"""

from __future__ import annotations

from coach_gym.checks import require_port
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.adb import Adb
from coach_gym.envs.phone.servers.console import Console
from coach_gym.envs.phone.servers.emulator_grpc import EmulatorGrpc
from coach_gym.envs.phone.servers.forwarder import Forwarder
from coach_gym.envs.phone.servers.hardware import Hardware
from coach_gym.envs.phone.servers.listener import Listener
from coach_gym.envs.phone.servers.lock import RunningPhone
from coach_gym.envs.phone.servers.uiautomator.automator import UiAutomator
from coach_gym.envs.phone.servers.uiautomator.server import MAIN, UiAutomatorServer
from coach_gym.loopback import HOST


class PhoneServer:
    """Serves one phone on the loopback interface. The phone's clock runs while it is served.

    All services hold `lock` while they work the phone; so must anybody else who works it meanwhile.

    Args:
        phone: The phone.
        adb_port: The port for adb; 0 takes a free one.
        console_port: The port of the console; 0 takes a free one. To be found as `emulator-N` it must be N, which is
            even, and adb's N + 1.
        grpc_port: The port of the emulator's gRPC services; 0 takes a free one.
        token: What clients of the console authenticate with; an empty one lets everybody in.
    """

    def __init__(
        self, phone: Phone, adb_port: int = 0, console_port: int = 0, grpc_port: int = 0, token: str = ""
    ) -> None:
        require_port(adb_port=adb_port, console_port=console_port, grpc_port=grpc_port)
        self.phone = phone
        self.lock = RunningPhone(phone)
        self.hardware = Hardware(phone, self.lock)
        self.adb_port, self.console_port, self.grpc_port = adb_port, console_port, grpc_port
        self._token = token
        self._forwarder = Forwarder(phone, self.lock)
        self._listeners: list[Listener] = []
        self._grpc: EmulatorGrpc | None = None

    @property
    def address(self) -> str:
        """The argument for `adb connect`."""
        return f"{HOST}:{self.adb_port}"

    def start(self) -> PhoneServer:
        """Opens the ports.

        Raises:
            OSError: The port for adb or the console is taken.
            RuntimeError: The port for gRPC is taken.
        """
        automator = UiAutomatorServer(UiAutomator(self.phone, self.lock))
        adb = Adb(self.phone, self.lock, automator.ports, {MAIN: automator.running})
        console = Console(self.hardware, self._token)
        try:
            self._listeners.append(Listener(adb.serve, self.adb_port))
            self._listeners.append(Listener(console.serve, self.console_port))
            self._grpc = EmulatorGrpc(self.hardware, self.grpc_port)
        except (OSError, RuntimeError):
            self.close()
            raise
        self.adb_port, self.console_port = (listener.port for listener in self._listeners)
        self.grpc_port = self._grpc.port
        self._grpc.start()
        self.phone.receivers.append(self._forwarder.broadcast)
        return self

    def close(self) -> None:
        """Closes the ports and ends all connections. It may be called twice."""
        if self._forwarder.broadcast in self.phone.receivers:
            self.phone.receivers.remove(self._forwarder.broadcast)
        self._forwarder.stop()
        for listener in self._listeners:
            listener.close()
        self._listeners.clear()
        if self._grpc is not None:
            self._grpc.stop()
            self._grpc = None

    def __enter__(self) -> PhoneServer:
        return self if self._listeners else self.start()

    def __exit__(self, *exception: object) -> None:
        self.close()
