"""`input`, `screencap` and `uiautomator`: touch the screen and look at it."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from datetime import datetime
from weakref import WeakKeyDictionary

from PIL import Image

from coach_gym.envs.phone.epoch import to_seconds
from coach_gym.envs.phone.input import keys
from coach_gym.envs.phone.input.fingers import LONG_PRESS, SLOP, Fingers, is_near
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process, Shell
from coach_gym.envs.phone.system.system import STEP
from coach_gym.ui import to_dump

LONGEST_SWIPE = 2_147_483.647  # seconds: as many milliseconds as Java's int holds
DRAG_SECONDS = 2.0  # seconds: slow enough that nothing runs on
DUMP = "/sdcard/window_dump.xml"
_SOURCES = ("touchscreen", "keyboard", "mouse", "stylus", "touchpad", "dpad", "gamepad", "trackball", "touchnavigation")


def input_(p: Process) -> int:
    """`input [source] tap|swipe|draganddrop|text|keyevent|keycombination|press|roll|motionevent …`."""
    args = list(p.args)
    if args and args[0] in _SOURCES:
        args.pop(0)
    if args[:1] == ["-d"]:
        del args[:2]
    verb, *rest = args or [""]
    command = _VERBS.get(verb)
    if command is None:
        return p.complain(f"Error: Unknown command: {verb}" if verb else "Error: Insufficient arguments.", 255)
    try:
        return command(p, rest)
    except (ValueError, IndexError):
        return p.complain(f"Error: Invalid arguments for command: {verb}", 255)


def _pixel(text: str) -> int:
    value = float(text)
    if not -1e6 < value < 1e6:
        raise ValueError(text)
    return int(value)


def _point(words: list[str]) -> tuple[int, int]:
    return _pixel(words[0]), _pixel(words[1])


_tapped: WeakKeyDictionary[Shell, tuple[tuple[int, int], datetime]] = WeakKeyDictionary()  # where, and when it ended


def tap(p: Process, args: list[str]) -> int:
    """Touches a point. The second of two taps that a script does one right after the other makes a double tap."""
    point = _point(args)
    before, then = _tapped.pop(p.shell, (point, None))
    if then == p.phone.now and is_near(p.phone, before, point):
        p.phone.double_tap(*point)
    else:
        p.phone.tap(*point)
        _tapped[p.shell] = point, p.phone.now
    return 0


def swipe(p: Process, args: list[str]) -> int:
    """Moves a finger from point to point in some milliseconds. If it rests, it is a tap or a long press."""
    start, end = _point(args), _point(args[2:])
    seconds = int(args[4]) / 1000 if len(args) > 4 else 0.3
    if seconds > LONGEST_SWIPE:
        raise ValueError(f"a swipe of {args[4]} ms")
    _move(p, start, end, seconds)
    return 0


def _move(p: Process, start: tuple[int, int], end: tuple[int, int], seconds: float) -> None:
    slop = SLOP * p.phone.density
    if abs(end[0] - start[0]) > slop or abs(end[1] - start[1]) > slop:
        p.phone.swipe(start, end, max(0.0, seconds))
    elif seconds >= LONG_PRESS:
        p.phone.long_press(*start)
    else:
        p.phone.tap(*start)


def drag_and_drop(p: Process, args: list[str]) -> int:
    """Moves a finger slowly from point to point."""
    p.phone.swipe(_point(args), _point(args[2:]), DRAG_SECONDS)
    return 0


def text(p: Process, args: list[str]) -> int:
    """Types ASCII characters, as keys do; `%s` is a space."""
    typed = args[0].replace("%s", " ")
    if not typed.isascii():
        message = "java.lang.NullPointerException: Attempt to get length of null array"
        return p.complain(f"\nException occurred while executing 'text':\n{message}", 255)
    if p.phone.services.screen_on:
        p.phone.type(typed)
    return 0


def keyevent(p: Process, args: list[str]) -> int:
    """Presses keys, by code or by name, `--longpress` or `--doubletap`. Together they take the time of one input."""
    how, words = (args[0], args[1:]) if args[:1] in (["--longpress"], ["--doubletap"]) else ("", args)
    start = p.phone.now
    for word in words * (2 if how == "--doubletap" else 1):
        _press(p, _code(word), 0, how == "--longpress")
    if len(words) > 1:
        p.phone.now = start + STEP
    return 0 if words else p.complain("Error: Invalid arguments for command: keyevent", 255)


def _code(word: str) -> int:
    return int(word) if word.isdecimal() else keys.CODES.get(word.upper().removeprefix("KEYCODE_"), 0)


def _press(p: Process, code: int, meta: int, long: bool = False) -> None:
    if code == keys.CODES["ENDCALL"]:
        p.phone.services.calls.clear()
    keys.press(p.phone, code, meta, long)


_MODIFIERS = {"CTRL_LEFT": keys.CTRL, "CTRL_RIGHT": keys.CTRL, "SHIFT_LEFT": keys.SHIFT, "SHIFT_RIGHT": keys.SHIFT}


def key_combination(p: Process, args: list[str]) -> int:
    """Presses keys together: modifiers, and the last of the others."""
    words = args[2:] if args[:1] == ["-t"] else args
    codes = [_code(word) for word in words]
    modifiers = {keys.CODES[name]: bit for name, bit in _MODIFIERS.items()}
    meta = 0
    for code in codes:
        meta |= modifiers.get(code, 0)
    for code in codes:
        if code not in modifiers:
            _press(p, code, meta)
    return 0 if len(codes) > 1 else p.complain("Error: keycombination requires at least 2 keycodes", 255)


_fingers: WeakKeyDictionary[Phone, Fingers] = WeakKeyDictionary()  # still down when the next command comes


def motion_event(p: Process, args: list[str]) -> int:
    """`DOWN x y`, `MOVE x y`, `UP x y`: the gesture takes effect when the finger goes up."""
    kind, point, now = args[0].upper(), _point(args[1:]), to_seconds(p.phone.now)
    if kind in ("DOWN", "CANCEL"):
        _fingers[p.phone] = Fingers(p.phone)
    if kind in ("DOWN", "MOVE", "UP") and p.phone in _fingers:
        _fingers[p.phone].down(0, *point, at=now)
    if kind == "UP" and p.phone in _fingers:
        _fingers.pop(p.phone).up(0, now)
    return 0 if kind in ("DOWN", "MOVE", "UP", "CANCEL") else p.complain(f"Error: unknown motion event {kind}", 255)


def nothing(p: Process, args: list[str]) -> int:
    """Accepts what has no effect on the embedded phone."""
    return 0


_VERBS: dict[str, Callable[[Process, list[str]], int]] = {
    "tap": tap, "swipe": swipe, "draganddrop": drag_and_drop, "text": text, "keyevent": keyevent,
    "keycombination": key_combination, "motionevent": motion_event, "press": nothing, "roll": nothing,
}  # fmt: skip


def screencap(p: Process) -> int:
    """Prints or stores the screen as PNG (`-p`, or by the name's end), or as Android's raw pixels."""
    given = options(p.args, "ph", "d")
    pixels = p.phone.screenshot()
    height, width, _ = pixels.shape
    name = given.words[0] if given.words else ""
    if "p" in given or name.endswith(".png"):
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "PNG", compress_level=1)
        data = file.getvalue()
    else:
        data = struct.pack("<4I", width, height, 1, 1) + Image.fromarray(pixels).convert("RGBA").tobytes()
    if not name:
        p.streams.stdout += data
        return 0
    path = p.path(name)
    if not p.storage.is_dir(path.rpartition("/")[0] or "/"):
        return p.complain(f"Error opening file: {name} ({NO_FILE})")
    p.storage.write(path, data)
    p.phone.changed()
    return 0


def uiautomator(p: Process) -> int:
    """`uiautomator dump [--compressed] [FILE]`."""
    verb, *rest = p.args or [""]
    if verb != "dump":
        return p.complain("Usage: uiautomator dump [--verbose][file]", 1)
    name = next((word for word in rest if not word.startswith("-")), DUMP)
    xml = to_dump(p.phone.ui(), p.phone.rotation)
    path = p.path(name)
    if path == "/dev/tty":
        p.print(xml, "")
    elif not p.storage.is_dir(path.rpartition("/")[0] or "/"):
        return p.complain(f"java.io.FileNotFoundException: {name}: open failed: ENOENT ({NO_FILE})", 1)
    else:
        p.storage.write(path, xml.encode("utf-8", "surrogateescape"))
        p.phone.changed()
    p.print(f"UI hierchary dumped to: {name}")
    return 0


COMMANDS: dict[str, Command] = {
    "input": input_, "screencap": screencap, "uiautomator": uiautomator,
}  # fmt: skip
