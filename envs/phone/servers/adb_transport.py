"""adb's transport: messages over one connection that carries many streams.

A message is six little-endian words (command, two arguments, length, checksum, command inverted) and a payload. A
sender waits for OKAY before it sends more on a stream. See `protocol.txt` in Android's source of adb.
"""

from __future__ import annotations

import itertools
import logging
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

VERSION = 0x01000001  # the first version that ignores checksums
MAX_PAYLOAD = 256 * 1024  # bytes of a message that this side accepts
MOST_STREAMS = 256
MOST_WAITING = 4 * MAX_PAYLOAD  # unread bytes of a stream; a correct peer sends one message at a time
_HEADER = struct.Struct("<6I")
CNXN, OPEN, OKAY, WRTE, CLSE, AUTH = (
    int.from_bytes(name, "little") for name in (b"CNXN", b"OPEN", b"OKAY", b"WRTE", b"CLSE", b"AUTH")
)


class ProtocolError(Exception):
    """The peer does not speak adb's protocol; the connection is useless."""


class Refused(Exception):
    """A service does not exist on this phone."""


@dataclass(frozen=True)
class Message:
    """One message of the transport."""

    command: int
    first: int
    second: int
    payload: bytes = b""

    def packed(self, checksum: bool) -> bytes:
        """Returns the message as bytes. Old peers need a checksum."""
        total = sum(self.payload) & 0xFFFFFFFF if checksum else 0
        words = self.command, self.first, self.second, len(self.payload), total, self.command ^ 0xFFFFFFFF
        return _HEADER.pack(*words) + self.payload


class Stream:
    """One stream, with the methods of a connected socket that services need."""

    def __init__(self, transport: Transport, local: int, remote: int) -> None:
        self._transport, self.local, self.remote = transport, local, remote
        self._changed = threading.Condition()
        self._incoming: deque[bytes] = deque()
        self._waiting = 0
        self._ready = True  # the peer has taken what was sent last
        self._ended = False

    def recv(self, size: int, /) -> bytes:
        """Returns the next bytes, at most `size`; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._incoming or self._ended)
            if not self._incoming:
                return b""
            data = self._incoming.popleft()
            if len(data) > size:
                self._incoming.appendleft(data[size:])
            self._waiting -= min(len(data), size)
            taken = len(data) <= size
        if taken:
            self._transport.send(Message(OKAY, self.local, self.remote))
        return data[:size]

    def sendall(self, data: bytes, /) -> None:
        """Sends all bytes, as fast as the peer takes them.

        Raises:
            BrokenPipeError: The peer has closed the stream.
        """
        step = self._transport.payload
        for start in range(0, len(data), step):
            with self._changed:
                self._changed.wait_for(lambda: self._ready or self._ended)
                if self._ended:
                    raise BrokenPipeError
                self._ready = False
            self._transport.send(Message(WRTE, self.local, self.remote, data[start : start + step]))

    def exactly(self, size: int) -> bytes:
        """Returns exactly `size` bytes.

        Raises:
            EOFError: The stream ends before.
        """
        chunks = []
        while size > 0:
            data = self.recv(size)
            if not data:
                raise EOFError
            chunks.append(data)
            size -= len(data)
        return b"".join(chunks)

    def flush(self) -> None:
        """Waits until the peer has taken what was sent."""
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._ended)

    @property
    def ended(self) -> bool:
        """Whether the peer has closed the stream, or is gone."""
        return self._ended

    # called by the transport

    def feed(self, data: bytes) -> None:
        """Adds bytes that the peer has sent."""
        with self._changed:
            self._waiting += len(data)
            if self._waiting > MOST_WAITING:
                raise ProtocolError("data sent without waiting for OKAY")
            self._incoming.append(data)
            self._changed.notify_all()

    def acknowledge(self) -> None:
        """Notes that the peer has taken what was sent last."""
        with self._changed:
            self._ready = True
            self._changed.notify_all()

    def end(self) -> None:
        """Ends the stream for whoever reads or writes it."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()


Service = Callable[[Stream], None]
"""Serves one stream, which is closed when it returns."""


class Transport:
    """One adb connection.

    Args:
        connection: The connected socket.
        banner: What the device says about itself.
        find: Returns the service of a name, or raises `Refused`.
    """

    def __init__(self, connection: socket.socket, banner: str, find: Callable[[str], Service]) -> None:
        self._connection, self._banner, self._find = connection, banner, find
        self._sending = threading.Lock()
        self._streams: dict[int, Stream] = {}
        self._ids = itertools.count(1)
        self._checksums = True
        self.payload = 4096  # the longest message for a peer that has not told its limit

    def serve(self) -> None:
        """Answers messages until the connection ends or the peer breaks the protocol."""
        try:
            self._connect(self._receive())
            while True:
                self._handle(self._receive())
        except (ProtocolError, EOFError):
            pass
        finally:
            for stream in list(self._streams.values()):
                stream.end()

    def send(self, message: Message) -> None:
        """Sends a message. A peer that is gone is ignored."""
        with self._sending:
            self._connection.sendall(message.packed(self._checksums))

    def _receive(self) -> Message:
        command, first, second, length, checksum, inverted = _HEADER.unpack(self._exactly(_HEADER.size))
        if inverted != command ^ 0xFFFFFFFF or length > MAX_PAYLOAD:
            raise ProtocolError("not a header")
        payload = self._exactly(length)
        if self._checksums and checksum and sum(payload) & 0xFFFFFFFF != checksum:
            raise ProtocolError("wrong checksum")
        return Message(command, first, second, payload)

    def _exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._connection.recv(min(size - len(data), 1 << 16))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _connect(self, message: Message) -> None:
        """Handles the first message, which agrees on version and payload."""
        if message.command != CNXN or message.second < 1:
            raise ProtocolError("not a greeting")
        self.payload = min(message.second, MAX_PAYLOAD)
        self.send(Message(CNXN, VERSION, MAX_PAYLOAD, self._banner.encode()))
        self._checksums = message.first < VERSION

    def _handle(self, message: Message) -> None:
        stream = self._streams.get(message.second)
        match message.command:
            case _ if message.command == OPEN:
                self._open(message.first, message.payload)
            case _ if message.command == CNXN:
                self._connect(message)
            case _ if stream is None:
                if message.command == WRTE:
                    self.send(Message(CLSE, 0, message.first))
            case _ if message.command == WRTE:
                stream.feed(message.payload)
            case _ if message.command == OKAY:
                stream.acknowledge()
            case _ if message.command == CLSE:
                stream.end()

    def _open(self, remote: int, payload: bytes) -> None:
        name = payload.rstrip(b"\0").decode("utf-8", "surrogateescape")
        try:
            if len(self._streams) >= MOST_STREAMS or not remote:
                raise Refused(name)
            service = self._find(name)
        except Refused:
            self.send(Message(CLSE, 0, remote))
            return
        stream = Stream(self, next(self._ids), remote)
        self._streams[stream.local] = stream
        self.send(Message(OKAY, stream.local, remote))
        threading.Thread(target=self._run, args=(stream, service), name=f"adb {name[:40]!r}", daemon=True).start()

    def _run(self, stream: Stream, service: Service) -> None:
        try:
            service(stream)
            stream.flush()
        except (EOFError, OSError):
            pass  # the peer is gone
        except Exception:
            logging.exception("an adb service failed")
        finally:
            stream.end()
            self._streams.pop(stream.local, None)
            try:
                self.send(Message(CLSE, stream.local, stream.remote))
            except OSError:
                pass  # so is the connection
