"""A device that is not there: a text field and two buttons on a white screen, and ways to break it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import numpy as np

from coach_gym.actions import Action, ActionError
from coach_gym.envs.devices.device import Device
from coach_gym.envs.suites.suite import Suite
from coach_gym.envs.tasks.screen import EXPERTS, Screen, expert
from coach_gym.envs.tasks.task import Task
from coach_gym.envs.tasks.words import FIRST_NAMES, ParamRng
from coach_gym.ui import Node

SIZE = (60, 120)
FIELD, SAVE, CLEAR = (0, 10, 60, 30), (0, 40, 30, 60), (30, 40, 60, 60)


class DeviceLost(RuntimeError):
    """What a broken device raises."""


class FakeDevice:
    """Types into a field; Save writes the field to a file, Clear empties it.

    Attributes:
        breaks: Names of methods that raise DeviceLost.
        hang: Set to an event to make ``perform`` wait for it.
    """

    name = "fake"
    size = SIZE
    now = datetime(2023, 10, 15, 15, 34)
    foreground = "org.fake"

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.field = ""
        self.breaks: set[str] = set()
        self.hang: threading.Event | None = None
        self.calls: list[str] = []
        self.closed = False
        self.thread = threading.get_ident()

    def _called(self, method: str) -> None:
        self.calls.append(method)
        alone = method in ("screenshot", "ui") or threading.get_ident() == self.thread
        assert alone, f"{method} was called from another thread than the first"
        if method in self.breaks:
            raise DeviceLost(f"{method} got no answer\nsecond line of a long story")

    def screenshot(self) -> np.ndarray:
        self._called("screenshot")
        pixels = np.full((SIZE[1], SIZE[0], 3), 255, np.uint8)
        pixels[12:28, : len(self.field)] = 0
        return pixels

    def ui(self) -> Node:
        self._called("ui")
        field = Node("android.widget.EditText", FIELD, text=self.field, hint="Name", clickable=True, focused=True)
        save = Node("android.widget.Button", SAVE, text="Save", clickable=True)
        clear = Node("android.widget.Button", CLEAR, text="Clear", clickable=True)
        return Node("android.widget.FrameLayout", (0, 0, *SIZE), children=[field, save, clear])

    def perform(self, action: Action) -> None:
        self._called("perform")
        if self.hang is not None:
            self.hang.wait()
        if action.kind == "open_app":
            raise ActionError(f"no app {action.content!r}")
        if action.kind == "type":
            self.field += action.content
        if action.kind == "click" and action.start is not None:
            self._touch(*action.start)

    def _touch(self, x: int, y: int) -> None:
        if SAVE[1] <= y < SAVE[3]:
            if x < SAVE[2]:
                self.write("/sdcard/name.txt", self.field.encode())
            else:
                self.field = ""

    def read(self, path: str) -> bytes | None:
        self._called("read")
        return self.files.get(path)

    def write(self, path: str, data: bytes, modified: datetime | None = None) -> None:
        self.files[path] = data

    def remove(self, path: str) -> None:
        self._called("remove")
        self.files.pop(path, None)

    def listdir(self, path: str) -> list[str]:
        return sorted(name.removeprefix(f"{path}/") for name in self.files if name.startswith(f"{path}/"))

    @contextmanager
    def database(self, path: str) -> Iterator[sqlite3.Connection]:
        with sqlite3.connect(":memory:") as connection:
            yield connection

    def get_setting(self, namespace: str, key: str) -> str | None:
        return None

    def put_setting(self, namespace: str, key: str, value: str) -> None:
        self.files[f"{namespace}/{key}"] = value.encode()

    def get_clipboard(self) -> str:
        return ""

    def put_clipboard(self, text: str) -> None:
        self.files["clipboard"] = text.encode()

    def reset_state(self) -> None:
        self._called("reset_state")
        self.files.clear()
        self.field = ""

    def close(self) -> None:
        self.closed = True
        self._called("close")


class SaveName(Task):
    apps = ("Fake",)
    template = "Save the name {name}."
    budget = 6

    @classmethod
    def sample(cls, rng: ParamRng) -> dict:
        return {"name": FIRST_NAMES.draw(rng)}

    def evaluate(self, device: Device, answer: str | None) -> float:
        return float(device.read("/sdcard/name.txt") == self.params["name"].encode())

    def teardown(self, device: Device) -> None:
        device.remove("/sdcard/name.txt")


class TellLength(Task):
    """A query whose parameter has the same name as another family's, and another type."""

    apps = ("Fake",)
    template = "How many letters has the word of {name} times x?"
    budget = 3
    kind = "query"
    difficulty = "hard"

    @classmethod
    def sample(cls, rng: ParamRng) -> dict:
        return {"name": rng.randint(2, 5) + 0.5}

    def evaluate(self, device: Device, answer: str | None) -> float:
        return float(answer == str(self.params["name"]))


SUITE = Suite("android_world", "fake", {"SaveName": SaveName, "TellLength": TellLength})


@expert("SaveName")
def save_name(screen: Screen, params: dict) -> Iterator[str]:
    yield from screen.fill("Name", params["name"])
    yield screen.tap("Save")
    yield screen.finish()


@expert("TellLength")
def tell_length(screen: Screen, params: dict) -> Iterator[str]:
    yield screen.finish(str(params["name"]))


assert {"SaveName", "TellLength"} <= EXPERTS.keys()
