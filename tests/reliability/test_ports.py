"""Thousands of wrong messages on every port: no crash, no hang, no thread or memory that stays."""

import json
import random
import socket
import struct
import threading
import urllib.request
from contextlib import contextmanager
from dataclasses import asdict

import pytest

from coach_gym.agents.generation.vllm import wire
from coach_gym.agents.generation.vllm.client import ServedGenerator
from coach_gym.agents.generation.vllm.protocol import Sampling
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.phone.servers.uiautomator.automator import UiAutomator
from coach_gym.envs.profiles import world_phone
from coach_gym.live.hands import Hands
from coach_gym.live.serving import listening
from coach_gym.live.serving import serving as live
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore
from tests.agents import tiny
from tests.agents.served import serving as generating
from tests.coach_gym.recording.made import episode
from tests.coach_gym.viewer.served import served as viewing
from tests.reliability.fuzz import NUMBER, as_json, attack, complaints, http, mutated, spoiled, value

SIZE = (90, 200)
MEGABYTES = 40.0  # of growth that the interpreter may keep for itself
SERVICES = [
    b"shell:ls -l /sdcard", b"shell,v2,raw:echo hi; exit 3", b"shell,v2,raw:dumpsys window | grep -e Focus", b"shell:",
    b"exec:cat /proc/version", b"sync:", b"framebuffer:", b"tcp:9008", b"reverse:list-forward", b"root:", b"reboot:",
    b"reverse:forward:tcp:1;tcp:2", b"shell:input tap 3 4", b"shell:logcat", b"shell:settings list global", b"jdwp:1",
]  # fmt: skip
FILES = [
    b"STAT\x07\0\0\0/sdcard", b"LIST\x07\0\0\0/sdcard", b"RECV\x09\0\0\0/sdcard/a", b"SEND\x0c\0\0\0/sdcard/a,33",
    b"DATA\x03\0\0\0abc", b"DONE\0\0\0\0", b"STA2\x07\0\0\0/sdcard", b"SND2\x09\0\0\0/sdcard/b", b"QUIT\0\0\0\0",
]  # fmt: skip


def packet(name: bytes, first: int, second: int, payload: bytes = b"") -> bytes:
    command = int.from_bytes(name, "little")
    return struct.pack("<6I", command, first, second, len(payload), 0, command ^ 0xFFFFFFFF) + payload


GREETING = packet(b"CNXN", 0x01000001, 4096, b"host::\0")
SERVER = packet(b"OPEN", 1, 0, b"shell,v2,raw:CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main\0")


def conversation(rng: random.Random) -> bytes:
    """Returns some packets of adb, most of them well-formed, with services and data that need not be."""
    packets = [GREETING]
    for local in range(1, rng.randint(2, 5)):
        service = rng.choice(SERVICES)
        packets.append(packet(b"OPEN", local, 0, (service if rng.random() < 0.5 else mutated(service, rng)) + b"\0"))
        data = rng.choice(FILES)
        data = data if rng.random() < 0.5 else mutated(data, rng)
        packets.append(packet(rng.choice((b"WRTE", b"OKAY", b"CLSE")), local, rng.choice((local, 1, 2**32 - 1)), data))
    whole = b"".join(packets)
    return mutated(whole, rng) if rng.random() < 0.3 else whole


