"""Pi Music Player's experts: times in words, rows of songs, and touching the slider where a second is."""

import pytest

from coach_gym.envs.apps.pimusic import lab_expert as expert
from coach_gym.envs.apps.pimusic.data import DATABASE
from coach_gym.envs.apps.pimusic.lab_tasks import CLOSE, PiMusicAddToPlaylist, PiMusicPauseAt, PiMusicPlaySong
from tests.envs.expert_at_work import work

SONGS = [[f"Song {number:02d}", "Ada Moon", "Trees", 150 + number] for number in range(20)]


@pytest.mark.parametrize("text, seconds", [("0:07", 7), ("4:05", 245), ("1:21:03", 4863), ("10:00", 600)])
def test_clocks_are_read_in_seconds(text, seconds):
    assert expert._seconds(text) == seconds and expert._is_time(text)


@pytest.mark.parametrize("text", ["", "12 songs", "Song: One", "4.05", "a:b"])
def test_other_texts_are_no_times(text):
    assert not expert._is_time(text)


@pytest.mark.parametrize("seconds, spoken", [
    (245, "4 minutes and 5 seconds"), (3661, "1 hour, 1 minutes and 1 seconds"),
    (7384, "2 hours, 3 minutes and 4 seconds"),
])  # fmt: skip
def test_lengths_are_told_in_words(seconds, spoken):
    assert expert._spoken(seconds) == spoken


@pytest.mark.parametrize("title", ["Song 00", "Song 10", "Song 19"])
def test_a_song_is_played_from_anywhere_in_the_list(device, title):
    task = PiMusicPlaySong({"title": title, "songs": SONGS, "playlists": [], "playing": None})
    task.setup(device)
    assert task.evaluate(device, None) == 0
    work(device, expert.play_song, task.params)
    assert task.evaluate(device, None) == 1


@pytest.mark.parametrize("time", ["0:00", "0:50", "1:27", "2:29"])
def test_a_song_rests_at_the_second_asked_for(device, time):
    params = {"title": "Song 00", "songs": SONGS[:3], "playlists": [], "playing": "Song 00", "time": time}
    task = PiMusicPauseAt(params)
    task.setup(device)
    work(device, expert.pause_at, task.params)
    assert task.evaluate(device, None) == 1
    _, seconds, runs = task.player(device)
    assert abs(seconds - expert._seconds(time)) <= CLOSE and not runs


@pytest.mark.parametrize("change", [
    "UPDATE player SET since = 1", "UPDATE player SET seconds = seconds + 4", "UPDATE player SET seconds = seconds - 4",
    "UPDATE player SET place = 1", "DELETE FROM player", "DELETE FROM queue",
    "UPDATE queue SET path = path || 'x'",
])  # fmt: skip
def test_a_player_in_another_state_does_not_count(device, change):
    params = {"title": "Song 00", "songs": SONGS[:3], "playlists": [], "playing": "Song 00", "time": "1:00"}
    task = PiMusicPauseAt(params)
    task.setup(device)
    path = "UPDATE player SET seconds = 60, since = NULL"
    with device.database(DATABASE) as db:
        db.execute(path)
        assert task.evaluate(device, None) == 1
        db.execute(change)
    assert task.evaluate(device, None) == 0


@pytest.mark.parametrize("title, playlist", [("Song 00", "Calm"), ("Song 19", "Wild")])
def test_a_song_is_added_to_the_playlist_that_is_named(device, title, playlist):
    names = ["Calm", "Wild"]
    task = PiMusicAddToPlaylist(
        {"title": title, "songs": SONGS, "playlists": names, "playlist": playlist, "playing": None}
    )
    task.setup(device)
    work(device, expert.add_to_playlist, task.params)
    assert task.evaluate(device, None) == 1
    for title_, playlist_ in (("Song 05", playlist), (title, next(name for name in names if name != playlist))):
        other = PiMusicAddToPlaylist({**task.params, "title": title_, "playlist": playlist_})
        assert other.evaluate(device, None) == 0
