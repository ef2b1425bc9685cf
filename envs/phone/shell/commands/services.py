"""`cmd`: the commands of Android's services."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.settings import whole
from coach_gym.envs.phone.shell.commands import state, users
from coach_gym.envs.phone.shell.commands.system.clock import YEARS
from coach_gym.envs.phone.shell.commands.users import BadUser
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import Command, Process
from coach_gym.envs.phone.system.bars import battery_level
from coach_gym.envs.phone.system.shade import toggle

VOLUMES = {
    "0": ("volume_voice", 7), "2": ("volume_ring", 7), "3": ("volume_music", 15), "4": ("volume_alarm", 7),
}  # fmt: skip
"""The setting of each stream's volume, and the loudest."""
SHELL = "com.android.shell"
_STATES = {True: "enabled", False: "disabled"}


def cmd(p: Process) -> int:
    """`cmd SERVICE …`: calls the command of a service."""
    args = p.args[1:] if p.args[:1] == ["-w"] else p.args  # `-w` waits for a service that is still starting
    if not args:
        return p.complain("cmd: No service specified; use -l to list all services", 20)
    service, *rest = args
    if service in _SAME_AS:
        return p.shell.run([_SAME_AS[service], *rest], p.streams)
    if service in _SERVICES:
        return _SERVICES[service](p, rest)
    if service == "-l":
        p.print("Currently running services:")
        p.print("\n".join(f"  {name}" for name in sorted([*_SAME_AS, *_SERVICES])))
        return 0
    return p.complain(f"cmd: Can't find service: {service}", 20)


def _status_bar(p: Process, args: list[str]) -> int:
    shades = {"collapse": 0, "expand-notifications": 1, "expand-settings": 2}
    if args[:1] == [] or args[0] not in shades:
        return _unknown(p, args)
    p.phone.shade = shades[args[0]]
    p.phone.changed()
    return 0


def _ui_mode(p: Process, args: list[str]) -> int:
    """`cmd uimode night [yes|no]`."""
    settings = p.storage.settings
    if args[:1] != ["night"]:
        return _unknown(p, args)
    if args[1:2] and args[1] in ("yes", "no", "auto"):
        settings["secure", "ui_night_mode"] = {"yes": "2", "no": "1", "auto": "0"}[args[1]]
        p.phone.changed()
    elif args[1:]:
        return p.complain("Error: mode must be 'yes', 'no', or 'auto'", 255)
    now = settings.get(("secure", "ui_night_mode"), "1")
    p.print(f"Night mode: { {'2': 'yes', '0': 'auto'}.get(now, 'no') }")
    return 0


def _wifi(p: Process, args: list[str]) -> int:
    """`cmd wifi status|set-wifi-enabled enabled|disabled`."""
    match args:
        case ["status", *_]:
            p.print(f"Wifi is {_STATES[p.storage.settings.get(('global', 'wifi_on'), '0') != '0']}")
        case ["set-wifi-enabled", ("enabled" | "disabled") as state, *_]:
            p.storage.settings["global", "wifi_on"] = str(int(state == "enabled"))
            p.phone.changed()
        case _:
            return _unknown(p, args)
    return 0


def _bluetooth(p: Process, args: list[str]) -> int:
    """`cmd bluetooth_manager enable|disable`."""
    if args not in (["enable"], ["disable"]):
        return _unknown(p, args)
    p.storage.settings["global", "bluetooth_on"] = str(int(args == ["enable"]))
    p.phone.changed()
    return 0


def _connectivity(p: Process, args: list[str]) -> int:
    """`cmd connectivity airplane-mode [enable|disable]`."""
    on = p.storage.settings.get(("global", "airplane_mode_on"), "0") == "1"
    match args:
        case ["airplane-mode"]:
            p.print(_STATES[on])
        case ["airplane-mode", ("enable" | "disable") as wanted]:
            if on != (wanted == "enable"):
                toggle(p.phone, "airplane_mode_on")
                p.phone.changed()
        case _:
            return _unknown(p, args)
    return 0


def _media_session(p: Process, args: list[str]) -> int:
    """`cmd media_session volume [--show] --stream NUMBER --get|--set LEVEL|--adj same|raise|lower`."""
    words = [word for word in args if word != "--show"]
    match words:
        case ["volume", "--stream", stream, *what] if stream in VOLUMES and what:
            name, loudest = VOLUMES[stream]
        case _:
            return _unknown(p, args)
    level = whole(p.storage.settings, "system", name, 5, loudest)
    match what:
        case ["--get"]:
            pass
        case ["--set", wanted] if wanted.isdecimal() and int(wanted) <= loudest:
            level = int(wanted)
        case ["--adj", ("same" | "raise" | "lower") as way]:
            level = min(loudest, max(0, level + {"same": 0, "raise": 1, "lower": -1}[way]))
        case _:
            return p.complain(f"Error: invalid arguments: {' '.join(what)}", 255)
    if what != ["--get"]:
        p.storage.settings["system", name] = str(level)
        p.phone.changed()
    p.print(f"[V] will control stream={stream} ({name.removeprefix('volume_')})\n[V] Connecting to AudioService")
    p.print(f"[V] volume is {level} in range [0..{loudest}]")
    return 0


