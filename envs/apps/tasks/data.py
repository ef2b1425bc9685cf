"""The table behind the Tasks app."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from coach_gym.envs.phone.epoch import Moved, from_seconds, to_millis, unmoved
from coach_gym.envs.phone.records import Table

PACKAGE = "org.tasks"
DATABASE = f"/data/data/{PACKAGE}/databases/database"
PREFERENCES = f"/data/data/{PACKAGE}/shared_prefs/{PACKAGE}_preferences.xml"
SCHEMA = """
CREATE TABLE tasks (
    _id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, title TEXT, importance INTEGER NOT NULL DEFAULT 2,
    dueDate INTEGER NOT NULL DEFAULT 0, hideUntil INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL DEFAULT 0,
    modified INTEGER NOT NULL DEFAULT 0, completed INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0,
    notes TEXT, estimatedSeconds INTEGER NOT NULL DEFAULT 0, elapsedSeconds INTEGER NOT NULL DEFAULT 0,
    timerStart INTEGER NOT NULL DEFAULT 0, notificationFlags INTEGER NOT NULL DEFAULT 0,
    lastNotified INTEGER NOT NULL DEFAULT 0, recurrence TEXT, repeat_from INTEGER NOT NULL DEFAULT 0,
    calendarUri TEXT, remoteId TEXT, collapsed INTEGER NOT NULL DEFAULT 0, parent INTEGER NOT NULL DEFAULT 0,
    `order` INTEGER, read_only INTEGER NOT NULL DEFAULT 0
);
"""
TABLE = Table("tasks", "_id")
PRIORITIES = ("High", "Medium", "Low", "None")  # by the column `importance`
COLORS = ("#d32f2f", "#f9a825", "#1976d2", "#5f6368")
LOW = 2  # the priority of a task for which none was chosen
NOON = time(12)  # when a task is due that has a date and no time


@dataclass(frozen=True)
class Task:
    """A task; times in milliseconds since 1970, 0 for none. The `id` of a new one is None."""

    id: int | None
    title: str
    importance: int
    due: int
    completed: int
    notes: str

    @staticmethod
    def select(db: sqlite3.Connection, where: str, arguments: Sequence) -> list[Task]:
        """Returns the tasks that meet a condition in SQL and are not deleted."""
        rows = db.execute(
            "SELECT _id, coalesce(title, ''), min(max(importance, 0), 3), dueDate, completed, coalesce(notes, '') "
            f"FROM tasks WHERE deleted = 0 AND {where}",
            arguments,
        )
        return [Task(*row) for row in rows]


NEW = Task(None, "", LOW, 0, 0, "")


def due_on(day: date, at: time | None = None, on_clock: Moved = unmoved) -> int:
    """Returns the due date for a day, or for a time of the day, which is marked by an odd second."""
    return to_millis(on_clock(datetime.combine(day, NOON if at is None else at.replace(second=1))))


def has_time(due: int) -> bool:
    """Returns whether a due date has a time of day."""
    return due % 60_000 > 0


def due_text(due: int, now: datetime, local: Moved = unmoved) -> str:
    """Returns a due date as the app shows it; empty for none."""
    if not due:
        return ""
    at = local(from_seconds(due / 1000))
    near = {-1: "Yesterday", 0: "Today", 1: "Tomorrow"}.get((at.date() - local(now).date()) // timedelta(days=1))
    day = near or at.strftime("%b %-d" if at.year == local(now).year else "%b %-d, %Y")
    return f"{day} {at:%H:%M}" if has_time(due) else day
