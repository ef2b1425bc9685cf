"""``coach-gym phone``: embedded phones on ports of this machine, for adb and everything that speaks to emulators."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.console import auth_token
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import lab_phone, world_phone

ADB_PORT, GRPC_PORT = 5555, 8554  # of the first emulator on a machine
PHONES = {"android_world": world_phone, "android_lab": lab_phone}
LOOK = 0.2  # seconds between looks whether the phones have been told to end


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--port", type=int, default=ADB_PORT, help="for adb, of the first phone (default: %(default)s)")
    parser.add_argument("--grpc-port", type=int, default=GRPC_PORT, help="of the first phone (default: %(default)s)")
    parser.add_argument("--width", type=int, default=1080, help="of the screen in pixels (default: %(default)s)")
    parser.add_argument("--height", type=int, default=2400, help="of the screen in pixels (default: %(default)s)")
    parser.add_argument("--count", type=int, default=1, help="how many phones; each takes two more ports than the last")
    parser.add_argument(
        "--benchmark", choices=tuple(PHONES), default="android_world",
        help="whose phone it is: with which apps and data (default: %(default)s)",
    )  # fmt: skip
    parser.set_defaults(run=serve)


def serve(port: int, grpc_port: int, width: int, height: int, count: int, benchmark: str = "android_world") -> None:
    """Serves phones until Ctrl-C, or until their consoles have been told to kill them."""
    phone = PHONES[benchmark]
    try:
        with ExitStack() as stack:
            servers = [
                stack.enter_context(_opened(phone(width, height), port + 2 * index, grpc_port + index))
                for index in range(count)
            ]
            print("Ctrl-C ends it.", flush=True)
            while servers:
                time.sleep(LOOK)
                for server in [server for server in servers if server.hardware.killed.is_set()]:
                    server.close()
                    servers.remove(server)
    except KeyboardInterrupt:
        print()


def _opened(phone: Phone, port: int, grpc_port: int) -> PhoneServer:
    """A server with its ports, which are printed: the console's is one below adb's, as of emulators."""
    server = PhoneServer(phone, port, port - 1, grpc_port, auth_token())
    try:
        server.start()
    except (OSError, RuntimeError) as error:
        sys.exit(f"Cannot open the ports {port}, {port - 1} and {grpc_port}: {error}. Choose --port and --grpc-port.")
    print(f"adb connect {server.address}    (console {server.console_port}, gRPC {server.grpc_port})", flush=True)
    return server
