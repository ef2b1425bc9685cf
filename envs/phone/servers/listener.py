"""A port of this machine, each connection of which is served in its own thread."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable

from coach_gym.connections import Connections, shut
from coach_gym.loopback import HOST

MOST = 64  # connections at once


class _Connection(socket.socket):
    """A connected socket that tells the others when it is heard of."""

    others: Connections[socket.socket]

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        data = super().recv(size, flags)
        self.others.note(self, waits=True)
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
        self._connections = Connections[socket.socket](MOST, shut)
        self._threads: dict[socket.socket, threading.Thread] = {}
        self._closed = False
        self._thread = threading.Thread(target=self._accept, name=f"listener-{self.port}", daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._socket.accept()
            except OSError:
                if self._closed:
                    return
                time.sleep(0.1)  # no file descriptor is free, or the client has already left
                continue
            connection = _Connection(fileno=accepted.detach())
            connection.others = self._connections
            thread = threading.Thread(target=self._run, args=(connection,), name=f"port-{self.port}", daemon=True)
            with self._lock:
                if self._closed:
                    connection.close()
                    continue
                self._threads[connection] = thread
                self._connections.enter(connection)  # in whose place another one's thread wakes and ends
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
            self._connections.leave(connection)
            with self._lock:
                del self._threads[connection]
            connection.close()

    def close(self) -> None:
        """Ends all connections and frees the port."""
        with self._lock:
            self._closed = True
            open = dict(self._threads)
        shut(self._socket)
        self._socket.close()
        for connection in open:
            shut(connection)
        for thread in (self._thread, *open.values()):
            if thread is not threading.current_thread():
                thread.join(timeout=5)
