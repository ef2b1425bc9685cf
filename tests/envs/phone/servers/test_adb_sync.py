"""adb's file service, packet by packet: what it sends, stores and refuses."""

import stat
import struct
from datetime import datetime

import pytest

from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.paths import BATTERY_LEVEL, BUILD
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers import adb_sync
from coach_gym.envs.phone.servers.adb_sync import CHUNK, Sync
from coach_gym.envs.phone.servers.lock import RunningPhone

FILE = stat.S_IFREG | 0o644
WHEN = datetime(2022, 3, 4, 5, 6, 7)


class Wire:
    """A stream of which one side is written down in advance."""

    def __init__(self, sent):
        self.sent, self.answer = sent, b""

    def exactly(self, size):
        if len(self.sent) < size:
            raise EOFError
        data, self.sent = self.sent[:size], self.sent[size:]
        return data

    def sendall(self, data):
        self.answer += data


@pytest.fixture
def phone():
    phone = Phone(90, 200)
    phone.storage.write("/data/a.txt", b"hello", WHEN)
    return phone


def packet(id, text=b"", size=None):
    return struct.pack("<4sI", id, len(text) if size is None else size) + text


def send(name, data, mode=FILE, when=WHEN):
    parts = [packet(b"DATA", data[start : start + CHUNK]) for start in range(0, len(data), CHUNK)]
    return packet(b"SEND", f"{name},{mode}".encode()) + b"".join(parts) + packet(b"DONE", size=to_seconds(when))


def talk(phone, *requests, ends=True):
    """The answer to some requests; the client quits if `ends`."""
    wire = Wire(b"".join(requests) + (packet(b"QUIT") if ends else b""))
    try:
        Sync(phone, RunningPhone(phone)).serve(wire)
    except EOFError:
        assert not ends or wire.sent
    return wire.answer


def test_only_what_is_not_of_the_system_can_be_pushed(phone):
    for name in ("/nope/x", "/proc/x", "/system/app/x", "/x"):
        assert b"FAIL" in (answer := talk(phone, send(name, b"new"))) and b"Read-only file system" in answer
        assert not phone.storage.exists(name)
    for name in ("/data/local/tmp/x", "/sdcard/x", "/data/app/x", BUILD, BATTERY_LEVEL):
        assert b"OKAY" in talk(phone, send(name, b"50"))


def failure(answer):
    id, size = struct.unpack("<4sI", answer[:8])
    assert id == b"FAIL" and size == len(answer) - 8
    return answer[8:].decode()


@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1])
def test_files_are_stored_as_of_their_time(phone, size):
    data = bytes(n % 251 for n in range(size))
    assert talk(phone, send("/sdcard/new/b.bin", data)) == packet(b"OKAY")
    path = "/storage/emulated/0/new/b.bin"
    assert phone.storage.read(path) == data and phone.storage.modified(path) == WHEN


@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1])
def test_files_are_sent_in_parts(phone, size):
    data = bytes(n % 251 for n in range(size))
    phone.storage.write("/data/b", data)
    answer, got = talk(phone, packet(b"RECV", b"/data/b")), b""
    while answer[:4] == b"DATA":
        length = struct.unpack("<I", answer[4:8])[0]
        assert length <= CHUNK
        got, answer = got + answer[8 : 8 + length], answer[8 + length :]
    assert got == data and answer == packet(b"DONE")


def test_attributes_are_told_in_both_formats(phone):
    id, mode, size, at = struct.unpack("<4sIII", talk(phone, packet(b"STAT", b"/data/a.txt")))
    assert (id, stat.S_ISREG(mode), size, at) == (b"STAT", True, 5, to_seconds(WHEN))
    assert talk(phone, packet(b"STAT", b"/nowhere")) == b"STAT" + bytes(12)
    link = talk(phone, packet(b"LST2", b"/sdcard"))
    followed = talk(phone, packet(b"STA2", b"/sdcard"))
    modes = [struct.unpack_from("<4sIQQI", answer)[4] for answer in (link, followed)]
    assert [stat.S_ISLNK(mode) for mode in modes] == [True, False] and stat.S_ISDIR(modes[1])
    assert struct.unpack_from("<I", talk(phone, packet(b"STA2", b"/nowhere")), 4) == (2,)


