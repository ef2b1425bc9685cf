"""Requests that arrive in time, or not at all."""

import math
import socket
import time
from typing import Any


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
