"""Pi Music Player by touch: songs are files, and lists and player stand in the app's database."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from coach_gym.envs.apps.pimusic.data import DATABASE, MUSIC, PACKAGE, SETTINGS, Music, clock
from coach_gym.envs.phone.media.mp4 import silence
from coach_gym.envs.phone.preferences import load, to_xml
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, records

SONGS = [  # title, artist, album, seconds
    ("Amber", "Ada Moon", "Stones", 200),
    ("birch", "Ada Moon", "Trees", 61),
    ("Cedar", "Bo Vale", "Trees", 3675),
    ("Dune", "Bo Vale", "Sand", 150),
]
NOW = datetime(2023, 10, 15, 15, 34)


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    hands = Hands(PACKAGE, request.param)
    for days, (title, artist, album, seconds) in enumerate(SONGS):
        hands.storage.write(
            f"{MUSIC}/{album}/{title}.m4a", silence(seconds, title=title, artist=artist), NOW - timedelta(days=days)
        )
    hands.phone.changed()
    return hands


def music(hands):
    return Music(hands.storage)


def titles(hands):
    return [e.label.split(", ")[0] for e in hands.elements if e.label.count(", ") == 2 and ":" in e.label]


def playing(hands):
    found = music(hands).playing(hands.phone.now)
    return found and (found.song.title, found.seconds, found.runs)


def sort(hands, *choices):
    hands.tap("Sort By", *choices, "OK")


@pytest.mark.parametrize("seconds, text", [(0, "0:00"), (87, "1:27"), (3599, "59:59"), (4863, "1:21:03")])
def test_lengths_are_written_as_on_a_clock(seconds, text):
    assert clock(seconds) == text


def test_songs_are_read_from_the_music_folder(hands):
    assert titles(hands) == ["Amber", "birch", "Cedar", "Dune"]
    assert hands.shows("4 songs") and hands.find("Cedar").label == "Cedar, Bo Vale, 1:01:15"
    hands.storage.remove(f"{MUSIC}/Trees")
    hands.storage.write(f"{MUSIC}/notes.txt", b"no song")
    hands.storage.write(f"{MUSIC}/broken.mp3", b"no song either")
    hands.phone.changed()
    assert titles(hands) == ["Amber", "Dune"] and hands.shows("2 songs")


def test_tracks_are_sorted_both_ways(hands):
    for choices, order in (
        (["Duration"], ["birch", "Dune", "Amber", "Cedar"]),
        (["Descending"], ["Cedar", "Amber", "Dune", "birch"]),
        (["Date added"], ["Amber", "birch", "Cedar", "Dune"]),
        (["Album", "Ascending"], ["Dune", "Amber", "birch", "Cedar"]),
    ):
        sort(hands, *choices)
        assert titles(hands) == order
    hands.tap("Sort By", "Title", "Cancel")
    assert titles(hands) == ["Dune", "Amber", "birch", "Cedar"], "a choice that was cancelled does nothing"


def test_artists_and_albums_have_an_order_of_their_own(hands):
    hands.tap("ARTISTS")
    assert hands.find("Ada Moon").label == "Ada Moon, 2 songs"
    hands.tap("Bo Vale")
    sort(hands, "Duration", "Descending")
    assert titles(hands) == ["Cedar", "Dune"]
    hands.back()
    hands.tap("TRACKS")
    assert titles(hands) == ["Amber", "birch", "Cedar", "Dune"]
    hands.tap("ALBUMS", "Trees")
    assert titles(hands) == ["birch", "Cedar"]


def test_search_finds_titles_and_artists(hands):
    hands.tap("Search")
    hands.type("BO V")
    assert titles(hands) == ["Cedar", "Dune"]
    hands.back()
    hands.back()
    assert len(titles(hands)) == 4


def test_a_song_plays_on_into_the_next(hands):
    hands.tap("birch")
    assert playing(hands) == ("birch", 1, True) and hands.shows("0:01") and hands.shows("1:01")
    hands.phone.elapse(timedelta(seconds=59))
    assert playing(hands) == ("birch", 60, True)
    hands.phone.elapse(timedelta(seconds=11))
    assert playing(hands) == ("Cedar", 10, True) and hands.shows("Bo Vale")
    hands.phone.elapse(timedelta(hours=2))
    assert playing(hands) == ("Dune", 150, False), "the last song of the list ends"


def test_pause_stops_the_clock(hands):
    hands.tap("Amber")
    hands.phone.elapse(timedelta(seconds=20))
    hands.tap("Pause")
    stopped = playing(hands)
    hands.phone.elapse(timedelta(minutes=1))
    assert playing(hands) == stopped == ("Amber", 21, False)
    hands.tap("Play")
    hands.phone.elapse(timedelta(seconds=10))
    assert playing(hands) == ("Amber", 32, True)


def test_the_slider_moves_through_the_song(hands):
    hands.tap("Amber", "Pause")
    slider = hands.find("Seek")
    hands.phone.tap(*slider.center)
    assert abs(playing(hands)[1] - 100) <= 1
    hands.phone.tap(slider.bounds[0] + 1, slider.center[1])
    assert playing(hands) == ("Amber", 0, False)


def test_next_and_previous(hands):
    hands.tap("Amber", "Next")
    assert playing(hands)[0] == "birch"
    hands.phone.elapse(timedelta(seconds=10))
    hands.tap("Previous")
    assert playing(hands)[:2] == ("birch", 1), "first to the start of the song"
    hands.tap("Previous", "Previous")
    assert playing(hands)[0] == "Dune", "the list is a ring"


def test_the_bar_pauses_and_opens_the_player(hands):
    hands.tap("Amber")
    hands.back()
    hands.tap("Pause")
    assert playing(hands)[2] is False and titles(hands)
    bar = [element for element in hands.elements if element.label.startswith("Amber, Ada Moon")][-1]
    hands.phone.tap(*bar.center)
    assert hands.shows("Seek")


def test_play_next_puts_a_song_after_the_current_one(hands):
    hands.tap("Options of Dune", "Play next")
    assert playing(hands)[0] == "Dune", "where nothing is played it starts"
    hands.tap("Amber")
    hands.back()
    hands.tap("Options of Dune", "Play next")
    assert [song.title for song in music(hands).queue()] == ["Amber", "Dune", "birch", "Cedar", "Dune"]


def test_the_now_playing_list_jumps_to_a_song(hands):
    hands.tap("Amber")
    width, height = hands.phone.width, hands.phone.height
    hands.phone.swipe((width // 2, height * 6 // 10), (width // 2, height * 2 // 10))
    assert titles(hands) == ["Amber", "birch", "Cedar", "Dune"] and hands.find("Amber").selected
    hands.tap("Cedar")
    assert playing(hands)[0] == "Cedar" and hands.find("Cedar").selected
    hands.tap("Equalizer", "Jazz")
    assert music(hands).preset == "Jazz"


def test_playlists_are_made_filled_and_deleted(hands):
    hands.tap("PLAYLISTS", "Create playlist", "Playlist name")
    hands.type("Forest")
    hands.tap("Create")
    assert hands.find("Forest").label == "Forest, 0 songs"
    hands.tap("TRACKS")
    for title in ("Cedar", "birch", "Cedar"):
        hands.tap(f"Options of {title}", "Add to playlist", "Forest")
    hands.tap("PLAYLISTS", "Forest")
    assert titles(hands) == ["Cedar", "birch"], "in the order in which they were added, each once"
    hands.back()
    hands.hold("Forest")
    hands.tap("Delete")
    assert music(hands).playlists() == [] and len(music(hands).songs()) == 4


def test_a_playlist_needs_a_name_of_its_own(hands):
    hands.tap("PLAYLISTS")
    for name, made in (("Forest", 1), ("Forest", 1), (" ", 1), ("Sea", 2)):
        hands.tap("Create playlist", "Playlist name")
        hands.type(name)
        hands.tap("Create")
        assert len(music(hands).playlists()) == made


def test_a_new_playlist_can_start_with_a_song(hands):
    hands.tap("Options of Dune", "Add to playlist", "Create playlist", "Playlist name")
    hands.type("Beach")
    hands.tap("Create")
    ((id, name),) = music(hands).playlists()
    assert name == "Beach" and [song.title for song in music(hands).content(id)] == ["Dune"]


def test_a_song_tells_its_album(hands):
    hands.tap("Options of Dune", "Song info")
    assert hands.shows("Album: Sand") and hands.shows("Duration: 2:30")


def test_a_snapshot_of_a_half_made_choice_is_exact(hands):
    hands.tap("Amber")
    hands.back()
    hands.tap("Sort By", "Duration")
    saved, frame = hands.phone.snapshot(), hands.phone.screenshot()
    for _ in range(2):
        hands.tap("Descending", "OK")
        assert titles(hands)[0] == "Cedar"
        hands.storage.database(DATABASE).execute("DELETE FROM queue")
        hands.phone.restore(saved)
        assert np.array_equal(hands.phone.screenshot(), frame) and playing(hands)[0] == "Amber"
        assert music(hands).order("tracks") == ("Title", False)


def test_a_song_added_to_a_playlist_changes_nothing_else():
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(DATABASE)
    hands.storage.write(f"{MUSIC}/Stones/Amber.m4a", silence(200, title="Amber"))
    for number, name in enumerate((" Gym", "Car"), 1):
        add_record(db, "playlists", name=name)
        add_record(db, "entries", playlist=number, path="/storage/card/taken out.mp3")
    hands.phone.changed()
    lists, entries = records(db, "playlists"), records(db, "entries")
    hands.tap("Options of Amber", "Add to playlist", "Car")
    assert records(db, "playlists") == lists
    assert records(db, "entries") == [*entries, {"id": 3, "playlist": 2, "path": f"{MUSIC}/Stones/Amber.m4a"}]
    hands.tap("PLAYLISTS")
    hands.hold("Car")
    hands.tap("Delete")
    assert records(db, "playlists") == lists[:1] and records(db, "entries") == entries[:1]


def test_the_equalizer_and_an_order_change_no_other_setting():
    hands = Hands(PACKAGE, (540, 1200))
    hands.storage.write(f"{MUSIC}/Stones/Amber.m4a", silence(200, title="Amber"))
    known = {"sort_tracks": "Artist", "sort_album": "Duration", "descending_album": True, "equalizer": "Pop", "x": " y"}
    hands.storage.write(SETTINGS, to_xml(known))
    hands.phone.changed()
    sort(hands, "Duration", "Descending")
    known |= {"sort_tracks": "Duration", "descending_tracks": True}
    assert load(hands.storage, SETTINGS) == known
    hands.tap("Amber", "Swipe up for Now Playing list, Equalizer and more", "Equalizer", "Jazz")
    assert load(hands.storage, SETTINGS) == {**known, "equalizer": "Jazz"}
