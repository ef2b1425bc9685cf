"""adbd, the phone's end of adb: shells, files, and ports inside the phone."""

from __future__ import annotations

import itertools
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Protocol

import numpy as np

from coach_gym.envs.phone import shell
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.adb_sync import Sync
from coach_gym.envs.phone.servers.adb_transport import Refused, Service, Stream, Transport
from coach_gym.envs.phone.servers.http import Stream as AnyStream
from coach_gym.envs.phone.servers.lock import RunningPhone
from coach_gym.envs.phone.servers.terminal import Terminal
from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.language.process import Input

FEATURES = "shell_v2,cmd,stat_v2,ls_v2,sendrecv_v2,fixed_push_mkdir"
STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)
"""Kinds of packets of `shell,v2`."""
_PACKET = struct.Struct("<BI")
_STEP = 1 << 16  # bytes of a packet
_LONGEST = 1 << 20  # bytes of a packet that is received
_POLL_SECONDS = 0.1  # between two looks at what an endless program has written
_pids = itertools.count(20_000)  # of programs that clients run

_FIXED = {
    "root:": "adbd is already running as root\n", "remount:": "remount failed\n",
    "unroot:": "adbd cannot run as non root on the embedded phone\n", "disable-verity:": "verity is already disabled\n",
    "reboot:": "the embedded phone does not reboot\n", "usb:": "restarting in USB mode\n",
}  # fmt: skip


_Follow = Callable[[], bytes | None]


class Adb:
    """Serves adb connections to a phone.

    Args:
        phone: The phone.
        lock: Held by whoever works the phone; one thread may take it twice.
        ports: Services inside the phone by adb's names for them, such as `tcp:9008`.
        programs: Context managers that are entered, with the command, while a shell runs an endless program whose
            command contains the key.
    """

    def __init__(
        self,
        phone: Phone,
        lock: RunningPhone,
        ports: Mapping[str, Callable[[AnyStream], None]],
        programs: Mapping[str, Callable[[str], AbstractContextManager[None]]] = {},  # noqa: B006
    ) -> None:
        self._phone, self._lock, self._ports, self._programs = phone, lock, ports, programs
        self._reversed: dict[str, str] = {}

    def serve(self, connection: socket.socket) -> None:
        """Answers one connection until it ends."""
        Transport(connection, self._banner(), self._find).serve()

    def _banner(self) -> str:
        names = ("ro.product.name", "ro.product.model", "ro.product.device")
        properties = "".join(f"{name}={state.get_property(self._phone, name)};" for name in names)
        return f"device::{properties}features={FEATURES}"

    def _find(self, name: str) -> Service:
        """Returns the service that a stream asks for.

        Raises:
            Refused: There is no such service.
        """
        kind, colon, rest = name.partition(":")
        if name in _FIXED or (kind == "reboot" and colon):
            return partial(_say, text=_FIXED.get(name, _FIXED["reboot:"]))
        if name == "framebuffer:":
            return self._framebuffer
        if kind == "sync" and colon:
            return Sync(self._phone, self._lock).serve
        if kind in ("shell", "exec") or kind.startswith("shell,"):
            return partial(self._shell, options=kind.split(","), command=rest)
        if kind == "reverse":
            return partial(self._reverse, request=rest)
        port = ":".join(name.split(":")[:2])  # without the host in `tcp:9008:127.0.0.1`
        if port in self._ports:
            return self._ports[port]
        raise Refused(name)

    # shells

    def _shell(self, stream: Stream, options: list[str], command: str) -> None:
        talk: _Talk = _Packets(stream) if "v2" in options else _Plain(stream)
        if not command:
            pty = "pty" in options or options == ["shell"]
            talk.exit(Terminal(self._phone, self._lock, talk.read, talk.write, pty).run())
            return
        stdin = Input(more=partial(self._unlocked, talk.read))
        with self._lock:
            output = shell.run(self._phone, command, stdin, merged="v2" not in options)
        talk.write(output.stdout)
        talk.write(output.stderr, STDERR)
        if output.endless:
            with self._running(command):
                self._go_on(stream, talk, command, output.follow)
        talk.exit(output.code)

    def _running(self, command: str) -> AbstractContextManager[None]:
        """Enters what runs alongside a command."""
        started = (start for name, start in self._programs.items() if name in command)
        return next(started, lambda command: nullcontext())(command)

    def _go_on(self, stream: Stream, talk: _Talk, command: str, follow: _Follow | None) -> None:
        """Runs a program, which sends what it writes, until it ends, its reader hangs up, or somebody kills it."""
        name = next((name for name in ("app_process", "screenrecord") if name in command), "logcat")
        pid, done = next(_pids), threading.Event()

        def send() -> None:
            while pid in self._phone.programs and not done.wait(_POLL_SECONDS):
                with self._lock:
                    data = follow() if follow is not None else b""
                try:
                    if data is None:
                        talk.exit(0)
                        break
                    talk.write(data)
                except OSError:
                    break
            stream.end()

        with self._lock:
            self._phone.programs[pid] = name
        sender = threading.Thread(target=send, name=f"{name} {pid}", daemon=True)
        sender.start()
        try:
            while talk.read():
                pass
        except EOFError:
            pass
        finally:
            done.set()
            sender.join()
            with self._lock:
                self._phone.programs.pop(pid, None)

    def _framebuffer(self, stream: Stream) -> None:
        """Sends the screen as Android does: a description of 32 bits a pixel, then the pixels."""
        with self._lock:
            pixels = self._phone.screenshot()
        height, width, _ = pixels.shape
        opaque = np.dstack([pixels, np.full((height, width), 255, np.uint8)])
        channels = (0, 8, 16, 8, 8, 8, 24, 8)  # offset and length of red, blue, green and alpha
        stream.sendall(struct.pack("<13I", 1, 32, opaque.size, width, height, *channels))
        stream.sendall(opaque.tobytes())

    def _unlocked(self, read: Callable[[], bytes]) -> bytes:
        """Waits for input while others may work the phone."""
        self._lock.release()
        try:
            return read()
        except EOFError:
            return b""
        finally:
            self._lock.acquire()

    # ports of the host that the phone could reach; nothing in it does, so they are only listed

    def _reverse(self, stream: Stream, request: str) -> None:
        verb, _, rest = request.partition(":")
        if verb == "list-forward":
            lines = "".join(f"UsbFfs {remote} {local}\n" for remote, local in self._reversed.items())
            stream.sendall(_counted(lines))
        elif verb == "forward" and ";" in rest:
            remote, local = rest.removeprefix("norebind:").split(";", 1)
            self._reversed[remote] = local
            stream.sendall(b"OKAY" + (_counted(remote.removeprefix("tcp:")) if remote == "tcp:0" else b""))
        elif verb == "killforward-all" or (verb == "killforward" and rest in self._reversed):
            self._reversed = {} if verb.endswith("all") else {k: v for k, v in self._reversed.items() if k != rest}
            stream.sendall(b"OKAY")
        else:
            stream.sendall(b"FAIL" + _counted(f"cannot do '{request[:60]}'"))


