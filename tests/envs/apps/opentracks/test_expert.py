"""OpenTracks' experts read rows of the list, and add up what stands on several pages."""

from datetime import datetime

import pytest

from coach_gym.envs.apps.opentracks import expert
from coach_gym.envs.apps.opentracks.expert import Activity, _activity
from coach_gym.envs.apps.opentracks.world_tasks import (
    SportsTrackerTotalDistanceForCategoryOverInterval,
    SportsTrackerTotalDurationForCategoryThisWeek,
)
from coach_gym.envs.phone.epoch import to_seconds
from tests.envs.expert_at_work import work


@pytest.mark.parametrize("label, activity", [
    ("Loop, Oct 14 2023, 08:00, [running] Windy, 30:00, 1,056 ft",
     Activity(datetime(2023, 10, 14, 8), "running", 30, 322)),
    ("Loop, with Ann, Oct 1 2023, 18:05, [mountain biking] , 1:30:59, 15.00 mi",
     Activity(datetime(2023, 10, 1, 18, 5), "mountain biking", 90, 24140)),
    ("[x], Sep 30 2023, 00:00, [rowing] a, b, [c], 10:00:00, 1,000.50 mi",
     Activity(datetime(2023, 9, 30), "rowing", 600, 1610149)),
])  # fmt: skip
def test_a_row_tells_start_category_length_and_distance(label, activity):
    assert _activity(label) == activity


@pytest.mark.parametrize("label", [
    "", "OpenTracks", "Loop, Oct 14 2023, 08:00, [running] Windy", "Loop, [running] Windy, 30:00, 1,056 ft",
    "Loop, Oct 14 2023, 08:00, Windy, 30:00, 1,056 ft",
])  # fmt: skip
def test_a_row_that_is_cut_off_tells_nothing(label):
    assert _activity(label) is None


def activities(count):
    """A run of a mile, ten minutes long, at the end of every day before today, and a walk as long before it."""
    rows = []
    for days in range(count):
        for hour, category in ((10, "running"), (8, "walking")):
            start = to_seconds(datetime(2023, 10, 15 - days, hour))
            rows.append([f"{category} {days}", category, "Felt strong", start, 10, 1609])
    return rows


@pytest.mark.parametrize("first, runs", [("2023-10-15", 1), ("2023-10-09", 7), ("2023-10-01", 15)])
def test_distances_of_a_span_are_added_up_over_pages(device, first, runs):
    params = {"from": first, "to": "2023-10-15", "category": "running", "other": "walking", "first": "", "last": ""}
    task = SportsTrackerTotalDistanceForCategoryOverInterval({**params, "activities": activities(15)})
    task.setup(device)
    answer = work(device, expert.total_meters, task.params)
    assert abs(int(answer) - 1609 * runs) <= 10 and task.evaluate(device, answer) == 1
    assert task.evaluate(device, str(int(answer) + 21)) == 0 and task.evaluate(device, "a mile") == 0


def test_minutes_of_a_week_are_added_up(device):
    params = {"from": "2023-10-09", "to": "2023-10-15", "category": "walking", "other": "running", "first": ""}
    task = SportsTrackerTotalDurationForCategoryThisWeek({**params, "activities": activities(12)})
    task.setup(device)
    assert work(device, expert.total_minutes, task.params) == "70"
    assert [task.evaluate(device, answer) for answer in ("70", "70.", "70 minutes", "60", "")] == [1, 1, 0, 0, 0]
