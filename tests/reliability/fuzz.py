"""Messages as clients send them, changed at random, and what they leave behind in a server."""

import ctypes
import gc
import json
import logging
import os
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LONG = os.environ.get("RELIABILITY") == "long"
NUMBER = 10_000 if LONG else 150
"""Messages for every port."""
SEED = int(os.environ.get("RELIABILITY_SEED", "0"))
"""Another one makes other messages."""

SPICE = [
    b"\0", b"\xff" * 9, b"\r\n\r\n", b"\n", b"{" * 400, b"[" * 4000, b'"', b"%00", b"%c0%ae/", b"../" * 9, b"-1",
    b"NaN", b"1e999", b"9" * 400, b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"a" * 5000, b"(a+)+$", b"';", b"`", b"$(",
    b"\x1b[", b"Content-Length: 7\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: evil\r\n",
    b"Connection: close\r\n",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**400, 0.5, -0.0, 1e308, float("nan"), float("inf"), "", "a", "\ud800",
    "\0", "x" * 5000, "(a+)+b", "💥", "..", "9" * 400, [], {}, [[]], [None] * 50, {"": {}},
]  # fmt: skip

Make = Callable[[random.Random], bytes]
"""Makes what one connection sends."""


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Makes one to four edits: deletes, doubles, flips a bit, or inserts something that parsers stumble over."""
    for _ in range(rng.randint(1, 4)):
        at, to = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
        flipped = bytes([byte ^ 1 << rng.randrange(8) for byte in data[at : at + 1]])
        piece, end = rng.choice([(b"", to), (data[at:to], at), (rng.choice(SPICE), at), (flipped, at + 1)])
        data = (data[:at] + piece + data[end:])[:100_000]
    return data


def value(rng: random.Random, depth: int = 3) -> Any:
    """Returns a JSON value that nobody expects."""
    match rng.randrange(8 if depth else 5):
        case 5:
            return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
        case 6 | 7:
            return {str(rng.choice(VALUES)): value(rng, depth - 1) for _ in range(rng.randrange(4))}
        case _:
            return rng.choice(VALUES)


def spoiled(message: Any, rng: random.Random) -> Any:
    """Returns a JSON message in which some value is another."""
    if not rng.randrange(6) or not isinstance(message, dict | list) or not message:
        return value(rng)
    keys = list(message) if isinstance(message, dict) else range(len(message))
    chosen = rng.choice(list(keys))
    pairs = message.items() if isinstance(message, dict) else enumerate(message)
    changed = {key: spoiled(each, rng) if key == chosen else each for key, each in pairs}
    return changed if isinstance(message, dict) else list(changed.values())


def http(method: str, target: str, body: bytes = b"", **headers: str) -> bytes:
    """Returns a request of HTTP/1.1."""
    lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    return "\r\n".join(lines).encode("utf-8", "surrogatepass") + b"\r\n\r\n" + body


def as_json(message: Any) -> bytes:
    return json.dumps(message).encode()


def send(port: int, sent: bytes, rng: random.Random) -> None:
    """Sends on a connection of its own, listens a moment or not at all, and hangs up, sometimes hard."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            connection.sendall(sent)
            if rng.random() < 0.7:
                connection.settimeout(rng.choice((0.002, 0.02)))
                connection.recv(65536)
        except OSError:
            pass
        if rng.random() < 0.3:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def attack(port: int, make: Make, number: int, seed: int, patience: float = 20.0) -> tuple[int, float]:
    """Sends messages on one connection each.

    Returns:
        How many threads and megabytes the second half of the messages has left behind.
    """
    rng = random.Random(seed + 1000 * SEED)
    for _ in range(number // 2):
        send(port, make(rng), rng)
    threads, megabytes = settled(0, patience), in_use()
    for _ in range(number - number // 2):
        send(port, make(rng), rng)
    return settled(threads, patience) - threads, in_use() - megabytes


def settled(wanted: int, patience: float) -> int:
    """Returns the number of threads, once there are so many or for a while no fewer."""
    until, least = time.monotonic() + patience, threading.active_count()
    quiet = time.monotonic() + 1.0
    while least > wanted and time.monotonic() < min(until, quiet):
        time.sleep(0.02)
        if (now := threading.active_count()) < least:
            least, quiet = now, time.monotonic() + 1.0
    return least


def resident() -> float:
    """Returns the megabytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def in_use() -> float:
    """Returns the megabytes of this process in memory without garbage and what malloc keeps free.

    Neither tells about a leak: phones that are put away hold each other until Python collects them, and every thread
    of a server takes an arena of malloc, whose free parts come to 100 MB in all.
    """
    gc.collect()
    with suppress(AttributeError):  # another C library than GNU's
        ctypes.CDLL(None).malloc_trim(0)
    return resident()


@contextmanager
def complaints(*loggers: str) -> Iterator[list[str]]:
    """Collects what servers log as errors: mistakes of theirs, for clients that send nonsense are none."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(self.format(record))

    handler = Handler(logging.ERROR)
    for name in ("", *loggers):
        logging.getLogger(name).addHandler(handler)
    try:
        yield found
    finally:
        for name in ("", *loggers):
            logging.getLogger(name).removeHandler(handler)
