"""adbd and the phone's ports: the real adb, wrong bytes, cut connections, several phones at once."""

import io
import os
import random
import socket
import struct
import subprocess
import threading
import time
from contextlib import suppress

import adbutils
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from coach_gym.envs.phone.media import mp4
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone
from tests.envs.adb_server import adb_server

APK = os.path.join(os.path.dirname(__import__("uiautomator2").__file__), "assets", "app-uiautomator.apk")
HOSTILE = ["'; reboot; '", "😀\u200d🔥 \u00a0 ünï", "$(reboot) `reboot` && reboot", 'a"b\\c', "line\nline", "*", "-n"]


@pytest.fixture(scope="module")
def adb(tmp_path_factory):
    with adb_server(tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="module")
def server():
    with PhoneServer(world_phone(270, 600)) as server:
        yield server


@pytest.fixture(scope="module")
def device(adb, server):
    return adb.connect(server)


@pytest.fixture
def command(adb, server, device):
    """Runs the adb binary on the phone. Returns what it printed, what it complained of, and its exit code."""

    def run(*args, stdin=b""):
        line = [adbutils.adb_path(), "-P", str(adb.port), "-s", server.address, *args]
        done = subprocess.run(line, env=adb.environment, input=stdin, capture_output=True, timeout=60)
        return done.stdout, done.stderr, done.returncode

    return run


# the real adb


def test_adb_lists_the_phone(adb, server, device):
    assert f"{server.address}" in adb.run("devices", "-l") and "model:Pixel_6" in adb.run("devices", "-l")
    assert adb.run("-s", server.address, "get-state").strip() == "device"
    assert adb.run("-s", server.address, "root") == "adbd is already running as root\n"


def test_shells_tell_output_errors_and_codes_apart(command):
    assert command("shell", "echo out; echo err >&2; exit 7") == (b"out\n", b"err\n", 7)
    assert command("shell", "nothing_like_it")[1:] == (
        b"/system/bin/sh: nothing_like_it: inaccessible or not found\n", 127,
    )  # fmt: skip
    assert command("exec-out", "echo out; echo err >&2")[0] == b"out\nerr\n"
    assert command("shell", "-x", "echo x; echo y >&2")[0] == b"x\ny\n"  # without shell_v2


def test_commands_read_standard_input(command):
    data = os.urandom(300_000)
    assert command("shell", "md5sum", stdin=data)[0].split()[0] == subprocess.run(
        ["md5sum"], input=data, capture_output=True
    ).stdout.split()[0]
    assert command("shell", "cat > /sdcard/in; wc -c < /sdcard/in", stdin=b"x" * 5)[0] == b"5\n"


def test_scripts_run_line_by_line_in_an_open_shell(command):
    script = b"cd /sdcard\nx=5\nfor i in 1 2\ndo\necho $x$i\ndone\npwd; cd nowhere\nexit 4\necho never\n"
    output, _, code = command("shell", stdin=script)
    assert output == b"51\n52\n/sdcard\n/system/bin/sh: cd: nowhere: No such file or directory\n" and code == 4


def test_a_terminal_prompts_echoes_and_edits(device):
    connection = device.open_transport()
    connection.send_command("shell,v2,TERM=xterm,pty:")
    connection.check_okay()
    sock = connection.conn
    sock.sendall(struct.pack("<BI", 0, 12) + b"\x1b[Aecho ax\x7fb")
    sock.sendall(struct.pack("<BI", 0, 1) + b"\r" + struct.pack("<BI", 0, 5) + b"exit\r")
    seen = b""
    while data := sock.recv(4096):
        seen += data
    text = seen.replace(b"\0", b"")
    assert b"emu64x:/ # " in text and b"\x08 \x08" in text and b"ab\r\n" in text
    assert seen.endswith(struct.pack("<BI", 3, 1) + b"\0")


@pytest.mark.parametrize("size", [0, 1, 65_536, 5_000_000])
def test_files_go_there_and_back_unchanged(command, server, tmp_path, size):
    data = random.Random(size).randbytes(size)
    (tmp_path / "there").write_bytes(data)
    assert command("push", str(tmp_path / "there"), "/sdcard/Download/a file")[2] == 0
    assert server.phone.storage.read("/storage/emulated/0/Download/a file") == data
    assert command("pull", "/sdcard/Download/a file", str(tmp_path / "back"))[2] == 0
    assert (tmp_path / "back").read_bytes() == data
    modified = int((tmp_path / "there").stat().st_mtime)
    assert int(command("shell", "stat -c %Y '/sdcard/Download/a file'")[0]) == modified


