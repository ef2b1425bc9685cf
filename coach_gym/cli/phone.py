"""`coach-gym phone`: serves embedded phones on local ports, for adb and everything else that talks to emulators.

coach-gym phone --web                        # and shows the first one in the browser
coach-gym phone --web --device emulator-5554 # shows a device that adb reaches instead
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from coach_gym.checks import LARGEST_PORT, require_at_most, require_port, require_whole
from coach_gym.cli.refusals import path, refusing
from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.names import open_device
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.devices.reachable import require_reachable
from coach_gym.envs.errors import DeviceError
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.console import auth_token
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import ANDROID_LAB, ANDROID_WORLD
from coach_gym.files import require_folders

ADB_PORT, GRPC_PORT = 5555, 8554  # those of the first emulator on a machine
WEB_PORT = 8071
PHONES = {"android_world": ANDROID_WORLD, "android_lab": ANDROID_LAB}
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
    parser.add_argument(
        "--web", type=int, nargs="?", const=WEB_PORT, metavar="PORT",
        help=f"show the first phone in the browser, to touch and to solve tasks on (default port: {WEB_PORT})",
    )  # fmt: skip
    parser.add_argument("--device", metavar="SERIAL", help="with --web: show this device instead, as adb lists it")
    parser.add_argument(
        "--out", type=path, default=Path("runs/person"), help="with --web: folder for your episodes"
    )
    parser.set_defaults(run=serve)


def serve(
    port: int, grpc_port: int, width: int, height: int, count: int, benchmark: str, web: int | None,
    device: str | None, out: Path,
) -> None:  # fmt: skip
    """Serves phones until Ctrl-C, or until their consoles are told to kill them.

    Args:
        port: adb port of the first phone; its console is one below.
        grpc_port: gRPC port of the first phone.
        width: Width of the screens in pixels.
        height: Height of the screens in pixels.
        count: Number of phones.
        benchmark: A key of `PHONES`.
        web: Port of the page that shows the first phone; None for no page.
        device: A device to show instead of serving phones.
        out: Folder for the episodes that a person plays on the page.
    """
    with refusing():
        require_whole(1, count=count, width=width, height=height)
        require_port(adb_port=port, grpc_port=grpc_port)
        require_at_most(1 + min((LARGEST_PORT - port) // 2, LARGEST_PORT - grpc_port), count=count)
        if web is not None:
            require_folders(out=out)
    try:
        with ExitStack() as stack:
            if device is not None:
                _show_device(stack, device, web, out)
            with refusing():
                phones = [PhoneDevice(width, height, PHONES[benchmark]) for _ in range(count)]
            servers = [
                stack.enter_context(_opened(each.phone, port + 2 * index, grpc_port + index))
                for index, each in enumerate(phones)
            ]
            if web is not None:
                _show(stack, phones[0], servers[0].lock, {"screen_size": (width, height)}, web, out)
            print("Press Ctrl-C to stop.", flush=True)
            while servers:
                time.sleep(POLL)
                for server in [server for server in servers if server.hardware.killed.is_set()]:
                    server.close()
                    servers.remove(server)
    except KeyboardInterrupt:
        print()


def _show_device(stack: ExitStack, name: str, web: int | None, out: Path) -> None:
    """Shows a device until Ctrl-C."""
    if web is None:
        sys.exit("--device is for the page: pass --web, too")
    try:
        require_reachable(name)
        device = open_device(name)
    except (DeviceError, ValueError) as error:
        sys.exit(f"Cannot open {name}: {error}")
    stack.callback(device.close)
    _show(stack, device, threading.RLock(), {"screen_size": device.size, "device": name}, web, out)
    print("Press Ctrl-C to stop.", flush=True)
    threading.Event().wait()


def _show(
    stack: ExitStack, device: Device, lock: AbstractContextManager[Any], env_settings: dict[str, Any], port: int,
    out: Path,
) -> None:  # fmt: skip
    """Opens the page of a device, and prints its address."""
    try:
        from coach_gym.live.hands import Hands
        from coach_gym.live.serving import serving
    except ModuleNotFoundError as missing:
        sys.exit(f"coach-gym phone --web needs {missing.name}: pip install 'coach-gym[view]'")
    try:
        address = stack.enter_context(serving(Hands(device, lock, env_settings, out), port))
    except OSError as error:
        sys.exit(f"Cannot open the port {port}: {error}. Choose another: --web PORT.")
    print(f"{address}    (your episodes: {out})", flush=True)


def _opened(phone: Phone, port: int, grpc_port: int) -> PhoneServer:
    """Starts a server and prints its ports. As for emulators, the console's is one below adb's."""
    with refusing():
        server = PhoneServer(phone, port, port - 1, grpc_port, auth_token())
    try:
        server.start()
    except (OSError, RuntimeError) as error:
        sys.exit(f"Cannot open the ports {port}, {port - 1} and {grpc_port}: {error}. Choose --port and --grpc-port.")
    print(f"adb connect {server.address}    (console {server.console_port}, gRPC {server.grpc_port})", flush=True)
    return server
