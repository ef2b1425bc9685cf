"""Android's calendar provider: its tables, which stay empty until a program writes to them.

The phone's calendar apps keep their events in databases of their own, as on a phone without an account to synchronise.
"""

from __future__ import annotations

import re

PATH = "/data/data/com.android.providers.calendar/databases/calendar.db"

SCHEMA = """
CREATE TABLE Calendars (
    _id INTEGER PRIMARY KEY, account_name TEXT, account_type TEXT, _sync_id TEXT, dirty INTEGER, name TEXT,
    calendar_displayName TEXT, calendar_color INTEGER, calendar_access_level INTEGER,
    visible INTEGER NOT NULL DEFAULT 1, sync_events INTEGER NOT NULL DEFAULT 0, calendar_location TEXT,
    calendar_timezone TEXT, ownerAccount TEXT,
    isPrimary INTEGER, canOrganizerRespond INTEGER NOT NULL DEFAULT 1, deleted INTEGER NOT NULL DEFAULT 0);
CREATE TABLE Events (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, _sync_id TEXT, dirty INTEGER, calendar_id INTEGER NOT NULL, title TEXT,
    eventLocation TEXT, description TEXT, eventColor INTEGER, eventStatus INTEGER, dtstart INTEGER, dtend INTEGER,
    eventTimezone TEXT, duration TEXT, allDay INTEGER NOT NULL DEFAULT 0, accessLevel INTEGER NOT NULL DEFAULT 0,
    availability INTEGER NOT NULL DEFAULT 0, hasAlarm INTEGER NOT NULL DEFAULT 0, rrule TEXT, rdate TEXT, exrule TEXT,
    exdate TEXT, original_id INTEGER, lastDate INTEGER, hasAttendeeData INTEGER NOT NULL DEFAULT 0, organizer TEXT,
    deleted INTEGER NOT NULL DEFAULT 0, eventEndTimezone TEXT);
CREATE TABLE Reminders (_id INTEGER PRIMARY KEY, event_id INTEGER, minutes INTEGER, method INTEGER NOT NULL DEFAULT 0);
CREATE TABLE Attendees (
    _id INTEGER PRIMARY KEY, event_id INTEGER, attendeeName TEXT, attendeeEmail TEXT, attendeeStatus INTEGER,
    attendeeRelationship INTEGER, attendeeType INTEGER);
CREATE TRIGGER events_cleanup_delete AFTER DELETE ON Events BEGIN
    DELETE FROM Reminders WHERE event_id = OLD._id;
    DELETE FROM Attendees WHERE event_id = OLD._id;
END;
"""

EVENTS = (
    "SELECT e.*, c.calendar_displayName AS calendar_displayName, c.calendar_color AS calendar_color, "
    "c.calendar_access_level AS calendar_access_level, c.calendar_timezone AS calendar_timezone, "
    "c.visible AS visible, c.ownerAccount AS ownerAccount, c.account_name AS account_name, "
    "c.account_type AS account_type, coalesce(e.eventColor, c.calendar_color) AS displayColor "
    "FROM Events e LEFT JOIN Calendars c ON e.calendar_id = c._id"
)
"""The events as the provider shows them, with what it says of their calendars."""

_DAY, _MINUTE, _EPOCH = 86_400_000, 60_000, 2_440_588  # milliseconds; the day of 1 January 1970 among Julian days
INSTANCES = (
    f"SELECT *, begin / {_DAY} + {_EPOCH} AS startDay, begin / {_MINUTE} % 1440 AS startMinute, "
    f"max(begin, [end] - 1) / {_DAY} + {_EPOCH} AS endDay, "  # what ends at midnight ends in the 1440th minute of a day
    f"max(begin, [end] - 1) / {_MINUTE} % 1440 + ([end] > begin AND [end] % {_MINUTE} = 0) AS endMinute "
    f"FROM (SELECT _id AS event_id, dtstart AS begin, coalesce(dtend, dtstart + allDay * {_DAY}) AS [end], * "
    f"FROM ({EVENTS}) WHERE deleted = 0 AND dtstart IS NOT NULL)"
)
"""When events take place, with begin and end. Those of events that are repeated are not worked out."""
REPEATED = "SELECT 1 FROM Events WHERE deleted = 0 AND (rrule IS NOT NULL OR rdate IS NOT NULL)"


def instances(path: str) -> str | None:
    """Returns which instances a path such as `instances/when/BEGIN/END` means, or None if it is no such path."""
    match = re.fullmatch(r"instances/(when|whenbyday)/(-?\d{1,18})/(-?\d{1,18})", path)
    if match is None:
        return None
    start, end = ("begin", "[end]") if match[1] == "when" else ("startDay", "endDay")
    return f"{start} <= {int(match[3])} AND {end} >= {int(match[2])}"


TABLES = {"calendars": "Calendars", "events": "Events", "reminders": "Reminders", "attendees": "Attendees"}
"""The tables by the paths of `content://com.android.calendar`."""
