"""`am`: the activity manager."""

from __future__ import annotations

from collections.abc import Callable

from coach_gym.envs.phone.input import ime
from coach_gym.envs.phone.intents import CANCELED, Answer, Intent
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import state, users
from coach_gym.envs.phone.shell.commands.activities.reading import (
    CLEAR_TASK,
    CLEAR_TOP,
    EVERYBODY,
    NOBODY,
    REFUSED,
    BadIntent,
    read_intent,
    resolved,
    shown,
)
from coach_gym.envs.phone.shell.commands.users import BadUser
from coach_gym.envs.phone.shell.language.process import Command, Process

ERROR = 1  # exit code of an activity that could not be started


def _as_java_reads(word: str) -> str:
    """Returns a word with U+FFFD for bytes that are no UTF-8."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def am(p: Process) -> int:
    """`am VERB …`: the activity manager."""
    verb, *rest = map(_as_java_reads, p.args or [""])
    command = _VERBS.get(verb)
    if command is None:
        return p.complain(f"Unknown command: {verb}" if verb else "Activity manager (activity) commands:", 255)
    try:
        code = command(p, rest)
    except (BadIntent, BadUser) as fault:
        kind = "SecurityException" if "permission" in str(fault) else "IllegalArgumentException"
        return p.complain(f"\nException occurred while executing '{verb}':\njava.lang.{kind}: {fault}", 255)
    p.phone.changed()
    return code


def start(p: Process, args: list[str]) -> int:
    """Starts an activity: `-W` waits, `-S` stops the app first."""
    intent, flags = read_intent(args)
    if intent.flags & REFUSED:
        raise BadIntent(f"Unsupported flags: 0x{intent.flags & REFUSED:x}")
    if EVERYBODY in flags:
        return p.complain("Error: Can't start service with user 'all'", ERROR)  # "service" is Android's slip
    p.print(f"Starting: {shown(intent)}")
    found = resolved(p.phone, intent) if NOBODY not in flags else None
    if "-S" in flags and found and intent.package in p.phone.apps:
        p.phone.force_stop(intent.package)
    was_running = intent.package in p.phone.stacks
    was_front = p.phone.foreground == intent.package
    if found and intent.flags & (CLEAR_TASK | CLEAR_TOP):
        was_front = not _clear(p.phone, intent, found.partition("/")[0]) and was_front
    package = p.phone.start(intent) if found else None
    if package is None and intent.activity:
        name = f"{intent.package}/{intent.activity}"
        return p.complain(f"Error type 3\nError: Activity class {{{name}}} does not exist.", ERROR)
    if package is None:
        return p.complain(f"Error: Activity not started, unable to resolve {shown(intent, 0x10000000)}", ERROR)
    if was_front:
        p.print("Warning: Activity not started, its current task has been brought to the front")
    if "-W" in flags:
        name = state.short(state.component(p.phone, package))
        launch = "HOT" if was_front else "WARM" if was_running else "COLD"
        p.print(f"Status: ok\nLaunchState: {launch}\nActivity: {name}\nTotalTime: 312\nWaitTime: 317\nComplete")
    return 0


def _clear(phone: Phone, intent: Intent, package: str) -> bool:
    """Closes the screens of a task that the flags of an intent say. Returns whether there are any."""
    stack = phone.stacks.get(package, []) if package in phone.apps else []
    names = [state.full(package, screen.activity or phone.apps[package].activity) for screen in stack]
    wanted = f"{intent.package}/{intent.activity}"
    if not stack or not intent.flags & CLEAR_TASK and wanted not in names:
        return False
    first = 0 if intent.flags & CLEAR_TASK else names.index(wanted)
    del stack[first:]
    if not stack:
        with phone.running(package):
            phone.begin(package)
    return True


def force_stop(p: Process, args: list[str]) -> int:
    """Ends an app."""
    for package in _named(p.phone, args, "force-stop"):
        p.phone.force_stop(package)
    return 0


def kill(p: Process, args: list[str]) -> int:
    """Ends an app, unless it is in front."""
    for package in _named(p.phone, args, "kill"):
        if package != p.phone.foreground:
            p.phone.stop(package)
    return 0


def _named(phone: Phone, args: list[str], verb: str) -> list[str]:
    """Returns the apps among the arguments of a command."""
    args, user = users.taken(args)
    words = [word for word in args if not word.startswith("-")]
    if not words:
        raise BadIntent(f'Argument expected after "{verb}"')
    return [word for word in words if user in (0, users.ALL) and word in phone.apps]


def kill_all(p: Process, args: list[str]) -> int:
    """Ends all apps except the one in front."""
    for package in [name for name in p.phone.stacks if name not in (p.phone.foreground, p.phone.launcher.package)]:
        p.phone.stop(package)
    return 0


def stack(p: Process, args: list[str]) -> int:
    """`am stack list|info|remove` and `am task …`: lists tasks, or ends one."""
    verb, *rest = args or [""]
    by_id = {str(state.task_id(p.phone, package)): package for package in state.running(p.phone)}
    if verb in ("list", "info"):
        for package in state.running(p.phone):
            p.print(_root_task(p.phone, package))
    elif verb == "remove" and rest:
        package = by_id.get(rest[0], p.phone.launcher.package)
        if package != p.phone.launcher.package:
            p.phone.stop(package)
    else:
        return p.complain(f"Error: unknown command '{verb}'", ERROR)
    return 0


def _root_task(phone: Phone, package: str) -> str:
    id, name = state.task_id(phone, package), state.component(phone, package)
    bounds = f"bounds=[0,0][{phone.width},{phone.height}]"
    visible = str(package == phone.foreground).lower()
    density, shortest = state.dpi(phone), round(min(phone.upright) / phone.density)
    shape = "port" if phone.width <= phone.height else "land"
    top = f"topActivity=ComponentInfo{{{name}}}"
    return (
        f"RootTask id={id} {bounds} displayId=0 userId=0\n configuration={{{phone.windows.font_scale} en-rUS ldltr "
        f"sw{shortest}dp {density}dpi {shape}}}\n  taskId={id}: {name} {bounds} userId=0 visible={visible} {top}\n"
    )


# broadcasts


def broadcast(p: Process, args: list[str]) -> int:
    """Sends a broadcast and prints the answer."""
    intent, flags = read_intent(args)
    p.print(f"Broadcasting: {shown(intent, 0x400000)}")
    result, data = _received(p.phone, intent) if NOBODY not in flags else (CANCELED, None)
    p.print(f"Broadcast completed: result={result}" + (f', data="{data}"' if data is not None else ""))
    return 0


def _received(phone: Phone, intent: Intent) -> Answer:
    """Returns the answer to a broadcast: of an input method, else of an app."""
    extras = {name: value for name, value in intent.extras.items() if isinstance(value, str | int)}
    typed = ime.broadcast(phone, intent.action, extras)
    if typed is not None:
        return typed[0], typed[1] or None
    return phone.broadcast(intent) or (CANCELED, None)


def current_user(p: Process, args: list[str]) -> int:
    """Prints the only user, 0."""
    p.print("0")
    return 0


def start_service(p: Process, args: list[str]) -> int:
    """Accepts a service of an installed package."""
    intent, flags = read_intent(args)
    if EVERYBODY in flags:
        return p.complain("Error: Can't start activity with user 'all'", 255)  # and so is "activity"
    p.print(f"Starting service: {shown(intent)}")
    if NOBODY in flags or intent.activity not in state.services(p.phone, intent.package):
        return p.complain("Error: Not found; no service started.", 255)
    return 0


def instrument(p: Process, args: list[str]) -> int:
    """Fails: no package here has instrumentation."""
    name = args[-1] if args else ""
    p.print(f"INSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{name}}}")
    p.print("INSTRUMENTATION_STATUS_CODE: -1")
    return p.complain(f"android.util.AndroidException: INSTRUMENTATION_FAILED: {name}", 1)


def stop_service(p: Process, args: list[str]) -> int:
    """Says that the service does not run: what is started here has ended at once."""
    intent, flags = read_intent(args)
    if EVERYBODY in flags:
        return p.complain("Error: Can't stop activity with user 'all'", 255)
    p.print(f"Stopping service: {shown(intent)}")
    return p.complain("Service not stopped: was not running.", 255)


def help_(p: Process, args: list[str]) -> int:
    """Lists the commands."""
    p.print("Activity manager (activity) commands:\n" + "\n".join(f"  {verb}" for verb in sorted(_VERBS)))
    return 0


def _idle(p: Process, args: list[str]) -> int:
    """Returns at once: broadcasts have been received before their senders go on."""
    p.print("All broadcast queues are idle!")
    return 0


def standby_bucket(p: Process, args: list[str]) -> int:
    """Prints that a package is active, as all are."""
    p.print("10")
    return 0


_VERBS: dict[str, Callable[[Process, list[str]], int]] = {
    "start": start, "start-activity": start, "force-stop": force_stop, "kill": kill, "kill-all": kill_all,
    "stop-app": force_stop, "stack": stack, "task": stack, "broadcast": broadcast, "get-current-user": current_user,
    "startservice": start_service, "start-service": start_service, "start-foreground-service": start_service,
    "startforegroundservice": start_service, "stopservice": stop_service, "instrument": instrument,
    "wait-for-broadcast-idle": _idle, "get-standby-bucket": standby_bucket, "help": help_,
}  # fmt: skip


COMMANDS: dict[str, Command] = {"am": am}
