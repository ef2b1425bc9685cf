"""The connections of a server, of which neither many idle ones nor slow ones keep others out."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from itertools import chain
from typing import Generic, TypeVar

Connection = TypeVar("Connection", bound=Hashable)


class Connections(Generic[Connection]):
    """The connections at present, up to a number.

    Args:
        most: That number.
        hang_up: Ends a connection, in whose place another has come.
    """

    def __init__(self, most: int, hang_up: Callable[[Connection], None]) -> None:
        self.most = most
        self._hang_up = hang_up
        self._silent: dict[Connection, None] = {}  # those that have not asked for anything, in the order of arrival
        self._waits: dict[Connection, bool] = {}  # the others; those whose state has not changed for longest come first
        self._lock = threading.Lock()

    def enter(self, connection: Connection) -> bool:
        """Adds a connection, in whose place the one is ended that has waited for its client for longest.

        One that has never asked for anything is ended before one that has.

        Returns:
            Whether there is room: no other waits for its client if there is none.
        """
        with self._lock:
            idle = None
            if len(self._silent) + len(self._waits) >= self.most:
                idle = next(chain(self._silent, (each for each, waits in self._waits.items() if waits)), None)
                if idle is None:
                    return False
                self._forget(idle)
            self._silent[connection] = None
        if idle is not None:
            self._hang_up(idle)
        return True

    def note(self, connection: Connection, waits: bool) -> None:
        """Notes that a connection has asked for something, and whether it waits for its client from now on."""
        with self._lock:
            if connection in self._silent or connection in self._waits:
                self._forget(connection)
                self._waits[connection] = waits

    def leave(self, connection: Connection) -> None:
        """Forgets a connection."""
        with self._lock:
            self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        self._silent.pop(connection, None)
        self._waits.pop(connection, None)


def shut(connection: socket.socket) -> None:
    """Wakes whoever waits for a socket, who then closes it."""
    with suppress(OSError):  # not connected (any more)
        connection.shutdown(socket.SHUT_RDWR)
