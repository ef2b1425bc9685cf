"""`am` and `monkey`: start and stop apps, list tasks, send broadcasts."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from coach_gym.envs.phone import intents
from coach_gym.envs.phone.input import ime
from coach_gym.envs.phone.intents import CANCELED, Answer, Intent
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.shell.commands import state, users
from coach_gym.envs.phone.shell.commands.users import BadUser
from coach_gym.envs.phone.shell.language.process import Command, Process

SWIPES = 0.25  # share of monkey's events
ERROR = 1  # exit code of an activity that could not be started

_EXTRAS: dict[str, Callable[[str], object]] = {  # option: how its value is read
    "-e": str, "--es": str, "--ei": int, "--el": int, "--ef": float, "--ed": float,
    "--ez": lambda text: text.lower() in ("true", "t", "1"), "--eu": str, "--ecn": str, "--esa": str, "--eia": str,
    "--efa": str, "--ela": str, "--esal": str,
}  # fmt: skip
_ALONE = (
    "-W", "-S", "-D", "-N", "-R", "--grant-read-uri-permission", "--grant-write-uri-permission",
    "--include-stopped-packages", "--receiver-foreground", "--allow-background-activity-starts",
)  # fmt: skip
_CLEAR_TASK, _CLEAR_TOP = 0x8000, 0x4000000
_FLAGS = {
    "--activity-clear-task": _CLEAR_TASK, "--activity-clear-top": _CLEAR_TOP, "--activity-single-top": 0x20000000,
    "--activity-reset-task-if-needed": 0x200000, "--activity-brought-to-front": 0x400000,
    "--activity-launched-from-history": 0x100000, "--activity-previous-is-top": 0x1000000,
    "--activity-no-animation": 0x10000, "--activity-no-user-action": 0x40000, "--activity-task-on-home": 0x4000,
    "--activity-match-external": 0x800,
}  # fmt: skip
"""Only the first two make a difference here."""
_REFUSED = 0x488A0000
"""Flags that would, and are not supported: several tasks or documents of an app, no history, order, no recents."""

_EVERYBODY, _NOBODY = "for all users", "for a user that there is not"


class BadIntent(Exception):
    """The arguments describe no intent; the message is Android's."""


def read_intent(args: list[str]) -> tuple[Intent, list[str]]:
    """Returns the intent that the arguments of `am start` or `am broadcast` describe, and the flags among them.

    Raises:
        BadIntent: A value is missing or malformed, or an option is unknown.
        BadUser: What `--user` names is no user.
    """
    fields: dict[str, str] = {}
    extras: dict[str, object] = {}
    categories, flags, bits, rest = [], [], 0, [word for word in args if word]
    while rest:
        word = rest.pop(0)
        if word in _EXTRAS:
            key, value = _value(word, rest), _value(word, rest)
            extras[key] = _typed(word, value)
        elif word == "--user":
            user = users.read(_value(word, rest))
            flags += [_EVERYBODY] if user == users.ALL else [_NOBODY] * (user != 0)
        elif word == "-f":
            bits = _bits(_value(word, rest))
        elif word in ("-a", "-d", "-t", "-n", "-p", "--display", "-i"):
            fields[word] = _value(word, rest)
        elif word == "-c":
            categories.append(_value(word, rest))
        elif word == "--esn":
            _value(word, rest)
        elif word in _FLAGS:
            bits |= _FLAGS[word]
        elif word in _ALONE:
            flags.append(word)
        elif word.startswith("-"):
            raise BadIntent(f"Unknown option: {word}")
        else:
            _positional(word, fields)
    package, _, activity = fields.get("-n", "").partition("/")
    if "-n" in fields and not activity:
        raise BadIntent(f"Bad component name: {fields['-n']}")
    return Intent(
        fields.get("-a", ""), fields.get("-d", ""), fields.get("-t", ""), package or fields.get("-p", ""),
        package + activity if activity.startswith(".") else activity, tuple(categories), extras, bits,
    ), flags  # fmt: skip


def _value(option: str, rest: list[str]) -> str:
    if not rest:
        raise BadIntent(f'Argument expected after "{option}"')
    return rest.pop(0)


def _bits(text: str) -> int:
    """Returns flags from a number as Java's `Integer.decode` reads it: 0x1f, 017 or 15."""
    try:
        return int(text, 16 if text[:2] in ("0x", "0X") else 8 if text[:1] == "0" else 10)
    except ValueError:
        raise BadIntent(f'java.lang.NumberFormatException: For input string: "{text}"') from None


def _typed(option: str, value: str) -> object:
    try:
        return _EXTRAS[option](value)
    except ValueError:
        raise BadIntent(f'java.lang.NumberFormatException: For input string: "{value}"') from None


def _positional(word: str, fields: dict[str, str]) -> None:
    """Takes a last word as a URI, a component, or a package."""
    fields["-d" if ":" in word else "-n" if "/" in word else "-p"] = word


