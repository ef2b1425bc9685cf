"""`coach-gym phone`: serves embedded phones on local ports, for adb and everything else that talks to emulators."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.console import auth_token
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import lab_phone, world_phone

ADB_PORT, GRPC_PORT = 5555, 8554  # those of the first emulator on a machine
PHONES = {"android_world": world_phone, "android_lab": lab_phone}
POLL = 0.2  # seconds between checks whether a console was told to kill its phone


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    parser.add_argument("--port", type=int, default=ADB_PORT, help="adb port of the first phone (default: %(default)s)")
    parser.add_argument(
        "--grpc-port", type=int, default=GRPC_PORT, help="gRPC port of the first phone (default: %(default)s)"
    )
    parser.add_argument("--width", type=int, default=1080, help="width of the screen in pixels (default: %(default)s)")
    parser.add_argument(
        "--height", type=int, default=2400, help="height of the screen in pixels (default: %(default)s)"
    )
    parser.add_argument("--count", type=int, default=1, help="number of phones; adb ports are two apart")
    parser.add_argument(
        "--benchmark", choices=tuple(PHONES), default="android_world",
        help="which benchmark's phone, with its apps and data (default: %(default)s)",
    )  # fmt: skip
    parser.set_defaults(run=serve)


def serve(port: int, grpc_port: int, width: int, height: int, count: int, benchmark: str = "android_world") -> None:
    """Serves phones until Ctrl-C, or until their consoles are told to kill them.

    Args:
        port: adb port of the first phone; its console is one below.
        grpc_port: gRPC port of the first phone.
        width: Width of the screens in pixels.
        height: Height of the screens in pixels.
        count: Number of phones.
        benchmark: A key of `PHONES`.
    """
    phone = PHONES[benchmark]
    try:
        with ExitStack() as stack:
            servers = [
                stack.enter_context(_opened(phone(width, height), port + 2 * index, grpc_port + index))
                for index in range(count)
            ]
            print("Press Ctrl-C to stop.", flush=True)
            while servers:
                time.sleep(POLL)
                for server in [server for server in servers if server.hardware.killed.is_set()]:
                    server.close()
                    servers.remove(server)
    except KeyboardInterrupt:
        print()


def _opened(phone: Phone, port: int, grpc_port: int) -> PhoneServer:
    """Starts a server and prints its ports. As for emulators, the console's is one below adb's."""
    server = PhoneServer(phone, port, port - 1, grpc_port, auth_token())
    try:
        server.start()
    except (OSError, RuntimeError) as error:
        sys.exit(f"Cannot open the ports {port}, {port - 1} and {grpc_port}: {error}. Choose --port and --grpc-port.")
    print(f"adb connect {server.address}    (console {server.console_port}, gRPC {server.grpc_port})", flush=True)
    return server
