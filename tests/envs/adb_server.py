"""A private adb server for tests with real clients, which knows no device but those they give it."""

import os
import random
import socket
import subprocess
from contextlib import ExitStack, contextmanager

import adbutils


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


def free_port():
    """An even port that is free as the three after it are, and that no outgoing connection is given."""
    while True:
        port = random.randrange(20_000, 32_000, 4)
        with ExitStack() as probes:
            try:
                for each in range(port, port + 4):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", each))
                return port
            except OSError:
                continue


def free_pair():
    """Console and adb port of an emulator: an even one and the next."""
    port = free_port()
    return port, port + 1


@contextmanager
def adb_server(home):
    """Runs one."""
    server = AdbServer(free_port(), home)
    server.run("start-server")
    try:
        yield server
    finally:
        server.run("kill-server", check=False)
