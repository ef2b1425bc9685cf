"""MAPS.ME by touch: places are found and kept, routes are planned on the map of the phone."""

import math
from itertools import permutations

import numpy as np
import pytest

from coach_gym.envs.apps.mapsme import map as mapsme_map
from coach_gym.envs.apps.mapsme.data import (
    DATABASE,
    PACKAGE,
    Area,
    Line,
    Place,
    Road,
    World,
    bookmarks,
    distance_text,
    length_text,
    my_places,
    read,
    set_my_place,
    time_text,
    toggle_bookmark,
    write,
)
from coach_gym.envs.apps.mapsme.route import MODES, RIDING, WAITING, WALKING, distances, route
from coach_gym.envs.suites.official_lab.prepare_mapsme import PLACES, bay
from tests.envs.hands import SCREENS, Hands

# a square of streets with a motorway across and a line around a corner
TOWN = World(
    (
        Place(1, "", "", "", 47.000, 8.000), Place(2, "Old Inn", "Hotel", "High Street, 1", 47.000, 8.010),
        Place(3, "New Inn", "Hotel", "Low Street, 2", 47.010, 8.010),
        Place(4, "Corner Bakery", "Shop", "", 47.010, 8.000),
        Place(5, "Island", "Town", "", 47.050, 8.050),
    ),
    (Road(1, 2, 0.8, 30), Road(2, 3, 1.2, 30), Road(3, 4, 0.8, 30), Road(4, 1, 1.4, 30), Road(1, 3, 1.6, 100)),
    (Line("7", 1, 2, 1), Line("7", 2, 3, 1), Line("8", 3, 4, 1)),
    (Area("water", ((47.02, 8.02), (47.02, 8.03), (47.03, 8.03))),),
    1,
)  # fmt: skip


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    hands = Hands(PACKAGE, request.param)
    write(hands.storage.database(DATABASE), TOWN)
    hands.phone.changed()
    return hands


def db(hands):
    return hands.storage.database(DATABASE)


def results(hands):
    return [e.label for e in hands.elements if e.clickable and e.label.endswith(("km", " m"))]


def search(hands, words):
    hands.select_text("Search")
    hands.type(words)
    hands.back()


def summary(hands):
    below = hands.find("Map").bounds[3]
    return [e.label for e in hands.elements if e.bounds[1] >= below and e.cls == "TextView"]


# routes


def _ways(world, start, end):
    """All ways without a place twice, as lists of places: slow, and right by construction."""
    others = [place.id for place in world.places if place.id not in (start, end)]
    for count in range(len(others) + 1):
        for middle in permutations(others, count):
            yield [start, *middle, end]


def _by_road(world, places, minutes):
    roads = {pair: road for road in world.roads for pair in ((road.a, road.b), (road.b, road.a))}
    steps = list(zip(places, places[1:], strict=False))
    if any(step not in roads for step in steps):
        return math.inf
    return sum(minutes(roads[step]) for step in steps)


MINUTES = {
    "car": lambda road: 60 * road.km / road.kmh,
    "walk": lambda road: 60 * road.km / WALKING if road.kmh < 85 else math.inf,
    "bike": lambda road: 60 * road.km / RIDING if road.kmh < 85 else math.inf,
}


@pytest.mark.parametrize("mode", MINUTES)
def test_routes_are_the_fastest_of_all_ways(mode):
    for start, end in permutations([1, 2, 3, 4], 2):
        fastest = min(_by_road(TOWN, way, MINUTES[mode]) for way in _ways(TOWN, start, end))
        assert route(TOWN, start, end, mode).minutes == pytest.approx(fastest)


def test_nobody_walks_on_a_motorway():
    assert route(TOWN, 1, 3, "car").places == (1, 3)
    assert route(TOWN, 1, 3, "walk").places == (1, 2, 3) and route(TOWN, 1, 3, "walk").km == pytest.approx(2.0)


def test_lines_are_waited_for_once_each():
    assert route(TOWN, 1, 3, "transit")[::3] == (2 + WAITING, ("7",))
    assert route(TOWN, 1, 4, "transit")[::3] == (3 + 2 * WAITING, ("7", "8"))


def test_where_no_road_leads_there_is_no_route():
    assert [route(TOWN, 1, 5, mode) for mode in MODES] == [None] * 4 and 5 not in distances(TOWN)


def test_distances_are_by_road():
    assert distances(TOWN) == {1: 0, 2: 0.8, 4: 1.4, 3: 1.6}


@pytest.mark.parametrize("km, listed, route_", [(0.28, "280 m", "280 m"), (7.0, "7.0 km", "7.0 km"),
                                               (50.6, "50.6 km", "51 km"), (73.0, "73.0 km", "73 km")])  # fmt: skip
def test_how_distances_are_written(km, listed, route_):
    assert (distance_text(km), length_text(km)) == (listed, route_)


