"""OsmAnd by touch: places are found, kept as favourites and markers, and joined to tracks in GPX files."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from coach_gym.envs.apps.osmand import data, gpx
from coach_gym.envs.apps.osmand.data import MARKERS, PACKAGE, PLACES
from coach_gym.envs.apps.osmand.gpx import FAVORITES, TRACKS
from coach_gym.envs.apps.osmand.map import View, draw
from tests.envs.hands import SCREENS, Hands

GPX = "{http://www.topografix.com/GPX/1/1}"
VADUZ, TRIESEN, PLANKEN = (PLACES[name] for name in ("Vaduz", "Triesen", "Planken"))


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    return Hands(PACKAGE, request.param)


def find(hands, words):
    """Searches, and shows the first place found on the map."""
    hands.tap("Search")
    hands.type(words)
    hands.phone.tap(*next(e.center for e in hands.elements if e.clickable and e.label.endswith(("km", " m"))))


def waypoints(hands):
    """Names and coordinates in the favourites file, as an XML parser finds them."""
    root = ElementTree.fromstring(hands.storage.read(FAVORITES))
    return [(p.findtext(f"{GPX}name"), float(p.get("lat")), float(p.get("lon"))) for p in root.findall(f"{GPX}wpt")]


def markers(hands):
    columns = "marker_lat, marker_lon, marker_active"
    return hands.storage.database(MARKERS).execute(f"SELECT {columns} FROM map_markers ORDER BY rowid").fetchall()


def trackpoints(hands, name):
    root = ElementTree.fromstring(hands.storage.read(f"{TRACKS}/{name}"))
    return [(float(p.get("lat")), float(p.get("lon"))) for p in root.iter(f"{GPX}trkpt")]


def near(a, b):
    return abs(a[0] - b[0]) < 1e-6 and abs(a[1] - b[1]) < 1e-6


def test_a_village_becomes_a_favourite_and_is_listed(hands):
    find(hands, "Triesen, Liechtenstein")
    hands.tap("Close")
    find(hands, "planken lie")
    hands.tap("Add to favorites", "Save", "Close", "Show main menu", "My Places", "Favorites")
    (name, *point), *others = waypoints(hands)
    assert name in ("Planken", "Oberplanken") and near(point, PLACES[name]) and not others
    assert hands.shows(name)


def test_coordinates_become_a_favourite_under_a_name_with_signs(hands):
    find(hands, "47.1858882, 9.5452201")
    hands.tap("Add to favorites")
    hands.select_text("Name")
    hands.type("Tom & <Ann>")
    hands.back()
    hands.tap("Save")
    assert waypoints(hands) == [("Tom & <Ann>", 47.1858882, 9.5452201)]


def test_a_favourite_can_be_deleted(hands):
    gpx.save_favorites(hands.storage, [data.Place("Home", VADUZ), data.Place("Lake", TRIESEN)])
    hands.tap("Show main menu", "My Places", "Favorites", "More options for Home", "Delete")
    assert [name for name, *_ in waypoints(hands)] == ["Lake"]


def test_a_marker_is_added_passed_and_deleted(hands):
    find(hands, "Vaduz")
    hands.tap("Marker")
    assert markers(hands) == [(*VADUZ, 1)]
    hands.tap("Show main menu", "Map markers", "Mark passed")
    assert markers(hands) == [(*VADUZ, 0)] and hands.shows("History")
    hands.hold("Vaduz")
    hands.tap("Delete")
    assert markers(hands) == []


def test_two_markers_in_one_moment_are_two(hands):
    db = hands.storage.database(MARKERS)
    for name in ("Vaduz", "Triesen"):
        data.add_marker(db, data.Place(name, PLACES[name]), hands.phone.now)
    assert len(markers(hands)) == 2


def test_a_long_touch_chooses_the_point_below_the_finger(hands):
    phone = hands.phone
    screen = phone.top
    middle = phone.width // 2, int((26 * phone.density + phone.height - 44 * phone.density) / 2)
    phone.long_press(*middle)
    assert data.distance(screen.chosen.point, VADUZ) < 100
    hands.tap("Close")
    phone.long_press(middle[0], middle[1] - round(80 * phone.density))
    north, east = screen.chosen.point[0] - VADUZ[0], screen.chosen.point[1] - VADUZ[1]
    assert north > 0.005 and abs(east) < 0.002


def test_the_map_follows_the_finger(hands):
    phone, screen = hands.phone, hands.phone.top
    before = phone.screenshot()
    phone.swipe((phone.width // 2, phone.height // 2), (phone.width // 2, phone.height // 4))
    assert screen.center[0] < VADUZ[0] and abs(screen.center[1] - VADUZ[1]) < 1e-6, "the finger went up: south comes"
    assert not np.array_equal(phone.screenshot(), before)


def test_a_route_through_places_is_saved_as_a_track(hands):
    hands.tap("Show main menu", "Plan a route")
    assert not hands.find("Done").enabled
    for name in ("Triesen", "Vaduz", "Schaan", "Planken"):
        find(hands, name)
        hands.tap("Add")
        if name == "Schaan":
            hands.tap("Undo")
    hands.tap("Done")
    hands.type("Tour")
    hands.tap("Save")
    names = hands.storage.listdir(TRACKS)
    assert len(names) == 1
    found = trackpoints(hands, names[0])
    assert len(found) == 3 and near(found[1], VADUZ)
    hands.tap("Show main menu", "My Places", "Tracks")
    assert hands.shows(names[0].removesuffix(".gpx"))


def test_leaving_a_route_asks_first(hands):
    hands.tap("Show main menu", "Plan a route", "Add")
    hands.back()
    hands.tap("Discard the route")
    assert len(hands.phone.stack) == 1 and hands.storage.listdir(TRACKS) == []


NO_PLACE = b"<gpx xmlns='http://www.topografix.com/GPX/1/1'><wpt/></gpx>"


@pytest.mark.parametrize("junk", [b"", b"<gpx", b"\xff\x00", NO_PLACE])
def test_files_that_are_no_gpx_are_shown_as_empty(junk):
    hands = Hands(PACKAGE)
    hands.storage.write(FAVORITES, junk)
    hands.storage.write(f"{TRACKS}/broken.gpx", junk)
    hands.tap("Show main menu", "My Places", "Favorites")
    assert hands.shows("No favorites")
    hands.back()
    hands.tap("Tracks")
    assert hands.shows("broken")


def test_favourites_that_another_program_wrote_are_read():
    hands = Hands(PACKAGE)
    root = ElementTree.Element(f"{GPX}gpx")
    point = ElementTree.SubElement(root, f"{GPX}wpt", lat="47.2", lon="9.5")
    ElementTree.SubElement(point, f"{GPX}name").text = "Elsewhere"
    hands.storage.write(FAVORITES, ElementTree.tostring(root))
    assert gpx.favorites(hands.storage) == [data.Place("Elsewhere", (47.2, 9.5))]


def test_coordinates_are_told_from_words():
    assert data.coordinates(" 47.1, -9.5 ") == (47.1, -9.5) == data.coordinates("47.1 -9.5")
    for text in ("", "47.1", "47.1, 200", "91.0, 5", "Route 66, 12", "1" * 400 + ", 2", "nan, inf"):
        assert data.coordinates(text) is None


def test_distances_are_those_of_the_earth():
    paris, london = (48.8566, 2.3522), (51.5074, -0.1278)
    assert data.distance(paris, london) == pytest.approx(343_500, rel=0.002)
    assert data.distance_text(949.6) == "950 m" and data.distance_text(3249) == "3.2 km"


def test_the_projection_is_that_of_web_maps():
    """The tile of a place, by the formula that OpenStreetMap publishes for its tile servers."""
    lat, tiles = math.radians(VADUZ[0]), 2**12
    column = (VADUZ[1] + 180) / 360 * tiles
    row = (1 - math.log(math.tan(lat) + 1 / math.cos(lat)) / math.pi) / 2 * tiles
    x, y = View((0.0, 0.0), 12, 256, 256).place(VADUZ)
    assert (x - 0.5 + tiles / 2, y - 0.5 + tiles / 2) == pytest.approx((column, row))
    view = View(VADUZ, 12, 360, 720)
    assert view.place(VADUZ) == (0.5, 0.5)
    assert view.point(*view.place(PLANKEN)) == pytest.approx(PLANKEN)


def test_marks_and_lines_are_drawn_where_they_lie():
    view = View(VADUZ, 13, 360, 720)
    plain = draw(view).astype(int)
    changed = np.argwhere((draw(view, (("marker", VADUZ),)).astype(int) != plain).any(axis=2))
    height, width = plain.shape[:2]
    rows, columns = changed.mean(axis=0)
    assert abs(columns - width / 2) < 0.03 * width and 0.42 * height < rows < 0.5 * height, "it stands on its point"
    assert (draw(view, (), (VADUZ, TRIESEN)).astype(int) != plain).any()


FULL = """<?xml version="1.0" encoding="utf-8"?><!-- kept by hand --><gpx version="1.1" creator="Somebody" \
xmlns="http://www.topografix.com/GPX/1/1" xmlns:osmand="https://osmand.net">
  <metadata><name>mine</name><time>2023-09-01T10:00:00Z</time></metadata>
  <wpt lat="47.1" lon="9.5"><ele>455.5</ele><time>2023-09-02T11:00:00Z</time><name>Home</name>
    <desc>Blue &amp; door</desc><type>Family</type><extensions><osmand:icon>special_house</osmand:icon>
    </extensions></wpt><wpt><name>nowhere</name></wpt>
  <wpt lat="47.2" lon="9.5"><name>Lake</name><type>Friends</type></wpt>
  <rte><name>way</name><rtept lat="47.1" lon="9.5"/></rte>
  <extensions><osmand:points_groups><group name="Family" color="#3d8b37"/></osmand:points_groups></extensions>
