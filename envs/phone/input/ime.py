"""Text that reaches the phone's fields without the soft keyboard.

Clients of adb install input methods and talk to them by broadcasts; text can then be in any script.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from coach_gym.envs.phone.input import focus
from coach_gym.envs.phone.input.keys import press
from coach_gym.envs.phone.intents import CANCELED, OK
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system.system import STEP
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.ui import Node

U2_IME = "com.github.uiautomator/.AdbKeyboard"
"""The input method that the uiautomator2 client installs."""

ADB_IME = "com.android.adbkeyboard/.AdbIME"
"""ADBKeyBoard. AndroidLab types with it but never selects it, as its phones do from the start; so does ours of it."""

_ACTIONS = {  # by broadcast: the input method, and what it does
    "ADB_KEYBOARD_INPUT_TEXT": (U2_IME, "input"), "ADB_KEYBOARD_SET_TEXT": (U2_IME, "set"),
    "ADB_KEYBOARD_CLEAR_TEXT": (U2_IME, "clear"), "ADB_KEYBOARD_INPUT_KEYCODE": (U2_IME, "key"),
    "ADB_KEYBOARD_EDITOR_CODE": (U2_IME, "editor"), "ADB_KEYBOARD_SMART_ENTER": (U2_IME, "enter"),
    "ADB_KEYBOARD_HIDE": (U2_IME, "hide"), "ADB_KEYBOARD_GET_CLIPBOARD": (U2_IME, "clipboard"),
    "ADB_INPUT_CHARS": (ADB_IME, "chars"),
    "ADB_INPUT_TEXT": (ADB_IME, "plain"), "ADB_INPUT_B64": (ADB_IME, "input"), "ADB_INPUT_CODE": (ADB_IME, "key"),
    "ADB_EDITOR_CODE": (ADB_IME, "editor"), "ADB_CLEAR_TEXT": (ADB_IME, "clear"),
}  # fmt: skip
_NEXT, _DONE, _PREVIOUS = 5, 6, 7  # EditorInfo's IME_ACTION_NEXT and so on


def enter_text(phone: Phone, text: str) -> None:
    """Inserts text at the cursor. A single-line field shows a line break as a space; without a cursor the text is lost.
    """
    view = phone.windows.focused_view()
    if phone.focus is not None and view is not None:
        phone.focus.insert(text if view.multiline else text.replace("\n", " "))
        phone.editing = False
    phone.elapse(STEP)


def field_at(phone: Phone, node: Node) -> View | None:
    """Returns the text field behind a node of the accessibility tree, or None if the node is something else."""
    x, y = (node.bounds[0] + node.bounds[2]) // 2, (node.bounds[1] + node.bounds[3]) // 2
    views = (view for root, _ in phone.windows.touchable() for view in root.walk() if view.input is not None)
    return next((view for view in views if view.cls == node.cls and _holds(view, x, y)), None)


def _holds(view: View, x: int, y: int) -> bool:
    left, top, right, bottom = view.bounds
    return left <= x < right and top <= y < bottom


def broadcast(phone: Phone, action: str, extras: Mapping[str, str | int]) -> tuple[int, str] | None:
    """Sends a broadcast to an input method, which listens only while it is selected.

    Args:
        phone: The phone.
        action: A name such as `ADB_KEYBOARD_INPUT_TEXT`.
        extras: Values such as `{"text": "aGVsbG8="}`.

    Returns:
        The result code and data, or None if the broadcast is not for an input method.
    """
    if action not in _ACTIONS:
        return None
    ime, what = _ACTIONS[action]
    if phone.storage.settings.get(("secure", "default_input_method")) != ime:
        return CANCELED, ""
    if what == "clipboard":
        return OK, base64.b64encode(phone.clipboard.encode("utf-8", "replace")).decode()
    try:
        _obey(phone, what, extras)
    except (ValueError, OverflowError, binascii.Error) as error:
        return CANCELED, str(error)
    return OK, "success"


def _obey(phone: Phone, what: str, extras: Mapping[str, str | int]) -> None:
    given = str(extras.get("text", extras.get("msg", "")))
    if what in ("clear", "set") and phone.focus is not None:
        phone.focus.set("")
        phone.changed()
    if what in ("input", "set"):
        enter_text(phone, base64.b64decode(given, validate=True).decode())
    elif what == "chars":
        enter_text(phone, "".join(chr(int(code)) for code in str(extras.get("chars", "")).split(",") if code))
    elif what == "plain":
        enter_text(phone, given)
    elif what == "key":
        press(phone, int(extras.get("code", 0)))
    elif what == "editor":
        _perform(phone, int(extras.get("code", 0)))
    elif what == "enter":
        phone.key("ENTER")
    elif what == "hide":
        _hide(phone)


def _perform(phone: Phone, action: int) -> None:
    """Does what the key at the lower right of a soft keyboard does, by the code that EditorInfo gives it."""
    view = phone.windows.focused_view()
    if action in (_NEXT, _PREVIOUS):
        focus.to_field(phone, 1 if action == _NEXT else -1)
    elif action == _DONE and view is not None and (view.multiline or view.on_submit is None):
        _hide(phone)
    else:
        phone.key("ENTER")


def _hide(phone: Phone) -> None:
    if phone.keyboard_shown:
        phone.keyboard_shown = False
        phone.changed()
        phone.elapse(STEP)
