"""Retro Music by touch: playlists and the queue are rows of its databases."""

import pytest

from coach_gym.envs.apps.retro.data import ORIGINAL, PACKAGE, PLAYING, PLAYLISTS, QUEUE
from coach_gym.envs.phone.media import mp4
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, changed, records

SHARED = "/storage/emulated/0"
SONGS = {"Amber": 100, "Blue": 200, "Coral": 300, "Denim": 65}


@pytest.fixture(params=SCREENS, ids=str)
def retro(request):
    hands = Hands(PACKAGE, request.param)
    for number, (title, seconds) in enumerate(SONGS.items()):
        song = mp4.silence(seconds, title=title, artist="Ann" if number % 2 else "Bob")
        hands.storage.write(f"{SHARED}/Music/track {number}.m4a", song)
    hands.phone.changed()
    return hands


def playlists(hands):
    db = hands.storage.database(PLAYLISTS)
    rows = db.execute(
        "SELECT playlist_name, title FROM PlaylistEntity JOIN SongEntity ON playlist_id = playlist_creator_id "
        "ORDER BY song_key"
    ).fetchall()
    names = [name for (name,) in db.execute("SELECT playlist_name FROM PlaylistEntity")]
    return {name: [title for found, title in rows if found == name] for name in names}


def queue(hands):
    return [title for (title,) in hands.storage.database(QUEUE).execute("SELECT title FROM playing_queue")]


def new_playlist(hands, name, *songs):
    hands.hold(songs[0])
    hands.tap(*songs[1:], "Add to playlist", "New playlist")
    hands.type(name)
    hands.tap("Create")


def test_songs_are_listed_by_title_with_artist_and_length(retro):
    assert [e.label for e in retro.elements if e.long_clickable] == [
        "Amber, Bob • 01:40", "Blue, Ann • 03:20", "Coral, Bob • 05:00", "Denim, Ann • 01:05",
    ]  # fmt: skip


def test_a_song_without_titles_is_called_like_its_file(retro):
    retro.storage.write(f"{SHARED}/Music/Untitled 1.m4a", mp4.silence(10))
    retro.storage.write(f"{SHARED}/Music/broken.mp3", b"no music")
    retro.phone.changed()
    assert retro.find("Untitled 1").label.startswith("Untitled 1, <unknown>") and not retro.shows("broken")


def test_search_finds_titles_and_artists(retro):
    retro.tap("Search")
    retro.type("bob")
    assert retro.rows == ["Amber", "Coral"]
    retro.back()
    retro.back()
    assert len(retro.rows) == 4


def test_a_playlist_holds_the_songs_in_the_order_in_which_they_were_selected(retro):
    new_playlist(retro, "Calm 7", "Denim", "Amber", "Coral")
    assert playlists(retro) == {"Calm 7": ["Denim", "Amber", "Coral"]}
    row = retro.storage.database(PLAYLISTS).execute("SELECT duration, data, artist_name FROM SongEntity").fetchone()
    assert row == (65_000, f"{SHARED}/Music/track 3.m4a", "Ann")


def test_a_song_that_is_added_again_moves_to_the_end(retro):
    new_playlist(retro, "Calm", "Blue", "Coral")
    for song in ("Amber", "Blue"):
        retro.tap(f"Options of {song}", "Add to playlist", "Calm")
    assert playlists(retro) == {"Calm": ["Coral", "Amber", "Blue"]}
    assert retro.shows("Added 1 song(s) to Calm")


def test_a_name_that_is_taken_means_the_playlist_of_that_name(retro):
    new_playlist(retro, "Calm", "Blue")
    new_playlist(retro, "Calm", "Amber")
    retro.tap("Options of Coral", "Add to playlist", "New playlist", "Create")
    assert playlists(retro) == {"Calm": ["Blue", "Amber"]}, "without a name there is no playlist"


def test_the_dialog_for_a_name_has_the_id_that_programs_look_for(retro):
    retro.tap("Playlists", "New playlist")
    assert retro.find("Playlist name").id == "actionNewPlaylist"


def test_playlists_are_shown_with_their_length_renamed_shortened_and_deleted(retro):
    new_playlist(retro, "Calm", "Coral", "Denim")
    retro.tap("Playlists")
    assert retro.find("Calm").label == "Calm, 2 Songs • 06:05"
    retro.tap("Calm", "Options of Coral", "Remove from playlist", "Cancel")
    assert playlists(retro) == {"Calm": ["Coral", "Denim"]}
    retro.tap("Options of Coral", "Remove from playlist", "Remove", "More options", "Rename")
    retro.type("Loud")
    retro.tap("Rename")
    assert playlists(retro) == {"Loud": ["Denim"]}
    retro.tap("More options", "Delete")
    assert retro.shows("Delete the playlist Loud?")
    retro.tap("Delete")
    assert playlists(retro) == {} and retro.shows("You have no playlists")


