"""GPX files by themselves: what is written is read, and edits keep what they do not concern."""

from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.apps.osmand import gpx
from coach_gym.envs.apps.osmand.data import Place
from coach_gym.envs.apps.osmand.gpx import FAVORITES


class Files(dict):
    """A phone's files by path."""

    def read(self, path):
        return self.get(path)

    def write(self, path, data):
        self[path] = data


NAMES = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=12)
POINTS = st.tuples(st.integers(-84_000, 84_000), st.integers(-180_000, 180_000)).map(lambda p: (p[0] / 1e3, p[1] / 1e3))
PLACES = st.builds(Place, NAMES, POINTS)


@given(st.lists(PLACES, max_size=5))
@settings(max_examples=60, deadline=None)
def test_favourites_are_read_as_they_were_saved(places):
    files = Files()
    gpx.save_favorites(files, places)
    assert gpx.favorites(files) == places


@given(st.lists(PLACES, max_size=4), PLACES)
@settings(max_examples=60, deadline=None)
def test_adding_and_removing_a_favourite_leaves_the_file_as_it_was(places, new):
    files = Files()
    gpx.save_favorites(files, [place for place in places if place != new])
    before = gpx.favorites(files)
    gpx.add_favorite(files, new)
    assert gpx.favorites(files) == [*before, new]
    gpx.remove_favorite(files, new)
    assert gpx.favorites(files) == before


def test_of_two_equal_favourites_one_is_removed():
    files, place = Files(), Place("Home", (47.1, 9.5))
    gpx.save_favorites(files, [place, place])
    gpx.remove_favorite(files, place)
    assert gpx.favorites(files) == [place]
    gpx.remove_favorite(files, Place("Elsewhere", (47.1, 9.5)))
    assert gpx.favorites(files) == [place]


@pytest.mark.parametrize("data", [None, b"", b"<gpx", b"\xff\xfe\x00", b"<kml/>", b"<gpx/>"])
def test_a_file_that_is_no_gpx_is_replaced_by_the_first_favourite(data):
    files = Files() if data is None else Files({FAVORITES: data})
    gpx.remove_favorite(files, Place("Home", (47.1, 9.5)))
    assert files.get(FAVORITES) == data
    gpx.add_favorite(files, Place("Home", (47.1, 9.5)))
    assert gpx.favorites(files) == [Place("Home", (47.1, 9.5))]


@pytest.mark.parametrize("prefix", ["", "gpx:", "ns0:"])
def test_elements_may_have_a_prefix(prefix):
    colon = prefix and ":" + prefix.rstrip(":")
    files = Files({
        FAVORITES: f'<{prefix}gpx xmlns{colon}="http://www.topografix.com/GPX/1/1">'
        f'<{prefix}wpt lat="47.1" lon="9.5"><{prefix}name>A</{prefix}name></{prefix}wpt></{prefix}gpx>'.encode()
    })  # fmt: skip
    gpx.add_favorite(files, Place("B", (47.2, 9.5)))
    assert [place.name for place in gpx.favorites(files)] == ["A", "B"]
    root = ElementTree.fromstring(files[FAVORITES])
    assert {child.tag for child in root} == {"{http://www.topografix.com/GPX/1/1}wpt", }  # fmt: skip


def test_a_name_in_cdata_or_with_entities_is_text():
    files = Files({
        FAVORITES: b'<gpx xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="1" lon="2"><name>a &amp; b</name></wpt>'
        b'<wpt lat="1" lon="2"/></gpx>'
    })  # fmt: skip
    assert gpx.favorites(files) == [Place("a & b", (1.0, 2.0)), Place("", (1.0, 2.0))]


@given(st.lists(POINTS, min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_tracks_are_read_as_they_were_saved(points):
    files = Files()
    gpx.save_track(files, "/tracks/a & b.gpx", points)
    assert gpx.track(files, "/tracks/a & b.gpx") == points and gpx.track(files, "/tracks/none.gpx") == []
    assert gpx.favorites(Files({FAVORITES: files["/tracks/a & b.gpx"]})) == [], "track points are no favourites"
