"""VLC by touch: playlists are rows of its media library, and the player shows a film's own pictures in time."""

from datetime import timedelta

import numpy as np
import pytest

from coach_gym.envs.apps.vlc.data import DATABASE
from coach_gym.envs.phone.folders import size_text
from coach_gym.envs.phone.intents import VIEW, Intent
from coach_gym.envs.tasks.pictures import film
from tests.envs.hands import SCREENS, Hands

SHARED = "/storage/emulated/0"
VIDEOS = f"{SHARED}/VLCVideos"


@pytest.fixture(params=SCREENS, ids=str)
def vlc(request):
    """Four films in VLCVideos and one in Download, of two texts of eight seconds each."""
    hands = Hands("org.videolan.vlc", request.param)
    for name in "abcd":
        hands.storage.write(f"{VIDEOS}/{name}.mp4", film((f"first of {name}", f"second of {name}"), 8))
    hands.storage.write(f"{SHARED}/Download/e.mp4", film(("e",), 70))
    hands.phone.changed()
    return hands


def playlists(hands):
    """Name, and films by position, of every playlist, straight from the tables that AndroidWorld reads."""
    db = hands.storage.database(DATABASE)
    names = dict(db.execute("SELECT id_playlist, name FROM Playlist"))
    media = dict(db.execute("SELECT id_media, filename FROM Media"))
    relations = db.execute("SELECT playlist_id, position, media_id FROM PlaylistMediaRelation ORDER BY 1, 2").fetchall()
    return {name: [(p, media[m]) for id, p, m in relations if id == key] for key, name in names.items()}


def add(hands, name, *films):
    """Selects films and adds them to a new playlist."""
    hands.hold(films[0])
    hands.tap(*films[1:], "Add to playlist", "Enter playlist name")
    hands.type(name)
    hands.tap("Save")


def wait(hands, seconds):
    hands.phone.elapse(timedelta(seconds=seconds))


def picture(hands):
    left, top, right, bottom = next(e.bounds for e in hands.elements if e.id == "player_surface")
    return hands.phone.screenshot()[top:bottom, left:right]


def place(hands):
    return next(e.label for e in hands.elements if e.id == "player_overlay_time")


def test_all_films_are_listed_with_their_length(vlc):
    assert [e.label for e in vlc.elements if e.long_clickable] == [
        "a.mp4, 00:16", "b.mp4, 00:16", "c.mp4, 00:16", "d.mp4, 00:16", "e.mp4, 01:10",
    ]  # fmt: skip
    vlc.tap("Search")
    vlc.type("B.")
    assert vlc.rows == ["b.mp4"]


def test_a_playlist_holds_the_films_in_the_order_in_which_they_were_selected(vlc):
    add(vlc, "Road trip", "c.mp4", "a.mp4", "d.mp4")
    assert playlists(vlc) == {"Road trip": [(0, "c.mp4"), (1, "a.mp4"), (2, "d.mp4")]}
    assert vlc.shows("3 added to playlist") and not vlc.shows("3 selected")


def test_touching_a_selected_film_again_takes_it_out(vlc):
    vlc.hold("a.mp4")
    vlc.tap("b.mp4", "a.mp4")
    assert vlc.shows("1 selected")
    vlc.tap("Navigate up")
    assert vlc.shows("VLC") and playlists(vlc) == {}


def test_more_films_go_to_the_end_of_a_playlist_by_its_name_or_by_touching_it(vlc):
    add(vlc, "One", "b.mp4")
    add(vlc, "one", "a.mp4")
    vlc.tap("Options of c.mp4", "Add to playlist", "One")
    assert playlists(vlc) == {"One": [(0, "b.mp4"), (1, "a.mp4"), (2, "c.mp4")]}


def test_a_playlist_without_a_name_is_not_made(vlc):
    vlc.hold("a.mp4")
    vlc.tap("Add to playlist", "Save")
    assert playlists(vlc) == {}


def test_films_of_one_name_in_two_folders_are_two(vlc):
    vlc.storage.write(f"{SHARED}/Movies/a.mp4", film(("other",), 5))
    vlc.phone.changed()
    both = [e for e in vlc.elements if e.label.startswith("a.mp4")]
    vlc.phone.long_press(*both[0].center)
    vlc.phone.tap(*both[1].center)
    vlc.tap("Add to playlist", "Enter playlist name")
    vlc.type("Both")
    vlc.tap("Save", "Playlists", "Both")
    assert [e.label for e in vlc.elements if e.label.startswith("a.mp4")] == ["a.mp4, 00:16", "a.mp4, 00:05"]


