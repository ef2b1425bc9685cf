"""Which answers the questions about ways accept."""

import pytest

from coach_gym.envs.apps.mapsme import lab_tasks as mapsme
from coach_gym.envs.tasks.words import ParamRng


def test_times_of_travel(accepts):
    params = mapsme.MapsTravelTime.sample(ParamRng(5))
    task = mapsme.MapsTravelTime(params)
    world = mapsme.world_of(params["town"])
    names = (params["start"], params["target"])
    minutes = mapsme._minutes(world, *names, mapsme.WAYS[params["how"]])
    right = (f"{minutes} min", f"{minutes} minutes", f"{minutes}min.", f"0 hr {minutes} min")
    wrong = (f"{minutes + 1} min", f"{minutes} hr", f"{minutes}", f"{minutes} km", f"{minutes} or 1 min", "min")
    accepts(task, right, wrong)


@pytest.mark.parametrize(
    "answer, minutes",
    [
        ("1 hr 5 min", 65), ("1h5m", 65), ("2 hours", 120), ("65 minutes", 65), ("65", None), ("hr", None),
        ("1:05", None), ("5 min 1 hr", None),
    ],
)  # fmt: skip
def test_times_in_hours_and_minutes(answer, minutes):
    assert mapsme._told(answer) == minutes


def test_every_town_hangs_together_and_its_nearest_places_stand_out():
    for seed in range(30):
        params = mapsme.MapsNearest.sample(ParamRng(seed))
        world = mapsme.world_of(params["town"])
        away = mapsme.distances(world)
        assert len(away) == len(world.places)
        near = sorted(away[place.id] for place in world.places if place.kind == params["kind"])
        assert near[1] - near[0] > mapsme.CLEAR
