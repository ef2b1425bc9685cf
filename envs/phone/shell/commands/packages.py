"""`pm`: installed packages, their activities, installation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile

from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.providers import calendar, contacts, telephony
from coach_gym.envs.phone.shell.commands import state, users
from coach_gym.envs.phone.shell.commands.activities.reading import BadIntent, read_intent, resolved
from coach_gym.envs.phone.shell.commands.manifest import BadPackage, Manifest, read_manifest
from coach_gym.envs.phone.shell.commands.permissions import GROUPS, grant, list_permissions, revoke
from coach_gym.envs.phone.shell.commands.users import BadUser
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process
from coach_gym.envs.phone.shell.toybox.attributes import uid_of

PROVIDERS = {
    "com.android.providers.calendar": (calendar.PATH, calendar.SCHEMA),
    "com.android.providers.contacts": (contacts.PATH, contacts.SCHEMA),
    "com.android.providers.telephony": (telephony.PATH, telephony.SCHEMA),
}
"""Databases of Android's own packages, which are created again when their data is cleared."""

MODES = ("allow", "ignore", "deny", "default", "foreground")
"""What `appops` can set an operation to."""

FEATURES = tuple(
    f"feature:{name}"
    for name in (
        "android.hardware.camera", "android.hardware.microphone", "android.hardware.sensor.barometer",
        "reqGlEsVersion=0x20000", "android.hardware.touchscreen", "android.hardware.wifi",
    )
)  # fmt: skip
"""What `pm list features` says of the phone's hardware."""


def pm(p: Process) -> int:
    """`pm VERB …`: the package manager."""
    verb, *rest = p.args or [""]
    command = _VERBS.get(verb)
    if command is None:
        return p.complain(f"Unknown command: {verb}" if verb else "Package manager (package) commands:", 255)
    try:
        args, user = users.taken(rest)
        if user == users.ALL and verb in _FOR_ONE:
            raise BadUser(f"Call does not support special user #{user}")
        if user > 0 and verb in _FOR_NOBODY:
            text, code = _FOR_NOBODY[verb]
            p.print(text.format(user=user, package="".join(_words(args)[:1])), "\n" * bool(text))
            return code
        if unknown := _unknown(verb, args):
            return p.complain(f"Error: Unknown option: {unknown}")
        return command(p, args)
    except (BadIntent, BadUser) as fault:
        kind = "java.lang.IllegalArgumentException"
        return p.complain(f"\nException occurred while executing '{verb}':\n{kind}: {fault}", 255)


_FOR_NOBODY = {
    "list": ("", 0), "path": ("", 1), "clear": ("Failed", 1), "grant": ("", 0), "revoke": ("", 0),
    "install": ("Failure [user {user} doesn't exist]", 1), "uninstall": ("Failure [not installed for {user}]", 1),
    "enable": ("Package {package} new state: disabled", 0), "resolve-activity": ("No activity found", 0),
    "query-activities": ("No activities found", 0),
}  # fmt: skip
"""What commands print if the user does not exist, and their exit codes: Android then finds nothing, and says little."""
_FOR_ONE = _FOR_NOBODY.keys() - {"list", "install", "uninstall"}
"""Those that are not for all users at once."""


_KNOWN = {
    "clear": ("--cache-only",), "uninstall": ("-k", "--versionCode"),
    "install-existing": ("--ephemeral", "--instant", "--full", "--wait", "--restrict-permissions"),
}  # fmt: skip
"""The options of commands that refuse others; Android passes over those that `path`, `grant` and `enable` lack."""


def _unknown(verb: str, args: list[str]) -> str:
    """Returns the first option that a command refuses, or nothing."""
    given = takewhile(lambda word: word.startswith("-"), args)
    return next((word for word in given if verb in _KNOWN and word not in _KNOWN[verb]), "")


def _words(args: list[str], valued: tuple[str, ...] = ()) -> list[str]:
    return [a for i, a in enumerate(args) if not a.startswith("-") and (i == 0 or args[i - 1] not in valued)]


def list_(p: Process, args: list[str]) -> int:
    """`pm list packages|features|…`: of one kind (`-3`, `-s`), or with a text in the name."""
    what, *rest = args or [""]
    if not args:
        return p.complain("Error: didn't specify type of data to list", 255)
    if what in ("packages", "package"):
        return _list_packages(p, rest)
    if what == "permissions":
        return list_permissions(p, rest)
    lines = {
        "features": list(FEATURES),
        "libraries": ["library:android.test.base", "library:org.apache.http.legacy"],
        "users": ["Users:", "\tUserInfo{0:Owner:c13} running"],
        "permission-groups": [f"permission group:{name}" for name in GROUPS], "instrumentation": [],
    }.get(what)  # fmt: skip
    if lines is None:
        return p.complain(f"Error: unknown list type '{what}'", 255)
    for line in lines:
        p.print(line)
    return 0


