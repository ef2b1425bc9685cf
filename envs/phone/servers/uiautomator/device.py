"""uiautomator's methods about the device as a whole."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from PIL import Image

from coach_gym.envs.phone.input.keys import CODES, press
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.uiautomator.errors import RpcError
from coach_gym.envs.phone.servers.uiautomator.screen import reported
from coach_gym.envs.phone.system.system import STEP
from coach_gym.ui import Node, to_xml

SDK = 33
ORIENTATIONS = ("natural", "left", "upsidedown", "right")
"""The quarter turns of the screen, 0 to 3."""

PRODUCT = "sdk_gphone64_x86_64"

_KEYS = {
    "home": "HOME", "back": "BACK", "left": "DPAD_LEFT", "right": "DPAD_RIGHT", "up": "DPAD_UP", "down": "DPAD_DOWN",
    "center": "DPAD_CENTER", "menu": "MENU", "search": "SEARCH", "enter": "ENTER", "delete": "DEL", "del": "DEL",
    "recent": "APP_SWITCH", "volume_up": "VOLUME_UP", "volume_down": "VOLUME_DOWN", "volume_mute": "VOLUME_MUTE",
    "camera": "CAMERA", "power": "POWER",
}  # fmt: skip


class Device:
    """The device: its screen, its keys, the messages it shows.

    Args:
        phone: The phone.
    """

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._toast: str | None = None
        self._seen_message: tuple[str, datetime] | None = None

    def deviceInfo(self) -> dict[str, Any]:
        """Returns size, rotation and state of the screen, and the app in front."""
        phone = self._phone
        return {
            "currentPackageName": phone.foreground, "displayWidth": phone.width, "displayHeight": phone.height,
            "displayRotation": phone.rotation, "displaySizeDpX": round(phone.width / phone.density),
            "displaySizeDpY": round(phone.height / phone.density), "productName": PRODUCT, "sdkInt": SDK,
            "screenOn": self._phone.services.screen_on, "naturalOrientation": phone.rotation % 2 == 0,
        }  # fmt: skip

    def isScreenOn(self) -> bool:
        """Returns whether the screen is lit."""
        return self._phone.services.screen_on

    def wakeUp(self) -> bool:
        """Lights the screen."""
        self._phone.services.screen_on = True
        return True

    def sleep(self) -> bool:
        """Puts the screen out."""
        self._phone.services.screen_on = False
        return True

    def freezeRotation(self, freeze: bool) -> bool:
        """Stops or allows that the screen turns with the device."""
        self._phone.turn(self._phone.rotation if freeze else None)
        return True

    def setOrientation(self, orientation: str) -> bool:
        """Turns the screen, and keeps it so: "natural", "left", "right", "upsidedown", or their first letters.

        Raises:
            RpcError: It is none of these.
        """
        turns = next((index for index, name in enumerate(ORIENTATIONS) if orientation in (name, name[0])), None)
        if turns is None:
            known = ", ".join(ORIENTATIONS)
            raise RpcError(-32000, f"unknown orientation {str(orientation)[:20]!r}; there are {known}")
        self._phone.turn(turns)
        return True

    def openNotification(self) -> bool:
        """Opens the notification shade."""
        return self._open_shade(1)

    def openQuickSettings(self) -> bool:
        """Opens the notification shade with all quick settings."""
        return self._open_shade(2)

    def _open_shade(self, depth: int) -> bool:
        self._phone.shade = depth
        self._phone.elapse(STEP)
        return True

    def waitForIdle(self, timeout: int = 0) -> bool:
        """Returns True: the phone is at rest after every input."""
        return True

    # what is seen

    def takeScreenshot(self, scale: float = 1, quality: int = 80) -> str:
        """Returns the screen as a JPEG in base64; black if it is off."""
        picture = Image.fromarray(self._phone.screenshot())
        if 0.05 <= scale < 1:
            picture = picture.resize((round(picture.width * scale), round(picture.height * scale)))
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=min(max(1, int(quality)), 100))
        return base64.b64encode(data.getvalue()).decode()

    def dumpWindowHierarchy(self, compressed: bool, max_depth: int = 50, active_only: bool = False) -> str:
        """Returns the screen as XML. The embedded phone never reports what `compressed` omits: mere layout."""
        root = reported(self._phone)
        if active_only:
            root = replace(root, children=[child for child in root.children if not child.decor])
        return to_xml(_pruned(root, max_depth), self._phone.rotation)

    def getLastToast(self) -> str | None:
        """Returns the last message, even after it has left the screen."""
        return self._toast

    def clearLastToast(self) -> bool:
        """Forgets the last message."""
        self._toast = None
        return True

    def makeToast(self, text: str, duration: float) -> bool:
        """Shows a message for some milliseconds, at most a minute."""
        self._phone.message = (str(text), self._phone.now + timedelta(milliseconds=min(max(0, duration), 60_000)))
        self._phone.changed()
        return True

    def getLastTraversedText(self) -> None:
        """Returns None: the embedded phone has no web view to walk through by keys."""

    def clearLastTraversedText(self) -> None:
        """Does nothing, for the same reason."""
        pass

    def notice_message(self) -> None:
        """Remembers the message on the screen."""
        message = self._phone.message
        if message is not None and message != self._seen_message:
            self._toast, self._seen_message = message[0], message

    # keys

    def pressKey(self, name: str) -> bool:
        """Presses a key by its name. Returns whether there is such a key."""
        if name not in _KEYS:
            return False
        return self.pressKeyCode(CODES[_KEYS[name]])

    def pressKeyCode(self, code: int, meta: int = 0) -> bool:
        """Presses a key by Android's code."""
        press(self._phone, code, meta)
        return True


def _pruned(node: Node, depth: int) -> Node:
    """Returns the tree down to a depth."""
    return replace(node, children=[_pruned(child, depth - 1) for child in node.children] if depth > 1 else [])
