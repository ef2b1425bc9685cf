"""The process of a `ProcessWorker`: `python -m coach_gym.envs.remote.child PIPE MEMORY`, two file descriptors.

Its standard input is the pickle of the function that builds its environment.
"""

from __future__ import annotations

import pickle
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from coach_gym.envs.remote.host import Host, unsendable
from coach_gym.envs.remote.shared_memory import ChildEnd


def main(pipe: int, memory: int) -> None:
    """Answers calls until the other end closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all, and the trainer decides
    host = Host(pickle.load(sys.stdin.buffer))
    channel = ChildEnd(Connection(pipe), memory)
    try:
        with suppress(EOFError, OSError):  # the trainer is done, or has died
            while True:
                _send(channel, host.answer(channel.receive()))
    finally:
        host.close()


def _send(channel: ChildEnd, answer: Any) -> None:
    try:
        channel.send(answer)
    except OSError:
        raise
    except Exception as error:  # pickle raises of all kinds, before anything is sent
        channel.send(unsendable(error))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
