"""Tasks by touch: what a user does is what stands in the to-do list's database."""

import sqlite3
from datetime import datetime, time

import numpy as np
import pytest

from coach_gym.envs.apps.tasks.data import DATABASE, PACKAGE, due_on, due_text
from coach_gym.envs.phone.epoch import from_seconds, to_millis
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, changed, records

COLUMNS = "title, importance, dueDate, completed, deleted, notes"
NOW = datetime(2023, 10, 15, 15, 34)


class Tasks(Hands):
    def __init__(self, *todos, size=(270, 600)):
        super().__init__(PACKAGE, size)
        for title, importance, due, completed in todos:
            self.db.execute(
                "INSERT INTO tasks(title, importance, dueDate, completed) VALUES (?,?,?,?)",
                (title, importance, due, completed),
            )
        self.phone.changed()

    @property
    def db(self) -> sqlite3.Connection:
        return self.storage.database(DATABASE)

    @property
    def stored(self):
        return self.db.execute(f"SELECT {COLUMNS} FROM tasks ORDER BY _id").fetchall()

    @property
    def titles(self):
        """Titles in the list from top to bottom."""
        return [e.label.removeprefix("Complete ") for e in self.elements if e.id == "completeBox"]


OCTOBER = (
    ("Mow the lawn", 2, due_on(datetime(2023, 10, 20)), 0),
    ("Bake a cake", 0, due_on(datetime(2023, 10, 14)), 0),
    ("Buy stamps", 3, 0, 0),
    ("Feed the fish", 1, due_on(datetime(2023, 10, 15)), to_millis(NOW)),
)


@pytest.mark.parametrize("size", SCREENS, ids=str)
def test_a_new_task_is_stored_with_all_that_the_form_says(size):
    app = Tasks(size=size)
    app.tap("Create new task")
    app.type("Water the plants")
    app.tap("No due date", "Tomorrow", "High", "Description")
    app.type("The cactus too")
    app.tap("Save")
    due = due_on(datetime(2023, 10, 16))
    assert app.stored == [("Water the plants", 0, due, 0, 0, "The cactus too")]
    assert app.shows("Water the plants, Tomorrow, high priority")
    created, modified = app.db.execute("SELECT created, modified FROM tasks").fetchone()
    assert to_millis(NOW) < created == modified < to_millis(app.phone.now)


def test_a_task_needs_a_name():
    app = Tasks()
    app.tap("Create new task", "Save")
    assert app.shows("Enter a task name") and app.stored == []


def test_a_task_without_more_has_the_apps_defaults():
    app = Tasks()
    app.tap("Create new task")
    app.type("Buy stamps")
    app.tap("Save")
    assert app.stored == [("Buy stamps", 2, 0, 0, 0, None)]
    assert app.shows("Buy stamps"), "neither a date nor a priority stands below the title"


def test_the_list_is_sorted_and_hides_what_is_done_until_asked():
    app = Tasks(*OCTOBER)
    assert app.titles == ["Bake a cake", "Mow the lawn", "Buy stamps"]
    app.tap("More options", "Show completed")
    assert app.titles == ["Bake a cake", "Mow the lawn", "Buy stamps", "Feed the fish"]
    assert [e.checked for e in app.elements if e.id == "completeBox"] == [False, False, False, True]
    app.tap("More options", "Sort", "Title")
    assert app.titles == ["Bake a cake", "Buy stamps", "Mow the lawn", "Feed the fish"]
    app.tap("More options", "Sort", "Priority")
    assert app.titles == ["Bake a cake", "Mow the lawn", "Buy stamps", "Feed the fish"]
    app.tap("More options", "Hide completed")
    assert app.titles == ["Bake a cake", "Mow the lawn", "Buy stamps"]


def test_what_is_shown_is_remembered_when_the_app_is_started_again():
    app = Tasks(*OCTOBER)
    app.tap("More options", "Show completed")
    app.phone.stop(PACKAGE)
    app.phone.launch(PACKAGE)
    assert "Feed the fish" in app.titles


def test_ticking_off_stores_the_time_and_can_be_taken_back():
    app = Tasks(*OCTOBER)
    before = to_millis(app.phone.now)
    app.tap("Complete Mow the lawn")
    assert before <= app.stored[0][3] <= to_millis(app.phone.now)
    assert "Mow the lawn" not in app.titles
    app.tap("More options", "Show completed", "Complete Mow the lawn")
    assert app.stored[0][3] == 0


def test_clearing_removes_only_what_is_done():
    app = Tasks(*OCTOBER)
    app.tap("More options", "Clear completed", "Clear")
    assert [bool(row[4]) for row in app.stored] == [False, False, False, True]


def test_filters_and_search_narrow_the_list_and_back_widens_it():
    app = Tasks(*OCTOBER)
    app.tap("Menu", "Today")
    assert app.titles == ["Bake a cake"], "what is overdue is to be done today; what is done is not"
    app.back()
    assert len(app.titles) == 3
    app.tap("Search")
    app.type("LAWN")
    assert app.titles == ["Mow the lawn"]
    app.back()
    app.back()
    assert len(app.titles) == 3
    app.tap("Menu", "Recently modified")
    assert app.titles == []
    app.back()
    app.tap("Complete Buy stamps", "More options", "Show completed", "Menu", "Recently modified")
    assert app.titles == ["Buy stamps"]


def test_a_task_that_is_hidden_until_later_is_not_shown():
    app = Tasks(*OCTOBER)
    app.db.execute("UPDATE tasks SET hideUntil = ? WHERE title = 'Buy stamps'", (to_millis(NOW) + 3_600_000,))
    app.phone.changed()
    assert app.titles == ["Bake a cake", "Mow the lawn"]


