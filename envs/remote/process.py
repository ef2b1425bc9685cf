"""Environments in processes of their own, so that phones in Python run on every core."""

from __future__ import annotations

import multiprocessing
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import cloudpickle
import gymnasium as gym

from coach_gym.envs.errors import DeviceError, UsageError
from coach_gym.envs.remote.host import GRACE, Call
from coach_gym.envs.remote.shared_memory import ParentEnd, new_memory
from coach_gym.envs.worker import Answer, Crew, Worker

# By default glibc gives the memory of old screens back to the system, and new ones cost page faults: 80 a step at
# 270 x 600, on average.
_KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(64 << 20)}


class Processes(Crew):
    """A process for each environment. One selector waits for all, in the thread that wants their results."""

    def __init__(self) -> None:
        self._busy = selectors.DefaultSelector()

    def start(self, env_id: int, make_env: Callable[[], gym.Env]) -> Worker:
        return ProcessWorker(env_id, make_env, self._busy)

    def outcome(self, timeout: float) -> tuple[Worker, Any] | None:
        for key, _ in self._busy.select(timeout):
            return key.data, key.data.outcome()
        return None


class ProcessWorker(Worker):
    """A worker in a process of its own.

    The process is a fresh interpreter: unlike a fork it shares no locks of running threads, and unlike
    `multiprocessing` it does not import the main script again, which so needs no guard. It ends with this object or
    with this program. It cannot be asked for forks, because the phone's memory is elsewhere.

    Args:
        env_id: Index of this environment among several.
        make_env: Builds the environment.
        busy: Knows the workers that owe an answer.
    """

    def __init__(self, env_id: int, make_env: Callable[[], gym.Env], busy: selectors.BaseSelector) -> None:
        self.env_id = env_id
        self._busy = busy
        with tempfile.TemporaryFile() as recipe:  # a pipe would hold this process up until the child reads it
            recipe.write(cloudpickle.dumps(make_env))
            recipe.seek(0)
            pipe, theirs = multiprocessing.Pipe()
            memory = new_memory()
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "coach_gym.envs.remote.child", str(theirs.fileno()), str(memory)],
                pass_fds=(theirs.fileno(), memory),
                stdin=recipe,
                env=_environment(),
            )
        theirs.close()
        self._channel = ParentEnd(pipe, memory)
        self._end = weakref.finalize(self, _end, self._process, self._channel)
        self._ending: threading.Thread | None = None

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> None:
        self._send(Call("reset", {"seed": seed, "options": options}))

    def step(self, action: Any) -> None:
        self._send(Call("step", {"action": action}))

    def ask(self, question: Callable[[gym.Env], Answer], timeout: float) -> Answer:
        raise UsageError("an environment in another process has no forks or snapshots; pass workers='thread'")

    def outcome(self) -> Any:
        """Returns what the call in progress returned, or the exception that it raised; waits for it."""
        self._busy.unregister(self._channel)
        try:
            outcome = self._channel.receive()
        except (EOFError, OSError):
            self._process.kill()  # it may have closed its pipe only
            outcome = DeviceError(f"the environment's process ended with code {self._process.wait()}")
        except Exception as error:  # what was sent needs code that is not here
            outcome = error
        if isinstance(outcome, BaseException) and not isinstance(outcome, UsageError):
            self.stop()
        return outcome

    def stop(self) -> None:
        if not self._end.alive or self._ending is not None:
            return
        if self._channel in self._busy.get_map():
            self._busy.unregister(self._channel)
        self._ending = threading.Thread(target=self._end)
        self._ending.start()

    def join(self, timeout: float) -> None:
        if self._ending is not None:
            self._ending.join(timeout)

    def _send(self, call: Call) -> None:
        with suppress(OSError):  # that the process has died is its answer
            self._channel.send(call)
        self._busy.register(self._channel, selectors.EVENT_READ, self)


def _environment() -> dict[str, str]:
    """Returns the environment variables of a child: ours, and our module paths."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return {**_KEEP_MEMORY, **os.environ, "PYTHONPATH": paths}


def _end(process: subprocess.Popen[bytes], channel: ParentEnd) -> None:
    """Lets the process close its environment, which it does when its pipe closes, and ends it if that takes long."""
    channel.close()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