@pytest.mark.parametrize(("id", "head"), [(b"LIST", 16), (b"LIS2", 72)])
def test_folders_are_listed(phone, id, head):
    phone.storage.mkdir("/data/sub")
    answer, names = talk(phone, packet(id, b"/data")), []
    while answer[:4] != b"DONE":
        (length,) = struct.unpack_from("<I", answer, head)
        names.append(answer[head + 4 : head + 4 + length].decode())
        answer = answer[head + 4 + length :]
    assert {".", "..", "a.txt", "sub"} <= set(names) and len(answer) == head + 4
    assert talk(phone, packet(id, b"/nowhere"))[:4] == b"DONE"


def test_programs_and_the_kernels_files_are_files_for_adb_too(phone):
    assert talk(phone, packet(b"RECV", b"/system/bin/sh")) == packet(b"DATA", b"\x7fELF") + packet(b"DONE")
    assert talk(phone, packet(b"RECV", b"/proc/version"))[:4] == b"DATA"
    mode, size = struct.unpack("<4sIII", talk(phone, packet(b"STAT", b"/bin/sh")))[1:3]
    assert stat.S_ISREG(mode) and size == 4
    assert b"\x06\x00\x00\x00toybox" in talk(phone, packet(b"LIST", b"/system/bin"))
    assert b"\x04\x00\x00\x00self" in talk(phone, packet(b"LIST", b"/proc"))


REFUSED = {
    "a missing file": (packet(b"RECV", b"/nowhere"), "open failed: No such file or directory"),
    "a folder": (packet(b"RECV", b"/data"), "read failed: Is a directory"),
    "a file over a folder": (send("/data", b"x"), "Is a directory: '/data'"),
    "a file in a file": (send("/data/a.txt/b", b"x"), "Not a directory: '/data/a.txt/b'"),
    "a link": (send("/data/l", b"x", stat.S_IFLNK | 0o777), "couldn't create symlink"),
}


@pytest.mark.parametrize(("request_", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused_and_the_connection_goes_on(phone, request_, words):
    before = phone.storage.snapshot()
    answer = talk(phone, request_)
    assert words in failure(answer) and phone.storage.snapshot() == before
    assert talk(phone, request_, packet(b"STAT", b"/data/a.txt"))[len(answer) :][:4] == b"STAT"


ENDED = {
    "an unknown request": (packet(b"NOPE", b"/"), "unknown command"),
    "a long path": (packet(b"STAT", b"/" + b"x" * 2000), "path too long"),
    "a wrong packet": (packet(b"SEND", b"/data/x,33188") + packet(b"NOPE"), "invalid data message"),
    "a packet too large": (packet(b"SEND", b"/data/x,33188") + packet(b"DATA", size=CHUNK + 1), "invalid data message"),
    "compression": (packet(b"RCV2", b"/data/a.txt") + b"RCV2" + struct.pack("<I", 1), "compression is not offered"),
}


@pytest.mark.parametrize(("request_", "words"), ENDED.values(), ids=ENDED)
def test_what_breaks_the_protocol_ends_the_connection(phone, request_, words):
    before = phone.storage.snapshot()
    assert words in failure(talk(phone, request_, packet(b"STAT", b"/data/a.txt"), ends=False))
    assert phone.storage.snapshot() == before


def test_the_newer_requests_carry_modes_and_flags(phone):
    send2 = packet(b"SND2", b"/data/n") + b"SND2" + struct.pack("<II", FILE, 0) + packet(b"DATA", b"new")
    assert talk(phone, send2 + packet(b"DONE", size=1)) == packet(b"OKAY") and phone.storage.read("/data/n") == b"new"
    dry = packet(b"SND2", b"/data/dry") + b"SND2" + struct.pack("<II", FILE, 0x80000000) + packet(b"DATA", b"x")
    assert talk(phone, dry + packet(b"DONE", size=1)) == packet(b"OKAY") and not phone.storage.exists("/data/dry")
    receive2 = packet(b"RCV2", b"/data/n") + b"RCV2" + struct.pack("<I", 0)
    assert talk(phone, receive2) == packet(b"DATA", b"new") + packet(b"DONE")


def test_a_file_without_end_is_cut_off(phone, monkeypatch):
    monkeypatch.setattr(adb_sync, "LARGEST", 10)
    answer = talk(phone, send("/data/x", b"x" * 20), ends=False)
    assert "No space left" in failure(answer) and not phone.storage.exists("/data/x")


def test_a_transfer_that_stops_leaves_nothing(phone):
    assert talk(phone, send("/data/x", b"x" * 20)[:-9], ends=False) == b"" and not phone.storage.exists("/data/x")
