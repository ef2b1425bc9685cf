"""VLC's media library by itself: what it calls a film, and playlists under any sequence of changes."""

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.apps.vlc.data import Library, file_name, is_film
from coach_gym.envs.phone.storage import Storage

SHARED = "/storage/emulated/0"


def library():
    storage = Storage()
    storage.now = datetime(2023, 10, 15, 12)
    return Library(storage)


@pytest.mark.parametrize("path, film", [
    ("VLCVideos/a.mp4", True), ("a.MKV", True), ("Movies/deep/er/a.3gp", True), ("a.mp3", False), ("mp4", False),
    (".hidden/a.mp4", False), ("Movies/.a.mp4", False), ("Android/data/org.app/a.mp4", False), ("Androids/a.mp4", True),
])  # fmt: skip
def test_films_are_told_by_their_extension_and_place(path, film):
    assert is_film(f"{SHARED}/{path}") == film


def test_films_are_listed_by_name_whatever_their_folder_and_case():
    found = library()
    for path in ("b/A.mp4", "a/c.mp4", "B.mp4", "notes.txt"):
        found._storage.write(f"{SHARED}/{path}", b"")
    assert [file_name(path) for path in found.films()] == ["A.mp4", "B.mp4", "c.mp4"]


def test_a_playlist_is_found_by_its_name_whatever_the_case():
    found = library()
    first = found.create("Road Trip")
    assert found.create("road trip") == first != found.create("Road")
    assert [name for _, name, _ in found.playlists()] == ["Road", "Road Trip"]
    assert found.name(first) == "Road Trip" and found.name(99) == ""


CHANGES = st.one_of(
    st.tuples(st.just("add"), st.lists(st.sampled_from("abc"), min_size=1, max_size=3)),
    st.tuples(st.just("remove"), st.integers(0, 6)),
)


@given(st.lists(CHANGES, max_size=12))
@settings(max_examples=60, deadline=None)
def test_positions_are_without_gaps_whatever_is_added_and_removed(changes):
    found = library()
    playlist, other = found.create("One"), found.create("Other")
    found.add(other, [f"{SHARED}/z.mp4"])
    expected = []
    for what, value in changes:
        if what == "add":
            found.add(playlist, [f"{SHARED}/{name}.mp4" for name in value])
            expected += value
        else:
            found.remove(playlist, value)
            del expected[value : value + 1]
    assert found.content(playlist) == [(i, f"{SHARED}/{name}.mp4") for i, name in enumerate(expected)]
    assert found.content(other) == [(0, f"{SHARED}/z.mp4")]
    assert found.playlists() == [(playlist, "One", len(expected)), (other, "Other", 1)]


def test_a_film_is_in_the_library_once_for_every_folder():
    found = library()
    playlist = found.create("One")
    found.add(playlist, [f"{SHARED}/a.mp4", f"{SHARED}/Movies/a.mp4", f"{SHARED}/a.mp4"])
    assert found.db.execute("SELECT count(*) FROM Media").fetchone() == (2,)
    assert [path for _, path in found.content(playlist)] == [
        f"{SHARED}/a.mp4", f"{SHARED}/Movies/a.mp4", f"{SHARED}/a.mp4",
    ]  # fmt: skip


def test_deleting_a_playlist_leaves_others_and_films():
    found = library()
    one, two = found.create("One"), found.create("Two")
    for playlist in (one, two):
        found.add(playlist, [f"{SHARED}/a.mp4"])
    found.delete(one)
    assert found.playlists() == [(two, "Two", 1)] and len(found.content(two)) == 1
    found.rename(two, "One")
    assert found.name(two) == "One"
