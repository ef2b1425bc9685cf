"""Any device that adb reaches: local and remote emulators and phones.

Screen, touch, keys, text and clipboard go through uiautomator2, files and databases through adb's sync protocol, and
everything else through commands whose words are quoted. Private files of apps (`/data/data`) require a device where adb
can be root: an emulator image without Google Play, not a phone.
"""

from __future__ import annotations

import atexit
import io
import re
import sqlite3
import time
from base64 import b64decode, b64encode
from contextlib import AbstractContextManager, closing
from datetime import datetime

import numpy as np
import uiautomator2
from PIL import Image

from coach_gym.actions import Action, ActionError, Point
from coach_gym.checks import require_not_negative
from coach_gym.envs.devices import gestures
from coach_gym.envs.devices.adb import Adb, failures
from coach_gym.envs.devices.adb_files import AdbFiles
from coach_gym.envs.devices.app_names import label_of, package_named
from coach_gym.envs.devices.console import Console
from coach_gym.envs.devices.locks import hold
from coach_gym.envs.errors import DeviceError
from coach_gym.envs.looking import asked_again
from coach_gym.ui import SYSTEM_UI, Node, node_from_xml

SETTLE = 3.0  # seconds the screen may take to come to rest
PAUSE = 0.3  # seconds between two dumps of the screen that must be equal
_JPEG_QUALITY = 90
_LONGEST_LIST = 2000  # characters of the list of apps in a message to the agent
_STEP = 0.005  # seconds per step in which uiautomator moves a finger

# What makes a device quiet: no animations, and a display that neither sleeps nor rotates. Devices may lack some of
# these commands.
_CALM = (
    ("settings", "put", "global", "window_animation_scale", "0"),
    ("settings", "put", "global", "transition_animation_scale", "0"),
    ("settings", "put", "global", "animator_duration_scale", "0"),
    ("settings", "put", "system", "accelerometer_rotation", "0"),
    ("settings", "put", "system", "user_rotation", "0"),
    ("cmd", "device_config", "put", "systemui", "clipboard_overlay_enabled", "false"),  # takes effect at the next boot
    ("cmd", "window", "set-ignore-orientation-request", "true"),
    ("svc", "power", "stayon", "true"),
)
# Settings that only report the state of a service: for each value, the command that changes the service.
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
_SERVICE_TIME = 10.0  # seconds a radio may take
_COMPONENT = re.compile(r"^\s*([\w.]+)/([\w.$]+)\s*$", re.MULTILINE)


