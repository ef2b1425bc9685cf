"""What the checks of tasks on songs let pass."""

import pytest

from coach_gym.envs.apps.retro import world_tasks as retro
from coach_gym.envs.apps.retro.data import Music
from coach_gym.envs.tasks.words import ParamRng


@pytest.fixture
def music(device):
    return Music(device.phone.storage)


def titled(music, titles):
    songs = {song.title: song for song in music.songs()}
    return [songs[title] for title in titles]


def test_a_playlist_has_its_songs_in_order_and_no_others(device, music, begin):
    task = begin(retro.RetroCreatePlaylist)
    playlist = music.create(task.params["playlist_name"])
    music.add(playlist, titled(music, task.titles))
    assert task.evaluate(device, None) == 1.0
    key, song = music.content(playlist)[0]
    music.remove(key)
    music.add(playlist, [song])
    assert task.evaluate(device, None) == 0.0


def test_the_queue_has_just_the_songs_in_order(device, music, begin):
    task = begin(retro.RetroPlayingQueue)
    music.enqueue(titled(music, task.titles))
    assert task.evaluate(device, None) == 1.0
    music.enqueue(music.songs()[:1])
    assert task.evaluate(device, None) == 0.0
    device.remove(retro.QUEUE)
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("text, score", [
    ("#EXTM3U\n#EXTINF:1,A - B\n/x/one.m4a\n/x/two.m4a\n", 1.0), ("one.m4a\r\ntwo.m4a", 1.0), ("/x/one.m4a\n", 0.0),
    ("/x/two.m4a\n/x/one.m4a\n", 0.0), ("", 0.0),
])  # fmt: skip
def test_the_saved_playlist_names_the_songs_in_order(device, music, text, score, begin):
    names = {"files": ["one.m4a", "two.m4a"], "seconds": {"one.m4a": 200, "two.m4a": 200}}
    task = begin(retro.RetroSavePlaylist, **names)
    music.add(music.create(task.params["playlist_name"]), titled(music, ["one", "two"]))
    assert task.evaluate(device, None) == 0.0
    device.write(f"{retro.DOWNLOAD}/{task.params['playlist_name']}.m3u", text.encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("minutes, score", [(19.9, 0.0), (20, 1.0), (25, 1.0), (25.1, 0.0)])
def test_a_playlist_lasts_as_long_as_was_asked_for(device, music, minutes, score, begin):
    seconds = {"one.m4a": 900, "two.m4a": round(60 * minutes) - 900}
    task = begin(retro.RetroPlaylistDuration, low=20, high=25, seconds=seconds)
    music.add(music.create(task.params["playlist_name"]), titled(music, ["one", "two"]))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family", retro.TASKS)
def test_the_check_does_not_raise_on_an_emptied_phone(device, family, begin, empty_storage):
    task = begin(family)
    empty_storage()
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("family", retro.TASKS)
def test_instances_share_no_name_with_other_splits(family):
    def names(split):
        drawn = [family.sample(ParamRng(seed, split)) for seed in range(40)]
        return {name.rpartition("_")[2] for p in drawn for name in p["seconds"]}

    train, validation, test = (names(split) for split in ("train", "validation", "test"))
    assert train and not (train & validation or train & test or validation & test)