@pytest.mark.parametrize(
    "minutes, text", [(0.2, "1 min"), (8.04, "8 min"), (60, "1 hr 0 min"), (777.9, "12 hr 58 min")]
)
def test_how_times_are_written(minutes, text):
    assert time_text(minutes) == text


def test_no_road_of_the_bay_is_shorter_than_the_straight_line():
    places = {place.id: place for place in bay().places}
    for road in bay().roads:
        a, b = places[road.a], places[road.b]
        east = (a.lon - b.lon) * math.cos(math.radians(a.lat))
        assert road.km >= 111.2 * math.hypot(a.lat - b.lat, east) - 0.01, (a, b)


def test_every_place_of_the_bay_can_be_reached():
    assert len(distances(bay())) == len(PLACES)


# the picture


def test_places_lie_where_the_picture_shows_them():
    view = mapsme_map.around([place.point for place in TOWN.places[:4]], 300, 400)
    spots = [view.place(place.point) for place in TOWN.places[:4]]
    assert all(0 < x < 1 and 0 < y < 1 for x, y in spots)
    assert spots[1][0] > spots[0][0] and spots[2][1] < spots[1][1], "east is right and north is up"
    moved = view.moved((0.5, 0.5), (0.7, 0.4))
    assert moved.place(TOWN.places[0].point) == pytest.approx((spots[0][0] + 0.2, spots[0][1] - 0.1), abs=1e-4)


def test_a_map_survives_the_database():
    hands = Hands(PACKAGE)
    for world in (TOWN, bay()):
        write(db(hands), world)
        assert read(db(hands)) == world


# by touch


def test_without_a_map_the_app_says_so():
    assert Hands(PACKAGE).shows("No map was downloaded")


