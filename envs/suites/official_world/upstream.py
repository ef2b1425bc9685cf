"""Finds the upstream package, and gives each thread its own share of what upstream takes from the process.

Upstream draws from Python's global generator, sleeps, and writes files with fixed names to the temporary folder. Our
environments run in threads of one process, so its modules get a generator, a `sleep` and a folder for each thread. Its
code is untouched, but for what writes silent songs.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import absl.logging

from coach_gym.envs.errors import UsageError
from coach_gym.envs.phone.media.audio import silent_mp3

VARIABLE = "COACH_ANDROID_WORLD"
"""Environment variable that names a checkout of AndroidWorld."""

NAME = "android_world"
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where temporary files cost nothing: upstream copies databases to and fro dozens of times a task."""
_PROTO = "android_world/task_evals/information_retrieval/proto"


def load(checkout: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Imports upstream and returns its 116 task classes by name, in alphabetical order as its runner has them.

    Args:
        checkout: Folder of a checkout of the AndroidWorld repository; by default what the environment variable
            `COACH_ANDROID_WORLD` names, else the installed package.

    Raises:
        UsageError: There is none, or something that it imports is not installed.
    """
    folder = checkout or os.environ.get(VARIABLE)
    return _load(str(Path(folder).resolve()) if folder else None)


@lru_cache(maxsize=1)
def _load(checkout: str | None) -> dict[str, Any]:
    _find(checkout)
    try:
        _compile_protos(Path(module().__path__[0]).parent)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Couldn't find ffmpeg", RuntimeWarning)
            registry = module("registry").TaskRegistry()
    except ImportError as error:
        raise UsageError(
            f"the upstream android_world package cannot be imported: {error}. Install what it needs with "
            f"pip install 'coach-gym[official]'"
        ) from error
    absl.logging.set_verbosity(absl.logging.ERROR)  # it warns of every app without a snapshot, of every failed task
    _give_thread_local_modules()
    _write_music_ourselves()
    return dict(sorted(registry.get_registry(registry.ANDROID_WORLD_FAMILY).items()))


def module(name: str = "") -> ModuleType:
    """Returns a module of upstream, such as `env.interface`."""
    return importlib.import_module(f"{NAME}.{name}" if name else NAME)


def metadata() -> dict[str, dict[str, Any]]:
    """Returns what upstream says of each task, by name: difficulty, tags, optimal number of steps."""
    entries = json.loads((Path(module().__path__[0]) / "task_metadata.json").read_text())
    return {entry["task_name"]: entry for entry in entries}


def _find(checkout: str | None) -> None:
    """Imports the package itself. A checkout stays on the path no longer: its root holds modules like `run`."""
    if checkout is not None:
        if not (Path(checkout) / NAME / "registry.py").is_file():
            raise UsageError(f"{checkout} is no checkout of AndroidWorld: it has no {NAME}/registry.py")
        loaded = sys.modules.get(NAME)
        if loaded is not None and Path(loaded.__path__[0]).parent != Path(checkout):
            raise UsageError(f"{NAME} was already imported from {loaded.__path__[0]}; {checkout} needs a new process")
        sys.path.insert(0, checkout)
        try:
            module()
        finally:
            sys.path.remove(checkout)
    elif importlib.util.find_spec(NAME) is None:
        raise UsageError(
            f"suite='official' runs the upstream android_world package, which is not installed. Clone "
            f"google-research/android_world and set {VARIABLE} to its folder, or install it as its README says"
        )


def _compile_protos(root: Path) -> None:
    """Makes the two modules that upstream's build generates, where a checkout was never built."""
    package = module("task_evals.information_retrieval.proto")
    if importlib.util.find_spec(f"{package.__name__}.task_pb2") is not None:
        return
    from grpc_tools import protoc

    out = tempfile.mkdtemp(prefix="coach-gym-protos-")
    weakref.finalize(package, shutil.rmtree, out, ignore_errors=True)
    files = [f"{_PROTO}/state.proto", f"{_PROTO}/task.proto"]
    if protoc.main(["protoc", f"--proto_path={root}", f"--python_out={out}", *files]) != 0:
        raise UsageError(f"the protocol buffers of {root / _PROTO} do not compile")
    package.__path__.append(f"{out}/{_PROTO}")


def _write_music_ourselves() -> None:
    """Replaces the maker of silent MP3 files: pydub's needs ffmpeg, and most of the time that four tasks take."""

    def write(path: str, artist: str, title: str, duration_milliseconds: int = 1000) -> str:
        Path(path).write_bytes(silent_mp3(duration_milliseconds / 1000, title, artist))
        return path

    module("task_evals.utils.user_data_generation")._create_test_mp3 = write  # type: ignore[attr-defined]


# what belongs to a thread


class _Local(threading.local):
    """A thread's random generator, temporary folder, and what passes the time; None for waiting really."""

    def __init__(self) -> None:
        self.random = random.Random()
        self.sleep: Callable[[float], None] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def folder(self) -> str:
        """Returns this thread's folder for temporary files."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="coach-gym-", dir=_MEMORY)
        return self._folder.name


_local = _Local()


class _Random:
    """Stands for the module `random`: its functions are those of the thread's generator."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_local.random, name)


class _Time:
    """Stands for the module `time`, but for who sleeps."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def sleep(self, seconds: float) -> None:
        """Sleeps as this thread is told to."""
        (_local.sleep or time.sleep)(seconds)


class _Tempfile:
    """Stands for the module `tempfile`: everything lies in the thread's folder."""

    def gettempdir(self) -> str:
        """Returns this thread's folder."""
        return _local.folder

    def mkdtemp(self) -> str:
        """Makes a folder in this thread's folder."""
        return tempfile.mkdtemp(dir=_local.folder)


class _Folder:
    """A path: the thread's temporary folder."""

    def __fspath__(self) -> str:
        return _local.folder


def _give_thread_local_modules() -> None:
    stand_ins = {
        "random": (random, _Random()), "time": (time, _Time()), "tempfile": (tempfile, _Tempfile()),
    }  # fmt: skip
    for name, loaded in list(sys.modules.items()):
        if name.split(".")[0] == NAME:
            for attribute, (original, stand_in) in stand_ins.items():
                if getattr(loaded, attribute, None) is original:
                    setattr(loaded, attribute, stand_in)
    module("task_evals.utils.user_data_generation")._TMP = _Folder()  # type: ignore[attr-defined]


def seed(value: int) -> None:
    """Seeds the generator that upstream draws from in this thread."""
    _local.random.seed(value)


@contextmanager
def sleeping(by: Callable[[float], None] | None) -> Iterator[None]:
    """Turns upstream's sleeps in this thread into calls of `by` with the seconds; None lets it really sleep."""
    _local.sleep, before = by, _local.sleep
    try:
        yield
    finally:
        _local.sleep = before
