"""The screen of the Tasks app that makes or changes a task."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from functools import partial
from typing import TYPE_CHECKING

from coach_gym.envs.apps.tasks.data import LOW, PRIORITIES, Task, due_on, due_text, has_time
from coach_gym.envs.phone.app import Confirm, Dialog, Screen
from coach_gym.envs.phone.epoch import from_seconds, to_millis
from coach_gym.envs.phone.pickers import DatePicker, TimePicker
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

if TYPE_CHECKING:
    from coach_gym.envs.apps.tasks.app import Tasks


class TaskForm(Screen):
    """A new task, or (with `id`) one to change."""

    app: Tasks

    def __init__(self, id: int | None = None) -> None:
        super().__init__()
        self.id = id
        self.title, self.notes = TextInput(), TextInput()
        self.due, self.importance, self.completed = 0, LOW, 0
        self.stored: tuple | None = None if id is not None else self._values()

    def build(self) -> View:
        self._load()
        name = TextField(self.title, "Task name", "title", flex=1)
        if self.id is not None:
            box = Checkbox(bool(self.completed), self._toggle, "Complete", "completeBox")
            name = Row([box, name])
        chips = [Chip(p, i == self.importance, partial(self._set_importance, i)) for i, p in enumerate(PRIORITIES)]
        due = due_text(self.due, self.now) or "No due date"
        parts = [
            Column([name], pad=(16, 8, 16, 4)),
            ListItem(due, on_tap=self._choose_due, leading=Icon("clock_outline"), id="due_date"),
            Header("Priority"),
            Grid(chips, 4, gap=6, pad=(16, 0, 16, 12)),
            Column([TextField(self.notes, "Description", "notes", lines=3)], pad=(16, 4, 16, 16)),
        ]
        actions = [IconButton("content_save_outline", "Save", self._save, color=theme.PRIMARY)]
        if self.id is not None:
            actions.insert(0, IconButton("delete_outline", "Delete", self._ask))
        return Scaffold("New task" if self.id is None else "Edit task", ListView(parts), self._leave, actions)

    def _load(self) -> None:
        if self.stored is not None:
            return
        for task in Task.select(self.app.db, "_id = ?", (self.id,)):
            self.title.set(task.title)
            self.notes.set(task.notes)
            self.due, self.importance, self.completed = task.due, task.importance, task.completed
        self.stored = self._values()

    def _values(self) -> tuple[str, str, int, int, int]:
        return self.title.text.strip(), self.notes.text, self.due, self.importance, self.completed

    def _toggle(self) -> None:
        self.completed = 0 if self.completed else to_millis(self.now)

    def _set_importance(self, importance: int) -> None:
        self.importance = importance

    def _choose_due(self) -> None:
        self.push(DueDate(self))

    def on_back(self) -> bool:
        self._leave()
        return True

    def _leave(self) -> None:
        if self._values() != self.stored:
            self.push(Confirm("Discard changes?", "", "Discard", self.pop, no="Keep editing"))
        else:
            self.pop()

    def _save(self) -> None:
        title, notes, due, importance, completed = self._values()
        if not title:
            self.notify("Enter a task name")
            return
        now = to_millis(self.now)
        values = (title, notes or None, due, importance, completed, now)
        if self.id is None:
            self.app.db.execute(
                "INSERT INTO tasks(title, notes, dueDate, importance, completed, modified, created, remoteId) "
                "VALUES (?,?,?,?,?,?,?,?)",
                (*values, now, str(uuid.uuid5(uuid.NAMESPACE_OID, f"{title} {now}").int)),
            )
        else:
            self.app.db.execute(
                "UPDATE tasks SET title=?, notes=?, dueDate=?, importance=?, completed=?, modified=? WHERE _id=?",
                (*values, self.id),
            )
        self.pop()

    def _ask(self) -> None:
        self.push(Confirm("Delete this task?", "", "Delete", self._delete))

    def _delete(self) -> None:
        self.app.db.execute("UPDATE tasks SET deleted = ? WHERE _id = ?", (to_millis(self.now), self.id))
        self.pop()


class DueDate(Dialog):
    """Shortcuts for the due date of the task in a form, and the way to the pickers."""

    def __init__(self, form: TaskForm) -> None:
        super().__init__("Due date")
        self.form = form

    def content(self) -> Sequence[View]:
        today = self.now.date()
        rows = [self._row("No date", self._clear)]
        for label, days in (("Today", 0), ("Tomorrow", 1), ("Next week", 7)):
            rows.append(self._row(label, partial(self._set_day, today + timedelta(days=days))))
        return [*rows, self._row("Pick a date", self._pick_date), self._row("Pick a time", self._pick_time)]

    def _row(self, label: str, then: Callable[[], None]) -> View:
        def tapped() -> None:
            self.pop()
            then()

        return ListItem(label, on_tap=tapped, min_height=44)

    def _clear(self) -> None:
        self.form.due = 0

    def _pick_date(self) -> None:
        day = from_seconds(self.form.due / 1000).date() if self.form.due else self.now.date()
        self.form.push(DatePicker(day, self._set_day))

    def _pick_time(self) -> None:
        at = from_seconds(self.form.due / 1000).time() if has_time(self.form.due) else time(9)
        self.form.push(TimePicker(at, self._set_time))

    def _set_day(self, day: date) -> None:
        due = self.form.due
        self.form.due = due_on(day, from_seconds(due / 1000).time() if has_time(due) else None)

    def _set_time(self, at: time) -> None:
        day = from_seconds(self.form.due / 1000).date() if self.form.due else self.now.date()
        self.form.due = due_on(day, at)
