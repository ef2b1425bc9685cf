"""The methods of the uiautomator2 server, by the names and with the arguments that its client sends.

Positions are pixels, times milliseconds, and the `steps` of a gesture last 5 ms each, as in Android's UiAutomator.
"""

from __future__ import annotations

import base64
import inspect
import io
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from PIL import Image

from coach_gym.envs.phone.input import scrolling
from coach_gym.envs.phone.input.fingers import LONG_PRESS, Fingers
from coach_gym.envs.phone.input.ime import enter_text, field_at
from coach_gym.envs.phone.input.keys import CODES, press
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.selectors import Found, find
from coach_gym.envs.phone.system.system import STEP
from coach_gym.ui import Node, to_xml

Selector = Mapping[str, Any] | str
"""A selector, or the name that `childByText` and its like gave to an object."""

Point = tuple[int, int]

SDK = 33
PRODUCT = "sdk_gphone64_x86_64"
STEP_SECONDS = 0.005
DRAG_SECONDS = 2.0  # at least: nothing flings on
POLL_SECONDS = 0.05
LONGEST_WAIT = 600.0  # seconds
MOST_NAMES = 1000

_KEYS = {
    "home": "HOME", "back": "BACK", "left": "DPAD_LEFT", "right": "DPAD_RIGHT", "up": "DPAD_UP", "down": "DPAD_DOWN",
    "center": "DPAD_CENTER", "menu": "MENU", "search": "SEARCH", "enter": "ENTER", "delete": "DEL", "del": "DEL",
    "recent": "APP_SWITCH", "volume_up": "VOLUME_UP", "volume_down": "VOLUME_DOWN", "volume_mute": "VOLUME_MUTE",
    "camera": "CAMERA", "power": "POWER",
}  # fmt: skip


