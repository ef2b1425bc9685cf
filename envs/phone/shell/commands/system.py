"""Commands about the system: identity, date, properties, settings, services, machine."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from coach_gym.envs.phone import zones
from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.phone.settings import DEFAULT_IME, DEFAULTS, require_valid
from coach_gym.envs.phone.shell.commands import kernel, state, users
from coach_gym.envs.phone.shell.commands.dumps import SERVICES
from coach_gym.envs.phone.shell.commands.users import BadUser
from coach_gym.envs.phone.shell.language.environment import TimedOut
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process

GROUPS = "1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),1078(ext_data_rw),3003(inet),3009(readproc)"
YEARS = range(1970, 2038)  # the range of a 32-bit clock


def whoami(p: Process) -> int:
    """Prints root."""
    options(p.args, "")
    p.print("root")
    return 0


def id_(p: Process) -> int:
    """Prints the ids of root."""
    given = options(p.args, "ugGnrZ")
    if {"u", "g", "G"} & set(given.flags):
        p.print("root" if "n" in given else "0")
    else:
        p.print(f"uid=0(root) gid=0(root) groups=0(root),{GROUPS} context=u:r:su:s0")
    return 0


def uname(p: Process) -> int:
    """Prints name, version and machine of the system."""
    given = options(p.args, "asnrvmo")
    values = {
        "s": "Linux", "n": "localhost", "r": kernel.VERSION,
        "v": kernel.BUILT, "m": "x86_64", "o": "Toybox",
    }  # fmt: skip
    flags = list(values) if "a" in given else [flag for flag in values if flag in given] or ["s"]
    p.print(" ".join(values[flag] for flag in flags))
    return 0


# the clock


def date(p: Process) -> int:
    """Prints the phone's time, or sets it: MMDDhhmm[[CC]YY][.ss], @seconds, or YYYY-MM-DD [hh:mm[:ss]]."""
    given = options(p.args, "u", "dDrI")
    if "u" in given:
        p.zone = UTC
    words = [word for word in given.words if not word.startswith("+")]
    form = next((word[1:] for word in given.words if word.startswith("+")), None)
    shown = p.phone.now
    if "r" in given:
        path = p.path(given.values["r"])
        if not p.exists(path):
            return p.fail(f"{given.values['r']}: {NO_FILE}")
        shown = p.files.attributes(path).modified
    text = given.values.get("d") or " ".join(words)
    if text:
        time = _date(p, text, given.values.get("D"))
        if time is None or time.year not in YEARS:
            return p.fail(f"bad date '{text}'")
        if words:
            p.phone.now = time
            p.phone.changed()
        shown = time
    if (iso := given.values.get("I", "d")[:1] or "d") not in _ISO:
        return p.fail(f"bad -I: {given.values['I']}")
    p.print(_formatted(p, shown, form if form is not None else _ISO[iso] if "I" in given else _DEFAULT))
    return 0


_DEFAULT = "%a %b %e %H:%M:%S %Z %Y"
_ISO = {"d": "%F", "h": "%FT%H%:z", "m": "%FT%R%:z", "s": "%FT%T%:z", "n": "%FT%T,%N%:z"}
_POSIX = re.compile(r"(\d\d)(\d\d)(\d\d)(\d\d)(\d\d|\d{4})?(?:\.(\d\d))?")


def _date(p: Process, text: str, form: str | None) -> datetime | None:
    """Returns what the phone's clock shows at the time that a text means in the process's zone, or None."""
    if form is None and re.fullmatch(r"@\d{1,10}(\.\d+)?", text):
        return from_seconds(int(text[1:].partition(".")[0]))
    time = _parsed(text, form) if form is not None else _read(text, p.local(p.phone.now))
    if time is None:
        return None
    zone = UTC if form is None and re.search("(UTC|Z)$", text.strip()) else time.tzinfo or p.zone
    return zones.on_clock(p.phone.services, time.replace(tzinfo=zone))


def _read(text: str, now: datetime) -> datetime | None:
    if match := _POSIX.fullmatch(text):
        month, day, hour, minute, year, second = match.groups()
        if year and len(year) == 2:
            year = ("20" if year < "69" else "19") + year
        return _parsed(f"{year or now.year} {month} {day} {hour} {minute} {second or '00'}", "%Y %m %d %H %M %S")
    plain = re.sub(r"(\.\d+)?( ?UTC|Z)?$", "", text.strip()).replace("T", " ")
    if re.fullmatch(r"\d\d:\d\d(:\d\d)?", plain):
        plain = f"{now:%Y-%m-%d} {plain}"
    forms = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d")
    return next((time for form in forms if (time := _parsed(plain, form))), None)


def _parsed(text: str, form: str) -> datetime | None:
    try:
        time = datetime.strptime(text, form)
    except (ValueError, re.error):
        return None
    return time if time.year in YEARS else None


def _formatted(p: Process, clock: datetime, form: str) -> str:
    time = p.local(clock)
    offset = f"{time:%z}"
    known = {
        "s": str(to_seconds(clock)), "N": f"{time.microsecond * 1000:09d}", "Z": time.tzname() or "",
        ":z": f"{offset[:3]}:{offset[3:5]}",
    }  # fmt: skip
    form = re.sub("%(%|s|N|Z|:z)", lambda match: known.get(match[1], match[0]), form)
    return time.strftime(form.encode("unicode_escape").decode()).encode().decode("unicode_escape")


