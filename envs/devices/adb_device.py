"""Any device that adb reaches: emulators, phones on a cable, phones and emulators of other computers.

Screen, touch, keys, text and clipboard go through uiautomator2, files and databases through adb's sync protocol,
the rest through commands whose words are quoted. Files of apps (``/data/data``) need a device where adb may be root:
emulator images without Google Play, not phones.
"""

from __future__ import annotations

import atexit
import io
import re
import sqlite3
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import uiautomator2
from PIL import Image

from coach_gym.actions import Action, ActionError, Point
from coach_gym.envs.devices import gestures
from coach_gym.envs.devices.adb import Adb, failures
from coach_gym.envs.devices.app_names import label_of, package_named
from coach_gym.envs.devices.console import Console
from coach_gym.envs.errors import DeviceError
from coach_gym.ui import SYSTEM_UI, Node, node_from_xml

SETTLE = 3.0  # seconds: how long the screen may take to come to rest
PAUSE = 0.3  # seconds between two looks that must be equal
_JPEG_QUALITY = 90
_LONGEST_LIST = 2000  # characters: of apps, in a message to the agent
_STEP = 0.005  # seconds: uiautomator moves a finger in steps of this length
_EPOCH = datetime(1970, 1, 1)

# What makes a device quiet: no animations, a display that neither sleeps nor turns. Where a device knows one of these
# commands not, it is done without.
_CALM = (
    ("settings", "put", "global", "window_animation_scale", "0"),
    ("settings", "put", "global", "transition_animation_scale", "0"),
    ("settings", "put", "global", "animator_duration_scale", "0"),
    ("settings", "put", "system", "accelerometer_rotation", "0"),
    ("settings", "put", "system", "user_rotation", "0"),
    ("cmd", "device_config", "put", "systemui", "clipboard_overlay_enabled", "false"),  # heard when the system starts
    ("cmd", "window", "set-ignore-orientation-request", "true"),
    ("svc", "power", "stayon", "true"),
)
# Settings that only report what a service does: the command that has the service do it, for each value.
_SERVICES: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {
    ("global", "wifi_on"): {"0": ("svc", "wifi", "disable"), "1": ("svc", "wifi", "enable")},
    ("global", "bluetooth_on"): {"0": ("svc", "bluetooth", "disable"), "1": ("svc", "bluetooth", "enable")},
    ("global", "mobile_data"): {"0": ("svc", "data", "disable"), "1": ("svc", "data", "enable")},
    ("global", "airplane_mode_on"): {
        "0": ("cmd", "connectivity", "airplane-mode", "disable"),
        "1": ("cmd", "connectivity", "airplane-mode", "enable"),
    },
    ("secure", "ui_night_mode"): {"1": ("cmd", "uimode", "night", "no"), "2": ("cmd", "uimode", "night", "yes")},
}
_SERVICE_TIME = 10.0  # seconds that a radio may take
_COMPONENT = re.compile(r"^\s*([\w.]+)/([\w.$]+)\s*$", re.MULTILINE)


