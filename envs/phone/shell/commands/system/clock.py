"""The phone's clock: `date`, `uptime`, `sleep`, `timeout`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from coach_gym.envs.phone import zones
from coach_gym.envs.phone.epoch import from_seconds, to_seconds
from coach_gym.envs.phone.shell.language.environment import TimedOut
from coach_gym.envs.phone.shell.language.options import options
from coach_gym.envs.phone.shell.language.process import NO_FILE, Command, Process

YEARS = range(1970, 2038)  # the range of a 32-bit clock


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


COMMANDS: dict[str, Command] = {
    "date": date, "uptime": uptime, "sleep": sleep, "timeout": timeout,
}  # fmt: skip