def test_folders_go_there_and_back(command, tmp_path):
    folder = tmp_path / "tree"
    for name in ("a", "b/c", "b/d e/f", "b/ümläut"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    assert command("push", str(folder), "/data/local/tmp/")[2] == 0
    assert command("pull", "/data/local/tmp/tree", str(tmp_path / "again"))[2] == 0
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    again = tmp_path / "again"
    assert sorted(str(path.relative_to(again)) for path in again.rglob("*") if path.is_file()) == names
    assert all((again / name).read_text() == name for name in names)


def test_pushing_into_a_folder_keeps_the_name(command, tmp_path):
    (tmp_path / "name.txt").write_text("x")
    for target in ("/sdcard", "/sdcard/", "/sdcard/Pictures"):
        assert command("push", str(tmp_path / "name.txt"), target)[2] == 0
    assert command("shell", "ls /sdcard/name.txt /sdcard/Pictures/name.txt")[2] == 0
    assert command("push", str(tmp_path / "name.txt"), "/sdcard/name.txt/below")[2] != 0
    assert command("pull", "/sdcard/none", str(tmp_path))[2] != 0
    assert not (tmp_path / "none").exists()


def test_files_are_listed_and_described(device, command):
    command("shell", "mkdir -p /sdcard/listed/folder; echo 12345 > /sdcard/listed/file")
    files = {file.path: file for file in device.sync.list("/sdcard/listed")}
    assert files["file"].size == 6 and files["file"].mode & 0o170000 == 0o100000
    assert files["folder"].mode & 0o170000 == 0o040000
    assert device.sync.stat("/sdcard/listed/file").size == 6 and device.sync.stat("/sdcard/listed/none").mode == 0
    assert device.sync.stat("/sdcard").mode & 0o170000 == 0o120000  # a link
    assert device.sync.exists("/sdcard/listed/folder")
    assert b"listed" in command("ls", "/sdcard")[0]


def test_the_screen_comes_as_a_picture(command, server):
    picture = Image.open(io.BytesIO(command("exec-out", "screencap", "-p")[0]))
    assert (np.asarray(picture.convert("RGB")) == server.phone.screenshot()).all()


def test_packages_are_installed_and_removed(command):
    assert command("install", "-r", "-t", "-g", APK)[2] == 0
    assert b"package:com.github.uiautomator\n" in command("shell", "pm list packages")[0]
    assert b"com.github.uiautomator/.AdbKeyboard" in command("shell", "ime list -s -a")[0]
    assert b"versionName=2" in command("shell", "dumpsys package com.github.uiautomator")[0]
    assert command("uninstall", "com.github.uiautomator")[2] == 0
    assert b"com.github.uiautomator" not in command("shell", "pm list packages; ime list -s -a")[0]


def test_what_is_no_package_is_not_installed(command, tmp_path):
    (tmp_path / "bad.apk").write_bytes(b"PK\x03\x04 this is no zip file")
    output, errors, code = command("install", str(tmp_path / "bad.apk"))
    assert code != 0 and b"INSTALL_PARSE_FAILED_NOT_APK" in output + errors


@pytest.mark.parametrize("text", HOSTILE)
def test_text_arrives_as_it_is(device, command, server, tmp_path, text):
    assert command("shell", adbutils._utils.list2cmdline(["printf", "%s", text]))[0] == text.encode()
    assert device.shell(["printf", "%s", text], rstrip=False) == text
    (tmp_path / "f").write_text("content")
    name = text.replace("/", "_")
    device.sync.push(tmp_path / "f", f"/sdcard/Download/{name}")
    assert server.phone.storage.read(f"/storage/emulated/0/Download/{name}") == b"content"
    assert device.sync.read_bytes(f"/sdcard/Download/{name}") == b"content"


def test_ports_inside_the_phone(command, device):
    assert command("reverse", "tcp:7100", "tcp:7200")[2] == 0
    assert b"tcp:7100 tcp:7200" in command("reverse", "--list")[0]
    assert command("reverse", "--remove", "tcp:7100")[2] == 0 and command("reverse", "--list")[0].strip() == b""
    with pytest.raises(adbutils.AdbError):
        device.create_connection("tcp", 4242)
    for name in ("jdwp:1", "localabstract:none", "track-jdwp", "dev:/dev/null", "frobnicate:", "abb_exec:x"):
        connection = device.open_transport()
        connection.send_command(name)
        with pytest.raises(adbutils.AdbError):
            connection.check_okay()


def test_a_log_is_waited_for_while_others_work(device):
    waiting = device.shell("logcat", stream=True)
    waiting.conn.settimeout(0.3)
    with pytest.raises(TimeoutError):
        waiting.conn.recv(1)
    assert device.shell("echo meanwhile") == "meanwhile"
    waiting.close()


def test_a_log_shows_what_is_written_while_it_is_read(device):
    log = device.shell("logcat -v brief", stream=True)
    device.shell("log -t net hello")
    shown = ""
    while "hello" not in shown:
        shown += log.recv(1000).decode()
    assert "I/net" in shown
    assert "logcat" in device.shell("ps -u shell")
    device.shell("pkill logcat")
    assert log.recv(1000) == b"", "a killed program ends"
    assert "logcat" not in device.shell("ps -u shell")


def wait_for(condition):
    while not condition():
        time.sleep(0.05)


def test_a_film_shows_what_others_do_meanwhile(device, server):
    film = device.shell("screenrecord --time-limit 120 /sdcard/film.mp4", stream=True)
    wait_for(lambda: device.sync.exists("/sdcard/film.mp4"))
    started = device.sync.read_bytes("/sdcard/film.mp4")
    device.shell("am start -a android.settings.SETTINGS")
    wait_for(lambda: device.sync.read_bytes("/sdcard/film.mp4") != started)
    data = device.sync.read_bytes("/sdcard/film.mp4")
    shown = mp4.slide_at(data, mp4.duration(data))
    assert mp4.slide_at(data, 0) != shown
    seen = np.asarray(Image.open(io.BytesIO(shown))).astype(int)
    assert np.abs(seen - server.phone.screenshot()).mean() < 5
    killed = time.monotonic()
    device.shell("pkill -INT screenrecord")
    assert film.recv(1000) == b"", "a killed program ends"
    assert time.monotonic() - killed < 60, "and not when its time is over"


def test_a_script_films_in_the_background(device):
    """As adbutils does it. The film has the first and the last picture."""
    script = "screenrecord /sdcard/back.mp4 & id=$!; read any; kill -INT $id; wait; echo done"
    film = device.shell(script, stream=True)
    wait_for(lambda: device.sync.exists("/sdcard/back.mp4"))
    time.sleep(0.6)  # longer than a picture lasts
    device.shell("input keyevent HOME; am start -a android.settings.SETTINGS; input keyevent APP_SWITCH")
    film.send(b"\n")
    assert film.read_until_close().strip() == "done"
    data = device.sync.read_bytes("/sdcard/back.mp4")
    assert mp4.slide_at(data, 0) != mp4.slide_at(data, mp4.duration(data))


def test_a_film_ends_by_itself(device):
    result = device.shell2("screenrecord --time-limit 1 /sdcard/short.mp4", timeout=60, v2=True)
    assert result.returncode == 0 and mp4.duration(device.sync.read_bytes("/sdcard/short.mp4")) == 1


def test_the_framebuffer_is_what_is_on_the_screen(device, server):
    picture = device.framebuffer()
    assert np.array_equal(np.asarray(picture.convert("RGB")), server.phone.screenshot())


def test_a_command_that_waits_for_input_holds_nobody_up(device):
    waiting = device.open_transport()
    waiting.send_command("shell:cat")
    waiting.check_okay()
    started = time.monotonic()
    assert device.shell("echo meanwhile") == "meanwhile"
    assert time.monotonic() - started < 5
    waiting.close()


# the protocol itself


def packed(command, first, second, payload=b"", **wrong):
    word = int.from_bytes(command, "little")
    header = word, first, second, wrong.get("length", len(payload)), wrong.get("sum", sum(payload)), word ^ 0xFFFFFFFF
    return struct.pack("<6I", *header) + payload


class Peer:
    """A client that speaks adb's protocol byte by byte."""

    def __init__(self, server, version=0x01000001, payload=1 << 18):
        self.sock = socket.create_connection(("127.0.0.1", server.adb_port), timeout=10)
        self.send(b"CNXN", version, payload, b"host::\0")
        self.banner = self.receive()

    def send(self, command, first, second, payload=b"", **wrong):
        self.sock.sendall(packed(command, first, second, payload, **wrong))

    def receive(self):
        header = self.exactly(24)
        word, first, second, length, checksum, _ = struct.unpack("<6I", header)
        payload = self.exactly(length)
        return word.to_bytes(4, "little"), first, second, payload, checksum

    def exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.sock.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def is_cut(self):
        try:
            while True:
                self.receive()
        except (EOFError, ConnectionError):
            return True
        except TimeoutError:
            return False


def test_data_waits_for_an_okay(server):
    peer = Peer(server, payload=1000)
    assert peer.banner[0] == b"CNXN" and peer.banner[3].startswith(b"device::ro.product.name=")
    peer.send(b"OPEN", 5, 0, b"shell:seq 900\0")
    okay = peer.receive()
    assert okay[0] == b"OKAY" and okay[2] == 5
    total = b""
    message = peer.receive()
    while message[0] == b"WRTE":
        assert len(message[3]) <= 1000
        total += message[3]
        peer.sock.settimeout(0.1)
        with pytest.raises(TimeoutError):
            peer.receive()  # nothing before we have taken it
        peer.sock.settimeout(10)
        peer.send(b"OKAY", 5, message[1])
        message = peer.receive()
    assert message[0] == b"CLSE" and total.endswith(b"\n899\n900\n") and len(total) == 3492


def test_old_peers_get_and_must_send_checksums(server):
    peer = Peer(server, version=0x01000000)
    peer.send(b"OPEN", 1, 0, b"shell:echo hi\0")
    peer.receive()
    data = peer.receive()
    assert data[3] == b"hi\n" and data[4] == sum(b"hi\n")
    peer.send(b"OPEN", 2, 0, b"shell:echo hi\0", sum=12345)
    assert peer.is_cut()


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n" * 10, b"\0" * 1000, packed(b"OPEN", 1, 0, b"shell:ls\0"), packed(b"CNXN", 0, 0, b"x"),
        packed(b"CNXN", 1, 1 << 18, b"host::\0", length=1 << 30), packed(b"CNXN", 1, 1 << 18)[:20], b"x",
        packed(b"AUTH", 3, 0, b"key\0") + b"rest", struct.pack("<6I", 1, 2, 3, 4, 5, 6),
    ],
)  # fmt: skip
def test_what_is_not_the_protocol_ends_that_connection_alone(server, data):
    good = Peer(server)
    with socket.create_connection(("127.0.0.1", server.adb_port), timeout=10) as bad:
        with suppress(OSError):  # it may be cut before all is sent
            bad.sendall(data)
            bad.shutdown(socket.SHUT_WR)
            while bad.recv(4096):
                pass
    good.send(b"OPEN", 1, 0, b"shell:echo well\0")
    assert good.receive()[0] == b"OKAY" and good.receive()[3] == b"well\n"


