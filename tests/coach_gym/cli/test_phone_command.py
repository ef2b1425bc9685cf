"""`coach-gym phone` as a user runs it."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial
from urllib.request import Request, urlopen

import numpy as np
import pytest
from PIL import Image

from tests.envs import served_phone
from tests.envs.adb_server import adb_server
from tests.envs.ports import free_pair, free_port


@pytest.fixture
def command(tmp_path):
    """Starts the command with some arguments and returns its process."""
    processes = []

    def start(*args):
        line = [sys.executable, "-m", "coach_gym", "phone", "--width", "270", "--height", "600", *args]
        environment = {**os.environ, "HOME": str(tmp_path)}
        process = subprocess.Popen(
            line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # shell jobs ignore SIGINT
        )  # fmt: skip
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_phones_are_served_until_ctrl_c(command, tmp_path):
    _, port = free_pair()
    process = command("--port", str(port), "--grpc-port", str(free_port()), "--count", "2")
    lines = [process.stdout.readline() for _ in range(3)]
    assert lines[0].startswith(f"adb connect 127.0.0.1:{port} ") and f"127.0.0.1:{port + 2} " in lines[1]
    with adb_server(tmp_path) as adb:
        for each in (port, port + 2):
            adb.run("connect", f"127.0.0.1:{each}")
            assert adb.run("-s", f"127.0.0.1:{each}", "shell", "wm", "size") == "Physical size: 270x600\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 0


def test_a_taken_port_is_told(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = command("--port", str(port), "--grpc-port", str(free_port()))
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 1 and f"Cannot open the ports {port}" in errors and "--port" in errors


def test_a_phone_that_is_killed_goes_and_the_last_one_ends_it(command, tmp_path):
    console, port = free_pair()
    process = command("--port", str(port), "--grpc-port", str(free_port()), "--count", "2")
    for _ in range(3):
        process.stdout.readline()
    token = (tmp_path / ".emulator_console_auth_token").read_text()
    for number in range(2):
        with socket.create_connection(("127.0.0.1", console + 2 * number), timeout=120) as connection:
            connection.sendall(f"auth {token}\nkill\n".encode())
            while connection.recv(4096):
                pass
        if not number:
            deadline = time.monotonic() + 120
            while _listens(console) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert not _listens(console) and _listens(console + 2)
    assert process.wait(timeout=120) == 0


def _listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_the_page_shows_and_works_a_device_behind_adb(command, monkeypatch):
    with served_phone.adb_server() as adb, served_phone.served_phone() as server:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(adb))
        process = command("--web", "0", "--device", server.address)
        address = process.stdout.readline().split()[0]
        with urlopen(f"{address}screen", timeout=60) as answer:
            screen = np.asarray(Image.open(io.BytesIO(answer.read())))
        assert screen.shape == (600, 270, 3) and screen.std() > 10
        action = json.dumps({"kind": "open_app", "content": "Contacts"}).encode()
        with urlopen(Request(f"{address}api/act", action, {"X-Coach-Gym": "1"}), timeout=60) as answer:
            assert json.load(answer)["error"] == ""
        assert server.phone.foreground == "com.google.android.contacts"
