"""The screen of the Tasks app on which a task is made or changed."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any

from coach_gym.envs.apps.tasks.data import NEW, PRIORITIES, TABLE, Task, due_on, due_text, has_time
from coach_gym.envs.phone.app import Confirm, DatabaseApp, Dialog
from coach_gym.envs.phone.epoch import from_seconds, to_millis
from coach_gym.envs.phone.screens.pages import FormPage
from coach_gym.envs.phone.screens.pickers import DatePicker, TimePicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Checkbox,
    Chip,
    Column,
    Grid,
    Header,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    TextField,
)


class TaskForm(FormPage):
    """A new task, or one to change."""

    app: DatabaseApp
    stay = "Keep editing"

    def __init__(self, task: Task = NEW) -> None:
        super().__init__(task.id)
        self.title, self.notes = TextInput(task.title), TextInput(task.notes)
        self.due, self.importance, self.completed = task.due, task.importance, task.completed
        self.opened()

    def build(self) -> View:
        """Shows the fields of a task, and for a known one its box and a way to delete it."""
        name = TextField(self.title, "Task name", "title", flex=1)
        if self.id is not None:
            box = Checkbox(bool(self.completed), self._toggle, "Complete", "completeBox")
            name = Row([box, name])
        chips = [
            Chip(p, i == self.importance, partial(setattr, self, "importance", i)) for i, p in enumerate(PRIORITIES)
        ]
        due = due_text(self.due, self.now, self.phone.local) or "No due date"
        parts = [
            Column([name], pad=(16, 8, 16, 4)),
            ListItem(due, on_tap=lambda: self.push(DueDate(self)), leading=Icon("clock_outline"), id="due_date"),
            Header("Priority"),
            Grid(chips, 4, gap=6, pad=(16, 0, 16, 12)),
            Column([TextField(self.notes, "Description", "notes", lines=3)], pad=(16, 4, 16, 16)),
        ]
        actions = [IconButton("content_save_outline", "Save", self._save, color=theme.PRIMARY)]
        if self.id is not None:
            ask = Confirm("Delete this task?", "", "Delete", self._delete)
            actions.insert(0, IconButton("delete_outline", "Delete", lambda: self.push(ask)))
        return Scaffold("New task" if self.id is None else "Edit task", ListView(parts), self.leave, actions)

    def values(self) -> dict[str, Any]:
        """Returns the columns that the form shows."""
        texts = {"title": self.title.text.strip(), "notes": self.notes.text or None}
        return {**texts, "dueDate": self.due, "importance": self.importance, "completed": self.completed}

    def unsaved(self) -> bool:
        """Returns whether anything was changed."""
        return self.values() != self.stored

    def _toggle(self) -> None:
        self.completed = 0 if self.completed else to_millis(self.now)

    def _save(self) -> None:
        title, changes, now = self.title.text.strip(), self.changes(), to_millis(self.now)
        if not title:
            self.notify("Enter a task name")
            return
        if self.id is None:
            id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{title} {now}").int)
            TABLE.insert(self.app.db, {**changes, "modified": now, "created": now, "remoteId": id})
        else:
            TABLE.update(self.app.db, self.id, {**changes, "modified": now})
        self.pop()

    def _delete(self) -> None:
        TABLE.update(self.app.db, self.id, {"deleted": to_millis(self.now)})
        self.pop()


class DueDate(Dialog):
    """Shortcuts for the due date of the task in a form, and ways to the pickers."""

    def __init__(self, form: TaskForm) -> None:
        super().__init__("Due date")
        self.form = form

    def content(self) -> Sequence[View]:
        """Lists the shortcuts and the two pickers."""
        today = self.local_now.date()
        rows = [self._row("No date", partial(setattr, self.form, "due", 0))]
        for label, days in (("Today", 0), ("Tomorrow", 1), ("Next week", 7)):
            rows.append(self._row(label, partial(self._set_day, today + timedelta(days=days))))
        return [
            *rows,
            self._row("Pick a date", lambda: self.form.push(DatePicker(self._day(), self._set_day))),
            self._row("Pick a time", lambda: self.form.push(TimePicker(self._time() or time(9), self._set_time))),
        ]

    def _row(self, label: str, then: Callable[[], None]) -> View:
        def tapped() -> None:
            self.pop()
            then()

        return ListItem(label, on_tap=tapped, min_height=44)

    def _day(self) -> date:
        """Returns the day on which the task is due; today if there is none."""
        return self._due.date() if self.form.due else self.local_now.date()

    def _time(self) -> time | None:
        """Returns the time of day at which the task is due, if there is one."""
        return self._due.time() if has_time(self.form.due) else None

    @property
    def _due(self) -> datetime:
        return self.phone.local(from_seconds(self.form.due / 1000))

    def _set_day(self, day: date) -> None:
        self.form.due = due_on(day, self._time(), self.phone.on_clock)

    def _set_time(self, at: time) -> None:
        self.form.due = due_on(self._day(), at, self.phone.on_clock)
