"""`cmd`: the commands of Android's services."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from coach_gym.envs.phone.shell.language.process import Command, Process


def cmd(p: Process) -> int:
    """`cmd SERVICE …`: calls the command of a service."""
    service, *rest = p.args or [""]
    if service in _SAME_AS:
        return p.shell.run([_SAME_AS[service], *rest], p.streams)
    if service in _SERVICES:
        return _SERVICES[service](p, rest)
    if service == "-l":
        p.print("\n".join(sorted([*_SAME_AS, *_SERVICES])))
        return 0
    return p.complain(f"cmd: Can't find service: {service}", 20)


def _status_bar(p: Process, args: list[str]) -> int:
    shades = {"collapse": 0, "expand-notifications": 1, "expand-settings": 2}
    if args[:1] == [] or args[0] not in shades:
        return p.complain(f"Unknown command: {' '.join(args[:1])}", 255)
    p.phone.shade = shades[args[0]]
    p.phone.changed()
    return 0


def _ui_mode(p: Process, args: list[str]) -> int:
    """`cmd uimode night [yes|no]`."""
    settings = p.storage.settings
    if args[:1] != ["night"]:
        return p.complain(f"Unknown command: {' '.join(args[:1])}", 255)
    if args[1:2] and args[1] in ("yes", "no", "auto"):
        settings["secure", "ui_night_mode"] = {"yes": "2", "no": "1", "auto": "0"}[args[1]]
        p.phone.changed()
    now = settings.get(("secure", "ui_night_mode"), "1")
    p.print(f"Night mode: { {'2': 'yes', '0': 'auto'}.get(now, 'no') }")
    return 0


def _radio(key: str) -> Callable[[Process, list[str]], int]:
    words = {"enable": "1", "enabled": "1", "disable": "0", "disabled": "0"}

    def turn(p: Process, args: list[str]) -> int:
        word = next((word for word in args if word in words), None)
        if word is None:
            return p.complain(f"Unknown command: {' '.join(args[:1])}", 255)
        p.storage.settings["global", key] = words[word]
        p.phone.changed()
        return 0

    return turn


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
    "content": "content", "window": "wm",
}  # fmt: skip
"""The commands of their own that services have."""

_SERVICES: dict[str, Callable[[Process, list[str]], int]] = {
    "statusbar": _status_bar, "uimode": _ui_mode, "wifi": _radio("wifi_on"),
    "bluetooth_manager": _radio("bluetooth_on"), "connectivity": _radio("airplane_mode_on"),
    "device_config": _device_config,
}  # fmt: skip

def device_config(p: Process) -> int:
    """`device_config …`: the command of that service."""
    return _device_config(p, p.args)


COMMANDS: dict[str, Command] = {"cmd": cmd, "device_config": device_config}
