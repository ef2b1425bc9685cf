"""The commands of the emulator's console, and their answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import monotonic

from coach_gym.envs.phone.input.ime import enter_text
from coach_gym.envs.phone.input.keys import CODES, LINUX_CODES, press
from coach_gym.envs.phone.servers.hardware import Hardware

Command = Callable[[str], str]
"""From the rest of a line to the answer, whose lines end in carriage return and line feed."""

_OTHER_NAMES = {  # of Linux for Android's keys
    "HOMEPAGE": "HOME", "BACKSPACE": "DEL", "DELETE": "FORWARD_DEL", "ESC": "ESCAPE", "LEFT": "DPAD_LEFT",
    "RIGHT": "DPAD_RIGHT", "UP": "DPAD_UP", "DOWN": "DPAD_DOWN", "DOT": "PERIOD", "LEFTSHIFT": "SHIFT_LEFT",
}  # fmt: skip
_CALL_STATES = {"incoming": "incoming", "active": "active", "held": "hold"}


class Refused(Exception):
    """A command is not carried out, for the reason in the message."""


class Bye(Exception):
    """The connection ends after the message."""


class Commands:
    """The commands of one emulator.

    Args:
        hardware: The emulator.
    """

    def __init__(self, hardware: Hardware) -> None:
        self._hardware = hardware
        self._all: dict[str, Command] = {
            "help": self._help, "h": self._help, "?": self._help, "ping": _ping, "quit": _quit, "exit": _quit,
            "kill": self._kill, "sms": self._sms, "gsm": self._gsm, "geo": self._geo, "power": self._power,
            "avd": self._avd, "rotate": self._rotate, "network": _nothing, "event": self._event,
        }  # fmt: skip

    def run(self, name: str, rest: str) -> str:
        """Carries out a command and returns the answer.

        Args:
            name: The first word.
            rest: The rest of the line.

        Raises:
            Refused: The command is unknown or cannot be carried out.
            Bye: The client, or the emulator, leaves.
        """
        if name not in self._all:
            raise Refused("unknown command, try 'help'")
        return self._all[name](rest)

    def _help(self, rest: str) -> str:
        names = "".join(f"    {name}\r\n" for name in sorted(self._all))
        return f"Android console commands:\r\n\r\n{names}\r\ntry 'help <command>' for command-specific help\r\n"

    def _kill(self, rest: str) -> str:
        self._hardware.killed.set()
        raise Bye("OK: killing emulator, bye bye\r\n")

    # telephone

    def _sms(self, rest: str) -> str:
        action, number, text = (*rest.split(" ", 2), "", "")[:3]
        if action != "send":
            raise Refused("missing sub-command, try 'sms send'")
        if not number or not text:
            raise Refused("missing argument, try 'sms send <phonenumber> <text message>'")
        try:
            self._hardware.receive_message(number, text)
        except ValueError as error:
            raise Refused(str(error)) from None
        return ""

    def _gsm(self, rest: str) -> str:
        action, _, number = rest.partition(" ")
        hardware = self._hardware
        match action:
            case "list":
                return "".join(f"inbound from {n:10} : {_CALL_STATES[s]}\r\n" for n, s in hardware.calls.items())
            case "status":
                return "gsm voice state: home\r\ngsm data state:  home\r\n"
            case "signal" | "data" | "voice" | "meter" | "signal-profile":
                return ""
        acts = {
            "call": hardware.call, "accept": hardware.answer, "hold": hardware.hold, "cancel": hardware.hang_up,
            "busy": hardware.hang_up,
        }  # fmt: skip
        if action not in acts:
            raise Refused("bad sub-command")
        if not number:
            raise Refused(f"missing argument, try 'gsm {action} <phonenumber>'")
        try:
            acts[action](number)
        except ValueError as error:
            raise Refused(str(error)) from None
        except KeyError:
            raise Refused(f"no current call with number '{number}'") from None
        return ""

    # place and battery

    def _rotate(self, rest: str) -> str:
        """Turns the device clockwise. The screen stays upright if the settings allow it to turn."""
        with self._hardware.lock:
            phone = self._hardware.phone
            phone.services.held = (phone.services.held - 1) % 4
            phone.changed()
        return ""

    def _geo(self, rest: str) -> str:
        action, *numbers = rest.split() or [""]
        if action != "fix" or len(numbers) < 2:
            raise Refused("not enough arguments: see 'help geo fix' for details")
        longitude, latitude, altitude, *_ = (*(_number(word) for word in numbers), 0.0)
        if abs(longitude) > 180 or abs(latitude) > 90:
            raise Refused("longitude is from -180 to 180, latitude from -90 to 90")
        self._hardware.position = longitude, latitude, altitude
        return ""

    def _power(self, rest: str) -> str:
        action, _, value = rest.partition(" ")
        hardware = self._hardware
        match action, value:
            case "display", "":
                state = "online\r\nstatus: Charging" if hardware.charging else "offline\r\nstatus: Discharging"
                return f"AC: {state}\r\nhealth: Good\r\npresent: true\r\ncapacity: {hardware.battery}\r\n"
            case "capacity", percent if percent.isascii() and percent.isdecimal() and int(percent[:4]) <= 100:
                hardware.battery = int(percent)
            case "ac", "on" | "off":
                hardware.charging = value == "on"
            case "status", "charging" | "discharging" | "not-charging" | "full" | "unknown":
                hardware.charging = value in ("charging", "full")
            case ("health" | "present"), _:
                pass
            case _:
                raise Refused("Usage: \"display\", \"ac on|off\", \"capacity 0-100\", \"status <state>\"")
        return ""

    # the machine

    def _avd(self, rest: str) -> str:
        action, _, more = rest.partition(" ")
        match action:
            case "name" | "id":
                return f"{self._hardware.name}\r\n"
            case "status":
                return "virtual device is running\r\n"
            case "start" | "stop":
                return ""
            case "snapshot":
                return self._snapshot(more)
            case _:
                raise Refused("bad sub-command")

    def _snapshot(self, rest: str) -> str:
        action, _, name = rest.partition(" ")
        hardware = self._hardware
        acts = {"save": hardware.save, "load": hardware.load, "delete": hardware.delete, "del": hardware.delete}
        if action == "list":
            return self._snapshots()
        if action not in acts or not name:
            raise Refused("argument required: list, save <name>, load <name> or delete <name>")
        try:
            acts[action](name)
        except ValueError as error:
            raise Refused(str(error)) from None
        except KeyError:
            raise Refused(f"Snapshot '{name}' does not exist") from None
        return ""

    def _snapshots(self) -> str:
        if not self._hardware.snapshots:
            return "There is no snapshot available.\r\n"
        rows = [f"--        {name:<20}{when:%Y-%m-%d %H:%M:%S}" for name, (_, when) in self._hardware.snapshots.items()]
        head = ["List of snapshots present on all disks:", "ID        TAG                 DATE"]
        return "".join(f"{line}\r\n" for line in head + rows)

    # input

    def _event(self, rest: str) -> str:
        action, _, more = rest.partition(" ")
        match action:
            case "text":
                with self._hardware.lock:
                    enter_text(self._hardware.phone, more)
            case "mouse":
                self._mouse(more.split())
            case "send":
                self._send(more.split())
            case "types":
                return "event <type> can be an integer or one of the following aliases:\r\n    EV_SYN\r\n    EV_KEY\r\n"
            case _:
                raise Refused("bad sub-command")
        return ""

    def _mouse(self, words: list[str]) -> None:
        """Handles `event mouse <x> <y> <device> <buttons>`: a finger that touches while a button is pressed."""
        if len(words) != 4:
            raise Refused("Usage: event mouse <x> <y> <device> <buttonstate>")
        x, y, _, buttons = (int(_number(word)) for word in words)
        with self._hardware.lock:
            fingers = self._hardware.fingers
            if buttons:
                fingers.down(0, x, y, monotonic())
            else:
                fingers.up(0, monotonic())

    def _send(self, events: list[str]) -> None:
        """Handles `event send <type>:<code>:<value> …`: keys by Linux's names or codes. Other events have no effect."""
        for event in events:
            kind, code, value = (*event.split(":"), "", "", "")[:3]
            if kind in ("EV_KEY", "1") and value == "1":
                with self._hardware.lock:
                    press(self._hardware.phone, _android(code))


def _android(linux: str) -> int:
    """Returns Android's key code for a Linux code, given as a number or as a name such as KEY_BACK."""
    if linux.startswith("KEY_"):
        name = linux.removeprefix("KEY_")
        return CODES.get(_OTHER_NAMES.get(name, name), 0)
    return LINUX_CODES.get(int(linux), 0) if linux.isascii() and linux.isdecimal() and len(linux) < 6 else 0


def _number(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not -1e6 < value < 1e6:
        raise Refused(f"invalid number '{word[:40]}'")
    return value


def _ping(rest: str) -> str:
    return "I am alive!\r\n"


def _nothing(rest: str) -> str:
    """Has no effect: the embedded phone stays online."""
    return ""


def _quit(rest: str) -> str:
    raise Bye("")
