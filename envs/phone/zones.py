"""Time zones.

The phone's clock, and times that are stored of it, are those of the zone that the phone is made with. Apps show them in
the zone that is set, and a shell may read them in another.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from coach_gym.envs.phone.services import Services

PROPERTY = "persist.sys.timezone"

UNKNOWN = timezone(timedelta(0), "GMT")
"""What Android takes for a zone that it does not know."""

_CALLED = {"UTC": "Coordinated Universal Time", "Asia/Shanghai": "China Standard Time"}  # others by a town
_FIRST, _LAST = datetime(1, 1, 3), datetime(9999, 12, 30)
_FIXED = re.compile(r"(?:<([\w+-]+)>|([A-Za-z]{3,}))([+-]?)(\d\d?)(?::(\d\d))?")  # as in POSIX: XYZ-8 is east
_NAME = re.compile(r"[A-Z][\w+-]*(/[A-Z][\w+-]*)*", re.ASCII)  # others in the host's folder are no zones of Android


def named(name: str) -> tzinfo:
    """Returns the zone of a name such as `Asia/Tokyo` or `JST-9`; `UNKNOWN` if there is none."""
    if match := _FIXED.fullmatch(name):
        bracketed, plain, sign, hours, minutes = match.groups()
        ahead = timedelta(hours=int(hours), minutes=int(minutes or 0))
        if ahead < timedelta(hours=24):
            return timezone(ahead if sign == "-" else -ahead, bracketed or plain)
    if _NAME.fullmatch(name):
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            pass
    return UNKNOWN if name else UTC


def current(services: Services) -> str:
    """Returns the name of the time zone that is set."""
    return services.properties.get(PROPERTY) or "UTC"


def local(services: Services, clock: datetime) -> datetime:
    """Returns a time on the phone's clock as apps show it: in the zone that is set, without one."""
    name = current(services)
    return clock if name == services.zone else read(services, clock, named(name)).replace(tzinfo=None)


def from_local(services: Services, local: datetime) -> datetime:
    """Returns what the phone's clock shows at a time that apps show."""
    name = current(services)
    return local if name == services.zone else on_clock(services, local.replace(tzinfo=named(name)))


def offset(services: Services, clock: datetime) -> str:
    """Returns how far the zone that is set is ahead at a time on the phone's clock, such as `GMT+08:00`."""
    ahead = read(services, clock, named(current(services))).strftime("%z")
    return f"GMT{ahead[:3]}:{ahead[3:5]}"


def called(services: Services, clock: datetime) -> str:
    """Returns what the settings call the zone that is set, such as `GMT-04:00 New York`."""
    name = current(services)
    return f"{offset(services, clock)} {_CALLED.get(name) or name.rpartition('/')[2].replace('_', ' ')}"


def read(services: Services, clock: datetime, zone: tzinfo) -> datetime:
    """Returns a time on the phone's clock as it is in a zone, which it carries."""
    return _near(clock).replace(tzinfo=named(services.zone)).astimezone(zone)


def on_clock(services: Services, time: datetime) -> datetime:
    """Returns what the phone's clock shows at a time that carries its zone."""
    return _near(time).astimezone(named(services.zone)).replace(tzinfo=None)


def _near(time: datetime) -> datetime:
    """Returns a time, or the nearest one that every zone has."""
    zone = time.tzinfo
    return min(_LAST.replace(tzinfo=zone), max(_FIRST.replace(tzinfo=zone), time))