def test_editing_changes_one_task_and_nothing_else():
    app = Tasks(*OCTOBER)
    before = app.stored
    app.tap("Mow the lawn")
    app.select_text("Task name")
    app.type("Mow the meadow")
    app.tap("Oct 20", "No date", "None", "Save")
    assert app.stored == [("Mow the meadow", 3, 0, 0, 0, None), *before[1:]]


def edit_title(app):
    app.select_text("Task name")
    app.type("New")


def edit_notes(app):
    app.select_text("Description")
    app.type("New")


def edit_day(app):
    app.tap("Oct 20 18:30", "Tomorrow")


def edit_priority(app):
    app.tap("High")


def edit_completed(app):
    app.tap("Complete")


@pytest.mark.parametrize("full", [True, False], ids=["full record", "bare record"])
@pytest.mark.parametrize("edit, change", [
    (edit_title, {"title": "New"}), (edit_notes, {"notes": "New"}), (edit_priority, {"importance": 0}),
    (edit_day, {"dueDate": due_on(datetime(2023, 10, 16), time(18, 30))}), (edit_completed, {"completed": 0}),
])  # fmt: skip
def test_an_edit_changes_one_column_and_the_time_of_the_change(edit, change, full):
    app = Tasks(size=(540, 1200))
    odd = {"importance": 7, "dueDate": due_on(datetime(2023, 10, 20), time(18, 30)), "completed": 12345, "deleted": 0}
    for title in ("Mow ", " Rake"):
        add_record(app.db, "tasks", full, title=title, hideUntil=0, **odd)
    app.tap("More options", "Show completed")
    before = records(app.db, "tasks")
    app.tap(" Rake")
    edit(app)
    app.tap("Save")
    after = records(app.db, "tasks")
    assert changed(before, after) == [{}, {**change, "modified": after[1]["modified"]}]


def test_ticking_off_in_the_list_changes_two_times_and_nothing_else():
    app = Tasks(size=(540, 1200))
    for title in ("Mow", "Rake"):
        add_record(app.db, "tasks", title=title, hideUntil=0, completed=0, deleted=0)
    app.phone.changed()
    before = records(app.db, "tasks")
    app.tap("Complete Rake")
    after = records(app.db, "tasks")
    assert changed(before, after) == [{}, {"completed": after[1]["completed"], "modified": after[1]["completed"]}]
    assert after[1]["completed"] >= to_millis(NOW)


def test_deleting_asks_first():
    app = Tasks(*OCTOBER)
    app.tap("Buy stamps", "Delete", "Cancel")
    assert app.shows("Edit task") and not any(row[4] for row in app.stored)
    app.tap("Delete")
    app.phone.tap(*[e for e in app.elements if e.label == "Delete"][-1].center)
    assert [row[0] for row in app.stored if row[4]] == ["Buy stamps"]
    assert app.titles == ["Bake a cake", "Mow the lawn"]


def test_the_form_can_complete_a_task_but_only_saving_stores_it():
    app = Tasks(*OCTOBER)
    app.tap("Buy stamps", "Complete")
    assert app.stored[2][3] == 0
    app.tap("Save")
    assert app.stored[2][3] > 0


def test_leaving_with_changes_asks_and_without_does_not():
    app = Tasks(*OCTOBER)
    app.tap("Buy stamps", "Navigate up")
    assert app.shows("My Tasks")
    app.tap("Buy stamps", "High")
    app.back()
    app.tap("Keep editing")
    assert app.shows("Edit task")
    app.tap("Navigate up", "Discard")
    assert app.shows("My Tasks") and app.stored[2][1] == 3


def test_date_and_time_are_picked():
    app = Tasks()
    app.tap("Create new task")
    app.type("Pay the rent")
    app.tap("No due date", "Pick a date", "Next month", "03 November 2023", "OK")
    app.tap("Nov 3", "Pick a time", "18", "30", "OK")
    assert app.shows("Nov 3 18:30")
    app.tap("Nov 3 18:30", "Next week")
    app.tap("Save")
    (row,) = app.stored
    assert from_seconds(row[2] / 1000) == datetime(2023, 10, 22, 18, 30, 1), "a new day keeps the time"


@pytest.mark.parametrize("at, shown", [
    (datetime(2023, 10, 14, 12), "Yesterday"), (datetime(2023, 10, 15, 12), "Today"),
    (datetime(2023, 10, 16, 23, 59), "Tomorrow"), (datetime(2023, 10, 13, 12), "Oct 13"),
    (datetime(2024, 1, 2, 12), "Jan 2, 2024"), (datetime(2023, 10, 15, 9, 5, 1), "Today 09:05"),
])  # fmt: skip
def test_due_dates_read_like_a_human_says_them(at, shown):
    assert due_text(to_millis(at), NOW) == shown


def test_a_snapshot_in_the_middle_of_an_edit_is_exact():
    app = Tasks(*OCTOBER)
    app.tap("Mow the lawn", "Medium", "Oct 20")
    saved, frame, ui, stored = app.phone.snapshot(), app.phone.screenshot(), app.ui, app.stored
    app.tap("Today", "Save", "Complete Bake a cake")
    assert app.stored != stored
    for _ in range(2):
        app.phone.restore(saved)
        assert np.array_equal(app.phone.screenshot(), frame) and app.ui == ui and app.stored == stored
        app.tap("Tomorrow", "Save")
        assert app.stored[0][1:3] == (1, due_on(datetime(2023, 10, 16)))
