"""Values between two processes: their arrays pass through shared memory, because a pipe would copy them in pieces."""

from __future__ import annotations

import mmap
import os
import pickle
import select
import sys
import tempfile
from multiprocessing.connection import Connection
from typing import Any


class Channel:
    """One end of a connection between a process and its child, which take turns.

    Pickles are safe here: nobody else can write to the pipe or the memory, which have no name.

    Args:
        pipe: This end of a pipe.
        memory: File descriptor from `new_memory`, the same at both ends; the larger of its users' values sizes it.
    """

    def __init__(self, pipe: Connection, memory: int) -> None:
        self._pipe = pipe
        self._memory = memory
        self._view = mmap.mmap(memory, os.fstat(memory).st_size)
        self._poll = select.poll()  # the pipe's own `poll` makes a selector for each call
        self._poll.register(pipe.fileno(), select.POLLIN)

    def send(self, value: Any) -> None:
        """Sends a value. The other end must have received the last one.

        Raises:
            OSError: The other process has ended.
        """
        arrays: list[pickle.PickleBuffer] = []
        rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        raw = [array.raw() for array in arrays]
        self._resize(sum(part.nbytes for part in raw))
        at = 0
        for part in raw:
            self._view[at : at + part.nbytes] = part
            at += part.nbytes
        self._pipe.send_bytes(pickle.dumps((rest, [part.nbytes for part in raw])))

    def receive(self, timeout: float | None = None) -> Any:
        """Waits for a value; its arrays are new and writable.

        Raises:
            TimeoutError: There is none after `timeout` seconds.
            EOFError: The other process has ended.
        """
        if timeout is not None and not self._poll.poll(1e3 * timeout):
            raise TimeoutError
        rest, sizes = pickle.loads(self._pipe.recv_bytes())
        self._resize(sum(sizes))
        arrays, at = [], 0
        with memoryview(self._view) as view:
            for size in sizes:
                arrays.append(bytearray(view[at : at + size]))
                at += size
        return pickle.loads(rest, buffers=arrays)

    def close(self) -> None:
        """Closes this end."""
        self._pipe.close()
        self._view.close()
        os.close(self._memory)

    def _resize(self, size: int) -> None:
        if size > os.fstat(self._memory).st_size:
            os.ftruncate(self._memory, size)
        if size > len(self._view):
            self._view.close()
            self._view = mmap.mmap(self._memory, os.fstat(self._memory).st_size)


def new_memory() -> int:
    """Returns the file descriptor of memory without a name, which is freed when both processes have closed it."""
    if sys.platform == "linux":
        memory = os.memfd_create("coach_gym")
    else:
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    os.ftruncate(memory, mmap.PAGESIZE)
    return memory
