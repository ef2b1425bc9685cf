"""Experts of the Tasks app."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from coach_gym.envs.tasks.pickers import pick_date
from coach_gym.envs.tasks.screen import Screen, expert
from coach_gym.ui import Element

APP = "Tasks"
BOX = "Complete "  # what the check box of a row says before the title
TODAY = date(2023, 10, 15)  # the day on which the phone starts
NEAR = {"Yesterday": TODAY - timedelta(days=1), "Today": TODAY, "Tomorrow": TODAY + timedelta(days=1)}


@expert("TasksAddTask")
def add(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Makes the task with its due date or priority."""
    yield from s.open(APP)
    yield s.tap("Create new task")
    yield from s.fill("Task name", p["title"])
    how, _, what = p["extra"].partition(" ")
    if how == "due":
        yield s.tap("No due date")
        yield s.tap(what.capitalize())
    elif how == "with":
        yield s.tap(what.split(" ")[0].capitalize())
    yield s.tap("Save")


@expert("TasksCompleteTask")
def complete(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Ticks the task off."""
    yield from s.open(APP)
    box = BOX + p["title"]
    yield from s.scroll_to(box)
    yield s.tap(box)


@expert("TasksDeleteTask")
def delete(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Deletes the task."""
    yield from _edit(s, p["title"])
    yield s.tap("Delete")
    yield s.tap(_confirming)


@expert("TasksSetPriority")
def set_priority(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Chooses the priority."""
    yield from _edit(s, p["title"])
    yield s.tap(p["priority"].capitalize())
    yield s.tap("Save")


@expert("TasksSetDueDate")
def set_due_date(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Chooses the day, by a shortcut where there is one."""
    yield from _edit(s, p["title"])
    yield s.tap("due_date")
    if p["when"] in ("today", "tomorrow"):
        yield s.tap(p["when"].capitalize())
    else:
        yield s.tap("Pick a date")
        yield from pick_date(s, date.fromisoformat(p["day"]))
    yield s.tap("Save")


@expert("TasksRenameTask")
def rename(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Types the new title."""
    yield from _edit(s, p["title"])
    yield from s.refill("Task name", p["new"])
    yield s.tap("Save")


@expert("TasksDueOnDate", "TasksIncompleteTasksOnDate")
def due_on_date(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the list and picks the day's tasks."""
    yield from s.open(APP)
    rows = yield from read(s)
    yield s.finish(", ".join(row.title for row in rows if row.due == date.fromisoformat(p["day"])))


@expert("TasksHighPriorityTasksDueOnDate")
def high_priority_on_date(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the list and picks the day's tasks of high priority."""
    yield from s.open(APP)
    rows = yield from read(s)
    day = date.fromisoformat(p["day"])
    yield s.finish(", ".join(row.title for row in rows if row.due == day and row.priority == "high"))


@expert("TasksCompletedTasksForDate")
def completed_on_date(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Shows completed tasks and picks the day's."""
    yield from s.open(APP)
    yield s.tap("More options")
    yield s.tap("Show completed")
    rows = yield from read(s)
    yield s.finish(", ".join(row.title for row in rows if row.done and row.due == date.fromisoformat(p["day"])))


@expert("TasksHighPriorityTasks")
def high_priority(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the list and picks the tasks of the priority."""
    yield from s.open(APP)
    rows = yield from read(s)
    yield s.finish(", ".join(row.title for row in rows if row.priority == p["priority"]))


@expert("TasksDueNextWeek")
def due_next_week(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Reads the list and counts the tasks between two days."""
    yield from s.open(APP)
    rows = yield from read(s)
    first, last = date.fromisoformat(p["from"]), date.fromisoformat(p["to"])
    yield s.finish(str(sum(row.due is not None and first <= row.due <= last for row in rows)))


@dataclass
class Row:
    """A row of the list as it is read."""

    title: str
    due: date | None
    priority: str
    done: bool


def read(s: Screen) -> Generator[str, None, list[Row]]:
    """Reads all rows of the list, scrolling to its end."""
    seen: dict[str, tuple[str, bool]] = {}
    while True:
        for box, row in pairwise(s.elements):
            if box.checkable and box.label.startswith(BOX) and row.clickable:
                title = box.label.removeprefix(BOX)
                details = row.label.removeprefix(title)  # cut off where the row is half hidden
                seen[title] = (max(details, seen.get(title, ("", False))[0], key=len), box.checked)
        if not any(element.scrollable for element in s.elements):
            break
        before = s.text
        yield s.scroll("down")
        if s.text == before:
            break
    return [_row(title, details, done) for title, (details, done) in seen.items()]


def _row(title: str, details: str, done: bool) -> Row:
    due, priority = None, ""
    for detail in details.split(", "):
        if detail.endswith(" priority"):
            priority = detail.removesuffix(" priority")
        elif detail in NEAR:
            due = NEAR[detail]
        elif detail:
            due = datetime.strptime(f"{detail} {TODAY.year}", "%b %d %Y").date()
    return Row(title, due, priority, done)


def _edit(s: Screen, title: str) -> Iterator[str]:
    yield from s.open(APP)
    yield from s.scroll_to(title)
    yield s.tap(title)


def _confirming(element: Element) -> bool:
    """Returns whether an element is the button that confirms, not the icon that opened the dialog."""
    return element.label == "Delete" and element.cls == "Button"
