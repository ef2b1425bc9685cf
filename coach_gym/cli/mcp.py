"""`coach-gym mcp`: a phone for clients of the Model Context Protocol.

coach-gym mcp             # over standard input and output, as clients start their servers
coach-gym mcp --http 8073 # over HTTP, on this computer only
"""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path

from coach_gym.cli.phone import PHONES
from coach_gym.cli.refusals import path, refusing
from coach_gym.envs.devices.device import Device
from coach_gym.envs.devices.names import open_device
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.devices.reachable import require_reachable
from coach_gym.envs.errors import DeviceError
from coach_gym.files import require_folders

PORT = 8073
SIZE = (540, 1200)  # vision models shrink larger pictures, and coordinates would then be of another picture


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    parser.add_argument(
        "--http", type=int, nargs="?", const=PORT, metavar="PORT",
        help=f"serve HTTP on this port instead of standard input and output (default port: {PORT}; 0 for a free one)",
    )  # fmt: skip
    parser.add_argument(
        "--width", type=int, default=SIZE[0], help="width of the screen in pixels (default: %(default)s)"
    )
    parser.add_argument(
        "--height", type=int, default=SIZE[1], help="height of the screen in pixels (default: %(default)s)"
    )
    parser.add_argument(
        "--benchmark", choices=tuple(PHONES), default="android_world",
        help="which benchmark's phone to show before a task is chosen (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--device", metavar="SERIAL", help="a device as adb lists it, instead of the embedded phone")
    parser.add_argument(
        "--out", type=path, default=Path("runs/mcp"), help="folder for finished episodes (default: %(default)s)"
    )
    parser.set_defaults(run=serve)


def serve(http: int | None, width: int, height: int, benchmark: str, device: str | None, out: Path) -> None:
    """Serves a phone until the client leaves, or until Ctrl-C.

    Args:
        http: Port on the loopback interface; None for standard input and output.
        width: Width of the embedded phone's screen in pixels.
        height: Height of the embedded phone's screen in pixels.
        benchmark: A key of `PHONES`.
        device: A device to serve instead of the embedded phone.
        out: Folder for the episodes that clients finish.
    """
    try:
        from coach_gym.bridges.mcp_server import make_server
    except ModuleNotFoundError as missing:
        sys.exit(f"coach-gym mcp needs {missing.name}: pip install 'coach-gym[mcp]'")
    from coach_gym.live.hands import Hands

    with refusing():
        require_folders(out=out)
    phone, settings = _opened(device, width, height, benchmark)
    hands = Hands(phone, threading.RLock(), settings, out, player="mcp")
    server = make_server(hands)
    try:
        if http is None:
            server.run("stdio")
        else:
            from coach_gym.loopback import serve as serve_http

            serve_http(server.streamable_http_app(), http, "--http PORT", "/mcp")
    except KeyboardInterrupt:
        pass
    finally:
        hands.leave()
        phone.close()


def _opened(device: str | None, width: int, height: int, benchmark: str) -> tuple[Device, dict[str, object]]:
    """Opens the phone. Returns it and the arguments of the environments that tasks are played on."""
    if device is None:
        with refusing():
            return PhoneDevice(width, height, PHONES[benchmark]), {"screen_size": (width, height)}
    try:
        require_reachable(device)
        opened = open_device(device)
    except (DeviceError, ValueError) as error:
        sys.exit(f"Cannot open {device}: {error}")
    return opened, {"screen_size": opened.size, "device": device}