def test_playlists_are_shown_renamed_shortened_and_deleted(vlc):
    add(vlc, "One", "b.mp4", "a.mp4", "c.mp4")
    vlc.tap("Playlists")
    assert vlc.find("One").label == "One, 3 tracks"
    vlc.tap("One", "Remove b.mp4")
    assert playlists(vlc) == {"One": [(0, "a.mp4"), (1, "c.mp4")]}
    vlc.tap("More options", "Rename")
    vlc.type("Two")
    vlc.tap("OK")
    assert list(playlists(vlc)) == ["Two"]
    vlc.tap("More options", "Delete", "Delete")
    assert playlists(vlc) == {} and vlc.shows("No playlist")
    assert vlc.storage.database(DATABASE).execute("SELECT count(*) FROM PlaylistMediaRelation").fetchone() == (0,)


def test_the_library_comes_back_after_its_rows_or_its_file_were_removed(vlc):
    add(vlc, "One", "a.mp4")
    for table in ("Playlist", "Media", "PlaylistMediaRelation"):
        vlc.storage.database(DATABASE).execute(f"DELETE FROM {table}")
    add(vlc, "Two", "b.mp4", "a.mp4")
    assert playlists(vlc) == {"Two": [(0, "b.mp4"), (1, "a.mp4")]}
    vlc.storage.remove(DATABASE)
    add(vlc, "Three", "c.mp4")
    assert playlists(vlc) == {"Three": [(0, "c.mp4")]}


def test_folders_are_browsed(vlc):
    vlc.tap("Browse", "Internal memory", "Download")
    assert vlc.rows == ["e.mp4"]
    vlc.back()
    vlc.tap("DCIM")
    assert vlc.shows("Directory is empty")
    vlc.back()
    vlc.back()
    assert vlc.shows("Internal memory")


def test_the_player_shows_the_picture_of_the_moment(vlc):
    vlc.tap("a.mp4")
    first = picture(vlc)
    wait(vlc, 3)
    assert np.array_equal(picture(vlc), first)
    wait(vlc, 4)
    second = picture(vlc)
    assert not np.array_equal(second, first) and place(vlc) == "00:08"
    vlc.tap("Rewind 10 seconds")
    assert np.array_equal(picture(vlc), first)


def test_a_pause_stops_the_film(vlc):
    vlc.tap("a.mp4", "Pause")
    stopped = place(vlc)
    wait(vlc, 60)
    assert place(vlc) == stopped
    vlc.tap("Play")
    wait(vlc, 2)
    assert place(vlc) == "00:04"


def test_the_end_of_the_last_film_stops_the_player(vlc):
    vlc.tap("a.mp4")
    wait(vlc, 60)
    assert place(vlc) == "00:16" and vlc.shows("Play")
    vlc.tap("Play")
    assert place(vlc) == "00:01"


