"""The part of HTTP/1.1 that uiautomator2's server needs: requests with a length, answers, kept connections."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Protocol

LONGEST_LINE = 16 * 1024
MOST_HEADERS = 100
LONGEST_BODY = 32 * 1024 * 1024

Handler = Callable[[str, str, bytes], tuple[HTTPStatus, str, bytes]]
"""From method, path and body of a request to status, content type and body of the answer."""


class Stream(Protocol):
    """Two-way bytes, as of a connected socket."""

    def recv(self, size: int, /) -> bytes:
        """Returns the next bytes, at most `size`; none at the end."""

    def sendall(self, data: bytes, /) -> None:
        """Sends all bytes."""


class BadRequest(Exception):
    """The peer does not speak HTTP; the connection is useless."""


class _Reader:
    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._buffer = b""

    def line(self) -> str:
        """Returns the next line without its end.

        Raises:
            EOFError: The peer is gone.
            BadRequest: The line is too long.
        """
        while b"\n" not in self._buffer:
            if len(self._buffer) > LONGEST_LINE:
                raise BadRequest("a line is too long")
            self._more()
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.rstrip(b"\r").decode("latin-1")

    def exactly(self, size: int) -> bytes:
        chunks, missing = [self._buffer[:size]], size - len(self._buffer)
        self._buffer = self._buffer[size:]
        while missing > 0:
            self._more()
            chunks.append(self._buffer[:missing])
            self._buffer, missing = self._buffer[missing:], missing - len(chunks[-1])
        return b"".join(chunks)

    def _more(self) -> None:
        data = self._stream.recv(65536)
        if not data:
            raise EOFError
        self._buffer += data


def serve(stream: Stream, handler: Handler) -> None:
    """Answers the requests of one connection until it ends, or the peer breaks the protocol."""
    reader = _Reader(stream)
    try:
        while _serve_one(stream, reader, handler):
            pass
    except BadRequest as error:
        stream.sendall(_answer(HTTPStatus.BAD_REQUEST, "text/plain", f"{error}\n".encode(), keep=False))
    except EOFError:
        pass


def _serve_one(stream: Stream, reader: _Reader, handler: Handler) -> bool:
    """Answers one request. Returns whether another may follow."""
    method, path, version = _request_line(reader.line())
    headers = _headers(reader)
    if "transfer-encoding" in headers:
        raise BadRequest("requests have a Content-Length")
    body = reader.exactly(_length(headers.get("content-length", "0")))
    wish = headers.get("connection", "").lower()
    keep = wish != "close" if version == "HTTP/1.1" else wish == "keep-alive"
    stream.sendall(_answer(*handler(method, path, body), keep))
    return keep


def _request_line(line: str) -> tuple[str, str, str]:
    parts = line.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise BadRequest("this is a server of HTTP/1.1")
    return parts[0], parts[1], parts[2]


def _headers(reader: _Reader) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(MOST_HEADERS):
        line = reader.line()
        if not line:
            return headers
        name, colon, value = line.partition(":")
        if not colon:
            raise BadRequest("a header without a colon")
        headers[name.strip().lower()] = value.strip()
    raise BadRequest("too many headers")


def _length(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or int(text) > LONGEST_BODY:
        raise BadRequest("wrong Content-Length")
    return int(text)


def _answer(status: HTTPStatus, kind: str, body: bytes, keep: bool) -> bytes:
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n"
    )
    return head.encode("latin-1") + body