class RpcError(Exception):
    """A call that failed, with JSON-RPC's code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotFound(RpcError):
    """No node on the screen is meant by the selector."""

    def __init__(self, what: Any) -> None:
        super().__init__(-32001, f"androidx.test.uiautomator.UiObjectNotFoundException: {str(what)[:500]}")


class Methods:
    """What the client can call. Names and arguments are the protocol's.

    Args:
        phone: the phone.
        lock: held by whoever works the phone.
    """

    def __init__(self, phone: Phone, lock: AbstractContextManager) -> None:
        self._phone, self._lock = phone, lock
        self._fingers = Fingers(phone)
        self._names: dict[str, Mapping[str, Any]] = {}
        self._named = 0
        self._toast: str | None = None
        self._seen_message: tuple[str, datetime] | None = None

    # the device

    def deviceInfo(self) -> dict[str, Any]:
        phone = self._phone
        return {
            "currentPackageName": phone.foreground, "displayWidth": phone.width, "displayHeight": phone.height,
            "displayRotation": 0, "displaySizeDpX": round(phone.width / phone.density),
            "displaySizeDpY": round(phone.height / phone.density), "productName": PRODUCT, "sdkInt": SDK,
            "screenOn": self.isScreenOn(), "naturalOrientation": True,
        }  # fmt: skip

    def isScreenOn(self) -> bool:
        return self._phone.services.screen_on

    def wakeUp(self) -> bool:
        self._phone.services.screen_on = True
        return True

    def sleep(self) -> bool:
        self._phone.services.screen_on = False
        return True

    def freezeRotation(self, freeze: bool) -> bool:
        self._phone.storage.settings["system", "accelerometer_rotation"] = "0" if freeze else "1"
        return True

    def setOrientation(self, orientation: str) -> bool:
        """The embedded phone stays upright, like a launcher that cannot be turned."""
        return orientation in ("n", "natural")

    def openNotification(self) -> bool:
        return self._open_shade(1)

    def openQuickSettings(self) -> bool:
        return self._open_shade(2)

    def _open_shade(self, depth: int) -> bool:
        self._phone.shade = depth
        self._phone.elapse(STEP)
        return True

    def waitForIdle(self, timeout: int = 0) -> bool:
        """The phone is at rest after every input."""
        return True

    # what is seen

    def takeScreenshot(self, scale: float = 1, quality: int = 80) -> str:
        """A JPEG in base64."""
        picture = Image.fromarray(self._phone.screenshot())
        if not self.isScreenOn():
            picture = Image.new("RGB", picture.size)
        if 0.05 <= scale < 1:
            picture = picture.resize((round(picture.width * scale), round(picture.height * scale)))
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=min(max(1, int(quality)), 100))
        return base64.b64encode(data.getvalue()).decode()

    def dumpWindowHierarchy(self, compressed: bool, max_depth: int = 50, active_only: bool = False) -> str:
        """The screen as XML. What `compressed` leaves out, mere layout, the embedded phone never reports."""
        root = self._phone.ui()
        if active_only:
            root = replace(root, children=[child for child in root.children if not child.decor])
        return to_xml(_pruned(root, max_depth))

    def getLastToast(self) -> str | None:
        return self._toast

    def clearLastToast(self) -> bool:
        self._toast = None
        return True

    def makeToast(self, text: str, duration: float) -> bool:
        self._phone.message = (str(text), self._phone.now + timedelta(milliseconds=min(max(0, duration), 60_000)))
        self._phone.changed()
        return True

    def _notice_toast(self) -> None:
        """The last message is kept after it has left the screen."""
        message = self._phone.message
        if message is not None and message != self._seen_message:
            self._toast, self._seen_message = message[0], message

    def getLastTraversedText(self) -> None:
        """The embedded phone has no web view that could be walked through by keys."""

    def clearLastTraversedText(self) -> None:
        pass

    # touch and keys

    def click(self, x: float | Selector, y: float | str = "", milliseconds: float = 0) -> bool:
        """A touch at a place, perhaps a long one; or of an object, or of its corner ("tl" or "br")."""
        if isinstance(x, str | Mapping):
            return self._touch([_corner(self._node(x), y)], 0)
        return self._touch([_point(x, y)], milliseconds / 1000)

    def longClick(self, selector: Selector, corner: str = "") -> bool:
        return self._touch([_corner(self._node(selector), corner)], 2 * LONG_PRESS)

    def swipe(self, x: float | Selector, y: Any, to_x: float, to_y: float = 0, steps: int = 0) -> bool:
        """From place to place in `steps`; or of an object: direction, steps; or direction, share of it, steps."""
        if isinstance(x, str | Mapping):
            share, steps = (to_x, int(to_y)) if to_y else (1.0, int(to_x))
            return self._touch(_across(self._node(x), str(y), share), steps * STEP_SECONDS)
        return self._touch([_point(x, y), _point(to_x, to_y)], steps * STEP_SECONDS)

    def swipePoints(self, coordinates: list[float], steps: int) -> bool:
        """Through points given as x, y, x, y and so on, with `steps` between each two."""
        points = [_point(x, y) for x, y in zip(coordinates[::2], coordinates[1::2], strict=True)]
        return self._touch(points, steps * STEP_SECONDS * (len(points) - 1))

    def drag(self, x: float, y: float, to_x: float, to_y: float, steps: int) -> bool:
        return self._touch([_point(x, y), _point(to_x, to_y)], max(DRAG_SECONDS, steps * STEP_SECONDS))

    def dragTo(self, selector: Selector, x: float | Selector, y: float, steps: int = 0) -> bool:
        """Drags an object to a place, or to another object (then `y` is the number of steps)."""
        start = _centre(self._node(selector))
        end = _centre(self._node(x)) if isinstance(x, str | Mapping) else _point(x, y)
        return self._touch([start, end], DRAG_SECONDS)

    def gesture(self, selector: Selector, start1: dict, start2: dict, end1: dict, end2: dict, steps: int) -> bool:
        """Two fingers on an object, each from a start to an end."""
        self._node(selector)
        ways = [(_point(a["x"], a["y"]), _point(b["x"], b["y"])) for a, b in ((start1, end1), (start2, end2))]
        return self._two_fingers(ways, steps)

    def pinchIn(self, selector: Selector, percent: int, steps: int) -> bool:
        """Two fingers from the corners of an object towards its middle."""
        return self._two_fingers([way[::-1] for way in _spread(self._node(selector), percent)], steps)

    def pinchOut(self, selector: Selector, percent: int, steps: int) -> bool:
        return self._two_fingers(_spread(self._node(selector), percent), steps)

    def _two_fingers(self, ways: list[tuple[Point, Point]], steps: int) -> bool:
        fingers = Fingers(self._phone)
        for end in (0, 1):
            for finger, way in enumerate(ways):
                fingers.down(finger, *way[end], at=0.0)
        for finger in range(len(ways)):
            fingers.up(finger, steps * STEP_SECONDS)
        return True

    def injectInputEvent(self, action: int, x: float, y: float, meta: int = 0) -> bool:
        """A finger goes down (0), up (1), moves (2) or is taken back (3)."""
        if action in (0, 2):
            self._fingers.down(0, *_point(x, y), at=time.monotonic())
        elif action == 1:
            self._fingers.up(0, time.monotonic())
        else:
            self._fingers = Fingers(self._phone)
        return True

    def pressKey(self, name: str) -> bool:
        if name not in _KEYS:
            return False
        return self.pressKeyCode(CODES[_KEYS[name]])

    def pressKeyCode(self, code: int, meta: int = 0) -> bool:
        if self.isScreenOn() or code in (CODES["POWER"], CODES["WAKEUP"]):
            press(self._phone, code, meta)
        return True

    def _touch(self, points: list[Point], seconds: float) -> bool:
        """A finger goes through points. A screen that is off feels nothing."""
        if self.isScreenOn() and points:
            finger = Fingers(self._phone)
            for point in points:
                finger.down(0, *point, at=0.0)
            finger.up(0, seconds)
        return self.isScreenOn()

    # text

    def setClipboard(self, label: str | None, text: str) -> None:
        self._phone.clipboard = str(text)

    def getClipboard(self) -> str:
        return self._phone.clipboard

    def pasteClipboard(self) -> bool:
        enter_text(self._phone, self._phone.clipboard)
        return True

    def clearInputText(self) -> bool:
        if self._phone.focus is not None:
            self._phone.focus.set("")
        self._phone.elapse(STEP)
        return True

    def getText(self, selector: Selector) -> str:
        return self._node(selector).text

    def setText(self, selector: Selector, text: str) -> bool:
        """Sets what a field holds; False if the object is none."""
        field = field_at(self._phone, self._node(selector))
        if field is not None and field.input is not None:
            field.input.set(str(text) if field.multiline else str(text).replace("\n", " "))
            self._phone.elapse(STEP)
        return field is not None

    def clearTextField(self, selector: Selector) -> bool:
        return self.setText(selector, "")

    # objects

    def exist(self, selector: Selector) -> bool:
        return self._found(selector) is not None

    def count(self, selector: Selector) -> int:
        return sum(1 for _ in self._all(selector))

    def objInfo(self, selector: Selector) -> dict[str, Any]:
        return _info(self._node(selector))

    def objInfoOfAllInstances(self, selector: Selector) -> list[dict[str, Any]]:
        return [_info(found.node) for found in self._all(selector)]

    def waitForExists(self, selector: Selector, timeout: float) -> bool:
        return self._wait(lambda: self.exist(selector), timeout)

    def waitUntilGone(self, selector: Selector, timeout: float) -> bool:
        return self._wait(lambda: not self.exist(selector), timeout)

    def _wait(self, condition: Callable[[], bool], milliseconds: float) -> bool:
        """Looks again and again, letting others work the phone meanwhile."""
        deadline = time.monotonic() + min(milliseconds / 1000, LONGEST_WAIT)
        while True:
            with self._lock:
                if condition():
                    return True
                if time.monotonic() >= deadline:
                    return False
            time.sleep(POLL_SECONDS)

    def getUiObject(self, selector: Selector) -> str:
        self._node(selector)
        return self._name(self._meaning(selector))

    def childByText(self, selector: Selector, child: dict, text: str, scroll: bool = False) -> str:
        """The first child of a kind that has a text, or something below it that has."""
        if scroll:
            self.scrollTo(selector, {"text": text})
        return self._child(selector, child, {"text": text})

    def childByDescription(self, selector: Selector, child: dict, text: str, scroll: bool = False) -> str:
        if scroll:
            self.scrollTo(selector, {"description": text})
        return self._child(selector, child, {"description": text})

    def childByInstance(self, selector: Selector, child: dict, instance: int) -> str:
        meant = _below(self._meaning(selector), {**child, "instance": instance})
        self._node(meant)
        return self._name(meant)

    def _child(self, selector: Selector, child: dict, wanted: dict[str, str]) -> str:
        kind = _below(self._meaning(selector), child)
        for instance, found in enumerate(self._all(kind)):
            if next(find(found.node, wanted), None) is not None:
                return self._name(_below(self._meaning(selector), {**child, "instance": instance}))
        raise NotFound(wanted)

    def _name(self, selector: Mapping[str, Any]) -> str:
        if len(self._names) >= MOST_NAMES:
            del self._names[next(iter(self._names))]
        self._named += 1
        self._names[str(self._named)] = selector
        return str(self._named)

    def _meaning(self, selector: Selector) -> Mapping[str, Any]:
        if not isinstance(selector, str):
            return selector
        if selector not in self._names:
            raise NotFound(f"object {selector}")
        return self._names[selector]

    def _all(self, selector: Selector) -> list[Found]:
        return list(find(self._phone.ui(), self._meaning(selector)))

    def _found(self, selector: Selector) -> Found | None:
        return next(islice(find(self._phone.ui(), self._meaning(selector)), 1), None)

    def _node(self, selector: Selector) -> Node:
        found = self._found(selector)
        if found is None:
            raise NotFound(self._meaning(selector))
        return found.node

    # scrolling objects

    def scrollForward(self, selector: Selector, vertical: bool, steps: int = 55) -> bool:
        return scrolling.scroll(self._phone, self._node(selector), vertical, 1, _slow(steps))

    def scrollBackward(self, selector: Selector, vertical: bool, steps: int = 55) -> bool:
        return scrolling.scroll(self._phone, self._node(selector), vertical, -1, _slow(steps))

    def scrollToEnd(self, selector: Selector, vertical: bool, swipes: int, steps: int = 55) -> bool:
        return scrolling.to_end(self._phone, self._node(selector), vertical, 1, _slow(steps), swipes)

    def scrollToBeginning(self, selector: Selector, vertical: bool, swipes: int, steps: int = 55) -> bool:
        return scrolling.to_end(self._phone, self._node(selector), vertical, -1, _slow(steps), swipes)

    def flingForward(self, selector: Selector, vertical: bool) -> bool:
        return scrolling.scroll(self._phone, self._node(selector), vertical, 1, scrolling.FLING_SECONDS)

    def flingBackward(self, selector: Selector, vertical: bool) -> bool:
        return scrolling.scroll(self._phone, self._node(selector), vertical, -1, scrolling.FLING_SECONDS)

    def flingToEnd(self, selector: Selector, vertical: bool, swipes: int) -> bool:
        return scrolling.to_end(self._phone, self._node(selector), vertical, 1, scrolling.FLING_SECONDS, swipes)

    def flingToBeginning(self, selector: Selector, vertical: bool, swipes: int) -> bool:
        return scrolling.to_end(self._phone, self._node(selector), vertical, -1, scrolling.FLING_SECONDS, swipes)

    def scrollTo(self, selector: Selector, wanted: Selector, vertical: bool = True) -> bool:
        """Looks for an object from the beginning of a list to its end; False if it is not there."""
        if self.exist(wanted):
            return True
        area = self._node(selector)
        scrolling.to_end(self._phone, area, vertical, -1, scrolling.SCROLL_SECONDS, scrolling.MOST_SWIPES)
        for _ in range(scrolling.MOST_SWIPES):
            if self.exist(wanted):
                return True
            if not scrolling.scroll(self._phone, area, vertical, 1, scrolling.SCROLL_SECONDS):
                return False
        return self.exist(wanted)


class UiAutomator:
    """The methods, called by name with what came over the wire.

    Args:
        phone: the phone.
        lock: held by whoever works the phone.
    """

    def __init__(self, phone: Phone, lock: AbstractContextManager) -> None:
        self._lock = lock
        self._methods = Methods(phone, lock)

    def call(self, name: str, params: Any) -> Any:
        """What a method returns: something that JSON can say.

        Raises:
            RpcError: There is no such method, its arguments are wrong, or it failed.
        """
        method = getattr(self._methods, name) if name in _PUBLIC else None
        if method is None:
            raise RpcError(-32601, f"method not found: {name[:60]}")
        args, kwargs = (params, {}) if isinstance(params, list) else ([], params or {})
        try:
            inspect.signature(method).bind(*args, **kwargs)
            if name in _PATIENT:
                return method(*args, **kwargs)
            with self._lock:
                self._methods._notice_toast()
                result = method(*args, **kwargs)
                self._methods._notice_toast()
                return result
        except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as error:
            logging.debug("uiautomator: %s%r", name, params, exc_info=True)
            raise RpcError(-32602, f"invalid arguments of {name}: {error!r}"[:500]) from error


_PUBLIC = frozenset(name for name in vars(Methods) if name[0] != "_")
_PATIENT = ("waitForExists", "waitUntilGone")  # let others work the phone meanwhile


# places


def _point(x: Any, y: Any) -> Point:
    return int(x), int(y)


def _centre(node: Node) -> Point:
    left, top, right, bottom = node.bounds
    return (left + right) // 2, (top + bottom) // 2


def _corner(node: Node, corner: Any) -> Point:
    left, top, right, bottom = node.bounds
    if corner in ("tl", "topleft"):
        return left + 5, top + 5
    if corner in ("br", "bottomright"):
        return right - 5, bottom - 5
    return _centre(node)


def _across(node: Node, direction: str, share: float) -> list[Point]:
    """From the middle of a node towards a side."""
    (x, y), (left, top, right, bottom) = _centre(node), node.bounds
    ends = {"left": (left, y), "right": (right - 1, y), "up": (x, top), "down": (x, bottom - 1)}
    end_x, end_y = ends[direction]
    return [(x, y), _point(x + share * (end_x - x), y + share * (end_y - y))]


def _spread(node: Node, percent: float) -> list[tuple[Point, Point]]:
    """From the middle of a node towards two opposite corners, over a share of the way."""
    (x, y), (left, top, right, bottom) = _centre(node), node.bounds
    corners = (left, top), (right - 1, bottom - 1)
    ends = [_point(x + percent / 100 * (end_x - x), y + percent / 100 * (end_y - y)) for end_x, end_y in corners]
    return [((x, y), end) for end in ends]


def _slow(steps: int) -> float:
    return max(scrolling.SCROLL_SECONDS, steps * STEP_SECONDS)


# nodes


def _pruned(node: Node, depth: int) -> Node:
    """The tree down to a depth."""
    return replace(node, children=[_pruned(child, depth - 1) for child in node.children] if depth > 1 else [])


def _below(selector: Mapping[str, Any], child: Mapping[str, Any]) -> dict[str, Any]:
    """The selector of something below what a selector means."""
    return {
        **selector,
        "childOrSibling": [*selector.get("childOrSibling", []), "child"],
        "childOrSiblingSelector": [*selector.get("childOrSiblingSelector", []), child],
    }


def _info(node: Node) -> dict[str, Any]:
    left, top, right, bottom = node.bounds
    bounds = {"left": left, "top": top, "right": right, "bottom": bottom}
    return {
        "bounds": bounds, "visibleBounds": bounds, "childCount": len(node.children), "className": node.cls,
        "contentDescription": node.desc, "packageName": node.package, "resourceName": node.id, "text": node.text,
        "checkable": node.checkable, "checked": node.checked, "clickable": node.clickable, "enabled": node.enabled,
        "focusable": node.focusable, "focused": node.focused, "longClickable": node.long_clickable,
        "scrollable": node.scrollable, "selected": node.selected,
    }  # fmt: skip