</gpx>"""
LAKE = '<wpt lat="47.2" lon="9.5"><name>Lake</name><type>Friends</type></wpt>'


def without_space(xml):
    return "".join(ElementTree.canonicalize(xml, with_comments=True).split())


def test_a_new_favourite_leaves_the_rest_of_the_file_alone():
    hands = Hands(PACKAGE)
    hands.storage.write(FAVORITES, FULL.encode())
    find(hands, "47.1858882, 9.5452201")
    hands.tap("Add to favorites", "Save")
    added = '<wpt lat="47.1858882" lon="9.5452201"><name>47.18589, 9.54522</name></wpt>'
    assert without_space(hands.storage.read(FAVORITES)) == without_space(FULL.replace("<rte>", f"{added}<rte>"))


def test_a_deleted_favourite_takes_nothing_else_with_it():
    hands = Hands(PACKAGE)
    hands.storage.write(FAVORITES, FULL.encode())
    hands.tap("Show main menu", "My Places", "Favorites", "More options for Lake", "Delete")
    assert without_space(hands.storage.read(FAVORITES)) == without_space(FULL.replace(LAKE, ""))
    assert gpx.favorites(hands.storage) == [data.Place("Home", (47.1, 9.5))]


def test_passing_a_marker_changes_its_state_and_no_other_column():
    hands = Hands(PACKAGE)
    db = hands.storage.database(MARKERS)
    for name in ("Vaduz", "Triesen"):
        data.add_marker(db, data.Place(name, PLACES[name]), hands.phone.now)
    db.execute("UPDATE map_markers SET group_name = 'Trip', marker_color = 5, title = 'Castle', marker_selected = 1")
    before = db.execute("SELECT * FROM map_markers").fetchall()
    columns = [column for _, column, *_ in db.execute("PRAGMA table_info(map_markers)")]
    hands.tap("Show main menu", "Map markers", "Mark passed")
    changed = {
        (old[0], column)
        for old, new in zip(before, db.execute("SELECT * FROM map_markers").fetchall(), strict=True)
        for column, a, b in zip(columns, old, new, strict=True)
        if a != b
    }
    assert len({id for id, _ in changed}) == 1 and {column for _, column in changed} == {
        "marker_active", "marker_visited",
    }  # fmt: skip


@pytest.mark.parametrize("lat, lon", [("nan", "9.5"), ("91", "9.5"), ("47", "inf"), ("", "9")])
def test_points_off_the_map_are_not_shown(lat, lon):
    hands = Hands(PACKAGE)
    hands.storage.write(FAVORITES, FULL.replace('lat="47.2" lon="9.5"', f'lat="{lat}" lon="{lon}"').encode())
    hands.phone.changed()
    assert [place.name for place in gpx.favorites(hands.storage)] == ["Home"]
    hands.phone.screenshot()


@pytest.fixture
def small():
    return Hands(PACKAGE)


def results(hands):
    return [e.label.split(", ")[0] for e in hands.elements if e.clickable and e.label.endswith(("km", " m"))]


@pytest.mark.parametrize("words, first", [
    ("vaduz", "Vaduz"), ("TRIESEN LIECHTENSTEIN", "Triesenberg"), ("47.1 9.5", "47.10000"), ("nowhere", None),
    ("", "Vaduz"),
])  # fmt: skip
def test_what_is_found_comes_the_nearest_first(small, words, first):
    small.tap("Search")
    small.type(words)
    assert (results(small) or [None])[0] == first


def test_an_empty_search_lists_every_place_by_its_distance():
    far = [data.distance(VADUZ, place.point) for place in data.search("")]
    assert len(far) == len(PLACES)
    assert data.search("schaan")[0].name == "Schaan" and len(data.search("schaan")) == 2


def test_the_map_is_zoomed_within_limits(small):
    for button, limit in (("Zoom in", 17), ("Zoom out", 8)):
        for _ in range(12):
            small.tap(button)
        assert small.phone.top.zoom == limit


def test_a_favourite_needs_a_name_and_then_has_a_star(small):
    find(small, "Planken")
    small.tap("Add to favorites")
    small.select_text("Name")
    small.type(" ")
    small.back()
    small.tap("Save")
    assert small.shows("Enter a name") and waypoints_or_none(small) == []
    small.select_text("Name")
    small.type("Home")
    small.back()
    small.tap("Save")
    assert [name for name, *_ in waypoints(small)] == ["Home"]


def waypoints_or_none(hands):
    return waypoints(hands) if hands.storage.read(FAVORITES) else []


def test_a_passed_marker_is_restored(small):
    data.add_marker(small.storage.database(MARKERS), data.Place("Vaduz", VADUZ), small.phone.now)
    small.tap("Show main menu", "Map markers", "Mark passed", "Restore")
    assert markers(small) == [(*VADUZ, 1)] and not small.shows("History")


def test_lists_lead_to_the_map(small):
    gpx.save_favorites(small.storage, [data.Place("Home", TRIESEN)])
    small.tap("Show main menu", "My Places", "Favorites", "Home")
    assert len(small.phone.stack) == 1 and small.phone.top.chosen.point == pytest.approx(TRIESEN)
    small.back()
    assert small.phone.top.chosen is None


def test_a_track_of_a_taken_name_gets_a_number_and_can_be_deleted(small):
    for _ in range(2):
        small.tap("Show main menu", "Plan a route", "Add", "Zoom in", "Add", "Done", "File name")
        small.select_text("File name")
        small.type("Tour")
        small.back()
        small.tap("Save")
    assert small.storage.listdir(TRACKS) == ["Tour (1).gpx", "Tour.gpx"]
    small.tap("Show main menu", "My Places", "Tracks", "More options for Tour.gpx", "Delete", "Delete")
    assert small.storage.listdir(TRACKS) == ["Tour (1).gpx"]


@pytest.mark.parametrize("points, meters", [([], 0), ([VADUZ], 0), ([VADUZ, TRIESEN, VADUZ], 7222)])
def test_a_line_is_as_long_as_its_parts(points, meters):
    assert data.length(points) == pytest.approx(meters, abs=40)
