"""The process of a `ProcessEnv`: `python -m coach_gym.envs.remote.child PIPE MEMORY`, two file descriptors."""

from __future__ import annotations

import pickle
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from coach_gym.envs.remote.host import Host
from coach_gym.envs.remote.shared_memory import Channel


def main(pipe: int, memory: int) -> None:
    """Answers calls until the other end closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all, and the trainer decides
    channel = Channel(Connection(pipe), memory)
    with suppress(EOFError, OSError):  # the trainer is done, or has died
        host = Host(pickle.loads(channel.receive()))
        try:
            while True:
                channel.send(host.answer(channel.receive()))
        finally:
            host.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
