"""`settings`: reads and writes Android's settings."""

from __future__ import annotations

from coach_gym.envs.phone.settings import DEFAULTS, require_valid
from coach_gym.envs.phone.shell.commands import state, users
from coach_gym.envs.phone.shell.commands.users import BadUser
from coach_gym.envs.phone.shell.language.process import Command, Process

NAMESPACES = ("system", "secure", "global")


def settings(p: Process) -> int:
    """`settings get|put|delete|list|reset NAMESPACE …`."""
    try:
        args, user = users.taken(p.args)
    except BadUser as fault:
        return _usage(p, str(fault))
    verb, namespace, *rest = [*args, "", ""][: max(2, len(args))]
    if verb == "help":
        p.print("Settings provider (settings) commands:\n  get|put|delete|list|reset NAMESPACE")
        return 0
    if verb not in ("get", "put", "delete", "list", "reset"):
        return _usage(p, f"Invalid command: {verb}" if verb else "No command specified")
    if namespace not in NAMESPACES:
        return _usage(p, f"Invalid namespace '{namespace}'")
    if len(rest) < {"get": 1, "put": 2, "delete": 1, "list": 0, "reset": 1}[verb]:
        return _usage(p, "Bad arguments")
    if user:
        return p.complain(f"Invalid user: {user}", 255)
    {"get": _get, "put": _put, "delete": _delete, "list": _list, "reset": _reset}[verb](p, namespace, rest)
    return 255 if p.failed else 0


def _usage(p: Process, message: str) -> int:
    return p.complain(f"{message}\nSettings provider (settings) commands:\n  get|put|delete|list|reset NAMESPACE", 255)


def _get(p: Process, namespace: str, rest: list[str]) -> None:
    p.print(state.settings(p.phone).get((namespace, rest[0]), "null"))


def _put(p: Process, namespace: str, rest: list[str]) -> None:
    name, value = rest[:2]
    try:
        require_valid(namespace, name, value)
    except ValueError as error:
        p.complain(f"\nException occurred while executing 'put':\njava.lang.IllegalArgumentException: {error}", 255)
        return
    p.storage.settings[namespace, name] = value
    p.phone.changed()


def _delete(p: Process, namespace: str, rest: list[str]) -> None:
    gone = p.storage.settings.pop((namespace, rest[0]), None)
    p.print(f"Deleted {int(gone is not None)} rows")
    p.phone.changed()


def _list(p: Process, namespace: str, rest: list[str]) -> None:
    for (space, name), value in sorted(state.settings(p.phone).items()):
        if space == namespace:
            p.print(f"{name}={value}")


def _reset(p: Process, namespace: str, rest: list[str]) -> None:
    """Brings Android's own settings back to their defaults; those that the Settings app has stay."""
    p.storage.settings.update((key, value) for key, value in DEFAULTS.items() if key[0] == namespace)
    p.phone.changed()


COMMANDS: dict[str, Command] = {
    "settings": settings,
}  # fmt: skip
