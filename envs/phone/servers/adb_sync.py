"""adb's file service: `push`, `pull`, `ls`. See `SYNC.TXT` in Android's source of adb."""

from __future__ import annotations

import stat as modes
import struct
from contextlib import suppress

from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.phone.paths import link, real
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.adb_transport import Stream
from coach_gym.envs.phone.servers.lock import RunningPhone
from coach_gym.envs.phone.shell import COMMANDS
from coach_gym.envs.phone.shell.language.filesystem import FileSystem
from coach_gym.envs.phone.shell.toybox.attributes import Attributes, of_link

CHUNK = 64 * 1024  # bytes of file in one packet
LONGEST_PATH = 1024
LARGEST = 1 << 30  # bytes of a file that is received
NO_FILE = 2  # ENOENT
_PAIR = struct.Struct("<4sI")
_STAT = struct.Struct("<4sIII")
_STAT_2 = struct.Struct("<4sIQQIIIIQqqq")
_LATEST = 1 << 32  # seconds


class Sync:
    """Serves the files of a phone.

    Args:
        phone: The phone.
        lock: Held by whoever works the phone; one thread may take it twice.
    """

    def __init__(self, phone: Phone, lock: RunningPhone) -> None:
        self._phone, self._lock, self._files = phone, lock, FileSystem(phone, COMMANDS)

    def serve(self, stream: Stream) -> None:
        """Answers requests until the client quits."""
        while True:
            id, size = _PAIR.unpack(stream.exactly(_PAIR.size))
            if id == b"QUIT":
                return
            if size > LONGEST_PATH:
                _fail(stream, "path too long")
                return
            path = stream.exactly(size).decode("utf-8", "surrogateescape")
            match id:
                case b"STAT":
                    a = self._attributes(path, follow=False)
                    stream.sendall(_STAT.pack(id, *_short(a)))
                case b"STA2" | b"LST2":
                    stream.sendall(_long(id, self._attributes(path, follow=id == b"STA2")))
                case b"LIST" | b"LIS2":
                    self._list(stream, path, full=id == b"LIS2")
                case b"RECV":
                    self._send(stream, path)
                case b"RCV2":
                    self._with_flags(stream, path, 4)
                case b"SEND":
                    name, _, mode = path.rpartition(",")
                    self._receive(stream, name, int(mode) if mode.isdecimal() else 0o644)
                case b"SND2":
                    self._with_flags(stream, path, 8)
                case _:
                    _fail(stream, f"unknown command {id!r}")
                    return

    def _with_flags(self, stream: Stream, path: str, size: int) -> None:
        """Reads the second half of a newer request: its id again, perhaps a mode, and how data is compressed."""
        rest = stream.exactly(4 + size)
        flags = struct.unpack_from("<I", rest, size)[0]
        if flags & ~0x80000000:  # compressed, which only a dry run is not
            _fail(stream, "compression is not offered")
            raise EOFError
        if size == 8:
            self._receive(stream, path, struct.unpack_from("<I", rest, 4)[0], dry=bool(flags))
        else:
            self._send(stream, path)

    # asking

    def _attributes(self, name: str, follow: bool) -> Attributes | None:
        target = None if follow else link(name)
        path = real(name)
        with self._lock:
            if target is not None:
                return of_link(target)
            return self._files.attributes(path) if self._files.exists(path) else None

    def _list(self, stream: Stream, name: str, full: bool) -> None:
        folder = real(name)
        with self._lock:
            names = [".", "..", *self._files.names(folder)] if self._files.is_dir(folder) else []
        for each in names:
            a = self._attributes(f"{folder}/{each}", follow=each in (".", ".."))
            if a is not None:
                text = each.encode("utf-8", "surrogateescape")
                head = _long(b"DNT2", a) if full else _STAT.pack(b"DENT", *_short(a))
                stream.sendall(head + struct.pack("<I", len(text)) + text)
        stream.sendall(b"DONE" + bytes((_STAT_2 if full else _STAT).size))

    # pulling and pushing

    def _send(self, stream: Stream, name: str) -> None:
        path = real(name)
        with self._lock:
            data = self._files.read(path)
            folder = self._files.is_dir(path)
        if data is None:
            _fail(stream, "read failed: Is a directory" if folder else "open failed: No such file or directory")
            return
        for start in range(0, len(data), CHUNK):
            part = data[start : start + CHUNK]
            stream.sendall(_PAIR.pack(b"DATA", len(part)) + part)
        stream.sendall(_PAIR.pack(b"DONE", 0))

    def _receive(self, stream: Stream, name: str, mode: int, dry: bool = False) -> None:
        """Receives a file to its end, even if it cannot be stored."""
        data = bytearray()
        while True:
            id, size = _PAIR.unpack(stream.exactly(_PAIR.size))
            if id == b"DONE":
                break
            if id != b"DATA" or size > CHUNK:
                _fail(stream, "invalid data message")
                raise EOFError
            data += stream.exactly(size)
            if len(data) > LARGEST:
                _fail(stream, "write failed: No space left on device")
                raise EOFError
        fault = "" if dry else self._store(name, bytes(data), mode, size)
        if fault:
            _fail(stream, fault)
        else:
            stream.sendall(_PAIR.pack(b"OKAY", 0))

    def _store(self, name: str, data: bytes, mode: int, seconds: int) -> str:
        """Stores a file with a time of change. Returns an error message, empty if there is none."""
        path = real(name)
        if mode and modes.S_IFMT(mode) not in (0, modes.S_IFREG):
            return "couldn't create symlink: Operation not permitted"
        with self._lock:
            storage = self._phone.storage
            if storage.is_dir(path):
                return f"couldn't create file: Is a directory: '{name}'"
            parts = path.split("/")
            above = ("/".join(parts[:end]) for end in range(2, len(parts)))
            if any(storage.exists(folder) and not storage.is_dir(folder) for folder in above):
                return f"couldn't create file: Not a directory: '{name}'"
            try:
                storage.write(path, data, from_seconds(min(seconds, _LATEST)))
            except OSError as error:  # the disk is full, the path too long, or the place read-only
                return f"couldn't create file: {error.strerror}"
            self._phone.changed()
        return ""


def _fail(stream: Stream, message: str) -> None:
    with suppress(BrokenPipeError):
        text = message.encode("utf-8", "surrogateescape")
        stream.sendall(_PAIR.pack(b"FAIL", len(text)) + text)


def _short(a: Attributes | None) -> tuple[int, int, int]:
    return (0, 0, 0) if a is None else (a.mode, a.size & 0xFFFFFFFF, to_seconds(a.modified) & 0xFFFFFFFF)


def _long(id: bytes, a: Attributes | None) -> bytes:
    if a is None:
        return _STAT_2.pack(id, NO_FILE, *[0] * 10)
    seconds = to_seconds(a.modified)
    return _STAT_2.pack(id, 0, 47, a.inode, a.mode, a.links, a.user, a.group, a.size, seconds, seconds, seconds)