def shown(intent: Intent, flags: int = 0) -> str:
    """Returns an intent as Android prints it, perhaps with further flags."""
    flags |= intent.flags
    parts = [
        f"act={intent.action}" if intent.action else "",
        f"cat=[{','.join(intent.categories)}]" if intent.categories else "",
        f"dat={_safe(intent.data)}" if intent.data else "", f"typ={intent.type}" if intent.type else "",
        f"flg=0x{flags:x}" if flags else "",
        f"pkg={intent.package}" if intent.package and not intent.activity else "",
        f"cmp={state.short(f'{intent.package}/{intent.activity}')}" if intent.activity else "",
        "(has extras)" if intent.extras else "",
    ]  # fmt: skip
    return f"Intent {{ {' '.join(part for part in parts if part)} }}"


def _safe(uri: str) -> str:
    """Returns a URI without what may be private in it, as Android prints it."""
    scheme, colon, rest = uri.partition(":")
    if scheme.lower() in ("tel", "sip", "sms", "smsto", "mailto", "nfc"):
        return f"{scheme}:" + re.sub(r"[^-@.]", "x", rest)
    if scheme.lower() in ("http", "https", "ftp", "rtsp"):
        host = rest.removeprefix("//").partition("/")[0].rpartition("@")[2]
        return f"{scheme}://{host.partition('?')[0]}/..."
    return scheme + colon + re.split("[?#]", rest, maxsplit=1)[0]


def resolved(phone: Phone, intent: Intent) -> str | None:
    """Returns the activity that an intent opens, as `package/class`, or None. Tries it on a fork of the phone."""
    if intent.activity and intent.activity not in state.activities(phone, intent.package):
        return None
    named = phone.apps.get(intent.package)
    if intent.package and not intent.activity and not _is_main(phone, intent):
        return None
    twin = phone.fork()
    if named and not intent.activity and intent.action not in ("", intents.MAIN):
        package = named.package if twin.opened(twin.apps[named.package], intent) else None
    else:
        package = twin.start(intent)
    return None if package is None else state.component(twin, package)


def _is_main(phone: Phone, intent: Intent) -> bool:
    """Returns whether a package's main activity has an intent's categories; True if it asks for something else."""
    app = state.app_of(phone, intent.package)
    if app is None or intent.action not in ("", intents.MAIN):
        return app is not phone.launcher  # which has no other activity
    own = intents.HOME if app is phone.launcher else intents.LAUNCHER
    return {own, intents.DEFAULT, app.role}.issuperset(intent.categories)


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
    if intent.flags & _REFUSED:
        raise BadIntent(f"Unsupported flags: 0x{intent.flags & _REFUSED:x}")
    if _EVERYBODY in flags:
        return p.complain("Error: Can't start service with user 'all'", ERROR)  # "service" is Android's slip
    p.print(f"Starting: {shown(intent)}")
    found = resolved(p.phone, intent) if _NOBODY not in flags else None
    if "-S" in flags and found and intent.package in p.phone.apps:
        p.phone.force_stop(intent.package)
    was_running = intent.package in p.phone.stacks
    was_front = p.phone.foreground == intent.package
    if found and intent.flags & (_CLEAR_TASK | _CLEAR_TOP):
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
    if not stack or not intent.flags & _CLEAR_TASK and wanted not in names:
        return False
    first = 0 if intent.flags & _CLEAR_TASK else names.index(wanted)
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
    result, data = _received(p.phone, intent) if _NOBODY not in flags else (CANCELED, None)
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
    if _EVERYBODY in flags:
        return p.complain("Error: Can't start activity with user 'all'", 255)  # and so is "activity"
    p.print(f"Starting service: {shown(intent)}")
    if _NOBODY in flags or intent.activity not in state.services(p.phone, intent.package):
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
    if _EVERYBODY in flags:
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


def monkey(p: Process) -> int:
    """`monkey -p PACKAGE [-s SEED] COUNT`: launches an app as from its icon, and touches the screen at random for the
    rest of the events. Whenever that leaves the app, it is launched again."""
    package = next((b for a, b in zip(p.args, p.args[1:], strict=False) if a == "-p"), "")
    for word in p.args:
        p.print(f"  bash arg: {word}")
    if state.app_of(p.phone, package) is None:
        p.complain("** No activities found to run, monkey aborted.")
        return 252
    count = next((word for word in reversed(p.args) if re.fullmatch(r"\d{1,6}", word)), None)
    if count is None:
        return p.complain("** Error: Count not specified", 255)
    seed = next((b for a, b in zip(p.args, p.args[1:], strict=False) if a == "-s"), "0")
    _touch_at_random(p, package, int(count) - 1, random.Random(seed))
    p.phone.changed()
    p.print(f"Events injected: {count}\n## Network stats: elapsed time=17ms (0ms mobile, 0ms wifi, 17ms not connected)")
    return 0


def _touch_at_random(p: Process, package: str, events: int, rng: random.Random) -> None:
    phone = p.phone
    phone.start(Intent(intents.MAIN, package=package))
    for _ in range(events):
        p.shell.spend()
        start, end = ((rng.randrange(phone.width), rng.randrange(phone.height)) for _ in range(2))
        if rng.random() < SWIPES:
            phone.swipe(start, end)
        else:
            phone.tap(*start)
        if phone.foreground != package:
            phone.start(Intent(intents.MAIN, package=package))


COMMANDS: dict[str, Command] = {"am": am, "monkey": monkey}
