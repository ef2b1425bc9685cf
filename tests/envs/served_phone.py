"""An embedded phone on ports of this machine, and an adb server of its own to find it."""

from contextlib import contextmanager

from coach_gym.envs.devices.adb import start_server, stop_server
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone
from tests.envs.ports import free_port

SIZE = (270, 600)


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
    port = free_port()
    with PhoneServer(world_phone(*SIZE), port + 1, port, token=token) as server:
        yield server
