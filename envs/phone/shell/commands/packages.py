"""`pm` and `cmd`: installed packages, permissions, installation, and the commands of services."""

from __future__ import annotations

from collections.abc import Callable

from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.phone.shell.commands import state
from coach_gym.envs.phone.shell.commands.attributes import uid_of
from coach_gym.envs.phone.shell.commands.manifest import BadPackage, Manifest, read_manifest
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process

PROVIDERS = {
    "com.android.providers.contacts": (contacts.PATH, contacts.SCHEMA),
    "com.android.providers.telephony": (telephony.PATH, telephony.SCHEMA),
}
"""Databases of Android's own packages, which are created again when their data is cleared."""

PERMISSIONS = {
    "android.permission.RECORD_AUDIO": "record audio",
    "android.permission.CAMERA": "take pictures and record video",
    "android.permission.ACCESS_FINE_LOCATION": "access this device's location",
    "android.permission.READ_CONTACTS": "access your contacts",
    "android.permission.POST_NOTIFICATIONS": "send you notifications",
}
"""What the phone's apps ask for, by the names of Android's permissions."""


def pm(p: Process) -> int:
    """`pm VERB …`: the package manager."""
    verb, *rest = p.args or [""]
    command = _VERBS.get(verb)
    if command is None:
        return p.complain(f"Unknown command: {verb}" if verb else "Package manager (package) commands:", 255)
    return command(p, rest)


def _words(args: list[str], valued: tuple[str, ...] = ("--user", "-i", "--abi", "--installer")) -> list[str]:
    return [a for i, a in enumerate(args) if not a.startswith("-") and (i == 0 or args[i - 1] not in valued)]


def list_(p: Process, args: list[str]) -> int:
    """`pm list packages|features|…`: of one kind (`-3`, `-s`), or with a text in the name."""
    what, *rest = args or [""]
    if what in ("packages", "package"):
        return _list_packages(p, rest)
    lines = {
        "features": ["feature:android.hardware.camera", "feature:android.hardware.microphone",
                     "feature:android.hardware.touchscreen", "feature:android.hardware.wifi"],
        "libraries": ["library:android.test.base", "library:org.apache.http.legacy"],
        "users": ["Users:", "\tUserInfo{0:Owner:c13} running"],
        "permissions": ["All Permissions:", "", *(f"permission:{name}" for name in PERMISSIONS)],
        "instrumentation": [], "permission-groups": [],
    }.get(what)  # fmt: skip
    if lines is None:
        return p.complain(f"Error: unknown list type '{what}'", 255)
    for line in lines:
        p.print(line)
    return 0


def _list_packages(p: Process, args: list[str]) -> int:
    given = options([a for a in args if not a.startswith("--")], "fdes3iuUlna", "")
    wanted = _words(args)
    for package in state.packages(p.phone):
        third = state.is_third_party(p.phone, package)
        left_out = ("3" in given and not third) or ("s" in given and third) or "d" in given
        if not left_out and all(word in package for word in wanted):
            line = f"package:{state.apk(p.phone, package)}={package}" if "f" in given else f"package:{package}"
            line += " installer=null" if "i" in given else ""
            p.print(line + (f" uid:{uid_of(p.phone, package)}" if "U" in given else ""))
    return 0


def path(p: Process, args: list[str]) -> int:
    """Prints where the package file of a package is."""
    package = "".join(_words(args)[:1])
    if package not in state.packages(p.phone):
        return 1
    p.print(f"package:{state.apk(p.phone, package)}")
    return 0


def clear(p: Process, args: list[str]) -> int:
    """Removes an app's data and permissions, so that it is as new."""
    package = "".join(_words(args)[:1])
    if package not in state.packages(p.phone):
        p.print("Failed")
        return 1
    if package in PROVIDERS:
        place, schema = PROVIDERS[package]
        p.storage.remove(place)
        p.storage.create_database(place, schema)
    elif package in p.phone.apps:
        p.phone.stop(package)
        p.phone.apps[package].clear()
    p.phone.permissions = {(owner, what) for owner, what in p.phone.permissions if owner != package}
    p.phone.changed()
    p.print("Success")
    return 0


def permission(p: Process, args: list[str], granted: bool) -> int:
    """Grants or revokes a permission."""
    package, name = [*_words(args), "", ""][:2]
    if package not in state.packages(p.phone):
        verb = "grant" if granted else "revoke"
        return p.complain(
            f"\nException occurred while executing '{verb}':\n"
            f"java.lang.IllegalArgumentException: Unknown package: {package}", 255
        )  # fmt: skip
    key = package, PERMISSIONS.get(name, name)
    if granted:
        p.phone.permissions.add(key)
    else:
        p.phone.permissions.discard(key)
    return 0


def grant(p: Process, args: list[str]) -> int:
    """Grants a permission."""
    return permission(p, args, True)


def revoke(p: Process, args: list[str]) -> int:
    """Revokes a permission."""
    return permission(p, args, False)


# installation