_LISTED = frozenset(("-3", "-a", "-d", "-e", "-f", "-i", "-l", "-s", "-u", "-U", "--apex-only", "--show-versioncode"))


def _list_packages(p: Process, args: list[str]) -> int:
    given = [*takewhile(lambda word: word.startswith("-"), args)]
    if bad := next((word for word in given if word not in _LISTED), ""):
        return p.complain(f"Error: Unknown option: {bad}", 255)
    wanted = "".join(args[len(given) :][:1])
    if {"-d", "--apex-only"} & set(given):  # all packages are enabled, and none is an APEX
        return 0
    for package in state.packages(p.phone):
        third = state.is_third_party(p.phone, package)
        if wanted in package and not ("-3" in given and not third) and not ("-s" in given and third):
            line = f"package:{state.apk(p.phone, package)}={package}" if "-f" in given else f"package:{package}"
            code = p.phone.services.packages.get(package, "1").split()[0]
            line += f" versionCode:{code}" * ("--show-versioncode" in given) + "  installer=null" * ("-i" in given)
            p.print(line + f" uid:{uid_of(p.phone, package)}" * ("-U" in given))
    return 0


def path(p: Process, args: list[str]) -> int:
    """Prints where the package file of a package is."""
    package = "".join(_words(args)[:1])
    if not package:
        return _unnamed(p)
    if package not in state.packages(p.phone):
        return 1
    p.print(f"package:{state.apk(p.phone, package)}")
    return 0


def _unnamed(p: Process) -> int:
    return p.complain("Error: no package specified")


def clear(p: Process, args: list[str]) -> int:
    """Removes an app's data and permissions, so that it is as new."""
    package = "".join(_words(args)[:1])
    if not package:
        return _unnamed(p)
    if package not in state.packages(p.phone):
        p.print("Failed")
        return 1
    if "--cache-only" in args:
        return _clear_caches(p, package)
    if package in PROVIDERS:
        place, schema = PROVIDERS[package]
        p.storage.remove(place)
        p.storage.create_database(place, schema)
    elif package in p.phone.apps:
        p.phone.force_stop(package)
        p.phone.apps[package].clear()
    p.phone.permissions = {(owner, what) for owner, what in p.phone.permissions if owner != package}
    p.phone.changed()
    p.print("Success")
    return 0


def _clear_caches(p: Process, package: str) -> int:
    for folder in (f"/data/data/{package}/cache", f"/data/data/{package}/code_cache"):
        for name in p.storage.listdir(folder):
            p.storage.remove(f"{folder}/{name}")
    p.print("Success")
    return 0


# installation


def install(p: Process, args: list[str]) -> int:
    """Installs a package file, or one on standard input (`-S` bytes)."""
    valued = ("-i", "-S", "--abi", "--install-location", "--originating-uri", "--referrer", "-p")
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
    """Removes a package that `pm install` installed, with `-k` but for its data; the apps of the phone stay."""
    package = "".join(_words(args, ("--versionCode",))[:1])
    if package in p.phone.services.packages:
        p.storage.remove(f"/data/app/~~{package}==")
        if "-k" not in args:
            p.storage.remove(f"/data/data/{package}")
        del p.phone.services.packages[package]
        p.print("Success")
        return 0
    known = package in state.packages(p.phone)
    return _failed(p, f"Failure [{'DELETE_FAILED_INTERNAL_ERROR' if known else 'not installed for 0'}]")


# activities

_MATCH = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true"


def resolve_activity(p: Process, args: list[str]) -> int:
    """`resolve-activity [--brief] INTENT`: tells which activity an intent would open."""
    found = resolved(p.phone, _intent(args))
    if found is None:
        p.print("No activity found")
    elif "--brief" in args:
        p.print(f"{_MATCH}\n{state.short(found)}")
    else:
        package, _, name = found.partition("/")
        p.print(f"{_MATCH}\nActivityInfo:\n  name={name}\n  packageName={package}\n  exported=true")
    return 0


def query_activities(p: Process, args: list[str]) -> int:
    """`query-activities [--brief] INTENT`: lists the activities that could open an intent."""
    intent = _intent(args)
    packages = [*p.phone.apps, p.phone.launcher.package]
    each = (replace(intent, package=package) for package in packages if intent.package in ("", package))
    found = [name for name in (resolved(p.phone, one) for one in each) if name is not None]
    p.print(f"{len(found)} activities found:" if found else "No activities found")
    for index, name in enumerate(found):
        p.print(f"  Activity #{index}:\n    {_MATCH}\n    {state.short(name)}")
    return 0