def test_selected_songs_are_taken_out_of_a_playlist(retro):
    new_playlist(retro, "Calm", "Coral", "Denim", "Amber")
    retro.tap("Playlists", "Calm")
    retro.hold("Amber")
    retro.tap("Coral", "More options", "Remove from playlist", "Remove")
    assert playlists(retro) == {"Calm": ["Denim"]} and len(retro.rows) == 1


def test_the_list_of_playlists_has_a_menu_for_each(retro):
    new_playlist(retro, "Calm", "Coral", "Denim")
    new_playlist(retro, "Loud", "Blue")
    retro.tap("Playlists", "Options of Calm", "Add to playing queue", "Options of Loud", "Play next")
    assert queue(retro) == ["Coral", "Blue", "Denim"]
    retro.tap("Options of Calm", "Add to playlist", "Loud", "Options of Calm", "Delete", "Delete")
    assert playlists(retro) == {"Loud": ["Blue", "Coral", "Denim"]}
    retro.tap("Options of Loud", "Save as file", "SAVE")
    assert retro.storage.exists(f"{SHARED}/Download/Loud.m3u") and retro.shows("Playlists")


def test_an_empty_playlist_is_made_from_the_list_of_playlists(retro):
    retro.tap("Playlists", "New playlist")
    retro.type("Later")
    retro.tap("Create")
    assert playlists(retro) == {"Later": []}


def test_a_playlist_is_saved_as_a_file_that_players_read(retro):
    new_playlist(retro, "Calm", "Coral", "Denim")
    retro.tap("Playlists", "Calm", "More options", "Save as file", "SAVE")
    lines = retro.storage.read(f"{SHARED}/Download/Calm.m3u").decode().splitlines()
    assert lines == [
        "#EXTM3U", "#EXTINF:300,Bob - Coral", f"{SHARED}/Music/track 2.m4a", "#EXTINF:65,Ann - Denim",
        f"{SHARED}/Music/track 3.m4a",
    ]  # fmt: skip


def test_songs_go_to_the_end_of_the_queue_or_next(retro):
    retro.tap("Options of Coral", "Add to playing queue", "Options of Amber", "Add to playing queue")
    assert queue(retro) == ["Coral", "Amber"]
    retro.tap("Options of Blue", "Play next")
    assert queue(retro) == ["Coral", "Blue", "Amber"]


def test_selected_songs_go_to_the_queue_in_their_order(retro):
    retro.hold("Denim")
    retro.tap("Amber", "More options", "Add to playing queue")
    assert queue(retro) == ["Denim", "Amber"] and retro.shows("Added 2 titles to the playing queue")


def test_touching_a_song_plays_the_list_from_there(retro):
    retro.tap("Coral")
    assert queue(retro) == ["Amber", "Blue", "Coral", "Denim"]
    assert next(e.label for e in retro.elements if e.id == "mini_player") == "Coral, Bob"


def test_the_queue_is_shown_shortened_and_cleared(retro):
    retro.tap("Coral")
    retro.phone.tap(*next(e for e in retro.elements if e.id == "mini_player").center)
    assert [e.label.split(", ")[0] for e in retro.elements if e.selected] == ["Coral"]
    retro.tap("Options of Amber", "Remove from playing queue")
    assert queue(retro) == ["Blue", "Coral", "Denim"]
    assert [e.label.split(", ")[0] for e in retro.elements if e.selected] == ["Coral"], "it goes on playing"
    for song in ("Denim", "Coral"):
        retro.tap(f"Options of {song}", "Remove from playing queue")
    assert [e.label.split(", ")[0] for e in retro.elements if e.selected] == ["Blue"]
    retro.tap("Clear queue")
    assert queue(retro) == [] and retro.shows("No songs playing")
    retro.back()
    assert not any(e.id == "mini_player" for e in retro.elements)


def test_the_songs_of_an_artist(retro):
    retro.tap("Artists")
    assert retro.find("Ann").label == "Ann, 2 Songs • 04:25"
    retro.tap("Ann")
    assert retro.rows == ["Blue", "Denim"]


def test_a_song_leads_to_its_album_its_artist_and_its_details(retro):
    retro.tap("Options of Blue", "Go to artist")
    assert retro.rows == ["Blue", "Denim"]
    retro.tap("Options of Denim", "Go to album")
    assert retro.rows == list(SONGS)
    retro.tap("Options of Denim", "Details")
    for fact in ("File name: track 3.m4a", f"File path: {SHARED}/Music/track 3.m4a", "Length: 01:05"):
        assert retro.shows(fact)


def test_a_song_of_the_queue_has_details_even_if_its_file_is_gone(retro):
    retro.tap("Amber")
    retro.storage.remove(f"{SHARED}/Music/track 0.m4a")
    retro.phone.changed()
    retro.phone.tap(*next(e for e in retro.elements if e.id == "mini_player").center)
    retro.tap("Options of Amber", "Details")
    assert retro.shows("File name: Amber") and retro.shows("Length: 01:40")


