"""An `emulator` for programs that start one themselves: it takes Google's options and serves an embedded phone.

    python -m benchmarks.conformance.programs.emulator -avd android_lab -ports 5554,5555 -grpc 8554

A virtual device whose name begins with `android_lab` is AndroidLab's phone, any other AndroidWorld's. Options that
choose how a real emulator looks, sounds or boots have no meaning here.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import time
from collections.abc import Sequence

import adbutils

from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.servers.console import auth_token
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import ANDROID_LAB, ANDROID_WORLD

SIZE = (1080, 2400)


def serve(arguments: Sequence[str] | None = None) -> None:
    """Serves a phone until its console or `adb reboot -p` ends it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-avd", required=True, help="name of the virtual device")
    parser.add_argument("-ports", default="5554,5555", help="those of the console and of adb")
    parser.add_argument("-grpc", type=int, default=8554, help="port of the gRPC services")
    given, _ = parser.parse_known_args(arguments)
    console, adb = map(int, given.ports.split(","))
    profile = ANDROID_LAB if given.avd.startswith("android_lab") else ANDROID_WORLD
    server = PhoneServer(PhoneDevice(*SIZE, profile).phone, adb, console, given.grpc, auth_token())
    server.hardware.name = given.avd
    with server:
        announce(adb)
        while not server.hardware.killed.is_set():
            time.sleep(0.2)


def announce(adb_port: int) -> None:
    """Tells adb's server of a new emulator, as emulators do when they start."""
    subprocess.run([adbutils.adb_path(), "start-server"], check=True, capture_output=True)
    client = adbutils.AdbClient()
    request = f"host:emulator:{adb_port}".encode()
    with socket.create_connection((client.host, client.port)) as connection:
        connection.sendall(b"%04x" % len(request) + request)


if __name__ == "__main__":
    serve()