def test_messages_for_streams_that_are_not_there(server):
    peer = Peer(server)
    for command in (b"OKAY", b"WRTE", b"CLSE", b"SYNC", b"STLS"):
        peer.send(command, 7, 4242, b"data")
    peer.send(b"OPEN", 0, 0, b"shell:ls\0")  # a stream without a number
    peer.send(b"OPEN", 3, 0, b"\xff\xfe\0")
    answers = [peer.receive()[0] for _ in range(3)]
    assert answers == [b"CLSE", b"CLSE", b"CLSE"]
    peer.send(b"OPEN", 1, 0, b"shell:echo well\0")
    assert peer.receive()[0] == b"OKAY"


def test_a_peer_that_does_not_wait_is_cut(server):
    peer = Peer(server)
    with server.lock:  # so that nobody reads
        peer.send(b"OPEN", 1, 0, b"shell:cat\0")
        local = peer.receive()[1]
        with suppress(ConnectionError):
            for _ in range(20):
                peer.send(b"WRTE", 1, local, bytes(1 << 18))
        assert peer.is_cut()


@given(st.binary(max_size=400), st.booleans())
@settings(deadline=None, max_examples=60)
def test_random_bytes_do_no_harm(data, greeted):
    server = SERVERS[0] if SERVERS else SERVERS.append(PhoneServer(world_phone(270, 600)).start()) or SERVERS[0]
    sock = Peer(server).sock if greeted else socket.create_connection(("127.0.0.1", server.adb_port), timeout=10)
    with sock:
        sock.sendall(data)
    peer = Peer(server)
    peer.send(b"OPEN", 1, 0, b"shell:echo well\0")
    assert peer.receive()[0] == b"OKAY" and peer.receive()[3] == b"well\n"
    peer.sock.close()


