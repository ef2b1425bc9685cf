"""A port of this machine, each connection of which is served in its own thread."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable

from coach_gym.loopback import HOST

MOST = 64  # connections at once


class _Connection(socket.socket):
    """A connected socket that knows when it was last heard of; `heard` is 0 until it has said anything."""

    heard = 0.0

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        data = super().recv(size, flags)
        self.heard = time.monotonic()
        return data


class Listener:
    """Accepts connections on a loopback port until it is closed.

    If there are too many, one that has never said anything is closed, or else the one that has been silent for longest.

    Args:
        serve: Called with each connected socket, which is closed when it returns.
        port: The port; 0 takes a free one.

    Raises:
        OSError: The port is taken.
    """

    def __init__(self, serve: Callable[[socket.socket], None], port: int = 0) -> None:
        self._serve = serve
        self._socket = socket.create_server((HOST, port), backlog=MOST)
        self.port: int = self._socket.getsockname()[1]
        self._lock = threading.Lock()
        self._connections: dict[_Connection, threading.Thread] = {}
        self._closed = False
        self._thread = threading.Thread(target=self._accept, name=f"listener-{self.port}", daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._socket.accept()
            except OSError:
                return  # closed
            connection = _Connection(fileno=accepted.detach())
            thread = threading.Thread(target=self._run, args=(connection,), name=f"port-{self.port}", daemon=True)
            with self._lock:
                if self._closed:
                    connection.close()
                    continue
                if len(self._connections) >= MOST:  # in the order of their arrival, which decides among the silent
                    silent = min(self._connections, key=lambda other: other.heard)
                    del self._connections[silent]
                    shut(silent)
                self._connections[connection] = thread
            thread.start()

    def _run(self, connection: _Connection) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._serve(connection)
        except OSError:
            pass  # the other side is gone
        except Exception:
            logging.exception("a connection to port %d failed", self.port)
        finally:
            with self._lock:
                self._connections.pop(connection, None)
            connection.close()

    def close(self) -> None:
        """Ends all connections and frees the port."""
        with self._lock:
            self._closed = True
            open = dict(self._connections)
        shut(self._socket)
        self._socket.close()
        for connection in open:
            shut(connection)
        for thread in (self._thread, *open.values()):
            if thread is not threading.current_thread():
                thread.join(timeout=5)


def shut(connection: socket.socket) -> None:
    """Wakes whoever waits for a socket."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # not connected (any more)
