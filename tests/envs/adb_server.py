"""A private adb server for tests with real clients, which knows no device but those they give it."""

import os
import socket
import subprocess
from contextlib import contextmanager

import adbutils

from tests.envs.ports import free_port


class AdbServer:
    """An adb server on a port of its own, with a home folder of its own."""

    def __init__(self, port, home):
        self.port = port
        self.environment = {**os.environ, "HOME": str(home), "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554"}
        self.client = adbutils.AdbClient(port=port)

    def run(self, *args, check=True):
        """Output of an adb command."""
        command = [adbutils.adb_path(), "-P", str(self.port), *args]
        done = subprocess.run(command, env=self.environment, capture_output=True, timeout=180, check=check)
        return done.stdout.decode()

    def connect(self, server):
        """The served phone as adbutils' device."""
        self.run("connect", server.address)
        return self.client.device(server.address)

    def announce(self, server):
        """Tells of an emulator, as an emulator does when it starts. Returns its serial."""
        request = f"host:emulator:{server.adb_port}".encode()
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"%04x" % len(request) + request)
        serial = f"emulator-{server.console_port}"
        self.run("-s", serial, "wait-for-device")
        return serial


@contextmanager
def adb_server(home):
    """Runs one."""
    server = AdbServer(free_port(), home)
    server.run("start-server")
    try:
        yield server
    finally:
        server.run("kill-server", check=False)
