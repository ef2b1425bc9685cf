"""Connections of a server, of which neither many idle ones nor slow ones keep others out."""

import math
import socket
import threading
import time
from contextlib import suppress
from typing import Any


class Connections:
    """The connections at present, up to a number.

    Args:
        most: That number.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._waits: dict[socket.socket, bool] = {}  # those whose state has not changed for longest come first
        self._lock = threading.Lock()

    def enter(self, connection: socket.socket) -> bool:
        """Adds a connection, in whose place the one hangs up that has waited for its client for longest.

        Returns:
            Whether there is room: no other waits for its client if there is none.
        """
        with self._lock:
            if len(self._waits) >= self.most:
                idle = next((each for each, waits in self._waits.items() if waits), None)
                if idle is None:
                    return False
                del self._waits[idle]
                with suppress(OSError):
                    idle.shutdown(socket.SHUT_RDWR)  # its thread wakes and closes it
            self._waits[connection] = True
            return True

    def note(self, connection: socket.socket, waits: bool) -> None:
        """Notes whether a connection waits for its client from now on."""
        with self._lock:
            if self._waits.pop(connection, None) is not None:
                self._waits[connection] = waits

    def leave(self, connection: socket.socket) -> None:
        """Forgets a connection."""
        with self._lock:
            self._waits.pop(connection, None)


class TimedInput(socket.SocketIO):
    """What a client sends, with a deadline for the whole of each request, however slowly it drips.

    Args:
        connection: The socket; its time limit is that for silence.
        seconds: How long a request may take to arrive, from its first byte on.

    Attributes:
        deadline: The end of that time on the monotonic clock, which may be put off for a long request.
    """

    def __init__(self, connection: socket.socket, seconds: float) -> None:
        super().__init__(connection, "r")
        self._connection, self._seconds = connection, seconds
        self.deadline = math.inf

    def await_request(self) -> None:
        """Ends the deadline; the next request's begins when it does."""
        self.deadline = math.inf

    def readinto(self, buffer: Any) -> int | None:
        """Reads some bytes.

        Raises:
            TimeoutError: There are none in time.
        """
        silence = self._connection.gettimeout() or math.inf
        left = max(0.001, min(silence, self.deadline - time.monotonic()))
        self._connection.settimeout(left if math.isfinite(left) else None)
        try:
            size = super().readinto(buffer)
        finally:
            self._connection.settimeout(silence if math.isfinite(silence) else None)
        if self.deadline == math.inf:
            self.deadline = time.monotonic() + self._seconds
        return size