SERVERS = []


IDS = st.sampled_from([b"STAT", b"LST2", b"LIST", b"RECV", b"SEND", b"SND2", b"RCV2", b"DATA", b"????"])
LENGTHS = st.integers(0, (1 << 32) - 1) | st.none()


@given(st.lists(st.tuples(IDS, st.binary(max_size=40), LENGTHS), max_size=4))
@settings(deadline=None, max_examples=60)
def test_random_requests_for_files_do_no_harm(requests):
    server = SERVERS[0] if SERVERS else SERVERS.append(PhoneServer(world_phone(270, 600)).start()) or SERVERS[0]
    peer = Peer(server)
    peer.send(b"OPEN", 1, 0, b"sync:\0")
    local = peer.receive()[1]
    data = b"".join(id + struct.pack("<I", len(b) if n is None else n) + b for id, b, n in requests)
    peer.send(b"WRTE", 1, local, data)
    peer.sock.close()
    again = Peer(server)
    again.send(b"OPEN", 1, 0, b"shell:echo well\0")
    assert again.receive()[0] == b"OKAY" and again.receive()[3] == b"well\n"
    again.sock.close()


def teardown_module():
    for server in SERVERS:
        server.close()


def test_cut_transfers_leave_nothing_behind(server):
    peer = Peer(server)
    peer.send(b"OPEN", 1, 0, b"sync:\0")
    local = peer.receive()[1]
    name = b"/sdcard/cut,33188"
    request = b"SEND" + struct.pack("<I", len(name)) + name + b"DATA" + struct.pack("<I", 60_000) + b"half"
    peer.send(b"WRTE", 1, local, request)
    peer.sock.close()
    time.sleep(0.2)
    assert not server.phone.storage.exists("/storage/emulated/0/cut")