def _battery(p: Process, args: list[str]) -> int:
    """`cmd battery get|set|unplug|reset`: what `dumpsys battery` does."""
    match args:
        case ["get", "level"]:
            p.print(str(battery_level(p.phone)))
            return 0
        case [("set" | "unplug" | "reset"), *_]:
            return p.shell.run(["dumpsys", "battery", *args], p.streams)
    return _unknown(p, args)


def _notification(p: Process, args: list[str]) -> int:
    """`cmd notification post [-t TITLE] TAG TEXT` and `list`."""
    verb, *rest = args or [""]
    if verb == "list":
        for index, each in enumerate(p.phone.notifications):
            shell = each.package == SHELL
            p.print(f"0|{SHELL}|2020|{each.tag}|2000" if shell else f"0|{each.package}|{index}|null|10099")
        return 0
    if verb != "post":
        return _unknown(p, args)
    given = options(rest, "v", "tSlici")
    if len(given.words) < 2:
        return p.complain("Error: Usage: post [flags] <tag> <text>", 255)
    tag, text = given.words[:2]
    p.phone.post(Notification(SHELL, given.values.get("t", tag), text, p.phone.now, tag=tag))
    p.print(f"posting:\n  Notification(channel=shell_cmd tag={tag})")
    p.phone.changed()
    return 0


def _location(p: Process, args: list[str]) -> int:
    """`cmd location is-location-enabled` and `set-location-enabled true|false`."""
    settings = p.storage.settings
    try:
        words, user = users.taken(args)
    except BadUser as fault:
        return p.complain(f"Error: {fault}", 255)
    match words:
        case ["is-location-enabled"]:
            p.print(str(user <= 0 and settings.get(("secure", "location_mode"), "3") != "0").lower())
        case ["set-location-enabled", ("true" | "false") as wanted]:
            if user <= 0:
                settings["secure", "location_mode"] = "3" if wanted == "true" else "0"
                p.phone.changed()
        case _:
            return _unknown(p, args)
    return 0


def _alarm(p: Process, args: list[str]) -> int:
    """`cmd alarm set-time MILLISECONDS`, `cmd alarm set-timezone ZONE`."""
    verb, value = [*args, "", ""][:2]
    if verb == "set-timezone" and value:
        state.set_zone(p.phone, value)
    elif verb == "set-time" and value.isdecimal() and (time := from_seconds(int(value) / 1000)).year in YEARS:
        p.phone.now = time
        p.phone.changed()
    else:
        return _unknown(p, args)
    return 0


def _user(p: Process, args: list[str]) -> int:
    """`cmd user list`: the only user."""
    if args[:1] != ["list"]:
        return _unknown(p, args)
    p.print("Users:\n\tUserInfo{0:Owner:c13} running")
    return 0


def _unknown(p: Process, args: list[str]) -> int:
    return p.complain(f"Unknown command: {' '.join(args[:1])}", 255)


def _device_config(p: Process, args: list[str]) -> int:
    """`device_config get|put|delete|list|reset NAMESPACE …`: the flags of Android's parts."""
    flags = p.phone.services.flags
    verb, namespace, key, value = [*args, "", "", "", ""][:4]
    if len(args) < {"get": 3, "put": 4, "delete": 3, "list": 1, "reset": 2}.get(verb, 99):
        return p.complain(f"Invalid command: {verb}" if verb else "No command specified", 255)
    name = f"{namespace}/{key}"
    if verb == "get":
        p.print(flags.get(name, "null"))
    elif verb == "put":
        flags[name] = value
    elif verb == "delete":
        done = "Successfully deleted" if flags.pop(name, None) is not None else "Failed to delete"
        p.print(f"{done} {key} from {namespace}")
    elif verb == "list":
        for each in _of(flags, namespace):
            p.print(f"{each.removeprefix(f'{namespace}/')}={flags[each]}")
    else:  # reset MODE NAMESPACE
        for each in _of(flags, key):
            del flags[each]
    return 0


def _of(flags: Iterable[str], namespace: str) -> list[str]:
    """Returns the names of the flags in a namespace, or of all flags if it is empty."""
    return sorted(name for name in flags if not namespace or name.startswith(f"{namespace}/"))


_SAME_AS = {
    "activity": "am", "package": "pm", "input": "input", "input_method": "ime", "settings": "settings",
    "content": "content", "window": "wm", "appops": "appops",
}  # fmt: skip
"""The commands of their own that services have."""

_SERVICES: dict[str, Callable[[Process, list[str]], int]] = {
    "statusbar": _status_bar, "uimode": _ui_mode, "wifi": _wifi, "bluetooth_manager": _bluetooth,
    "connectivity": _connectivity, "device_config": _device_config, "media_session": _media_session,
    "alarm": _alarm, "battery": _battery, "notification": _notification, "location": _location, "user": _user,
}  # fmt: skip


def device_config(p: Process) -> int:
    """`device_config …`: the command of that service."""
    return _device_config(p, p.args)


def media(p: Process) -> int:
    """`media volume …`: the command of the media sessions."""
    return _media_session(p, p.args)


COMMANDS: dict[str, Command] = {"cmd": cmd, "device_config": device_config, "media": media}