def install(p: Process, args: list[str]) -> int:
    """Installs a package file, or one on standard input (`-S` bytes)."""
    valued = ("--user", "-i", "-S", "--abi", "--install-location", "--originating-uri", "--referrer", "-p")
    names = _words(args, valued)
    size = next((b for a, b in zip(args, args[1:], strict=False) if a == "-S"), None)
    if names and names[-1] != "-":
        data = p.storage.read(p.path(names[-1]))
        if data is None:
            return _failed(p, f"Error: failed to open file: {names[-1]}. Error: {NO_FILE}")
    else:
        length = int(size) if size is not None and size.isdecimal() else None
        data = p.streams.stdin.read() if length is None else p.streams.stdin.exactly(length)
        if length is not None and len(data) < length:
            return _failed(p, "Failure [INSTALL_FAILED_INVALID_APK: not all of the package arrived]")
    return install_data(p, data)


def install_data(p: Process, data: bytes) -> int:
    """Notes that a package is installed. Its code does not run here, and apps of the phone stay as they are."""
    try:
        manifest = read_manifest(data)
    except BadPackage as fault:
        return _failed(p, f"Failure [INSTALL_PARSE_FAILED_NOT_APK: {fault}]")
    _note(p, manifest, data)
    p.print("Success")
    return 0


def _note(p: Process, manifest: Manifest, data: bytes) -> None:
    if manifest.package not in p.phone.apps:
        p.phone.services.packages[manifest.package] = f"{manifest.version_code} {manifest.version_name}"
        p.storage.write(state.apk(p.phone, manifest.package), data)
        p.storage.mkdir(f"/data/data/{manifest.package}")


def _failed(p: Process, message: str) -> int:
    p.complain(message)
    return 1


def uninstall(p: Process, args: list[str]) -> int:
    """Removes a package that `pm install` installed; the apps of the phone stay."""
    package = "".join(_words(args)[:1])
    if package in p.phone.services.packages:
        p.storage.remove(f"/data/app/~~{package}==")
        p.storage.remove(f"/data/data/{package}")
        del p.phone.services.packages[package]
        p.print("Success")
        return 0
    known = package in state.packages(p.phone)
    return _failed(p, f"Failure [{'DELETE_FAILED_INTERNAL_ERROR' if known else 'not installed for 0'}]")


def query_activities(p: Process, args: list[str]) -> int:
    """`query-activities --brief`: lists the activities that the home screen opens."""
    if "android.intent.action.MAIN" not in args or "android.intent.category.LAUNCHER" not in args:
        p.print("No activities found")
        return 0
    p.print(f"{len(p.phone.apps)} activities found:")
    for index, (package, app) in enumerate(p.phone.apps.items()):
        p.print(f"  Activity #{index}:")
        p.print("    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true")
        p.print(f"    {package}/{app.activity}")
    return 0


def _nothing(p: Process, args: list[str]) -> int:
    return 0


_VERBS: dict[str, Callable[[Process, list[str]], int]] = {
    "list": list_, "path": path, "clear": clear, "grant": grant, "revoke": revoke, "install": install,
    "uninstall": uninstall, "query-activities": query_activities, "enable": _nothing, "disable": _nothing,
    "disable-user": _nothing, "trim-caches": _nothing, "set-installer": _nothing,
    "reset-permissions": _nothing, "set-app-link": _nothing,
}  # fmt: skip


def cmd(p: Process) -> int:
    """`cmd SERVICE …`: calls the command of a service."""
    from coach_gym.envs.phone.shell.commands.content import content
    from coach_gym.envs.phone.shell.commands.system import settings, wm

    service, *rest = p.args or [""]
    commands = {"package": pm, "settings": settings, "content": content, "window": wm}
    if service in commands:
        return commands[service](Process(p.shell, service, rest, p.streams))
    if service in ("activity", "input", "input_method"):
        return p.shell.run([{"activity": "am", "input_method": "ime"}.get(service, service), *rest], p.streams)
    if service in ("statusbar", "uimode", "wifi", "bluetooth_manager", "connectivity"):
        return _SERVICES[service](p, rest)
    if service == "-l":
        p.print("\n".join(sorted([*commands, *_SERVICES, "activity", "input", "input_method"])))
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


_SERVICES: dict[str, Callable[[Process, list[str]], int]] = {
    "statusbar": _status_bar, "uimode": _ui_mode, "wifi": _radio("wifi_on"),
    "bluetooth_manager": _radio("bluetooth_on"), "connectivity": _radio("airplane_mode_on"),
}  # fmt: skip


def appops(p: Process) -> int:
    """`appops set PACKAGE OP MODE`: accepted for installed packages."""
    words = [word for word in p.args if not word.startswith("-")]
    if words[:1] in (["set"], ["get"]) and words[1:2] and words[1] not in state.packages(p.phone):
        return p.complain(f"Error: No UID for {words[1]} in user 0", 255)
    return 0


COMMANDS: dict[str, Command] = {"pm": pm, "cmd": cmd, "appops": appops}
