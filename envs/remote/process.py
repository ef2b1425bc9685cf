"""An environment in a process of its own, so that phones in Python run on every core."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import cloudpickle
import gymnasium as gym

from coach_gym.envs.errors import DeviceError
from coach_gym.envs.remote.host import GRACE, Call, Limits, RemoteEnv
from coach_gym.envs.remote.shared_memory import Channel, new_memory

# By default glibc gives the memory of old screens back to the system, and new ones cost page faults: 80 a step at
# 270 x 600, on average.
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}


class ProcessEnv(RemoteEnv):
    """An environment that a process of its own builds and executes.

    The process is a fresh interpreter: unlike a fork it shares no locks of running threads, and unlike
    `multiprocessing` it does not import the main script again, which so needs no guard. It ends with this object or
    with this program.

    Args:
        make_env: Builds the environment.
        limits: Seconds that calls may take.
    """

    def __init__(self, make_env: Callable[[], gym.Env], limits: Limits) -> None:
        super().__init__(limits)
        pipe, theirs = multiprocessing.Pipe()
        memory = new_memory()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "coach_gym.envs.remote.child", str(theirs.fileno()), str(memory)],
            pass_fds=(theirs.fileno(), memory),
            stdin=subprocess.DEVNULL,
            env={**_KEEP_MEMORY, **os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
        theirs.close()
        self._channel = Channel(pipe, memory)
        self._end = weakref.finalize(self, _end, self._process, self._channel)
        with suppress(OSError):  # a child that has died is told by the first answer
            self._channel.send(cloudpickle.dumps(make_env))

    def close(self) -> None:
        """Closes the environment and ends the process; by force if that takes long."""
        self._end()

    def _ask(self, call: Call, timeout: float) -> Any:
        try:
            self._channel.send(call)
            return self._channel.receive(timeout)
        except TimeoutError:
            self._process.kill()
            raise TimeoutError(f"{call.method} took longer than {timeout:g} s, and its process was killed") from None
        except (EOFError, OSError) as error:
            self._process.kill()  # it may have closed its pipe only
            raise DeviceError(f"the environment's process ended with code {self._process.wait()}") from error


def _end(process: subprocess.Popen[bytes], channel: Channel) -> None:
    """Lets the process close its environment, which it does when its pipe closes, and ends it if that takes long."""
    channel.close()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