def uptime(p: Process) -> int:
    """Prints how long the phone has been running."""
    options(p.args, "")
    p.print(f" {p.local(p.phone.now):%H:%M:%S} up 1:00,  0 users,  load average: 0.10, 0.08, 0.05")
    return 0


def sleep(p: Process) -> int:
    """Lets the phone's clock run; nobody waits. Within `timeout` it runs until the time is up."""
    times = [duration(word) for word in p.args]
    if None in times:
        return p.fail(f"Not a number '{p.args[times.index(None)]}'")
    until = p.phone.now + timedelta(seconds=sum(time for time in times if time is not None))
    if until.year not in YEARS:
        return 0
    if p.shell.deadline is not None and until > p.shell.deadline:
        p.phone.elapse(p.shell.deadline - p.phone.now)
        raise TimedOut
    p.phone.elapse(until - p.phone.now)
    return 0


def timeout(p: Process) -> int:
    """`timeout [-s SIGNAL] [-k TIME] TIME COMMAND …`: ends a command when the phone's clock has run that long."""
    long = {"foreground": "f", "preserve-status": "i"}
    rest = options(p.args, "fiv", "ks", long, first=True).words
    if len(rest) < 2:
        p.need(2)
        return 125
    seconds = duration(rest[0])
    if seconds is None or (p.phone.now + timedelta(seconds=seconds)).year not in YEARS:
        return p.fail(f"Not a number '{rest[0]}'", 125)
    shell, around = p.shell, p.shell.deadline
    mine = p.phone.now + timedelta(seconds=seconds)
    shell.deadline = mine if around is None else min(mine, around)
    try:
        code = shell.run(rest[1:], p.streams)
    except TimedOut:
        if shell.deadline != mine:
            raise
        return _TIME_IS_UP
    finally:
        shell.deadline = around
    if shell.endless:
        shell.endless, shell.follow = False, None
        p.phone.elapse(max(timedelta(), mine - p.phone.now))
        return _TIME_IS_UP
    return code


_TIME_IS_UP = 124  # exit code of `timeout`


def duration(word: str) -> float | None:
    """Returns seconds that are given as a number with a unit: s, m, h or d; None if they are not."""
    match = re.fullmatch(r"(\d{1,8}(?:\.\d{0,9})?|\.\d{1,9})([smhd]?)", word)
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[match[2]] if match else None


# settings


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


# the screen


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


# programs


def app_process(p: Process) -> int:
    """Runs a Java class: the uiautomator2 server, which lives as long as its caller listens."""
    if any(word.startswith("com.wetest.uia2") for word in p.args):
        p.print("[server] INFO: [UiAutomator2Server] Starting Server")
        p.shell.endless = True
        return 0
    return p.complain("Error: Could not find or load main class", 1)


def no_op(p: Process) -> int:
    """Changes rules of a network that the phone does not have: `iptables`, `ip6tables`."""
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


# the machine


def nproc(p: Process) -> int:
    """Prints the number of processors."""
    options(p.args, "", long={"all": ""})
    p.print(str(kernel.CPUS))
    return 0


def free(p: Process) -> int:
    """Prints the memory in use: in bytes, in KiB (`-k`) or in MiB (`-m`)."""
    given = options(p.args, "bkmh")
    unit = 1 if "k" in given else 1024 if {"m", "h"} & set(given.flags) else 1 / 1024
    mark = "M" if "h" in given else ""
    total, left = kernel.MEMORY, kernel.FREE
    rows = {"Mem:": (total, total - left, left, 0, 0), "Swap:": (0, 0, 0)}
    p.print(f"{'':<8}" + "".join(f"{name:>16}" for name in ("total", "used", "free", "shared", "buffers")))
    for name, numbers in rows.items():
        p.print(f"{name:<8}" + "".join(f"{f'{int(number / unit)}{mark}':>16}" for number in numbers))
    return 0


def getenforce(p: Process) -> int:
    """Prints whether SELinux enforces its rules."""
    options(p.args, "")
    p.print("Permissive")
    return 0


def hostname(p: Process) -> int:
    """Prints the name of the machine; it cannot be set."""
    words = options(p.args, "fs").words
    if words:
        return p.fail(f"sethostname '{words[0]}': Operation not permitted")
    p.print("localhost")
    return 0


def mount(p: Process) -> int:
    """Prints the file systems; none can be mounted or remounted."""
    if p.args:
        return p.fail(f"'{p.args[-1]}': Operation not permitted")
    for line in kernel.MOUNTS.splitlines():
        device, place, kind, flags, *_ = line.split()
        p.print(f"{device} on {place} type {kind} ({flags})")
    return 0


def tty(p: Process) -> int:
    """Says that standard input is no terminal; `-s` only by its exit code."""
    if "s" not in options(p.args, "s"):
        p.print("not a tty")
    return 1


COMMANDS: dict[str, Command] = {
    "nproc": nproc, "free": free, "getenforce": getenforce, "hostname": hostname, "mount": mount, "tty": tty,
    "stop": reboot, "start": reboot,
    "whoami": whoami, "id": id_, "uname": uname, "date": date,
    "uptime": uptime, "sleep": sleep, "timeout": timeout, "settings": settings,
    "svc": svc, "reboot": reboot, "service": service, "wm": wm,
    "app_process": app_process,
    "app_process64": app_process, "iptables": no_op, "ip6tables": no_op, "ime": ime,
}  # fmt: skip
