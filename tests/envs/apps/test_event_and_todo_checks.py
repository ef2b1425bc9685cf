"""The checks of calendar and to-do families: what they let pass and what they do not."""

from datetime import datetime

import pytest

from coach_gym.envs.apps.calendar import data as calendar_data
from coach_gym.envs.apps.calendar import task_events as events
from coach_gym.envs.apps.calendar.lab_tasks import CalendarAddEvent, CalendarAllDayEvent
from coach_gym.envs.apps.calendar.world_tasks import (
    SimpleCalendarAddRepeatingEvent,
    SimpleCalendarNextMeetingWithPerson,
)
from coach_gym.envs.apps.tasks import data as tasks_data
from coach_gym.envs.apps.tasks.world_tasks import TasksAddTask, TasksCompleteTask, TasksDeleteTask
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.tasks.answers import same_items, same_number
from coach_gym.envs.tasks.words import ParamRng


@pytest.fixture
def device():
    return PhoneDevice(270, 600)


def begin(family, device, seed=0):
    task = family(family.sample(ParamRng(seed)))
    task.setup(device)
    return task


def calendar(device, statement, *values):
    with device.database(calendar_data.DATABASE) as db:
        db.execute(statement, values)


def todo(device, statement, *values):
    with device.database(tasks_data.DATABASE) as db:
        db.execute(statement, values)


@pytest.mark.parametrize("answer, right", [
    ("Gym, Haircut", True), ("haircut,gym.", True), ("Gym\nHaircut", True), ("'Gym', 'Haircut'", True),
    ("Gym", False), ("Gym, Gym, Haircut", False), ("Gym, Haircut, Nap", False), ("Gym Haircut", False), (None, False),
])  # fmt: skip
def test_a_list_is_right_in_any_order_but_only_whole_and_once(answer, right):
    assert same_items(answer, ["Gym", "Haircut"]) == right


@pytest.mark.parametrize("answer, right", [
    ("3", True), (" 3. ", True), ("03", False), ("three", False), ("3 tasks", False), ("", False), (None, False),
])  # fmt: skip
def test_a_number_is_just_its_digits(answer, right):
    assert same_number(answer, 3) == right


def right_event(task, device):
    """Adds what the goal asks for, past the screen."""
    new = {key: task.params[key] for key in events.EventParams.__annotations__}
    events.store(device, [new])
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("wrong", [
    "start_ts = start_ts + 60", "end_ts = end_ts - 60", "title = title || 's'", "description = ''",
    "location = 'Here'", "repeat_interval = 0", "repeat_rule = repeat_rule + 2", "repeat_limit = start_ts + 86400",
    "repetition_exceptions = '[\"20231020\"]'", "flags = 1",
])  # fmt: skip
def test_every_detail_of_a_new_event_counts(device, wrong):
    task = begin(SimpleCalendarAddRepeatingEvent, device)
    right_event(task, device)
    calendar(device, f"UPDATE events SET {wrong} WHERE title = ?", task.params["title"])
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("harm", [
    "DELETE FROM events WHERE id = 1", "UPDATE events SET title = '' WHERE id = 1",
    "INSERT INTO events(start_ts, end_ts, title) VALUES (1, 2, 'More')",
])  # fmt: skip
def test_other_events_must_stay_as_they_are(device, harm):
    task = begin(SimpleCalendarAddRepeatingEvent, device)
    right_event(task, device)
    calendar(device, harm)
    assert task.evaluate(device, None) == 0


def test_the_hours_of_a_titled_event_are_free_but_its_day_is_not(device):
    task = begin(CalendarAddEvent, device)
    task.params["day"] = "2023-10-20"
    title, insert = task.params["title"], "INSERT INTO events(start_ts, end_ts, title) VALUES (?, ?, ?)"
    for hours, score in ((0, 1), (23, 1), (24, 0)):
        start = events.to_seconds(datetime(2023, 10, 20)) + hours * 3600
        calendar(device, "DELETE FROM events WHERE title = ?", title)
        calendar(device, insert, start, start + 600, title)
        assert task.evaluate(device, None) == score
    calendar(device, "UPDATE events SET start_ts = start_ts - 86400, end_ts = end_ts - 86400 WHERE title = ?", title)
    assert task.evaluate(device, None) == 1
    calendar(device, "UPDATE events SET flags = 1 WHERE title = ?", title)
    assert task.evaluate(device, None) == 0, "it was not to be for all day"


def test_an_event_for_all_day_must_be_on_its_day(device):
    task = begin(CalendarAllDayEvent, device)
    (chosen,) = [one for one in task.expected() if one["all_day"]]
    calendar(device, "UPDATE events SET flags = 1, end_ts = start_ts + 60 WHERE title = ?", chosen["title"])
    assert task.evaluate(device, None) == 1
    calendar(device, "UPDATE events SET start_ts = start_ts - 86400 WHERE title = ?", chosen["title"])
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("form, score", [
    ("{0:%B %-d %Y %H:%M}", 1), ("{0:%B %-d, %Y, %H:%M}", 1), ("{0:%B %-d %Y} at {0:%H:%M}", 1),
    ("{0:%B %-d %Y}", 0), ("{0:%H:%M}", 0), ("", 0),
])  # fmt: skip
def test_a_date_is_answered_in_the_form_asked_for(device, form, score):
    task = begin(SimpleCalendarNextMeetingWithPerson, device)
    title = f"Meeting with {task.params['name']}"
    starts = [events.from_seconds(one["start"]) for one in task.params["events"] if one["title"] == title]
    following = min(start for start in starts if start > events.from_seconds(1697384040))
    assert task.evaluate(device, form.format(following)) == score
    assert task.evaluate(device, form.format(min(starts))) == 0, "that meeting is over"


def test_a_task_is_done_whenever_it_was_done_and_others_stay(device):
    task = begin(TasksCompleteTask, device)
    title = task.params["title"]
    todo(device, "UPDATE tasks SET completed = 5 WHERE title = ?", title)
    assert task.evaluate(device, None) == 1
    todo(device, "UPDATE tasks SET notes = 'x' WHERE title != ?", title)
    assert task.evaluate(device, None) == 0


def test_a_deleted_task_is_gone_or_marked_as_deleted(device):
    task = begin(TasksDeleteTask, device)
    todo(device, "UPDATE tasks SET completed = 5 WHERE title = ?", task.params["title"])
    assert task.evaluate(device, None) == 0
    todo(device, "UPDATE tasks SET deleted = 5 WHERE title = ?", task.params["title"])
    assert task.evaluate(device, None) == 1
    todo(device, "DELETE FROM tasks WHERE deleted > 0")
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("extra", [*TasksAddTask.DUE, *TasksAddTask.PRIORITY])
def test_a_new_task_has_just_what_was_asked_for(device, extra):
    task = TasksAddTask({**TasksAddTask.sample(ParamRng(3)), "extra": extra})
    task.setup(device)
    *_, (title, importance, due, *_) = task.expected()
    todo(device, "INSERT INTO tasks(title, importance, dueDate) VALUES (?,?,?)", title, importance, due)
    assert task.evaluate(device, None) == 1
    todo(device, "UPDATE tasks SET dueDate = ? WHERE title = ?", due + 86_400_000, title)
    assert task.evaluate(device, None) == 0
