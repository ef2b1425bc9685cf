"""Processes that are killed before a file operation, or in the middle of a write."""

import builtins
import io
import os
import signal
import traceback
from functools import partial

OPERATIONS = ("mkdir", "open", "fsync", "rename", "replace", "unlink", "rmdir", "link")


def killed_at(number, work):
    """Does something in a process that is killed before its file operation of this number.

    A write counts as an operation, too; of what it writes, the first half is in the file.

    Returns:
        The number of operations; None if it was killed.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            operations = _Operations(number)
            work()
            os.write(writes, b"%d" % operations.count)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writes)
    with open(reads, "rb") as pipe:
        told = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return None
    assert told, "it raised"
    return int(told)


class _Operations:
    """All file operations of this process from now on.

    Attributes:
        count: How many there have been.
    """

    def __init__(self, last):
        self.count, self._last = 0, last
        for name in OPERATIONS:
            setattr(os, name, partial(self._call, getattr(os, name)))
        io.open = builtins.open = partial(self._open, io.open)

    def _next(self):
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1

    def _call(self, operation, *args, **kwargs):
        self._next()
        return operation(*args, **kwargs)

    def _open(self, opened, file, mode="r", *args, **kwargs):
        result = opened(file, mode, *args, **kwargs)
        if set(mode) & set("wax+"):
            self._next()  # the file is there, and empty
            result.write = partial(self._write, result.write, result.flush)
        return result

    def _write(self, write, flush, data):
        if self.count == self._last:
            write(data[: len(data) // 2])
            flush()
        self._next()
        return write(data)