def test_only_this_machine_can_connect(server):
    address = socket.gethostbyname(socket.gethostname())
    if address.startswith("127."):
        pytest.skip("this machine has no other address")
    for port in (server.adb_port, server.console_port, server.grpc_port):
        with pytest.raises(OSError):
            socket.create_connection((address, port), timeout=2)


# servers


def test_closing_ends_everything_and_gives_the_ports_back():
    server = PhoneServer(world_phone(270, 600)).start()
    peer = Peer(server)
    before = threading.active_count()
    server.close()
    server.close()
    assert peer.is_cut()
    assert threading.active_count() < before
    again = PhoneServer(world_phone(270, 600), server.adb_port, server.console_port).start()
    assert (again.adb_port, again.console_port) == (server.adb_port, server.console_port)
    with pytest.raises(OSError):
        PhoneServer(world_phone(270, 600), again.adb_port).start()
    again.close()


def test_eight_phones_at_once(adb):
    phones = [PhoneServer(world_phone(270, 600)).start() for _ in range(8)]
    faults = []

    def work(number, server):
        try:
            device = adb.connect(server)
            for turn in range(5):
                text = f"phone {number} turn {turn}"
                device.shell(["settings", "put", "system", "mine", text])
                device.shell(f"echo '{text}' >> /sdcard/log; input tap 100 100")
                assert device.shell("settings get system mine") == text
            assert len(device.sync.read_bytes("/sdcard/log").splitlines()) == 5
            assert Image.open(io.BytesIO(device.shell("screencap -p", encoding=None))).size == (270, 600)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(phones)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for server in phones:
        server.close()
    assert not faults