def _counted(text: str) -> bytes:
    """Returns a text after its length in four hexadecimal digits."""
    data = text.encode("utf-8", "surrogateescape")
    return b"%04x" % len(data) + data


def _say(stream: Stream, text: str) -> None:
    stream.sendall(text.encode())


class _Talk(Protocol):
    """How a shell speaks with the client."""

    def read(self) -> bytes:
        """Returns what was typed; nothing at the end."""

    def write(self, data: bytes, kind: int = STDOUT) -> None:
        """Sends output."""

    def exit(self, code: int) -> None:
        """Sends the exit code."""


class _Plain:
    """Sends a shell's output and errors as they come; the exit code is not sent."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def read(self) -> bytes:
        return self._stream.recv(_STEP)

    def write(self, data: bytes, kind: int = STDOUT) -> None:
        self._stream.sendall(data)

    def exit(self, code: int) -> None:
        """Does nothing: the end of the stream is the end of the shell."""


class _Packets:
    """Sends output, errors and the exit code as packets of one stream: `shell,v2`."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._closed = stream, False

    def read(self) -> bytes:
        while not self._closed:
            kind, size = _PACKET.unpack(self._stream.exactly(_PACKET.size))
            if size > _LONGEST:
                raise EOFError
            data = self._stream.exactly(size)
            self._closed = kind == CLOSE_STDIN
            if kind == STDIN and data:
                return data
        return b""

    def write(self, data: bytes, kind: int = STDOUT) -> None:
        for start in range(0, len(data), _STEP):
            part = data[start : start + _STEP]
            self._stream.sendall(_PACKET.pack(kind, len(part)) + part)

    def exit(self, code: int) -> None:
        self.write(bytes([code]), EXIT)


