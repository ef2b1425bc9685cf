"""The calendar's experts find days in other months and years, and read lists over several pages."""

from datetime import date, datetime, timedelta

import pytest

from coach_gym.envs.apps.calendar import expert
from coach_gym.envs.apps.calendar import task_events as events
from coach_gym.envs.apps.calendar import world_tasks as families
from coach_gym.envs.phone.epoch import to_seconds
from tests.envs.expert_at_work import work

NOW = datetime(2023, 10, 15, 15, 34)


def event(title, start, minutes=60, **more):
    return {**events.event(title, start, minutes), **more}


def new(title, start, minutes, repetition="No repetition"):
    event = events.event(title, start, minutes, description="Bring the cake")
    return {**event, "repetition": repetition, "events": []}


@pytest.mark.parametrize("start", [
    datetime(2023, 10, 15, 23, 5), datetime(2023, 8, 1, 9), datetime(2023, 12, 31, 0, 0), datetime(2024, 2, 29, 12, 55),
])  # fmt: skip
def test_an_event_is_made_on_any_day_of_any_month(device, start):
    task = families.SimpleCalendarAddOneEvent(new("Party", start, 50))
    task.setup(device)
    work(device, expert.add, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("repetition", ["Daily", "Weekly", "Monthly", "Yearly"])
def test_every_repetition_can_be_chosen(device, repetition):
    task = families.SimpleCalendarAddRepeatingEvent(new("Gym", datetime(2023, 10, 31, 7, 15), 45, repetition))
    task.setup(device)
    work(device, expert.add, task.params)
    assert task.evaluate(device, None) == 1
    for other in ("No repetition", "Daily", "Weekly", "Monthly", "Yearly"):
        other_task = families.SimpleCalendarAddRepeatingEvent({**task.params, "repetition": other})
        assert other_task.evaluate(device, None) == float(other == repetition)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_all_events_of_a_day_are_deleted_and_its_neighbours_stay(device, count):
    day = datetime(2023, 11, 3)
    of_day = [event(f"Event {hour}", day + timedelta(hours=8 + hour)) for hour in range(count)]
    others = [event("Before", day - timedelta(hours=2)), event("After", day + timedelta(days=1))]
    task = families.SimpleCalendarDeleteEvents({"day": "2023-11-03", "when": "", "events": [*others, *of_day]})
    task.setup(device)
    work(device, expert.delete_of_day, task.params)
    assert task.evaluate(device, None) == 1


def test_the_next_event_is_the_first_after_now_and_not_the_first_of_today(device):
    past, soon = event("Past", NOW - timedelta(hours=3)), event("Soon", NOW + timedelta(minutes=1))
    later = [event(f"Later {n}", NOW + timedelta(days=n)) for n in range(1, 20)]
    params = {"from": to_seconds(NOW), "to": soon["start"], "events": [*later, past, soon]}
    task = families.SimpleCalendarNextEvent(params)
    task.setup(device)
    answer = work(device, expert.next_event, task.params)
    assert answer == "Soon"
    assert [task.evaluate(device, each) for each in ("Soon", "soon.", "Past", "Soon, Later 1", "")] == [1, 1, 0, 0, 0]


def test_a_week_is_read_over_several_pages(device):
    week = [
        event(f"Event {day} {hour}", datetime(2023, 10, 16 + day, hour)) for day in range(7) for hour in (8, 12, 18)
    ]
    around = [event("Sunday", datetime(2023, 10, 15, 20)), event("Monday", datetime(2023, 10, 23, 0, 0))]
    span = {"from": to_seconds(datetime(2023, 10, 16)), "to": to_seconds(datetime(2023, 10, 22, 23, 59))}
    task = families.SimpleCalendarEventsInNextWeek({**span, "events": [*around, *week]})
    task.setup(device)
    answer = work(device, expert.titles_in_week, task.params)
    assert answer.split(", ") == [one["title"] for one in week] and task.evaluate(device, answer) == 1
    assert task.evaluate(device, f"{answer}, Monday") == 0


def test_rows_whose_hours_are_hidden_are_left_out():
    class Row:
        label = "Party"

    assert expert._entry(Row, date(2023, 10, 20)) == []
    Row.label = "Party, 12:30 - 13:30"
    assert expert._entry(Row, date(2023, 10, 20)) == [expert.Entry("Party", datetime(2023, 10, 20, 12, 30))]
