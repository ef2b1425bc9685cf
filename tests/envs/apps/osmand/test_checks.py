"""What the checks of tasks on the map let pass."""

import pytest

from coach_gym.envs.apps.osmand import data, gpx
from coach_gym.envs.apps.osmand import world_tasks as maps
from coach_gym.envs.apps.osmand.data import MARKERS, PLACES, Place
from coach_gym.envs.apps.osmand.gpx import FAVORITES, TRACKS


def favor(device, *places):
    gpx.save_favorites(device, [*gpx.favorites(device), *places])


@pytest.mark.parametrize("seed", range(4))
def test_a_favourite_counts_by_where_it_is_and_only_once(device, seed, begin):
    task = begin(maps.OsmAndFavorite, seed)
    before = device.read(FAVORITES)
    lat, lon = PLACES[task.params["place"]]
    favor(device, Place("any name", (lat + 0.0009, lon - 0.0009)))
    assert task.evaluate(device, None) == 1
    favor(device, Place("any name", (lat, lon)))
    assert task.evaluate(device, None) == 0, "two"
    device.write(FAVORITES, before)
    favor(device, Place(task.params["place"], (lat + 0.0011, lon)))
    assert task.evaluate(device, None) == 0, "the name alone is not the place"
    device.write(FAVORITES, b"no gpx")
    assert task.evaluate(device, None) == 0


def test_a_marker_is_no_favourite_and_a_passed_one_no_marker(device, begin):
    task = begin(maps.OsmAndMarker, 1)
    place = Place(task.params["place"], PLACES[task.params["place"]])
    favor(device, place)
    assert task.evaluate(device, None) == 0
    device.reset_state()
    task.setup(device)
    with device.database(MARKERS) as db:
        data.add_marker(db, place, device.now)
        assert task.evaluate(device, None) == 1
        data.pass_marker(db, data.markers(db)[0], device.now)
        assert task.evaluate(device, None) == 0


def test_a_track_may_pass_by_other_points_but_must_keep_the_order(device, begin):
    task = begin(maps.OsmAndTrack, 2)
    points = [PLACES[name] for name in task.params["waypoints"]]
    path = f"{TRACKS}/x.gpx"
    for line, right in (
        (points, 1), ([(47.0, 9.4), points[0], (47.1, 9.6), *points[1:]], 1), (points[::-1], 0), (points[:-1], 0),
        ([], 0),
    ):  # fmt: skip
        gpx.save_track(device, path, line)
        assert task.evaluate(device, None) == right
    device.write(path, b"<gpx")
    assert task.evaluate(device, None) == 0
