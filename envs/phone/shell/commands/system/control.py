"""What Android's services are told: `svc`, `service`, `wm`, `ime`."""

from __future__ import annotations

from coach_gym.envs.phone.settings import DEFAULT_IME
from coach_gym.envs.phone.shell.commands import state, users
from coach_gym.envs.phone.shell.commands.dumps.dumpsys import SERVICES
from coach_gym.envs.phone.shell.commands.users import BadUser
from coach_gym.envs.phone.shell.language.process import Command, Process

_STAY_ON = {"true": "15", "false": "0", "ac": "1", "usb": "2", "wireless": "4", "dock": "8"}


def svc(p: Process) -> int:
    """`svc wifi|bluetooth|data|nfc|power …`."""
    radios = {"wifi": "wifi_on", "bluetooth": "bluetooth_on", "data": "mobile_data", "nfc": "nfc_on"}
    service, verb = [*p.args, "", ""][:2]
    if service in radios and verb in ("enable", "disable"):
        p.storage.settings["global", radios[service]] = str(int(verb == "enable"))
        p.phone.changed()
        return 0
    if service == "power" and verb == "stayon" and p.args[2:3] and p.args[2] in _STAY_ON:
        p.storage.settings["global", "stay_on_while_plugged_in"] = _STAY_ON[p.args[2]]
        return 0
    if service == "power" and verb in ("reboot", "shutdown"):
        return reboot(p)
    p.complain("Available commands:\n    help\n    power\n    data\n    wifi\n    usb\n    nfc\n    bluetooth")
    return 1


def reboot(p: Process) -> int:
    """Refuses: a phone in memory has nothing to start from again."""
    return p.fail("Operation not permitted on the embedded phone")


def service(p: Process) -> int:
    """`service list|check|call`: the calls are alarm 3, for the time zone, and statusbar 1 to 3, for the shade."""
    services = sorted({*SERVICES, "content", "phone", "settings"})
    verb, name, *rest = [*p.args, "", ""][: max(2, len(p.args))]
    if verb == "check":
        p.print(f"Service {name}: {'found' if name in services else 'not found'}")
    elif verb == "list":
        p.print(f"Found {len(services)} services:")
        for index, each in enumerate(services):
            p.print(f"{index}\t{each}: [android.{each}]")
    elif verb == "call" and name in services:
        if name == "alarm" and rest[:2] == ["3", "s16"] and len(rest) > 2:
            state.set_zone(p.phone, rest[2])
        elif name == "statusbar" and rest and rest[0] in ("1", "2", "3"):
            p.phone.shade = {"1": 1, "2": 0}.get(rest[0], int(not p.phone.shade))
            p.phone.changed()
        else:
            return p.fail(f"call {' '.join([name, *rest])} is not on the embedded phone")
        p.print("Result: Parcel(00000000    '....')")
    else:
        p.complain(f"service: Service {name} does not exist" if verb == "call" else "Usage: service [-h|-?]")
        return 10
    return 0


def wm(p: Process) -> int:
    """`wm size`, `wm density`: the screen stays as it was made. `wm user-rotation` turns it."""
    verb, value, *rest = [*p.args, "", ""][: max(2, len(p.args))]
    if verb not in ("size", "density", "dismiss-keyguard", "user-rotation", "fixed-to-user-rotation"):
        return p.complain(f"Unknown command: {verb}" if verb else "Window manager (window) commands:", 255)
    if verb == "size" and not value:
        p.print(f"Physical size: {'x'.join(map(str, p.phone.upright))}")
    elif verb == "density" and not value:
        p.print(f"Physical density: {state.dpi(p.phone)}")
    elif verb in ("size", "density") and value != "reset":
        same = ("x".join(map(str, p.phone.upright)), str(state.dpi(p.phone)))
        return 0 if value in same else p.complain(f"Error: the embedded phone's {verb} is fixed", 1)
    elif verb == "user-rotation":
        return _turn(p, [value, *rest])
    return 0


def _turn(p: Process, args: list[str]) -> int:
    """`wm user-rotation [free | lock [0-3]]`; -d names the only display."""
    words = [word for word in (args[2:] if args[:1] == ["-d"] else args) if word]
    if not words:
        free = p.storage.settings.get(("system", "accelerometer_rotation")) == "1"
        p.print("free" if free else f"lock {p.phone.rotation}")
    elif words == ["free"]:
        p.phone.turn(None)
    elif words[0] == "lock" and words[1:] in ([], ["0"], ["1"], ["2"], ["3"]):
        p.phone.turn(int(words[1]) if words[1:] else p.phone.rotation)
    else:
        return p.complain(f"Error: argument error: {' '.join(words)}", 1)
    return 0


_DONE = {"enable": "enabled", "disable": "disabled", "set": "selected"}


def ime(p: Process) -> int:
    """`ime list|enable|disable|set|reset`."""
    settings, installed = p.storage.settings, state.imes(p.phone)
    try:
        args, user = users.taken(p.args)
    except BadUser as fault:
        return p.complain(f"Error: {fault}", 255)
    verb, *rest = args or [""]
    if user > 0:
        return p.complain(f"User #{user} does not exist.", 0)
    chosen = next((word for word in rest if not word.startswith("-")), "")
    if verb == "list":
        enabled = settings.get(("secure", "enabled_input_methods"), DEFAULT_IME).split(":")
        for each in installed if "-a" in rest else [each for each in installed if each in enabled]:
            p.print(each if "-s" in rest else f"mId={each} mSettingsActivityName=null mIsVrOnly=false")
        return 0
    if verb == "reset":
        settings["secure", "default_input_method"] = DEFAULT_IME
        p.print(f"Reset current and enabled IMEs for user #0\n  Selected: {DEFAULT_IME}")
        return 0
    if verb not in ("enable", "disable", "set"):
        return p.complain(f"Unknown command: {verb}", 255)
    if chosen not in installed:
        return p.complain(f"Unknown input method {chosen} cannot be {_DONE[verb]} for user #0", 255)
    return _turn_ime(p, verb, chosen)


def _turn_ime(p: Process, verb: str, chosen: str) -> int:
    settings = p.storage.settings
    enabled = settings.get(("secure", "enabled_input_methods"), DEFAULT_IME).split(":")
    if verb == "set":
        settings["secure", "default_input_method"] = chosen
        p.print(f"Input method {chosen} selected for user #0")
    elif verb == "enable":
        p.print(f"Input method {chosen}: {'already' if chosen in enabled else 'now'} enabled for user #0")
        settings["secure", "enabled_input_methods"] = ":".join(dict.fromkeys([*enabled, chosen]))
    else:
        p.print(f"Input method {chosen}: now disabled for user #0")
        settings["secure", "enabled_input_methods"] = ":".join(name for name in enabled if name != chosen)
        if settings.get(("secure", "default_input_method")) == chosen:
            settings["secure", "default_input_method"] = DEFAULT_IME
    return 0


COMMANDS: dict[str, Command] = {
    "svc": svc, "reboot": reboot, "stop": reboot, "start": reboot, "service": service, "wm": wm, "ime": ime,
}  # fmt: skip
