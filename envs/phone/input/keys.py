"""Android's key codes, and what keys do to the phone."""

from __future__ import annotations

from collections.abc import Mapping

from coach_gym.envs.phone.input import focus, in_field
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system import clipboard, power_menu
from coach_gym.envs.phone.system.system import STEP

# android.view.KeyEvent's constants, without KEYCODE_, from 0 on
_FIRST = (
    "UNKNOWN SOFT_LEFT SOFT_RIGHT HOME BACK CALL ENDCALL 0 1 2 3 4 5 6 7 8 9 STAR POUND DPAD_UP DPAD_DOWN DPAD_LEFT "
    "DPAD_RIGHT DPAD_CENTER VOLUME_UP VOLUME_DOWN POWER CAMERA CLEAR A B C D E F G H I J K L M N O P Q R S T U V W X Y "
    "Z COMMA PERIOD ALT_LEFT ALT_RIGHT SHIFT_LEFT SHIFT_RIGHT TAB SPACE SYM EXPLORER ENVELOPE ENTER DEL GRAVE MINUS "
    "EQUALS LEFT_BRACKET RIGHT_BRACKET BACKSLASH SEMICOLON APOSTROPHE SLASH AT NUM HEADSETHOOK FOCUS PLUS MENU "
    "NOTIFICATION SEARCH MEDIA_PLAY_PAUSE MEDIA_STOP MEDIA_NEXT MEDIA_PREVIOUS MEDIA_REWIND MEDIA_FAST_FORWARD MUTE "
    "PAGE_UP PAGE_DOWN PICTSYMBOLS SWITCH_CHARSET"
)
_LATER = {
    "ESCAPE": 111, "FORWARD_DEL": 112, "CTRL_LEFT": 113, "CTRL_RIGHT": 114, "CAPS_LOCK": 115, "MOVE_HOME": 122,
    "MOVE_END": 123, "INSERT": 124, "MEDIA_PLAY": 126, "MEDIA_PAUSE": 127, "NUMPAD_ENTER": 160, "VOLUME_MUTE": 164,
    "SETTINGS": 176, "APP_SWITCH": 187, "ASSIST": 219, "BRIGHTNESS_DOWN": 220, "BRIGHTNESS_UP": 221, "SLEEP": 223,
    "WAKEUP": 224, "CUT": 277, "COPY": 278, "PASTE": 279, "ALL_APPS": 284,
}  # fmt: skip
CODES: Mapping[str, int] = {name: code for code, name in enumerate(_FIRST.split())} | _LATER
"""Android's key codes by name: `CODES["HOME"] == 3`."""

# Linux's input codes from 1 on, as Android's generic keyboard layout names them; "-" is none
_LINUX_FIRST = (
    "ESCAPE 1 2 3 4 5 6 7 8 9 0 MINUS EQUALS DEL TAB Q W E R T Y U I O P LEFT_BRACKET RIGHT_BRACKET ENTER CTRL_LEFT A "
    "S D F G H J K L SEMICOLON APOSTROPHE GRAVE SHIFT_LEFT BACKSLASH Z X C V B N M COMMA PERIOD SLASH SHIFT_RIGHT - "
    "ALT_LEFT SPACE CAPS_LOCK"
)
_LINUX_LATER = {
    96: "NUMPAD_ENTER", 97: "CTRL_RIGHT", 102: "MOVE_HOME", 103: "DPAD_UP", 104: "PAGE_UP", 105: "DPAD_LEFT",
    106: "DPAD_RIGHT", 107: "MOVE_END", 108: "DPAD_DOWN", 109: "PAGE_DOWN", 111: "FORWARD_DEL", 113: "VOLUME_MUTE",
    114: "VOLUME_DOWN", 115: "VOLUME_UP", 116: "POWER", 139: "MENU", 158: "BACK", 169: "CALL", 172: "HOME",
    212: "CAMERA", 217: "SEARCH", 580: "APP_SWITCH",
}  # fmt: skip
LINUX_CODES: Mapping[int, int] = {
    linux: CODES[name]
    for linux, name in [*enumerate(_LINUX_FIRST.split(), 1), *_LINUX_LATER.items()]
    if name != "-"
}
"""Android's key codes by Linux's key codes."""

