"""Free ports for the servers of tests. No port is given twice, also where several processes test."""

import os
import random
import socket
from contextlib import ExitStack


def _blocks():
    """First ports of blocks of four, in random order: those of this process alone, if pytest-xdist runs several.

    They lie below the ports that the system gives to outgoing connections.
    """
    process, processes = os.environ.get("PYTEST_XDIST_WORKER", "gw0"), os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    blocks = list(range(20_000, 32_000, 4))[int(process.removeprefix("gw")) :: int(processes)]
    random.SystemRandom().shuffle(blocks)
    return iter(blocks)


_unused = _blocks()


def free_port():
    """An even port that is free as the three after it are."""
    for port in _unused:
        with ExitStack() as probes:
            try:
                for each in range(port, port + 4):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", each))
                return port
            except OSError:
                continue
    raise RuntimeError("all ports for tests have been given")


def free_pair():
    """Console and adb port of an emulator: an even one and the next."""
    port = free_port()
    return port, port + 1
