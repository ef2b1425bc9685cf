"""What the checks of tasks on films let pass."""

import pytest

from coach_gym.envs.apps.markor.app import NOTEBOOK
from coach_gym.envs.apps.vlc import world_tasks as vlc
from coach_gym.envs.apps.vlc.data import Library
from coach_gym.envs.tasks.words import ParamRng


@pytest.mark.parametrize("text, score", [
    ("Ann, Bo, Cy", 1.0), ("Ann,Bo,Cy\n", 1.0), ("Ann, Bo, Cy,", 1.0), ("Ann, Cy, Bo", 0.0), ("Ann, Bo", 0.0),
    ("Ann Bo Cy", 0.0), ("ann, bo, cy", 0.0),
])  # fmt: skip
def test_the_words_of_a_film_in_their_order(device, text, score, begin):
    task = begin(vlc.MarkorTranscribeVideo, messages=["Ann", "Bo", "Cy"])
    device.write(f"{NOTEBOOK}/{task.params['file_name']}", text.encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("name, files, score", [
    ("Trip", ["b.mp4", "a.mp4"], 1.0), ("Trip", ["a.mp4", "b.mp4"], 0.0), ("Trip", ["b.mp4", "a.mp4", "c.mp4"], 0.0),
    ("Trip", ["b.mp4"], 0.0), ("Trips", ["b.mp4", "a.mp4"], 0.0),
])  # fmt: skip
def test_a_playlist_has_its_films_in_order_and_no_others(device, name, files, score, begin):
    wanted = {"playlist_name": "Trip", "files": ["b.mp4", "a.mp4"], "noise_files": ["c.mp4"]}
    task = begin(vlc.VlcCreatePlaylist, **wanted)
    library = Library(device.phone.storage)
    library.add(library.create(name), [f"/storage/emulated/0/VLCVideos/{file}" for file in files])
    assert task.evaluate(device, None) == score


def test_two_playlists_and_no_third(device, begin):
    task = begin(vlc.VlcCreateTwoPlaylists)
    library = Library(device.phone.storage)
    for which in "12":
        assert task.evaluate(device, None) == 0.0
        library.add(library.create(task.params[f"playlist_name{which}"]), task.params[f"files{which}"])
    assert task.evaluate(device, None) == 1.0
    library.add(library.create("Third"), task.params["noise_files"])
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("family", vlc.TASKS)
def test_the_check_does_not_raise_on_an_emptied_phone(device, family, begin, empty_storage):
    task = begin(family)
    empty_storage()
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("family", [vlc.VlcCreatePlaylist, vlc.VlcCreateTwoPlaylists])
def test_instances_share_no_name_with_other_splits(family):
    def names(split):
        drawn = [family.sample(ParamRng(seed, split)) for seed in range(40)]
        return {name.rpartition("_")[2] for p in drawn for name in (*p.get("files", ()), *p.get("noise_files", ()))}

    train, validation, test = (names(split) for split in ("train", "validation", "test"))
    assert train and not (train & validation or train & test or validation & test)
