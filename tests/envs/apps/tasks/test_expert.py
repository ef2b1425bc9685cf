"""The experts of Tasks read lists that have to be scrolled, with rows cut off at the edges."""

from datetime import date, timedelta

import pytest

from coach_gym.envs.apps.tasks import expert
from coach_gym.envs.apps.tasks.data import due_on
from coach_gym.envs.apps.tasks.world_tasks import (
    TasksCompletedTasksForDate,
    TasksDueNextWeek,
    TasksDueOnDate,
    TasksHighPriorityTasks,
    TasksSetDueDate,
)
from coach_gym.envs.tasks.screen import Screen
from tests.envs.expert_at_work import work

TODAY = date(2023, 10, 15)


def todo(number, days=None, importance=2, done=0):
    due = 0 if days is None else due_on(TODAY + timedelta(days=days))
    return [f"Task {number:02d}", importance, due, done, ""]


LIST = [todo(number, number - 5 if number % 4 else None, number % 4) for number in range(30)]


@pytest.mark.parametrize("days", [-4, -2, 0, 1, 2, 9])
def test_tasks_of_a_day_are_found_on_every_page(device, days):
    task = TasksDueOnDate({"day": (TODAY + timedelta(days=days)).isoformat(), "when": "", "todos": LIST})
    task.setup(device)
    answer = work(device, expert.due_on_date, task.params)
    assert answer.split(", ") == [f"Task {days + 5:02d}"] and task.evaluate(device, answer) == 1


def test_priorities_are_read_with_and_without_a_date(device):
    task = TasksHighPriorityTasks({"priority": "high", "todos": LIST})
    task.setup(device)
    answer = work(device, expert.high_priority, task.params)
    assert sorted(answer.split(", ")) == [f"Task {number:02d}" for number in range(0, 30, 4)]
    assert task.evaluate(device, answer) == 1
    assert task.evaluate(device, answer.replace("Task 00, ", "")) == 0
    assert task.evaluate(device, f"{answer}, Task 00") == 0


def test_completed_tasks_are_shown_first(device):
    todos = [*LIST, todo(40, 3, done=1), todo(41, 3, done=1)]
    task = TasksCompletedTasksForDate({"day": "2023-10-18", "when": "", "todos": todos})
    task.setup(device)
    answer = work(device, expert.completed_on_date, task.params)
    assert sorted(answer.split(", ")) == ["Task 40", "Task 41"] and task.evaluate(device, answer) == 1


def test_a_week_ends_on_sunday(device):
    todos = [todo(number, days) for number, days in enumerate((0, 1, 4, 7, 8))]
    task = TasksDueNextWeek({"from": "2023-10-16", "to": "2023-10-22", "todos": todos})
    task.setup(device)
    assert work(device, expert.due_next_week, task.params) == "3"
    assert [task.evaluate(device, answer) for answer in ("3", "3.", "three", "4", "3 or 4")] == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("days, when", [(0, "today"), (1, "tomorrow"), (20, "November 4"), (-15, "September 30")])
def test_a_due_date_is_set_by_a_shortcut_or_in_the_calendar(device, days, when):
    day = (TODAY + timedelta(days=days)).isoformat()
    task = TasksSetDueDate({"title": "Task 03", "day": day, "when": when, "todos": LIST[:9]})
    task.setup(device)
    work(device, expert.set_due_date, task.params)
    assert task.evaluate(device, None) == 1


def test_a_row_without_details_has_neither_date_nor_priority():
    assert expert._row("Task", "", False) == expert.Row("Task", None, "", False)
    row = expert._row("Task", ", Oct 20, medium priority", True)
    assert (row.due, row.priority, row.done) == (date(2023, 10, 20), "medium", True)


def test_an_empty_screen_has_no_rows():
    with pytest.raises(StopIteration) as stopped:
        next(expert.read(Screen()))
    assert stopped.value.value == []
