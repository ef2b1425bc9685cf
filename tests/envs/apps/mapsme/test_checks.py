"""Which answers the questions about ways accept."""

import json
import random

import pytest

from coach_gym.envs.apps.mapsme import lab_tasks as mapsme
from coach_gym.envs.apps.mapsme.data import set_my_place
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


# a town with two places and the phone between them


TOWN = {
    "places": [
        ["", "", "", 47.05, 8.3], ["Old Inn", "Hotel", "High Street, 1", 47.051, 8.3],
        ["New Inn", "Hotel", "Low Street, 2", 47.06, 8.3], ["Corner", "Café", "", 47.05, 8.31],
    ],
    "roads": [[1, 2, 0.2, 30], [1, 3, 1.2, 50], [1, 4, 0.8, 30]], "here": 1,
}  # fmt: skip


def db(device):
    return device.database(mapsme.DATABASE)


@pytest.mark.parametrize("journeys, score", [
    ([(1, 2, "walk")], 1.0), ([(1, 3, "walk")], 0.0), ([(1, 2, "car")], 0.0), ([(2, 1, "walk")], 0.0), ([], 0.0),
    ([(1, 2, "walk"), (1, 2, "walk")], 0.0),
])  # fmt: skip
def test_a_journey_has_its_start_its_target_and_its_means(device, begin, journeys, score):
    task = begin(mapsme.MapsNavigate, name="Old Inn", how="on foot", town=TOWN)
    with db(device) as connection:
        for journey in journeys:
            connection.execute("INSERT INTO journeys(start, target, mode, at) VALUES (?, ?, ?, 0)", journey)
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("mine, score", [
    ({"Home": 2}, 1.0), ({"Home": 3}, 0.0), ({"Work": 2}, 0.0), ({"Home": 2, "Work": 2}, 0.0), ({}, 0.0),
])  # fmt: skip
def test_one_role_has_one_place(device, begin, mine, score):
    task = begin(mapsme.MapsSetMyPlace, name="Old Inn", role="Home", town=TOWN)
    with db(device) as connection:
        for role, place in mine.items():
            set_my_place(connection, role, place)
    assert task.evaluate(device, None) == score


def test_the_nearest_place_is_named(accepts):
    task = mapsme.MapsNearest({"kind": "Hotel", "town": TOWN})
    accepts(task, ("Old Inn", "old inn", "'Old Inn'."), ("New Inn", "Corner", "Old", "Old Inn, New Inn", "200 m"))


@pytest.mark.parametrize("family", mapsme.TASKS)
@pytest.mark.parametrize("seed", range(4))
def test_instances_are_json_and_their_near_misses_differ(family, seed):
    params = family.sample(ParamRng(seed))
    assert json.loads(json.dumps(params)) == json.loads(json.dumps(family.sample(ParamRng(seed))))
    task = family(params)
    assert task.near_miss(random.Random(seed)) != params and "{" not in task.goal


def test_the_places_of_a_town_have_names_of_their_split_alone():
    def names(which):
        towns = [mapsme.town(ParamRng(seed, which)) for seed in range(30)]
        return {word for town in towns for name, *_ in town["places"] for word in name.split()}

    assert names("train") and not names("train") & (names("validation") | names("test"))


def test_a_town_is_on_its_map_as_it_was_drawn():
    town = mapsme.town(ParamRng(1))
    world = mapsme.world_of(town)
    assert len(world.places) == len(town["places"]) and world.here == town["here"]
    assert {road.kmh for road in world.roads} <= {30, 50} and [area.kind for area in world.areas] == ["water"]
    for road in world.roads:
        assert 0 < road.km < 2 and world.place(road.a) and world.place(road.b)
    for kind in mapsme.KINDS:
        assert 2 <= sum(place.kind == kind for place in world.places) <= 3
