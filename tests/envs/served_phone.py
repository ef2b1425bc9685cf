"""An embedded phone on ports of this machine, and an adb server of its own to find it."""

import secrets
import socket
from contextlib import closing, contextmanager

from coach_gym.envs.devices.adb import start_server, stop_server
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone

SIZE = (270, 600)


def free_pair():
    """An even port and the next one, both free: an emulator's console and its adb.

    They lie below those that the system gives to outgoing connections, which might take them before they are used.
    """
    while True:
        port = 2 * secrets.choice(range(10_000, 16_000))
        with closing(socket.socket()) as console, closing(socket.socket()) as adb:
            try:
                console.bind(("127.0.0.1", port))
                adb.bind(("127.0.0.1", port + 1))
                return port
            except OSError:
                continue


def free_port():
    return free_pair()


@contextmanager
def adb_server():
    port = free_port()
    start_server(port)
    try:
        yield port
    finally:
        stop_server(port)


@contextmanager
def served_phone(token=""):
    port = free_pair()
    with PhoneServer(world_phone(*SIZE), port + 1, port, token=token) as server:
        yield server
