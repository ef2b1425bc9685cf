"""Values between a process and its child: a pipe takes them, but for arrays from the child, which share memory.

A pipe would copy arrays in pieces. Here the child writes them once, and its parent uses them where they lie: the memory
is divided into blocks, and a block is written again when nobody holds what it contains.
"""

from __future__ import annotations

import mmap
import os
import pickle
import sys
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

_BLOCKS = 4  # what arrives, what came before it, and two for a caller who keeps some; to one who keeps more, copies
_ALIGNMENT = 64  # bytes


@dataclass
class _Block:
    """A part of the memory.

    Attributes:
        start: Where it begins, in bytes.
        size: Number of bytes.
        held: Returns its bytes as long as an array in it lives, and then None.
    """

    start: int = 0
    size: int = 0
    held: Callable[[], object] = lambda: None


class ParentEnd:
    """The end of who asks.

    Pickles are safe here: nobody else can write to the pipe or the memory, which have no name.

    Args:
        pipe: This end of a pipe.
        memory: File descriptor from `new_memory`, the same at both ends.
    """

    def __init__(self, pipe: Connection, memory: int) -> None:
        self._pipe = pipe
        self._memory = memory
        self._view = mmap.mmap(memory, os.fstat(memory).st_size)
        self._blocks: list[_Block] = []
        self._free = _Block()

    def fileno(self) -> int:
        """Returns the descriptor that can be read when there is an answer."""
        return self._pipe.fileno()

    def send(self, value: Any) -> None:
        """Sends a value, and where there is room for its answer. The last answer must have been received.

        Raises:
            OSError: The child has ended.
        """
        self._free = next((block for block in self._blocks if block.held() is None), _Block())
        self._pipe.send_bytes(pickle.dumps((self._free.start, self._free.size, value), protocol=5))

    def receive(self) -> Any:
        """Waits for the answer. Its arrays are writable, and the caller's for as long as it holds them.

        Raises:
            EOFError: The child has ended.
            OSError: The same.
        """
        rest, start, ends = pickle.loads(self._pipe.recv_bytes())
        if not ends:
            return pickle.loads(rest)
        block = self._written(start, ends[-1])
        whole = np.frombuffer(self._view, np.uint8, block.size, block.start)
        if len(self._blocks) < _BLOCKS or any(other.held() is None for other in self._blocks if other is not block):
            block.held = weakref.ref(whole)  # every view of it, of whatever kind, keeps it alive
        else:
            whole = whole.copy()
        return pickle.loads(rest, buffers=[whole[start:end] for start, end in _spans(ends)])

    def close(self) -> None:
        """Closes this end. Arrays that were received keep their memory."""
        self._pipe.close()
        os.close(self._memory)

    def _written(self, start: int, size: int) -> _Block:
        """Returns the block that the child has written: the one that it was given, or a new one if that was small."""
        if size <= self._free.size:
            return self._free
        if self._free.size:
            self._blocks.remove(self._free)
        self._blocks.append(_Block(start, size))
        self._view = mmap.mmap(self._memory, os.fstat(self._memory).st_size)
        return self._blocks[-1]


class ChildEnd:
    """The end of who answers.

    Args:
        pipe: This end of a pipe.
        memory: File descriptor of the memory.
    """

    def __init__(self, pipe: Connection, memory: int) -> None:
        self._pipe = pipe
        self._memory = memory
        self._view = mmap.mmap(memory, os.fstat(memory).st_size)
        self._start, self._size = 0, 0

    def receive(self) -> Any:
        """Waits for a value.

        Raises:
            EOFError: The parent has ended, or has closed its end.
        """
        self._start, self._size, value = pickle.loads(self._pipe.recv_bytes())
        return value

    def send(self, value: Any) -> None:
        """Sends the answer.

        Raises:
            OSError: The parent has ended, or has closed its end.
        """
        arrays: list[pickle.PickleBuffer] = []
        rest = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
        parts = [array.raw() for array in arrays]
        ends = list(accumulate(parts, lambda at, part: _aligned(at) + part.nbytes, initial=0))[1:]
        if ends and ends[-1] > self._size:
            self._append(ends[-1])
        for part, (start, end) in zip(parts, _spans(ends), strict=True):
            self._view[self._start + start : self._start + end] = part
        self._pipe.send_bytes(pickle.dumps((rest, self._start, ends), protocol=5))

    def _append(self, size: int) -> None:
        """Makes a new block at the end of the memory."""
        self._start = _aligned(os.fstat(self._memory).st_size)
        os.ftruncate(self._memory, self._start + size)
        self._view.close()
        self._view = mmap.mmap(self._memory, self._start + size)


def new_memory() -> int:
    """Returns the file descriptor of memory without a name, which is freed when both processes have closed it."""
    if sys.platform == "linux":
        memory = os.memfd_create("coach_gym")
    else:
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    os.ftruncate(memory, mmap.PAGESIZE)
    return memory


def _spans(ends: list[int]) -> list[tuple[int, int]]:
    """Returns where arrays that end there begin and end."""
    return [(_aligned(before), end) for before, end in zip([0, *ends], ends, strict=False)]


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
