"""What the checks of calendar families let pass."""

import pytest

from coach_gym.envs.apps.calendar import data
from coach_gym.envs.apps.calendar import task_events as events
from coach_gym.envs.apps.calendar.world_tasks import (
    SimpleCalendarAddRepeatingEvent,
    SimpleCalendarNextMeetingWithPerson,
)


def calendar(device, statement, *values):
    with device.database(data.DATABASE) as db:
        db.execute(statement, values)


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
def test_every_detail_of_a_new_event_counts(device, wrong, begin):
    task = begin(SimpleCalendarAddRepeatingEvent)
    right_event(task, device)
    calendar(device, f"UPDATE events SET {wrong} WHERE title = ?", task.params["title"])
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("harm", [
    "DELETE FROM events WHERE id = 1", "UPDATE events SET title = '' WHERE id = 1",
    "INSERT INTO events(start_ts, end_ts, title) VALUES (1, 2, 'More')",
])  # fmt: skip
def test_other_events_must_stay_as_they_are(device, harm, begin):
    task = begin(SimpleCalendarAddRepeatingEvent)
    right_event(task, device)
    calendar(device, harm)
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("form, score", [
    ("{0:%B %-d %Y %H:%M}", 1), ("{0:%B %-d, %Y, %H:%M}", 1), ("{0:%B %-d %Y} at {0:%H:%M}", 1),
    ("{0:%B %-d %Y}", 0), ("{0:%H:%M}", 0), ("", 0),
])  # fmt: skip
def test_a_date_is_answered_in_the_form_asked_for(device, form, score, begin):
    task = begin(SimpleCalendarNextMeetingWithPerson)
    title = f"Meeting with {task.params['name']}"
    starts = [events.from_seconds(one["start"]) for one in task.params["events"] if one["title"] == title]
    following = min(start for start in starts if start > events.from_seconds(1697384040))
    assert task.evaluate(device, form.format(following)) == score
    assert task.evaluate(device, form.format(min(starts))) == 0, "that meeting is over"