class AdbDevice:
    """A device behind adb.

    Args:
        serial: Serial number as `adb devices` shows it: `emulator-5554`, `192.168.0.7:5555`, or that of a phone.
        server_port: Port of the local adb server, which is started if necessary; by default adb's own.
        snapshot: Snapshot that `reset_state` loads, for an emulator on this computer.
        settle: Seconds to wait at most for the screen to come to rest after an action.
        pause: Seconds between two dumps of the screen; when they are equal, the screen is at rest.

    Raises:
        DeviceError: The device cannot be reached, or another process drives it. All methods raise it when the device
            fails.
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
        require_not_negative(settle=settle, pause=pause)
        self.adb = Adb(serial, server_port)
        self._snapshot, self._settle_time, self._pause = snapshot, settle, pause
        self._u2: uiautomator2.Device | None = None
        self._release = hold(serial)
        try:
            self._attach(serial)
        except BaseException:
            self._release()
            raise

    def _attach(self, serial: str) -> None:
        self._prepare()
        self._name = f"{serial} ({self._kind()})"
        self._files = AdbFiles(self.adb, self._name)
        self._size = self._screen_size()
        self._keyboards = {method.partition("/")[0] for method in self.adb.run("ime", "list", "-s").split()}
        self._start_uiautomator()

    def _prepare(self) -> None:
        """Prepares the device after a start or a snapshot, which restores the unprepared state."""
        self.adb.connect()
        self.adb.become_root()
        for command in _CALM:
            self.adb.shell(*command)

    @property
    def name(self) -> str:
        """Name of the device, as `info["device"]` reports it."""
        return self._name

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the screen in pixels."""
        return self._size

    @property
    def now(self) -> datetime:
        """Time on the device's own clock."""
        return datetime.fromisoformat(self.adb.run("date", "+%Y-%m-%dT%H:%M:%S").strip())

    @property
    def foreground(self) -> str:
        """Package of the app in front."""
        with self._asking("the app in front"):
            return self.u2.app_current()["package"]

    @property
    def u2(self) -> uiautomator2.Device:
        """The uiautomator2 client of the device.

        Raises:
            DeviceError: The device is closed.
        """
        if self._u2 is None:
            raise DeviceError(f"{self.name} is closed")
        return self._u2

    def shell(self, command: str) -> str:
        """Runs a command line in the device's shell and returns what it prints. See `Device.shell`."""
        with self._asking("shell"):
            return self.adb.device.shell2(command, encoding="utf-8", v2=True).output

    # the screen

    def screenshot(self) -> np.ndarray:
        """Returns the screen as a new (height, width, 3) uint8 array."""
        with self._asking("screenshot"):
            encoded = self.u2.jsonrpc.takeScreenshot(1, _JPEG_QUALITY)
            picture = Image.open(io.BytesIO(b64decode(encoded))) if encoded else self.adb.device.screenshot()
            return self._checked(np.array(picture.convert("RGB")))

    def ui(self) -> Node:
        """Returns the root of the screen's accessibility tree."""
        with self._asking("screen tree"):
            return self._tree(self._dump())

    def _dump(self) -> str:
        with self._asking("screen tree"):
            return self.u2.dump_hierarchy()

    def _tree(self, xml: str) -> Node:
        """Reads a dump.

        A screen without nodes, such as a film or a game, becomes a single node. The keys of a soft keyboard are marked
        as decor; the settings of a keyboard, which appear alone on the screen, are not.
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
        """Refuses a rotated screen, on which coordinates would be wrong."""
        height, width = pixels.shape[:2]
        if (width, height) != self.size:
            raise DeviceError(f"{self.name}: the screen is rotated: it has {width} x {height} pixels, not {self.size}")
        return pixels

    def _kind(self) -> str:
        """Describes the device. Results on an embedded phone are no results on Android, so it is named as such."""
        if self._property("ro.coach_gym.embedded"):
            return "embedded phone"
        return f"{self._property('ro.product.model')}, Android {self._property('ro.build.version.release')}"

    def _property(self, name: str) -> str:
        return self.adb.run("getprop", name).strip()

    def _screen_size(self) -> tuple[int, int]:
        """Reads "Physical size: 1080x2400", or "Override size: 540x1200" if that follows."""
        sizes = re.findall(r"size: (\d+)x(\d+)", self.adb.run("wm", "size"))
        if not sizes:
            raise DeviceError(f"{self.name} does not report the size of its screen")
        return int(sizes[-1][0]), int(sizes[-1][1])

    # actions

    def perform(self, action: Action) -> None:
        """Carries out an action. See `Device.perform`."""
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
                if action.start is not None:
                    self._press(action.start, gestures.TAP)
                    self._settle()
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
        """Pastes a text line by line, because no keyboard types every script; line ends become Enter."""
        clipboard = self.get_clipboard()
        for number, line in enumerate(re.split("\r\n|\r|\n", text)):
            if number:
                self._key("enter")
            if line:
                self._paste(line)
        self.put_clipboard(clipboard)

    def _paste(self, text: str) -> None:
        """Pastes from the clipboard; if the device hides that, sends base64 to uiautomator2's keyboard."""
        self.put_clipboard(text)
        with self._asking("paste"):
            if self.u2.clipboard == text:
                self.u2.jsonrpc.pasteClipboard()
                return
            self.u2.set_input_ime()  # installs it if necessary
        encoded = b64encode(text.encode()).decode()
        if "result=-1" not in self.adb.run("am", "broadcast", "-a", "ADB_KEYBOARD_INPUT_TEXT", "--es", "text", encoded):
            raise DeviceError(f"{self.name} accepts text neither from the clipboard nor from a keyboard")

    def _open(self, label: str) -> None:
        apps = self._launchable()
        package = package_named(label, apps)
        if package is None:
            names = ", ".join(sorted(map(label_of, apps)))[:_LONGEST_LIST]
            raise ActionError(f"There is no app named {label[:60]!r}. Installed are: {names}.")
        self.adb.run(
            "am", "start", "-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER",
            "-f", "0x10200000", "-n", apps[package],  # like a home screen: the app resumes where it was left
        )  # fmt: skip

    def _launchable(self) -> dict[str, str]:
        """Returns the component that opens each app, by package."""
        found = self.adb.run(
            "cmd", "package", "query-activities", "--brief", "-a", "android.intent.action.MAIN",
            "-c", "android.intent.category.LAUNCHER",
        )  # fmt: skip
        return {package: f"{package}/{activity}" for package, activity in reversed(_COMPONENT.findall(found))}

    def _settle(self) -> None:
        deadline = time.monotonic() + self._settle_time
        before = asked_again(self._dump)
        while time.monotonic() < deadline:
            time.sleep(self._pause)
            after = asked_again(self._dump)
            if after == before:
                return
            before = after

    # state

    def read(self, path: str) -> bytes | None:
        """Returns the content of a file, or None if it does not exist."""
        return self._files.read(path)

    def write(self, path: str, data: bytes, modified: datetime | None = None) -> None:
        """Writes a file, creating its folders and keeping owner and mode of private files."""
        self._files.write(path, data, modified)

    def remove(self, path: str) -> None:
        """Removes a file, or a folder with its contents, if it exists."""
        self._files.remove(path)

    def listdir(self, path: str) -> list[str]:
        """Returns the sorted names in a folder; an empty list if it does not exist."""
        return self._files.listdir(path)

    def database(self, path: str) -> AbstractContextManager[sqlite3.Connection]:
        """Opens an SQLite file for the length of a `with` block. See `AdbFiles.database`."""
        return self._files.database(path)

    def get_setting(self, namespace: str, key: str) -> str | None:
        """Returns a value of Android's settings, or None."""
        value = self.adb.run("settings", "get", namespace, key).removesuffix("\n")
        return None if value == "null" else value

    def put_setting(self, namespace: str, key: str, value: str) -> None:
        """Sets a value of Android's settings, through its service where it reports one."""
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
        """Returns the text that pasting would insert."""
        with self._asking("clipboard"):
            return self.u2.clipboard or ""

    def put_clipboard(self, text: str) -> None:
        """Copies a text to the clipboard."""
        with self._asking("clipboard"):
            self.u2.clipboard = text

    def reset_state(self) -> None:
        """Loads the snapshot; without one, stops all apps that can be opened and goes home.

        Without a snapshot, what apps have stored stays: tasks set up and tear down what they need.
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
        """Restores the whole emulator, including its ends of the adb and uiautomator2 connections."""
        self._stop_uiautomator()
        with closing(Console.of(self.adb.serial)) as console:
            console.command(f"avd snapshot load {snapshot}")
        self._prepare()
        self._start_uiautomator()

    def close(self) -> None:
        """Stops uiautomator2 and gives the device's lock back. Closing twice is allowed."""
        try:
            self._stop_uiautomator()
        finally:
            self._release()

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