def _intent(args: list[str]) -> Intent:
    intent, _ = read_intent([word for word in args if word not in ("--brief", "--components")])
    return intent


# what has no effect that the phone shows, and what it cannot do


def install_existing(p: Process, args: list[str]) -> int:
    """Installs a package for the user who lacks it; here all packages are installed for all users."""
    package = "".join(_words(args)[:1])
    if package not in state.packages(p.phone):
        name = "android.content.pm.PackageManager$NameNotFoundException"
        return p.complain(f"{name}: Package {package} doesn't exist", 1)
    p.print(f"Package {package} installed for user: 0")
    return 0


def enable(p: Process, args: list[str]) -> int:
    """Enables a package, as all packages are."""
    package = "".join(_words(args)[:1])
    if package not in state.packages(p.phone):
        return p.complain(f"java.lang.IllegalArgumentException: Unknown package: {package}", 255)
    p.print(f"Package {package} new state: enabled")
    return 0


def disable(p: Process, args: list[str]) -> int:
    """Refuses: the apps of this phone are always enabled."""
    return p.complain("Error: the packages of the embedded phone cannot be disabled", 1)


def has_feature(p: Process, args: list[str]) -> int:
    """Prints whether the phone has a feature; fails if not."""
    found = f"feature:{''.join(_words(args)[:1])}" in FEATURES
    p.print(str(found).lower())
    return int(not found)


def install_location(p: Process, args: list[str]) -> int:
    """Prints where packages are installed: where the system likes."""
    p.print("0[auto]")
    return 0


def max_users(p: Process, args: list[str]) -> int:
    """Prints how many users there can be."""
    p.print("Maximum supported users: 1")
    return 0


def reset_permissions(p: Process, args: list[str]) -> int:
    """Takes back all permissions that users have granted."""
    p.phone.permissions.clear()
    return 0


def dump(p: Process, args: list[str]) -> int:
    """Prints what is known about a package."""
    return p.shell.run(["dumpsys", "package", *args], p.streams)


def help_(p: Process, args: list[str]) -> int:
    """Lists the commands."""
    p.print("Package manager (package) commands:\n" + "\n".join(f"  {verb}" for verb in sorted(_VERBS)))
    return 0


_VERBS: dict[str, Callable[[Process, list[str]], int]] = {
    "list": list_, "path": path, "clear": clear, "grant": grant, "revoke": revoke, "install": install,
    "uninstall": uninstall, "resolve-activity": resolve_activity, "query-activities": query_activities,
    "install-existing": install_existing, "enable": enable, "disable": disable, "disable-user": disable,
    "reset-permissions": reset_permissions, "dump": dump, "has-feature": has_feature,
    "get-install-location": install_location, "get-max-users": max_users, "help": help_,
}  # fmt: skip


def appops(p: Process) -> int:
    """`appops set PACKAGE OPERATION MODE` and `appops get PACKAGE [OPERATION]`."""
    try:
        args, user = users.taken(p.args)
    except BadUser as fault:
        return p.complain(f"Error: {fault}", 255)
    verb, package, *rest = [*(word for word in args if not word.startswith("-")), "", ""]
    if verb not in ("set", "get"):
        return p.complain(f"Unknown command: {verb}", 255)
    if package not in state.packages(p.phone) or user > 0:
        return p.complain(f"Error: No UID for {package} in user {max(0, user)}", 255)
    known = p.phone.services.operations
    operation, mode = [*rest, ""][:2]
    if verb == "set":
        if mode not in MODES:
            return p.complain(f"Error: Mode {mode} is not valid", 255)
        known[package, operation] = mode
        return 0
    found = [f"{each[1]}: {mode}" for each, mode in known.items() if each[0] == package and operation in ("", each[1])]
    p.print("\n".join(found) or "No operations.")
    return 0


def run_as(p: Process) -> int:
    """`run-as PACKAGE COMMAND …`: runs a command in the folder of an app."""
    if len(p.args) < 2:
        return p.complain("run-as: usage: run-as <package-name> [--user <uid>] <command> [<args>]")
    package, *rest = p.args
    if package not in state.packages(p.phone):
        return p.fail(f"unknown package: {package}")
    if rest[:1] == ["--user"]:
        if rest[1:2] != ["0"]:
            return p.fail(f"couldn't stat /data/user/{''.join(rest[1:2])}/{package}: {NO_FILE}")
        rest = rest[2:]
    kept, p.shell.folder = p.shell.folder, f"/data/data/{package}"
    try:
        return p.shell.run(rest, p.streams)
    finally:
        p.shell.folder = kept


COMMANDS: dict[str, Command] = {"pm": pm, "appops": appops, "run-as": run_as}