def test_databases_come_back_after_their_folder_was_replaced(retro):
    retro.tap("Coral")
    new_playlist(retro, "Calm", "Blue")
    for path in (QUEUE, PLAYLISTS):
        retro.storage.remove(path)
    retro.phone.changed()
    assert not any(e.id == "mini_player" for e in retro.elements)
    new_playlist(retro, "Loud", "Amber")
    retro.tap("Options of Amber", "Add to playing queue")
    assert playlists(retro) == {"Loud": ["Amber"]} and queue(retro) == ["Amber"]


def test_deleting_a_song_asks_first(retro):
    retro.tap("Options of Amber", "Delete from device", "Cancel")
    assert retro.shows("Amber")
    retro.tap("Options of Amber", "Delete from device", "Delete")
    assert not retro.storage.exists(f"{SHARED}/Music/track 0.m4a") and not retro.shows("Amber")


def test_a_snapshot_keeps_the_selection(retro):
    retro.hold("Denim")
    saved = retro.phone.snapshot()
    new_playlist_songs = ("Amber", "Add to playlist", "New playlist")
    retro.tap(*new_playlist_songs)
    retro.phone.restore(saved)
    assert retro.shows("1 selected") and playlists(retro) == {}


def test_opening_the_app_makes_a_lost_database_anew(retro):
    retro.phone.stop(PACKAGE)
    retro.storage.remove(QUEUE)
    retro.phone.launch(PACKAGE)
    assert queue(retro) == []


def full_queue(hands):
    """A queue of songs with all their data, which was shuffled after it was made."""
    db = hands.storage.database(QUEUE)
    for table, titles in ((PLAYING, ("One", "Two", "Three")), (ORIGINAL, ("Three", "One", "Two"))):
        for title in titles:
            add_record(
                db, table, title=title, duration=1000, artist="Ann", _id=len(title), _data=f"/sdcard/{title}.mp3"
            )
    hands.phone.changed()
    return {row["title"]: row for row in records(db, PLAYING)}


def queues(hands):
    db = hands.storage.database(QUEUE)
    return records(db, PLAYING), records(db, ORIGINAL)


def test_a_song_put_into_the_queue_changes_nothing_about_the_others():
    hands = Hands(PACKAGE, (540, 1200))
    known = full_queue(hands)
    hands.storage.write(f"{SHARED}/Music/new.m4a", mp4.silence(10, title="New"))
    hands.phone.changed()
    for choice, order in (
        ("Play next", ["One", "New", "Two", "Three"]),
        ("Add to playing queue", ["One", "New", "Two", "Three", "New"]),
    ):
        hands.tap("Options of New", choice)
        playing, original = queues(hands)
        assert [row["title"] for row in playing] == order
        assert [row["title"] for row in original] == ["Three", "One", "Two"] + ["New"] * order.count("New")
        assert all(row == known[row["title"]] for row in playing + original if row["title"] != "New")


def test_a_song_taken_out_of_the_queue_changes_nothing_about_the_others():
    hands = Hands(PACKAGE, (540, 1200))
    known = full_queue(hands)
    hands.tap("One, Ann")
    hands.tap("Options of Two", "Remove from playing queue")
    playing, original = queues(hands)
    assert playing == [known["One"], known["Three"]] and original == [known["Three"], known["One"]]


def test_playing_another_song_of_the_queue_leaves_the_queue_alone():
    hands = Hands(PACKAGE, (540, 1200))
    full_queue(hands)
    before = queues(hands)
    hands.tap("One, Ann")
    hands.tap("Three")
    assert queues(hands) == before
    hands.back()
    assert hands.shows("Three, Ann")


def test_renaming_a_playlist_and_removing_a_song_keep_all_else():
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(PLAYLISTS)
    for name in ("Gym", "Car"):
        list_id = add_record(db, "PlaylistEntity", playlist_name=name)
        for title in ("One", "Two"):
            add_record(db, "SongEntity", title=title, duration=1000, playlist_creator_id=list_id, data=f"/{title}.mp3")
    hands.phone.changed()
    lists, songs = records(db, "PlaylistEntity"), records(db, "SongEntity")
    hands.tap("Playlists", "Car", "More options", "Rename")
    hands.type("Bus")
    hands.back()
    hands.tap("Rename", "Options of One", "Remove from playlist", "Remove")
    assert changed(lists, records(db, "PlaylistEntity")) == [{}, {"playlist_name": "Bus"}]
    assert records(db, "SongEntity") == [*songs[:2], songs[3]]


def test_a_song_goes_from_one_playlist_to_another_with_all_its_data():
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(PLAYLISTS)
    for name in ("Gym", "Car"):
        add_record(db, "PlaylistEntity", playlist_name=name)
    add_record(db, "SongEntity", title="One", duration=1000, playlist_creator_id=1, data="/One.mp3")
    hands.phone.changed()
    hands.tap("Playlists", "Gym")
    hands.hold("One")
    hands.tap("Add to playlist", "Car")
    first, second = records(db, "SongEntity")
    assert changed([first], [second]) == [{"song_key": 2, "playlist_creator_id": 2}]
