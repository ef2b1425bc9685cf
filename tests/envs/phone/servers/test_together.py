"""All ports of a served phone: bytes that nobody should send, and many phones at once."""

import random
import socket
import struct
import threading
import time
from contextlib import suppress

import grpc
import pytest
from android_env.proto import emulator_controller_pb2_grpc as services
from google.protobuf.empty_pb2 import Empty

from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone
from tests.envs.ports import free_pair

CNXN = struct.pack("<6I", 0x4E584E43, 0x01000000, 4096, 7, 0, 0x4E584E43 ^ 0xFFFFFFFF) + b"host::\0"
OPEN = struct.pack("<6I", 0x4E45504F, 1, 0, 14, 0, 0x4E45504F ^ 0xFFFFFFFF) + b"shell:echo hi\0"
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
CONSOLE = b"avd name\r\nsms send 123 hello\r\nquit\r\n"


@pytest.fixture(scope="module")
def served():
    with PhoneServer(world_phone(90, 200)) as server:
        yield server


def ports(server):
    return server.adb_port, server.console_port, server.grpc_port


def talk(port, sent, wait=0.05):
    """Sends, listens a moment and breaks off."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        try:
            connection.sendall(sent)
            connection.settimeout(wait)
            return connection.recv(65536)
        except OSError:
            return b""


def answer(port, sent, expected):
    """Sends, and listens until it has heard what is expected."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent)
        heard = b""
        while expected not in heard:
            data = connection.recv(65536)
            assert data, f"{heard!r} ended before {expected!r}"
            heard += data


def check(server):
    """Every service still does its work."""
    answer(server.adb_port, CNXN + OPEN, b"hi\n")
    answer(server.console_port, b"avd name\n", b"embedded_phone\r\nOK\r\n")
    with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel:
        assert services.EmulatorControllerStub(channel).getStatus(Empty(), timeout=60).booted


def test_the_services_answer(served):
    check(served)


@pytest.mark.parametrize("number", range(3))
def test_any_bytes_on_any_port_do_no_harm(served, number):
    dice = random.Random(number)
    for port in ports(served):
        for _ in range(10):
            talk(port, dice.randbytes(dice.choice((1, 23, 24, 25, 4000, 70_000))), 0.01)
    check(served)


def test_conversations_broken_off_or_changed_anywhere_do_no_harm(served):
    dice = random.Random(7)
    for port, whole in zip(ports(served), (CNXN + OPEN, CONSOLE, HTTP2), strict=True):
        for _ in range(25):
            cut = dice.randrange(len(whole))
            talk(port, whole[:cut], 0.01)
            flipped = bytearray(whole)
            flipped[cut] ^= 1 << dice.randrange(8)
            talk(port, bytes(flipped), 0.01)
    check(served)


def test_connections_that_say_nothing_do_not_keep_others_out(served):
    silent = [socket.create_connection(("127.0.0.1", port)) for port in ports(served) for _ in range(20)]
    check(served)
    for connection in silent:
        connection.close()


def test_only_the_loopback_interface_is_served(served):
    for port in ports(served):
        with socket.socket() as other:
            other.bind(("127.0.0.2", port))  # free: nobody listens on all interfaces


def test_closing_ends_connections_threads_and_gives_the_ports_back():
    before = threading.active_count()
    console_port, adb_port = free_pair()
    for _ in range(2):
        with PhoneServer(world_phone(90, 200), adb_port, console_port) as server:
            check(server)
            open_connection = socket.create_connection(("127.0.0.1", server.console_port))
            open_connection.settimeout(20)
        with suppress(ConnectionResetError):  # an end too, of a connection whose greeting nobody had read yet
            while open_connection.recv(4096):
                pass
        open_connection.close()
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= before


def test_a_port_that_is_taken_is_said_so(served):
    with pytest.raises((OSError, RuntimeError)):
        PhoneServer(world_phone(90, 200), adb_port=served.adb_port).start()
    check(served)


def test_eight_phones_keep_apart():
    servers = [PhoneServer(world_phone(90, 200)).start() for _ in range(8)]
    for number, server in enumerate(servers):
        answer(server.console_port, f"sms send {number} hello {number}\nping\n".encode(), b"I am alive!")
    for number, server in enumerate(servers):
        check(server)
        server.close()
        assert [entry.text for entry in server.phone.notifications] == [f"hello {number}"]