SHIFT, CTRL = 0x1, 0x1000
"""Bits of the meta state; the left and right keys set these, too."""

_BUTTONS = {
    "HOME": "HOME", "BACK": "BACK", "ESCAPE": "BACK", "ENTER": "ENTER", "NUMPAD_ENTER": "ENTER", "DEL": "DEL",
    "APP_SWITCH": "APP_SWITCH",
}  # fmt: skip
_SIGNS = {
    "SPACE": "  ", "COMMA": ",<", "PERIOD": ".>", "GRAVE": "`~", "MINUS": "-_", "EQUALS": "=+", "LEFT_BRACKET": "[{",
    "RIGHT_BRACKET": "]}", "BACKSLASH": "\\|", "SEMICOLON": ";:", "APOSTROPHE": "'\"", "SLASH": "/?", "AT": "@@",
    "PLUS": "++", "STAR": "**", "POUND": "##",
}  # fmt: skip
_SIGNS |= {letter: letter.lower() + letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_SIGNS |= {digit: digit + sign for digit, sign in zip("1234567890", "!@#$%^&*()", strict=True)}
_PRESSING = ("ENTER", "NUMPAD_ENTER", "DPAD_CENTER")  # press what has the focus
_SHORTCUTS = {"A": "ALL", "C": "COPY", "V": "PASTE", "X": "CUT"}  # with the control key held


def press(phone: Phone, code: int, meta: int = 0, long: bool = False) -> None:
    """Presses and releases a key. A key without a use only takes its time, as any does that cannot light a dark screen.

    Args:
        phone: The phone.
        code: Android's key code, such as 3 for Home.
        meta: Bits of the modifiers held: `SHIFT` and `CTRL`.
        long: Whether the key is held for long, which opens the menu of the power key and is a mere press of others.
    """
    name = _NAMES.get(code, "")
    if name == "POWER" and long:
        phone.services.screen_on, phone.shade = True, power_menu.SHOWN
        phone.changed()
        phone.elapse(STEP)
        return
    if not phone.services.screen_on and name not in ("POWER", "WAKEUP"):
        name = ""
    if meta & CTRL:
        name = _SHORTCUTS.get(name, "")
    if name in _PRESSING and (phone.highlight is not None and focus.touch(phone)):
        return
    if name in _BUTTONS:
        phone.key(_BUTTONS[name])
    elif name in _SIGNS:
        phone.type(_SIGNS[name][1 if meta & SHIFT else 0])
    elif in_field.press(phone, name):
        phone.elapse(STEP)
    elif name in focus.KEYS:
        focus.move(phone, focus.PREVIOUS if name == "TAB" and meta & SHIFT else name)
        phone.elapse(STEP)
    else:
        _edit(phone, name)
        phone.elapse(STEP)


def _edit(phone: Phone, name: str) -> None:
    if name in ("CUT", "COPY", "PASTE"):
        {"CUT": clipboard.cut, "COPY": clipboard.copy, "PASTE": clipboard.paste}[name](phone)
    elif name == "DPAD_CENTER" and phone.focus is not None:
        phone.keyboard_shown = True
    elif name == "NOTIFICATION":
        phone.shade = 0 if phone.shade else 1
    elif name in ("POWER", "WAKEUP", "SLEEP"):
        phone.services.screen_on = name == "WAKEUP" or (name == "POWER" and not phone.services.screen_on)


MODIFIERS: Mapping[int, int] = {
    CODES["SHIFT_LEFT"]: SHIFT, CODES["SHIFT_RIGHT"]: SHIFT, CODES["CTRL_LEFT"]: CTRL, CODES["CTRL_RIGHT"]: CTRL,
}  # fmt: skip
"""The bits of the meta state by the keys that set them while held."""

_NAMES = {code: name for name, code in CODES.items()} | {144 + digit: str(digit) for digit in range(10)}
