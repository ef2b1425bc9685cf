"""Many connections that say nothing, half of something, or one byte now and then: others are served all the same."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress

import grpc
import numpy as np
import pytest
from android_env.proto import emulator_controller_pb2 as pb
from android_env.proto import emulator_controller_pb2_grpc as services
from google.protobuf.empty_pb2 import Empty

from coach_gym.agents.generation.vllm import server as generation
from coach_gym.agents.generation.vllm import wire
from coach_gym.connections import Connections, shut
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone
from coach_gym.live.hands import Hands
from coach_gym.live.serving import listening
from coach_gym.live.serving import serving as live
from coach_gym.live.watching import Shown, watching
from tests.agents import tiny
from tests.agents.served import serving as generating
from tests.coach_gym.viewer.served import served as viewing
from tests.reliability.fuzz import LONG, http
from tests.reliability.test_grpc import PREFACE
from tests.reliability.test_ports import GREETING, SERVER, SIZE, heard, packet

NUMBER = 700 if LONG else 200
PATIENCE = 30.0  # seconds for an answer, on a machine that is busy with other tests

# What the many say: nothing; half a request; a whole one, whose answer they never read.
ADB = [b"", GREETING[:10], GREETING, GREETING + packet(b"OPEN", 1, 0, b"framebuffer:\0")]
HEAD = b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: 999\r\n\r\n{"
AUTOMATOR = [b"", HEAD[:9], HEAD, http("GET", "/ping")]
CONSOLE = [b"", b"avd na", b"help\n" * 2000]
GRPC = [b"", PREFACE[:9], PREFACE]


def pages(*paths):
    """What the many say to a page."""
    long = b"POST /api/act HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Coach-Gym: 1\r\nContent-Length: 99999\r\n\r\n{"
    return [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", long, *(http("GET", path) for path in paths)]


@contextmanager
def crowd(port, sayings):
    """Keeps many connections open, of which every second drips one more byte from time to time."""
    over, opened = threading.Event(), []
    try:
        for number in range(NUMBER):
            opened.append(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            opened[-1].setblocking(False)
            with suppress(OSError):
                opened[-1].send(sayings[number % len(sayings)])
        dripping = threading.Thread(target=_drip, args=(opened[::2], over))
        dripping.start()
        yield
        over.set()
        dripping.join()
    finally:
        for each in opened:
            each.close()


def _drip(opened, over):
    while not over.wait(0.1):
        for each in opened:
            with suppress(OSError):
                each.send(b"x")


def got(address):
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        return answer.status == 200


@pytest.fixture(scope="module")
def phone():
    with PhoneServer(world_phone(*SIZE)) as server:
        yield server


def test_adb(phone):
    with crowd(phone.adb_port, ADB):
        heard(phone.adb_port, GREETING + packet(b"OPEN", 1, 0, b"shell:echo hi\0"), b"hi\n")


def test_uiautomator2(phone):
    """Its clients share the connection of their adb server; each has a stream in it."""
    number, said = min(NUMBER, 200), b""
    for local in range(2, number):  # the phone counts alike
        said += packet(b"OPEN", local, 0, b"tcp:9008\0")
        said += packet(b"WRTE", local, local, AUTOMATOR[local % len(AUTOMATOR)])
    said += packet(b"OPEN", number, 0, b"tcp:9008\0") + packet(b"WRTE", number, number, http("POST", "/nowhere"))
    with socket.create_connection(("127.0.0.1", phone.adb_port), timeout=PATIENCE) as connection:
        connection.sendall(GREETING + SERVER)
        time.sleep(0.5)  # until it listens
        connection.sendall(said)
        told = b""
        while b"Not Found" not in told:
            told += connection.recv(65536)


def test_the_console(phone):
    with crowd(phone.console_port, CONSOLE):
        heard(phone.console_port, b"avd name\n", b"embedded_phone\r\nOK\r\n")


def test_grpc(phone):
    with ExitStack() as stack:
        address, credentials = f"127.0.0.1:{phone.grpc_port}", grpc.local_channel_credentials()
        for _ in range(NUMBER // 10):  # clients of the protocol that never read what they asked for
            idle = stack.enter_context(grpc.secure_channel(address, credentials))
            services.EmulatorControllerStub(idle).streamScreenshot(pb.ImageFormat())
        stack.enter_context(crowd(phone.grpc_port, GRPC))
        channel = stack.enter_context(grpc.secure_channel(address, credentials))
        assert services.EmulatorControllerStub(channel).getStatus(Empty(), timeout=PATIENCE).booted


def test_the_generation_server():
    half = http("POST", "/sample", b"{" * 5000, Content_Type=wire.CONTENT_TYPE)[:-1000]
    with generating(tiny.policy()) as (server, _), crowd(server.server_port, [b"", b"GET /sta", half]):
        request = urllib.request.Request(f"{server.url}/status", headers={"Content-Type": wire.CONTENT_TYPE})
        assert got(request)


def test_the_pages(tmp_path):
    hands = Hands(PhoneDevice(*SIZE), threading.RLock(), {"screen_size": SIZE}, tmp_path)
    with live(hands) as address:
        waiting = f"/screen?after={urllib.request.urlopen(f'{address}screen').headers['X-Screen']}"
        with crowd(int(address.rstrip("/").rpartition(":")[2]), pages("/screen", waiting)):
            assert got(f"{address}api/state")
    shown = [Shown(0, "Save \ud800", "Save", 1, "wait()", np.zeros((4, 2, 3), np.uint8))]
    with watching(lambda: shown) as address:
        waiting = f"/api/devices?after={json.load(urllib.request.urlopen(f'{address}api/devices'))['mark']}"
        with crowd(int(address.rstrip("/").rpartition(":")[2]), [http("GET", waiting)]):
            assert got(f"{address}screen/0")
    with viewing(tmp_path) as address, crowd(int(address.rstrip("/").rpartition(":")[2]), pages("/api/runs")):
        assert got(f"{address}api/runs")


def test_mcp(tmp_path):
    pytest.importorskip("mcp.server.mcpserver")
    from coach_gym.bridges.mcp_server import make_server

    hands = Hands(PhoneDevice(*SIZE), threading.RLock(), {"screen_size": SIZE}, tmp_path)
    app = make_server(hands).streamable_http_app()
    with listening(lambda _: app, 0) as address, crowd(int(address.rstrip("/").rpartition(":")[2]), pages("/mcp")):
        body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
        kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        with pytest.raises(urllib.error.HTTPError, match="400"):  # it wants another request first
            got(urllib.request.Request(f"{address}mcp", body, kinds))


def test_a_connection_that_waits_for_its_client_makes_room_and_one_that_is_served_does_not():
    pairs = [socket.socketpair() for _ in range(4)]
    (busy, _), (idle, peer), (new, _), (newest, _) = pairs
    room = Connections(2, shut)
    assert room.enter(busy) and room.enter(idle)
    room.note(busy, waits=False)
    assert room.enter(new) and peer.recv(1) == b""
    room.note(new, waits=False)
    assert not room.enter(newest)
    room.leave(busy)
    assert room.enter(newest)
    for pair in pairs:
        for each in pair:
            each.close()


@pytest.mark.parametrize("said", [b"GET /status HTTP/1.1\r\n", http("POST", "/sample", b"{" * 500)[:-499]])
def test_a_request_that_drips_is_given_up(monkeypatch, said):
    monkeypatch.setattr(generation, "STALL", 0.5)
    with generating(tiny.policy()) as (server, _), socket.create_connection(server.server_address) as drip:
        drip.sendall(said)
        drip.settimeout(0.1)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                drip.sendall(b"x")
                if not drip.recv(4096):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        assert time.monotonic() < until
