"""Tasks: a to-do list with due dates and priorities."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from coach_gym.envs.apps.tasks.data import COLORS, DATABASE, PACKAGE, PREFERENCES, SCHEMA, Task, due_text
from coach_gym.envs.apps.tasks.form import TaskForm
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Menu, Screen
from coach_gym.envs.phone.epoch import midnight, to_millis
from coach_gym.envs.phone.screens.pages import SearchPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Checkbox,
    Empty,
    Fab,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
)

SORTS = {
    "Due date": "dueDate = 0, dueDate, importance, _id",
    "Priority": "importance, dueDate = 0, dueDate, _id",
    "Title": "title COLLATE NOCASE, _id",
}
FILTERS = ("My Tasks", "Today", "Recently modified")
SHOW_COMPLETED = "show_completed_tasks"


class Tasks(DatabaseApp):
    """The Tasks app."""

    package = PACKAGE
    activity = "com.todoroo.astrid.activity.MainActivity"
    label = "Tasks"
    icon = "check_circle_outline"
    color = "#1976d2"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the list of all tasks."""
        return TaskList()

    @property
    def show_completed(self) -> bool:
        """Whether lists also show what is done."""
        return preferences.load(self.phone.storage, PREFERENCES).get(SHOW_COMPLETED) is True

    @show_completed.setter
    def show_completed(self, value: bool) -> None:
        """Stores whether lists also show what is done."""
        preferences.update(self.phone.storage, PREFERENCES, {SHOW_COMPLETED: value})


class TaskList(SearchPage):
    """The tasks of a filter, or those that the search finds."""

    app: Tasks

    def __init__(self) -> None:
        super().__init__()
        self.filter, self.sort = FILTERS[0], "Due date"

    def build(self) -> View:
        """Lists the tasks of the filter, or those that the search finds."""
        rows = [self._row(task) for task in self._tasks()]
        body = ListView(rows) if rows else Empty("There are no tasks here", "check_all")
        if self.searching:
            return Scaffold(self.title_or_field("", "search_src_text"), body, actions=[self.search_button()])
        menu = IconButton("menu", "Menu", self._choose_filter)
        actions = [
            IconButton("magnify", "Search", self.search, "menu_search"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        title = Row([menu, Text(self.filter, 19, max_lines=1, flex=1)])
        return Scaffold(title, body, actions=actions, fab=Fab("plus", "Create new task", self._new))

    def _tasks(self) -> list[Task]:
        where, arguments = self._where()
        if not self.app.show_completed:
            where += " AND completed = 0"
        return Task.select(self.app.db, f"{where} ORDER BY completed > 0, {SORTS[self.sort]}", arguments)

    def _where(self) -> tuple[str, tuple]:
        if self.searching:
            return "instr(lower(title), lower(?))", (self.query.text,)
        now = to_millis(self.now)
        if self.filter == "Today":
            end = self.phone.on_clock(midnight(self.local_now + timedelta(days=1)))
            return "dueDate BETWEEN 1 AND ?", (to_millis(end) - 1,)
        if self.filter == "Recently modified":
            return "modified >= ?", (now - 86_400_000,)
        return "hideUntil <= ?", (now,)

    def _row(self, task: Task) -> View:
        box = Checkbox(bool(task.completed), partial(self._toggle, task.id), f"Complete {task.title}", "completeBox")
        box.color = theme.SECONDARY if task.completed else COLORS[task.importance]
        due = due_text(task.due, self.now, self.phone.local)
        row = ListItem(
            task.title, _subtitle(task, due), lambda: self.push(TaskForm(task)), pad=(0, 8, 16, 8), flex=1
        )
        return Row([box, row], pad=(8, 0, 0, 0))

    def _toggle(self, id: int | None) -> None:
        now = to_millis(self.now)
        self.app.db.execute(
            "UPDATE tasks SET completed = CASE completed WHEN 0 THEN ? ELSE 0 END, modified = ? WHERE _id = ?",
            (now, now, id),
        )

    def _new(self) -> None:
        form = TaskForm()
        self.push(form)
        self.focus(form.title)

    def on_back(self) -> bool:
        """Ends the search, then leads to the list of all tasks."""
        left = self.searching or self.filter != FILTERS[0]
        self.filter = self.filter if self.searching else FILTERS[0]
        self.searching = False
        return left

    def _choose_filter(self) -> None:
        self.push(Menu([(name, partial(setattr, self, "filter", name)) for name in FILTERS], "bottom"))

    def _more(self) -> None:
        completed = "Hide completed" if self.app.show_completed else "Show completed"
        self.push(
            Menu([("Sort", self._choose_sort), (completed, self._toggle_completed), ("Clear completed", self._ask)])
        )

    def _choose_sort(self) -> None:
        self.push(Choice("Sort", list(SORTS), partial(setattr, self, "sort"), self.sort))

    def _toggle_completed(self) -> None:
        self.app.show_completed = not self.app.show_completed

    def _ask(self) -> None:
        self.push(Confirm("Clear completed tasks?", "", "Clear", self._clear))

    def _clear(self) -> None:
        self.app.db.execute("UPDATE tasks SET deleted = ? WHERE completed > 0 AND deleted = 0", (to_millis(self.now),))


def _subtitle(task: Task, due: str) -> str:
    priority = {0: "high priority", 1: "medium priority"}.get(task.importance, "")
    return ", ".join(text for text in (due, priority) if text)


APP = Tasks
