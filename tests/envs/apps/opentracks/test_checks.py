"""What the questions about activities accept."""

from datetime import date

import pytest

from coach_gym.envs.apps.opentracks import data
from coach_gym.envs.apps.opentracks import world_tasks as sports


@pytest.mark.parametrize("family", sports.TASKS)
def test_answers_about_activities_need_them_all_left_alone(device, family, begin):
    task = begin(family, 3)
    result = [a[1] for a in task.params["activities"] if sports.day_of(a).isoformat() == task.params["from"]]
    answer = ", ".join(result) if family is sports.SportsTrackerActivitiesOnDate else f"{task.result:.0f}"
    assert task.evaluate(device, answer) == 1
    with device.database(data.DATABASE) as db:
        data.TABLE.delete(db, data.tracks(db)[0].id)
    assert task.evaluate(device, answer) == 0


def test_sports_answers_are_those_of_plain_sums():
    activities = [
        ["A", "running", "", 1696839000, 30, 1000],  # Monday, October 9 2023, 08:10 UTC
        ["B", "running", "", 1697371800, 45, 3000],  # Sunday, October 15, 12:10
        ["C", "running", "", 1696781400, 60, 9000],  # Sunday, October 8, 16:10
        ["D", "rowing", "", 1696839000, 15, 500],
    ]
    week = {"from": "2023-10-09", "to": "2023-10-15", "category": "running", "activities": activities}
    for family, right in (
        (sports.SportsTrackerActivitiesCountForWeek, 2),
        (sports.SportsTrackerTotalDurationForCategoryThisWeek, 75),
        (sports.SportsTrackerLongestDistanceActivity, 3000),
        (sports.SportsTrackerTotalDistanceForCategoryOverInterval, 4000),
    ):
        assert family(week).result == right
    assert sports.MONDAY == date(2023, 10, 9) and sports.MONDAY.weekday() == 0