def test_the_map_is_moved_and_zoomed(hands):
    frames = [hands.phone.screenshot()]
    width, height = hands.phone.width, hands.phone.height
    acts = [
        lambda: hands.tap("Zoom in"),
        lambda: hands.phone.swipe((width // 3, height // 2), (width // 2, height // 3)),
        lambda: hands.tap("Zoom out"),
    ]
    for act in acts:
        act()
        assert not any(np.array_equal(hands.phone.screenshot(), frame) for frame in frames)
        frames.append(hands.phone.screenshot())
    hands.tap("My position")
    assert np.array_equal(hands.phone.screenshot(), frames[0])


def test_places_are_found_by_kind_name_and_address_the_nearest_first(hands):
    hands.tap("Find", "Hotel")
    assert results(hands) == ["Old Inn, Hotel • High Street, 1 • 800 m", "New Inn, Hotel • Low Street, 2 • 1.6 km"]
    for words, names in (("low street", ["New Inn"]), ("INN HIGH", ["Old Inn"]), ("island", []), ("zoo", [])):
        search(hands, words)
        assert [row.split(", ")[0] for row in results(hands)] == names


def test_a_place_is_saved_and_forgotten(hands):
    hands.tap("Find", "Shop", "Corner Bakery", "Save")
    assert bookmarks(db(hands)) == [4] and hands.shows("Shop • 1.4 km")
    for _ in range(2):
        hands.back()
    hands.tap("My places", "Corner Bakery", "Forget")
    assert bookmarks(db(hands)) == []


def test_home_and_work_are_set_changed_and_removed(hands):
    hands.tap("My places", "Work")
    search(hands, "bakery")
    hands.tap("Corner Bakery")
    assert my_places(db(hands)) == {"Work": 4} and hands.find("Work").label == "Work, Corner Bakery • 1.4 km"
    hands.tap("Options of Work", "Change", "Hotel", "Old Inn")
    assert hands.find("Work").label == "Work, High Street, 1 • 800 m"
    hands.tap("Home", "Hotel", "New Inn", "Options of Work", "Remove")
    assert my_places(db(hands)) == {"Home": 3} and hands.find("Work").label == "Work, Add your work address"


def test_a_route_leads_from_here_unless_it_is_told_otherwise(hands):
    hands.tap("Find", "Hotel", "New Inn", "Route to")
    assert hands.shows("My location") and summary(hands) == ["1 min", "1.6 km"] and hands.shows("Start")
    hands.tap("On foot")
    assert summary(hands) == ["21 min", "2.0 km"]
    hands.tap("By subway")
    assert summary(hands) == ["5 min", "Subway 7"]
    hands.tap("My location", "Shop", "Corner Bakery")
    assert summary(hands) == ["4 min", "Subway 8"] and not hands.shows("Start"), "one starts from where one is"


def test_ends_of_a_route_are_swapped(hands):
    hands.tap("Find", "Hotel", "Old Inn", "Route from")
    assert hands.shows("Choose where to go")
    hands.tap("Choose a place", "My location")
    assert summary(hands) == ["2 min", "800 m"] and not hands.shows("Start")
    hands.tap("Swap")
    assert hands.shows("Start")


def test_starting_is_noted_and_stopped(hands):
    hands.tap("Find", "Hotel", "Old Inn", "Route to", "By bicycle", "Start")
    assert db(hands).execute("SELECT start, target, mode FROM journeys").fetchall() == [(1, 2, "bike")]
    assert hands.shows("Old Inn") and hands.shows("3 min left")
    hands.tap("Stop")
    assert hands.shows("Start")


def test_a_place_beyond_all_roads_has_no_route(hands):
    db(hands).execute("UPDATE here SET place = 5")
    hands.tap("Find", "Town", "Island", "Route from", "Choose a place")
    assert hands.shows("Nothing was found") is False
    search(hands, "inn")
    assert results(hands) == []


def test_a_snapshot_of_a_choice_on_a_planned_route_is_exact(hands):
    hands.tap("Find", "Hotel", "New Inn", "Route to", "On foot")
    hands.tap("New Inn")
    saved, frame = hands.phone.snapshot(), hands.phone.screenshot()
    for _ in range(2):
        hands.tap("Shop", "Corner Bakery")
        assert summary(hands) == ["15 min", "1.4 km"]
        hands.phone.restore(saved)
        assert np.array_equal(hands.phone.screenshot(), frame)


def test_bookmarks_are_listed_the_last_saved_first(hands):
    for id in (3, 2, 4):
        toggle_bookmark(db(hands), id)
    hands.tap("My places")
    assert [row.split(", ")[0] for row in results(hands)] == ["Corner Bakery", "Old Inn", "New Inn"]


def test_changing_one_place_of_mine_leaves_all_else_alone(hands):
    for role, place in (("Home", 2), ("Work", 3)):
        set_my_place(db(hands), role, place)
    toggle_bookmark(db(hands), 4)
    db(hands).execute("INSERT INTO journeys(start, target, mode, at) VALUES (1, 2, 'car', 5)")
    tables = [name for (name,) in db(hands).execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    before = {table: db(hands).execute(f"SELECT * FROM {table}").fetchall() for table in tables}
    hands.tap("My places", "Options of Home", "Change", "Shop", "Corner Bakery")
    after = {table: db(hands).execute(f"SELECT * FROM {table}").fetchall() for table in tables}
    assert my_places(db(hands)) == {"Home": 4, "Work": 3}
    assert {table for table in tables if after[table] != before[table]} == {"my_places"}


# pictures of maps


VIEW = mapsme_map.View((47.005, 8.005), 120.0, 300, 400)


def test_roads_parks_and_pins_are_drawn_where_they_lie():
    plain = mapsme_map.draw(World((), (), (), (), None), VIEW).astype(int)
    assert plain.shape == (600, 450, 3) and len(np.unique(plain.reshape(-1, 3), axis=0)) == 1
    roads = mapsme_map.draw(TOWN, VIEW).astype(int)
    assert (roads != plain).any()
    pin = mapsme_map.draw(TOWN, VIEW, (("place", TOWN.places[2].point),)).astype(int)
    rows, columns = np.argwhere((pin != roads).any(axis=2)).mean(axis=0)
    x, y = VIEW.place(TOWN.places[2].point)
    assert abs(columns - x * 450) < 5 and -45 < rows - y * 600 < 0, "a pin stands on its point"


def test_a_route_is_drawn_along_its_points():
    line = (TOWN.places[0].point, TOWN.places[2].point)
    route_color = (0x1E, 0x88, 0xE5)
    drawn = (mapsme_map.draw(TOWN, VIEW, (), line) == route_color).all(axis=2)
    (x0, y0), (x1, y1) = (VIEW.place(point) for point in line)
    assert drawn[round((y0 + y1) / 2 * 600), round((x0 + x1) / 2 * 450)]
    assert not (mapsme_map.draw(TOWN, VIEW, (), line[:1]) == route_color).all(axis=2).any()


def test_names_appear_only_on_large_scales():
    def letters(scale):
        pixels = mapsme_map.draw(TOWN, mapsme_map.View(VIEW.center, scale, 300, 400))
        return (pixels == (0x4E, 0x46, 0x40)).all(axis=2).sum()

    assert letters(120.0) > 50 and letters(mapsme_map.LABELS_FROM - 1) == 0


@pytest.mark.parametrize("points", [[(47.0, 8.0)], [(47.0, 8.0), (47.0, 8.0)], [(47.0, 8.0), (48.0, 9.0), (47.5, 7.0)]])
def test_a_view_around_points_shows_them_all(points):
    view = mapsme_map.around(points, 300, 400)
    for point in points:
        x, y = view.place(point)
        assert 0.1 < x < 0.9 and 0.1 < y < 0.9


def test_a_search_may_be_left_without_a_choice(hands):
    hands.tap("My places", "Home")
    hands.back()
    assert my_places(db(hands)) == {} and hands.find("Home").label == "Home, Add your home address"


def test_the_place_of_a_removed_map_is_missed(hands):
    hands.tap("Find", "Hotel", "Old Inn")
    db(hands).execute("DELETE FROM places WHERE id = 2")
    hands.phone.changed()
    assert hands.shows("The place is not on this map")
