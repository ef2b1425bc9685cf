"""SQLite in memory, whose statements neither run for ever nor take much memory, whatever a database holds."""

from __future__ import annotations

import math
import re
import sqlite3
import time
import weakref
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Protocol

from coach_gym.envs.phone.epoch import Moved

LARGEST = 4 << 20  # bytes of a value
MOST_STEPS = 20_000_000  # instructions of SQLite's virtual machine
MOST_SECONDS = 3.0  # seconds of processor time likewise: each instruction may work on megabytes
MOST_BYTES = 64 << 20  # of a database
_INTERVAL = 1_000
_LONGEST_PATTERN = 1_000  # bytes of a LIKE or GLOB pattern, which SQLite compares at every place of a text
_MOST_COMPARISONS = 1 << 32  # of bytes, by one call of a function
_WIDTH = re.compile(r"[0-9]{5,}")

DAMAGED = (sqlite3.Error, UnicodeDecodeError)
"""What a statement raises on a database that clients have spoilt; the second if SQLite's message quotes its bytes."""

Value = str | int | float | bytes | None


class Budget:
    """How long statements may go on until they are interrupted."""

    def __init__(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Lets the statements that follow take `MOST_STEPS` and `MOST_SECONDS`."""
        self.steps, self.until = MOST_STEPS, time.thread_time() + MOST_SECONDS

    def spend(self) -> int:
        """Counts instructions. Returns 1 if there were too many."""
        self.steps -= _INTERVAL
        return int(self.steps < 0 or time.thread_time() > self.until)


class Clock(Protocol):
    """What statements read the time by.

    Attributes:
        now: The phone's clock.
        local: Turns times on the phone's clock into those of the time zone that is set.
        on_clock: Turns them back.
    """

    now: datetime
    local: Moved
    on_clock: Moved


def connect(budget: Budget, clock: Clock, data: bytes = b"") -> sqlite3.Connection:
    """Returns a connection, in autocommit mode, to a database. Text that is not UTF-8 is read as Android reads it.

    Args:
        budget: What its statements may take.
        clock: The phone's clock, and the time zone that is set, for as long as statements are run.
        data: The contents of its file; empty for a new database.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    if data:
        connection.deserialize(data)
    connection.text_factory = _text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN)
    connection.set_progress_handler(budget.spend, _INTERVAL)
    known = weakref.proxy(clock)  # Python's collector does not see what SQLite keeps: a storage would stay for ever
    for name, called in _TIMES.items():
        arguments = -1 if name == called else 0
        connection.create_function(name, arguments, partial(_time_called, called, known), deterministic=True)
    with suppress(*DAMAGED):  # as the statement will say that its user runs
        if connection.execute(_PROGRAMMED).fetchone():
            limit(connection, MOST_BYTES)
    return connection


def contents(connection: sqlite3.Connection) -> bytes:
    """Returns the contents of a database's file, which is empty while nothing was ever stored in it."""
    with suppress(*DAMAGED):
        if not connection.execute("PRAGMA page_count").fetchone()[0]:
            return b""  # SQLite cannot serialize what has no pages, as where the first table was rolled back
    return connection.serialize()


def limit(connection: sqlite3.Connection, more: int) -> None:
    """Has a database and its temporary tables grow by so many bytes at most, and to `MOST_BYTES`.

    Functions of SQLite's own that would not ask whether they may go on fail from then on where they would take long.
    """
    for name, arguments in _FUNCTIONS.items():
        connection.create_function(name, arguments, partial(_called, name), deterministic=True)
    for part in ("main", "temp"):
        with suppress(*DAMAGED):  # the file is no database, as a statement will say
            page, pages = (connection.execute(f"PRAGMA {part}.{name}").fetchone()[0] for name in _SIZE)
            connection.execute(f"PRAGMA {part}.max_page_count = {max(1, min(pages * page + more, MOST_BYTES) // page)}")


_SIZE = ("page_size", "page_count")
_FUNCTIONS = {"printf": -1, "format": -1, "instr": 2, "replace": 3, "trim": 2, "ltrim": 2, "rtrim": 2}
_PROGRAMMED = "SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger') OR " + " OR ".join(
    f"sql LIKE '%{name}%'" for name in _FUNCTIONS
)  # whether statements may do more than they say


_PLAIN = sqlite3.connect(":memory:", check_same_thread=False)  # where functions are SQLite's own
_PLAIN.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)


def _called(name: str, *values: Value) -> Value:
    """Calls a function of SQLite's own, unless it would take long."""
    if name in ("printf", "format"):
        wide = _WIDTH.search(str(values[0])) if values else None
        if wide or ("*" in str(values[:1]) and any(isinstance(value, int) and abs(value) > 9999 for value in values)):
            raise ValueError("a width has at most four digits")
    elif math.prod(len(value) for value in values[:2] if isinstance(value, str | bytes)) > _MOST_COMPARISONS:
        raise ValueError("the texts are too long")
    return _built_in(name, values)


_TIMES = {
    name: name
    for (name,) in _PLAIN.execute("SELECT DISTINCT name FROM pragma_function_list")
    if name in ("date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff")
}
_TIMES |= {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}  # keywords, to SQLite calls


def _time_called(name: str, clock: Clock, *values: Value) -> Value:
    """Calls a function of times by the phone's clock and the time zone that is set."""
    before = 1 if name == "strftime" else 0  # its format
    moment = clock.now.isoformat(" ", "milliseconds")
    times = values[before:] or ((moment,) if len(values) == before else ())
    words = [value.lower() if isinstance(value, str) else "" for value in times]
    shown: tuple[Value, ...] = ()
    for place, (word, value) in enumerate(zip(words, times, strict=True)):
        if place and word in ("localtime", "utc"):
            shown = _moved(clock.local if word == "localtime" else clock.on_clock, shown)
        else:
            shown += (moment if word == "now" else value,)
    return _built_in(name, (*values[:before], *shown))


def _moved(moved: Moved, times: tuple[Value, ...]) -> tuple[Value, ...]:
    """Returns a time with its modifiers in another zone; as it is if that is the same, or it is no time."""
    with suppress(TypeError, ValueError, *DAMAGED):
        at = datetime.fromisoformat(str(_built_in("strftime", ("%Y-%m-%d %H:%M:%f", *times))))
        if (there := moved(at)) != at:
            return (there.isoformat(" ", "milliseconds"),)
    return times


def _built_in(name: str, values: tuple[Value, ...]) -> Value:
    return _PLAIN.execute(f"SELECT {name}({','.join('?' * len(values))})", values).fetchone()[0]


def is_corrupt(fault: BaseException) -> bool:
    """Returns whether a statement has failed because the database's file is damaged, or no database."""
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    return isinstance(fault, UnicodeDecodeError) or code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_sound(connection: sqlite3.Connection) -> bool:
    """Returns whether nothing is wrong in a database's file."""
    try:
        return connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
    except DAMAGED as fault:
        return not is_corrupt(fault)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