class AdbDevice:
    """A device behind adb.

    Args:
        serial: As ``adb devices`` shows it: ``emulator-5554``, ``192.168.0.7:5555``, a phone's serial number.
        server_port: Port of the adb server on this computer; by default adb's own. It is started if need be.
        snapshot: Of an emulator of this computer: what :meth:`reset_state` loads.
        settle, pause: After an action, waits until two looks at the screen, ``pause`` seconds apart, are equal, but
            no longer than ``settle`` seconds.

    Raises:
        DeviceError: The device cannot be reached. So do all methods when it fails.
    """

    def __init__(
        self,
        serial: str,
        *,
        server_port: int | None = None,
        snapshot: str | None = None,
        settle: float = SETTLE,
        pause: float = PAUSE,
    ) -> None:
        self.adb = Adb(serial, server_port)
        self._snapshot, self._settle_time, self._pause = snapshot, settle, pause
        self._u2: uiautomator2.Device | None = None
        self._prepare()
        self._name = f"{serial} ({self._kind()})"
        self._size = self._screen_size()
        self._keyboards = {method.partition("/")[0] for method in self.adb.run("ime", "list", "-s").split()}
        self._start_uiautomator()

    def _prepare(self) -> None:
        """What a device needs after a start: snapshots bring back what was before."""
        self.adb.connect()
        self.adb.become_root()
        for command in _CALM:
            self.adb.shell(*command)

    @property
    def name(self) -> str:
        return self._name

    @property
    def size(self) -> tuple[int, int]:
        return self._size

    @property
    def now(self) -> datetime:
        return datetime.fromisoformat(self.adb.run("date", "+%Y-%m-%dT%H:%M:%S").strip())

    @property
    def foreground(self) -> str:
        with self._asking("the app in front"):
            return self.u2.app_current()["package"]

    @property
    def u2(self) -> uiautomator2.Device:
        """uiautomator2's client of the device.

        Raises:
            DeviceError: The device is closed.
        """
        if self._u2 is None:
            raise DeviceError(f"{self.name} is closed")
        return self._u2

    def shell(self, command: str) -> str:
        """What a line of shell prints, whatever its exit code. Never for text that a model or a task made up."""
        with self._asking("shell"):
            return self.adb.device.shell2(command, encoding="utf-8", v2=True).output

    # the screen

    def screenshot(self) -> np.ndarray:
        with self._asking("screenshot"):
            encoded = self.u2.jsonrpc.takeScreenshot(1, _JPEG_QUALITY)
            picture = Image.open(io.BytesIO(b64decode(encoded))) if encoded else self.adb.device.screenshot()
            return self._checked(np.array(picture.convert("RGB")))

    def ui(self) -> Node:
        with self._asking("screen tree"):
            return self._tree(self._dump())

    def _dump(self) -> str:
        with self._asking("screen tree"):
            return self.u2.dump_hierarchy()

    def _tree(self, xml: str) -> Node:
        """A screen without any node, as a film or a game shows it, is one node.

        The keys of a soft keyboard are not for reading, but the settings of a keyboard, which it shows alone, are.
        """
        if "<node" not in xml:
            return Node("android.widget.FrameLayout", (0, 0, *self.size))
        root = node_from_xml(xml)
        packages = {node.package for node in root.walk()}
        if packages & self._keyboards and packages - self._keyboards - {SYSTEM_UI, ""}:
            for node in root.walk():
                node.decor = node.decor or node.package in self._keyboards
        return root

    def _checked(self, pixels: np.ndarray) -> np.ndarray:
        """Refuses a screen that an app turned: coordinates would mean something else than they say."""
        height, width = pixels.shape[:2]
        if (width, height) != self.size:
            raise DeviceError(f"{self.name}: the screen turned: it has {width} x {height} pixels, not {self.size}")
        return pixels

    def _kind(self) -> str:
        """What is behind adb; an embedded phone says so, because what is measured on it is no result on Android."""
        if self._property("ro.coach_gym.embedded"):
            return "embedded phone"
        return f"{self._property('ro.product.model')}, Android {self._property('ro.build.version.release')}"

    def _property(self, name: str) -> str:
        return self.adb.run("getprop", name).strip()

    def _screen_size(self) -> tuple[int, int]:
        """The last of "Physical size: 1080x2400" and, if it was changed, "Override size: 540x1200"."""
        sizes = re.findall(r"size: (\d+)x(\d+)", self.adb.run("wm", "size"))
        if not sizes:
            raise DeviceError(f"{self.name} does not tell how large its screen is")
        return int(sizes[-1][0]), int(sizes[-1][1])

    # actions

    def perform(self, action: Action) -> None:
        """Carries out one action. See `Device.perform`."""
        start = action.start or (0, 0)
        match action.kind:
            case "click":
                self._press(start, gestures.TAP)
            case "long_press":
                self._press(start, gestures.LONG_PRESS)
            case "scroll":
                self._slide(start, gestures.scroll_end(action, self.size), gestures.SWIPE)
            case "drag":
                self._slide(start, action.end or start, gestures.DRAG)
            case "type":
                self._type(action.content)
            case "open_app":
                self._open(action.content)
            case "press_back" | "press_home" | "press_enter":
                self._key(action.kind.removeprefix("press_"))
            case "wait":
                time.sleep(gestures.WAIT)
        self._settle()

    def _press(self, at: Point, seconds: float) -> None:
        with self._asking("touch"):
            self.u2.long_click(*at, seconds) if seconds else self.u2.click(*at)

    def _slide(self, start: Point, end: Point, seconds: float) -> None:
        with self._asking("swipe"):
            self.u2.swipe(*start, *end, steps=round(seconds / _STEP))

    def _key(self, name: str) -> None:
        with self._asking(f"key {name}"):
            self.u2.press(name)

    def _type(self, text: str) -> None:
        """Pastes line by line, because no keyboard types every script; the end of a line is Enter."""
        clipboard = self.get_clipboard()
        for number, line in enumerate(re.split("\r\n|\r|\n", text)):
            if number:
                self._key("enter")
            if line:
                self._paste(line)
        self.put_clipboard(clipboard)

    def _paste(self, text: str) -> None:
        """By the clipboard; where a device hides it, by uiautomator2's keyboard, to which base64 is sent."""
        self.put_clipboard(text)
        with self._asking("paste"):
            if self.u2.clipboard == text:
                self.u2.jsonrpc.pasteClipboard()
                return
            self.u2.set_input_ime()  # installs it if need be
        encoded = b64encode(text.encode()).decode()
        if "result=-1" not in self.adb.run("am", "broadcast", "-a", "ADB_KEYBOARD_INPUT_TEXT", "--es", "text", encoded):
            raise DeviceError(f"{self.name} takes no text, neither from the clipboard nor from a keyboard")

    def _open(self, label: str) -> None:
        apps = self._launchable()
        package = package_named(label, apps)
        if package is None:
            names = ", ".join(sorted(map(label_of, apps)))[:_LONGEST_LIST]
            raise ActionError(f"There is no app named {label[:60]!r}. Installed are: {names}.")
        self.adb.run(
            "am", "start", "-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER",
            "-f", "0x10200000", "-n", apps[package],  # as a home screen does: the app goes on where it was left
        )  # fmt: skip

    def _launchable(self) -> dict[str, str]:
        """The component that opens an app, by package."""
        found = self.adb.run(
            "cmd", "package", "query-activities", "--brief", "-a", "android.intent.action.MAIN",
            "-c", "android.intent.category.LAUNCHER",
        )  # fmt: skip
        return {package: f"{package}/{activity}" for package, activity in reversed(_COMPONENT.findall(found))}

    def _settle(self) -> None:
        deadline = time.monotonic() + self._settle_time
        before = self._dump()
        while time.monotonic() < deadline:
            time.sleep(self._pause)
            after = self._dump()
            if after == before:
                return
            before = after

    # files

    def read(self, path: str) -> bytes | None:
        self._require_root(path)
        return self.adb.pull(path) if self.adb.stat(path).is_file else None

    def write(self, path: str, data: bytes, modified: datetime | None = None) -> None:
        self._require_root(path)
        access = self._access(path)
        self.adb.push(path, data, self._seconds(modified))
        if access is not None:
            owner, mode = access
            made = [path, *_folders_of_app(path)]
            self.adb.run("chown", owner, *made)
            self.adb.run("chmod", mode, path)
            self.adb.run("restorecon", *made)

    def remove(self, path: str) -> None:
        self._require_root(path)
        self.adb.run("rm", "-rf", path)

    def listdir(self, path: str) -> list[str]:
        self._require_root(path)
        return self.adb.listdir(path)

    @contextmanager
    def database(self, path: str) -> Iterator[sqlite3.Connection]:
        """A copy of an SQLite file, with what its app has not yet moved into it from the journal.

        If the ``with`` block changes it, the app is stopped and the file put in place of the old one.
        """
        with TemporaryDirectory(prefix="coach_gym_") as folder:
            copy = Path(folder, "db")
            # The file before its journal: the app may move pages from the second to the first meanwhile.
            for suffix in ("", "-journal", "-wal"):
                if data := self.read(path + suffix):
                    copy.with_name(copy.name + suffix).write_bytes(data)
            with closing(sqlite3.connect(copy)) as connection:
                before = _contents(connection)
                yield connection
                connection.commit()
                after = _contents(connection)
        if after != before:
            self._replace_database(path, after)

    def _replace_database(self, path: str, data: bytes) -> None:
        if package := _package_of(path):
            self.adb.run("am", "force-stop", package)
        self.write(path, data)
        self.adb.run("rm", "-f", *(path + suffix for suffix in ("-journal", "-wal", "-shm")))

    def _require_root(self, path: str) -> None:
        """Files that may not be looked at seem not to be there: no verdict may come of that."""
        if _package_of(path) and not self.adb.is_root():
            raise DeviceError(f"{self.name}: {path} belongs to an app, and adb is not root on this device")

    def _access(self, path: str) -> tuple[str, str] | None:
        """Owner and mode that a file of an app has or gets; None where Android's shared storage decides."""
        package = _package_of(path)
        if not package:
            return None
        text, code = self.adb.shell("stat", "-c", "%u:%g %a", path)
        if code != 0:
            text = self.adb.run("stat", "-c", "%u:%g 660", f"/data/data/{package}")
        owner, mode = text.split()
        return owner, mode

    def _seconds(self, moment: datetime | None) -> int:
        """Seconds since 1970 of a time that the device's clock shows, by default of now."""
        seconds, offset = self.adb.run("date", "+%s %z").split()
        if moment is None:
            return int(seconds)
        sign = -1 if offset.startswith("-") else 1
        ahead = sign * (int(offset[1:3]) * 3600 + int(offset[3:5]) * 60)
        return int((moment - _EPOCH).total_seconds()) - ahead

    # other state

    def get_setting(self, namespace: str, key: str) -> str | None:
        value = self.adb.run("settings", "get", namespace, key).removesuffix("\n")
        return None if value == "null" else value

    def put_setting(self, namespace: str, key: str, value: str) -> None:
        command = _SERVICES.get((namespace, key), {}).get(value)
        if command is None:
            self.adb.run("settings", "put", namespace, key, value)
            return
        self.adb.run(*command)
        deadline = time.monotonic() + _SERVICE_TIME
        while self.get_setting(namespace, key) != value:
            if time.monotonic() > deadline:
                raise DeviceError(f"{self.name}: {' '.join(command)} did not make {key} {value}")
            time.sleep(0.2)

    def get_clipboard(self) -> str:
        with self._asking("clipboard"):
            return self.u2.clipboard or ""

    def put_clipboard(self, text: str) -> None:
        with self._asking("clipboard"):
            self.u2.clipboard = text

    def reset_state(self) -> None:
        """Loads the snapshot; without one, stops all apps that can be opened and goes home.

        Without a snapshot nothing that apps have stored is undone: tasks set up and tear down what they need.
        """
        if self._snapshot is not None:
            self._load_snapshot(self._snapshot)
        else:
            running = {line.split(":")[0] for line in self.adb.run("ps", "-A", "-o", "NAME").split()}
            for package in sorted(running & self._launchable().keys()):
                self.adb.run("am", "force-stop", package)
        self._key("home")
        self._settle()

    def _load_snapshot(self, snapshot: str) -> None:
        """The whole emulator goes back, adb's and uiautomator's end of every connection included."""
        self._stop_uiautomator()
        with closing(Console.of(self.adb.serial)) as console:
            console.command(f"avd snapshot load {snapshot}")
        self._prepare()
        self._start_uiautomator()

    def close(self) -> None:
        self._stop_uiautomator()

    def _start_uiautomator(self) -> None:
        with self._asking("start of uiautomator2"):
            self._u2 = uiautomator2.Device(self.adb.device)

    def _stop_uiautomator(self) -> None:
        u2, self._u2 = self._u2, None
        if u2 is not None:
            atexit.unregister(u2.stop_uiautomator)
            with self._asking("stop of uiautomator2"):
                u2.stop_uiautomator(wait=False)

    def _asking(self, what: str) -> AbstractContextManager[None]:
        return failures(self.name, what)


def _contents(connection: sqlite3.Connection) -> bytes:
    """The database as a file, journal included."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    return connection.serialize() if pages else b""


def _package_of(path: str) -> str:
    """The app that a private file belongs to; empty for shared storage."""
    found = re.match(r"/data/(?:data|user/\d+|user_de/\d+)/([^/]+)", path)
    return found[1] if found else ""


def _folders_of_app(path: str) -> list[str]:
    """The folders between an app's own folder and a file."""
    names = path.split("/")
    return ["/".join(names[:depth]) for depth in range(5, len(names))]