def heard(port: int, sent: bytes, expected: bytes) -> None:
    """Listens until it has heard what is expected."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(sent)
        told = b""
        while expected not in told:
            data = connection.recv(65536)
            assert data, f"{told!r:.500} ended before {expected!r}"
            told += data


@contextmanager
def unharmed(capfd, *loggers):
    """Nobody has complained, and no thread has died."""
    with complaints(*loggers) as found:
        yield
    assert not found, found[0]
    told = capfd.readouterr().err
    assert "Traceback" not in told, told[:8000]


def test_adb(capfd):
    with unharmed(capfd), PhoneServer(world_phone(*SIZE)) as server:
        threads, megabytes = attack(server.adb_port, conversation, NUMBER, 1)
        heard(server.adb_port, GREETING + packet(b"OPEN", 1, 0, b"shell:echo hi\0"), b"hi\n")
    assert threads <= 0 and megabytes < MEGABYTES, (threads, megabytes)


def test_uiautomator2(capfd):
    phone = world_phone(*SIZE)
    methods = sorted(UiAutomator(phone, threading.RLock()).methods)
    selector = {"mask": 1, "text": "Phone", "childOrSibling": [], "childOrSiblingSelector": [], "className": "a.b"}

    def call(rng):
        parameters = [selector if rng.random() < 0.4 else value(rng) for _ in range(rng.randrange(4))]
        message = {"jsonrpc": "2.0", "id": 1, "method": rng.choice(methods), "params": spoiled(parameters, rng)}
        body = as_json(message if rng.random() < 0.7 else spoiled(message, rng))
        request = http("POST", "/jsonrpc/0", body if rng.random() < 0.8 else mutated(body, rng))
        request = mutated(request, rng) if rng.random() < 0.2 else request
        data = b"".join(packet(b"WRTE", 1, 1, request[at : at + 4096]) for at in range(0, len(request), 4096))
        return GREETING + packet(b"OPEN", 1, 0, b"tcp:9008\0") + data

    ping = packet(b"WRTE", 1, 1, http("GET", "/ping"))
    with unharmed(capfd), PhoneServer(phone) as server, socket.create_connection(("127.0.0.1", server.adb_port)) as run:
        run.sendall(GREETING + SERVER)
        threads, megabytes = attack(server.adb_port, call, NUMBER, 2)
        heard(server.adb_port, GREETING + packet(b"OPEN", 1, 0, b"tcp:9008\0") + ping, b"pong")
    assert threads <= 0 and megabytes < MEGABYTES, (threads, megabytes)


def test_the_consoles_lines(capfd):
    lines = [b"avd name", b"sms send 123 hello", b"geo fix 1 2", b"power capacity 50", b"gsm call 12", b"help", b"quit"]

    def talk(rng):
        said = b"".join(mutated(rng.choice(lines), rng) + b"\r\n" for _ in range(rng.randint(1, 6)))
        return said.replace(b"kill", b"")  # that command ends the emulator, as it should

    with unharmed(capfd), PhoneServer(world_phone(*SIZE)) as server:
        threads, megabytes = attack(server.console_port, talk, NUMBER, 3)
        heard(server.console_port, b"avd name\n", b"embedded_phone\r\nOK\r\n")
    assert threads <= 0 and megabytes < MEGABYTES, (threads, megabytes)


def test_the_generation_server(capfd):
    policy = tiny.policy()
    sampling = asdict(Sampling(1, 1.0, 2, policy.eos, []))
    head = {"prompts": [{"tokens": [1, 2, 3], "images": []}], "grids": {}, "version": "", "sampling": sampling}
    shapes = {name: list(weight.shape) for name, weight in policy.model.named_parameters()}
    weights = {"shapes": shapes, "version": "1"}
    kind = {"Content_Type": wire.CONTENT_TYPE}

    def request(rng):
        path, told = rng.choice([
            ("/sample", head), ("/sample", head), ("/weights/begin", weights), ("/weights/piece", {}), ("/sleep", {}),
            ("/weights/finish", {}), ("/status", {}),
        ])  # fmt: skip
        body = as_json(spoiled(told, rng) if rng.random() < 0.7 else told) + b"\n" + wire.save({})
        body = mutated(body, rng) if rng.random() < 0.3 else body
        whole = http(rng.choice(("POST", "POST", "GET")), path, body, **kind)
        return mutated(whole, rng) if rng.random() < 0.2 else whole

    with unharmed(capfd), generating(policy) as (server, _):
        prompt = policy.prompt("Save", [], tiny.episode(policy).steps[0].observation)
        generator = ServedGenerator(policy, server.url, 60.0)
        head["version"] = generator.sample([prompt], max_new_tokens=2) and generator.version
        threads, megabytes = attack(server.server_port, request, NUMBER, 4)
        assert len(generator.sample([prompt], k=2, max_new_tokens=2)[0]) == 2
    assert threads <= 0 and megabytes < MEGABYTES, (threads, megabytes)


def page(commands, reads):
    """Returns what makes requests of a page: reads with wrong arguments, commands with wrong JSON."""

    def request(rng):
        if rng.random() < 0.5:
            target = rng.choice(reads)
            target = mutated(target.encode(), rng).decode("latin-1") if rng.random() < 0.7 else target
            whole = http("GET", "".join(each for each in target if each.isprintable() and each != " "))
        else:
            path, asked = rng.choice(commands)
            body = as_json(spoiled(asked, rng) if rng.random() < 0.7 else asked)
            body = mutated(body, rng) if rng.random() < 0.3 else body
            whole = http("POST", path, body, X_Coach_Gym="1", Content_Type="application/json")
        return mutated(whole, rng) if rng.random() < 0.2 else whole

    return request


def read(address):
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read()


WORKERS = 45  # threads that the pages' framework keeps for reuse, at most


def test_the_live_page(capfd, tmp_path):
    commands = [
        ("/api/act", {"kind": "click", "start": [3, 4]}), ("/api/act", {"kind": "type", "content": "hello"}),
        ("/api/act", {"kind": "scroll", "start": [30, 40], "direction": "up"}), ("/api/press", {"key": "power"}),
        ("/api/task", {"id": "AndroidWorld/SystemBrightnessMax-v0", "seed": 1}), ("/api/reset", {}), ("/api/leave", {}),
    ]  # fmt: skip
    reads = ["/", "/api/state", "/api/tasks", "/api/elements", "/screen", "/screen?after=00000000", "/live/live.js"]
    hands = Hands(PhoneDevice(*SIZE), threading.RLock(), {"screen_size": SIZE}, tmp_path)
    with unharmed(capfd, "uvicorn.error"), live(hands) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        threads, megabytes = attack(port, page(commands, reads), NUMBER, 5)
        assert json.loads(read(f"{address}api/state"))["device"] == "embedded phone"
    assert threads <= WORKERS and megabytes < MEGABYTES, (threads, megabytes)


def test_the_viewer(capfd, tmp_path):
    EpisodeStore(tmp_path / "run").write(episode(), Origin())
    with unharmed(capfd, "uvicorn.error"), viewing(tmp_path) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        id = json.loads(read(f"{address}api/episodes?run=run"))[0]["id"]
        reads = [
            "/", "/api/runs", "/api/curves?run=run", "/api/episodes?run=run", f"/api/episode?run=run&id={id}",
            "/screen?run=run&name=0", "/static/viewer.js",
        ]  # fmt: skip
        commands = [("/api/what-if", {"run": "run", "id": id, "step": 0, "candidate": 0})]
        threads, megabytes = attack(port, page(commands, reads), NUMBER, 6)
        assert json.loads(read(f"{address}api/runs"))
    assert threads <= WORKERS and megabytes < MEGABYTES, (threads, megabytes)


def test_mcp(capfd, tmp_path):
    pytest.importorskip("mcp.server.mcpserver")
    from coach_gym.bridges.mcp_server import make_server

    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    calls = [
        ("initialize", about), ("tools/list", {}), ("resources/read", {"uri": "phone://screen"}), ("ping", {}),
        ("tools/call", {"name": "touch", "arguments": {"x": 3, "y": 4}}),
        ("tools/call", {"name": "type_text", "arguments": {"text": "hello"}}),
        ("tools/call", {"name": "choose_task", "arguments": {"family": "ContactsAddContact", "seed": 1}}),
        ("tools/call", {"name": "finish_task", "arguments": {"answer": "4"}}),
    ]  # fmt: skip
    head = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream"}

    def request(rng):
        method, parameters = rng.choice(calls)
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        body = as_json(spoiled(message, rng) if rng.random() < 0.7 else message)
        body = mutated(body, rng) if rng.random() < 0.2 else body
        known = {"Mcp_Session_Id": session} if rng.random() < 0.9 and method != "initialize" else {}
        whole = http("POST", "/mcp", body, **head, **known)
        return mutated(whole, rng) if rng.random() < 0.2 else whole

    hands = Hands(PhoneDevice(*SIZE), threading.RLock(), {"screen_size": SIZE}, tmp_path)
    app = make_server(hands).streamable_http_app()
    with unharmed(capfd, "uvicorn.error"), listening(lambda _: app, 0) as address:
        start = as_json({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about})
        kinds = {name.replace("_", "-"): kind for name, kind in head.items()}
        with urllib.request.urlopen(urllib.request.Request(f"{address}mcp", start, kinds), timeout=60) as answer:
            session = answer.headers["Mcp-Session-Id"]
        threads, megabytes = attack(int(address.rstrip("/").rpartition(":")[2]), request, NUMBER, 9)
        look = as_json({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "look", "arguments": {}}})
        asked = urllib.request.Request(f"{address}mcp", look, {**kinds, "Mcp-Session-Id": session})
        assert b"image/png" in read(asked)
    assert threads <= WORKERS and megabytes < MEGABYTES, (threads, megabytes)