def test_the_bar_is_dragged_to_any_place(vlc):
    vlc.tap("e.mp4", "Pause")
    left, top, right, bottom = next(e.bounds for e in vlc.elements if e.id == "player_overlay_seekbar")
    vlc.phone.tap((left + right) // 2, (top + bottom) // 2)
    assert place(vlc) in ("00:34", "00:35")


def test_a_playlist_is_played_one_film_after_the_other(vlc):
    add(vlc, "One", "b.mp4", "a.mp4")
    vlc.tap("Playlists", "One", "Play all")
    wait(vlc, 20)
    assert vlc.shows("a.mp4") and place(vlc) == "00:05"
    vlc.tap("Previous")
    assert vlc.shows("b.mp4")


def test_a_film_that_cannot_be_decoded_says_so(vlc):
    vlc.storage.write(f"{VIDEOS}/a.mp4", b"no film")
    vlc.phone.changed()
    vlc.tap("a.mp4")
    assert vlc.shows("This film can't be decoded on this phone")


def test_a_snapshot_of_a_playing_film_is_exact(vlc):
    vlc.tap("a.mp4")
    wait(vlc, 5)
    saved, frame = vlc.phone.snapshot(), vlc.phone.screenshot()
    wait(vlc, 5)
    assert not np.array_equal(vlc.phone.screenshot(), frame)
    vlc.phone.restore(saved)
    assert np.array_equal(vlc.phone.screenshot(), frame)


def tables(hands):
    """All rows of the media library by table, each by column."""
    found = {}
    for name in ("Playlist", "Media", "Folder", "PlaylistMediaRelation"):
        rows = hands.storage.database(DATABASE).execute(f"SELECT * FROM {name}")
        found[name] = [dict(zip([column for column, *_ in rows.description], row, strict=True)) for row in rows]
    return found


@pytest.fixture
def library(vlc):
    """Two playlists in a library that knows more than this app shows: artwork, favourites, where films were left."""
    add(vlc, "One", "b.mp4", "a.mp4", "c.mp4")
    add(vlc, "Two", "a.mp4")
    db = vlc.storage.database(DATABASE)
    db.execute("UPDATE Playlist SET artwork_mrl = 'file:///art/' || name, creation_date = 1600000000")
    db.execute("UPDATE Media SET is_favorite = 1, last_position = 0.4, play_count = 7, title = 'A title'")
    return vlc


def test_a_renamed_playlist_keeps_all_else(library):
    expected = tables(library)
    expected["Playlist"][0]["name"] = "Three"
    library.tap("Playlists", "One", "More options", "Rename")
    library.type("Three")
    library.tap("OK")
    assert tables(library) == expected


def test_a_film_taken_out_of_a_playlist_stays_in_the_library(library):
    expected = tables(library)
    _, second, third, other = expected["PlaylistMediaRelation"]
    expected["PlaylistMediaRelation"] = [{**second, "position": 0}, {**third, "position": 1}, other]
    library.tap("Playlists", "One", "Remove b.mp4")
    assert tables(library) == expected


def test_a_deleted_playlist_takes_no_film_and_no_other_playlist_with_it(library):
    expected = tables(library)
    expected["Playlist"], expected["PlaylistMediaRelation"] = (
        [row for row in expected[name] if row[key] != 1]
        for name, key in (("Playlist", "id_playlist"), ("PlaylistMediaRelation", "playlist_id"))
    )
    library.tap("Playlists", "One", "More options", "Delete", "Delete")
    assert tables(library) == expected


def test_a_film_is_added_behind_one_that_is_no_longer_in_the_library(library):
    """No two films share a position, of which both would go when one is removed."""
    library.storage.database(DATABASE).execute("DELETE FROM Media WHERE filename = 'b.mp4'")
    library.tap("Options of d.mp4", "Add to playlist", "One")
    relations = tables(library)["PlaylistMediaRelation"]
    assert [row["position"] for row in relations if row["playlist_id"] == 1] == [0, 1, 2, 3]
    library.tap("Playlists", "One", "Remove d.mp4")
    assert not library.shows("d.mp4") and library.shows("c.mp4")


@pytest.fixture
def small():
    """Two short films on a small screen."""
    hands = Hands("org.videolan.vlc")
    for name in "ab":
        hands.storage.write(f"{VIDEOS}/{name}.mp4", film((f"first of {name}", f"second of {name}"), 8))
    hands.phone.changed()
    return hands


def test_previous_and_next_stop_at_the_ends(small):
    add(small, "One", "b.mp4", "a.mp4")
    small.tap("Playlists", "One", "Play all", "Previous")
    assert small.shows("b.mp4")
    small.tap("Next", "Next")
    assert small.shows("a.mp4") and place(small) in ("00:01", "00:00")


def test_a_film_of_a_playlist_is_played_from_there_on(small):
    add(small, "One", "b.mp4", "a.mp4")
    small.tap("Playlists", "One", "a.mp4")
    assert small.shows("a.mp4")
    small.tap("Previous")
    assert small.shows("b.mp4")


def test_skipping_stays_within_the_film(small):
    small.tap("a.mp4", "Pause", "Rewind 10 seconds")
    assert place(small) == "00:00"
    small.tap("Forward 10 seconds", "Forward 10 seconds")
    assert place(small) == "00:16"


def test_films_are_deleted_after_a_question_and_leave_the_list(small):
    small.hold("a.mp4")
    small.tap("Delete", "Cancel")
    assert small.storage.exists(f"{VIDEOS}/a.mp4") and small.shows("1 selected")
    small.tap("Delete", "Delete")
    assert small.rows == ["b.mp4"] and not small.storage.exists(f"{VIDEOS}/a.mp4")


def test_a_playlist_survives_the_film_that_it_lists(small):
    add(small, "One", "a.mp4", "b.mp4")
    small.storage.remove(f"{VIDEOS}/a.mp4")
    small.tap("Playlists", "One", "Play all")
    wait(small, 3)
    assert small.shows("b.mp4"), "what is gone lasts no time"


def test_facts_about_a_film(small):
    small.tap("Options of a.mp4", "Information")
    size = size_text(small.storage.size(f"{VIDEOS}/a.mp4"))
    assert any(element.label == f"{VIDEOS}\n00:16, {size}" for element in small.elements)
    small.tap("OK")
    assert small.rows == ["a.mp4", "b.mp4"]


@pytest.mark.parametrize("intent, opened", [
    (Intent(VIEW, f"file://{VIDEOS}/a.mp4"), True), (Intent(VIEW, "file:///sdcard/VLCVideos/a.MP4"), True),
    (Intent(VIEW, "file:///sdcard/a.png"), False), (Intent("android.intent.action.EDIT", "file:///a.mp4"), False),
])  # fmt: skip
def test_an_intent_plays_a_film(small, intent, opened):
    small.phone.key("HOME")
    assert small.phone.apps["org.videolan.vlc"].open(intent) == opened
    assert (small.phone.foreground == "org.videolan.vlc") == opened


def test_a_renamed_playlist_needs_a_name(small):
    add(small, "One", "a.mp4")
    small.tap("Playlists", "One", "More options", "Rename")
    small.type("  ")
    small.tap("OK")
    assert list(playlists(small)) == ["One"]
