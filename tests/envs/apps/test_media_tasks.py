"""The checks of tasks on pictures, recordings, films and songs: what they let pass and what they do not."""

import io

import pytest
from PIL import Image, ImageDraw

from coach_gym.envs.apps.draw import world_tasks as draw
from coach_gym.envs.apps.gallery import world_tasks as gallery
from coach_gym.envs.apps.recorder import world_tasks as recorder
from coach_gym.envs.apps.recorder.app import RECORDS
from coach_gym.envs.apps.retro import world_tasks as retro
from coach_gym.envs.apps.retro.data import Music
from coach_gym.envs.apps.vlc import world_tasks as vlc
from coach_gym.envs.apps.vlc.data import Library
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.media import mp4
from coach_gym.envs.tasks.words import ParamRng

FAMILIES = [*draw.TASKS, *gallery.TASKS, *recorder.TASKS, *retro.TASKS, *vlc.TASKS]
NOTES = "/sdcard/Documents/Markor"


@pytest.fixture(scope="module")
def shared_device():
    return PhoneDevice(270, 600)


@pytest.fixture
def device(shared_device):
    shared_device.reset_state()
    return shared_device


def begin(device, family, **params):
    """An instance with some parameters of its own, set up."""
    task = family({**family.sample(ParamRng(0)), **params})
    task.setup(device)
    assert task.evaluate(device, None) == 0.0
    return task


# pictures


@pytest.fixture
def receipt(device):
    """The task to save a copy of a receipt, and its file name."""
    task = begin(device, gallery.SaveCopyOfReceiptTaskEval)
    return task, task.params["file_name"]


def test_a_copy_has_the_same_name_and_content(device, receipt):
    task, name = receipt
    data = device.read(f"{gallery.DCIM}/{name}")
    device.write(f"{gallery.DOWNLOAD}/{name}", data[:-9])
    assert task.evaluate(device, None) == 0.0
    device.write(f"{gallery.DOWNLOAD}/{name}", data)
    assert task.evaluate(device, None) == 1.0
    device.write(f"{gallery.DOWNLOAD}/another.jpg", data)
    assert task.evaluate(device, None) == 0.0


def test_the_original_has_to_stay(device, receipt):
    task, name = receipt
    device.write(f"{gallery.DOWNLOAD}/{name}", device.read(f"{gallery.DCIM}/{name}"))
    device.remove(f"{gallery.DCIM}/{name}")
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("change, score", [
    (lambda text: text, 1.0),
    (lambda text: text.replace(", ", ",") + "\n", 1.0),
    (lambda text: text.replace("\n", "\n\n"), 1.0),
    (lambda text: text.partition("\n")[2], 0.0),
    (lambda text: text.replace("$", ""), 0.0),
    (lambda text: "\n".join(reversed(text.splitlines())), 0.0),
])  # fmt: skip
def test_spaces_do_not_count_in_a_transcribed_receipt_and_all_else_does(device, change, score):
    task = begin(device, gallery.MarkorTranscribeReceipt)
    device.write(f"{NOTES}/receipt.md", change(task.params["text"]).encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("text, score", [
    ("Ann, Bo, Cy", 1.0), ("Ann,Bo,Cy\n", 1.0), ("Ann, Bo, Cy,", 1.0), ("Ann, Cy, Bo", 0.0), ("Ann, Bo", 0.0),
    ("Ann Bo Cy", 0.0), ("ann, bo, cy", 0.0),
])  # fmt: skip
def test_the_words_of_a_film_in_their_order(device, text, score):
    task = begin(device, vlc.MarkorTranscribeVideo, messages=["Ann", "Bo", "Cy"])
    device.write(f"{NOTES}/{task.params['file_name']}", text.encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family", [gallery.ExpenseAddMultipleFromGallery, gallery.RecipeAddMultipleRecipesFromImage])
def test_pictures_say_all_that_has_to_be_typed(family):
    """Every text and amount of what is new stands in the picture that the goal names, and only there."""
    for seed in range(20):
        params = family.sample(ParamRng(seed))
        wanted = next(name for name in params["pictures"] if name in family.template)
        text = "\n".join(params["pictures"][wanted])
        for row in params["new"]:
            assert all(field in text for field in row if isinstance(field, str))
            assert not any(row[0] in "\n".join(lines) for name, lines in params["pictures"].items() if name != wanted)
            assert family is gallery.RecipeAddMultipleRecipesFromImage or f"${row[1] / 100:.2f}" in text


# drawings


def picture(format, color=None):
    image = Image.new("RGB", (30, 40), "white")
    if color:
        ImageDraw.Draw(image).line((0, 0, 29, 39), color, 3)
    out = io.BytesIO()
    image.save(out, format)
    return out.getvalue()


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0,0 L9,9"/></svg>'


@pytest.mark.parametrize("name, data, score", [
    ("cat.png", picture("PNG", "red"), 1.0), ("cat.png", picture("PNG"), 0.0), ("cat.png", picture("JPEG", "red"), 0.0),
    ("cat.jpg", picture("JPEG", "red"), 1.0), ("cat.jpg", b"\xff\xd8 no picture", 0.0), ("cat.svg", SVG, 1.0),
    ("cat.svg", SVG.replace(b"path", b"rect"), 0.0), ("cat.svg", picture("PNG", "red"), 0.0),
])  # fmt: skip
def test_a_drawing_is_of_its_format_and_not_blank(device, name, data, score):
    task = begin(device, draw.SimpleDrawProCreateDrawing, file_name=name)
    device.write(f"{draw.PICTURES}/{name}", data)
    assert task.evaluate(device, None) == score


# recordings


def test_just_one_recording_more_that_can_be_heard(device):
    task = begin(device, recorder.AudioRecorderRecordAudio, earlier=2)
    device.write(f"{RECORDS}/new.m4a", b"no sound")
    assert task.evaluate(device, None) == 0.0
    device.write(f"{RECORDS}/new.m4a", mp4.silence(2))
    assert task.evaluate(device, None) == 1.0
    device.remove(f"{RECORDS}/Record-1.m4a")
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("name, score", [("talk.m4a", 1.0), ("talk", 0.0), ("Talk.m4a", 0.0), ("talk.m4a.m4a", 0.0)])
def test_a_recording_of_the_name_that_was_asked_for(device, name, score):
    task = begin(device, recorder.AudioRecorderRecordAudioWithFileName, file_name="talk")
    device.write(f"{RECORDS}/{name}", mp4.silence(2))
    assert task.evaluate(device, None) == score


# films


@pytest.mark.parametrize("name, files, score", [
    ("Trip", ["b.mp4", "a.mp4"], 1.0), ("Trip", ["a.mp4", "b.mp4"], 0.0), ("Trip", ["b.mp4", "a.mp4", "c.mp4"], 0.0),
    ("Trip", ["b.mp4"], 0.0), ("Trips", ["b.mp4", "a.mp4"], 0.0),
])  # fmt: skip
def test_a_playlist_has_its_films_in_order_and_no_others(device, name, files, score):
    wanted = {"playlist_name": "Trip", "files": ["b.mp4", "a.mp4"], "noise_files": ["c.mp4"]}
    task = begin(device, vlc.VlcCreatePlaylist, **wanted)
    library = Library(device.phone.storage)
    library.add(library.create(name), [f"/storage/emulated/0/VLCVideos/{file}" for file in files])
    assert task.evaluate(device, None) == score


def test_two_playlists_and_no_third(device):
    task = begin(device, vlc.VlcCreateTwoPlaylists)
    library = Library(device.phone.storage)
    for which in "12":
        assert task.evaluate(device, None) == 0.0
        library.add(library.create(task.params[f"playlist_name{which}"]), task.params[f"files{which}"])
    assert task.evaluate(device, None) == 1.0
    library.add(library.create("Third"), task.params["noise_files"])
    assert task.evaluate(device, None) == 0.0


# songs


@pytest.fixture
def music(device):
    return Music(device.phone.storage)


def titled(music, titles):
    songs = {song.title: song for song in music.songs()}
    return [songs[title] for title in titles]


def test_a_playlist_has_its_songs_in_order_and_no_others(device, music):
    task = begin(device, retro.RetroCreatePlaylist)
    playlist = music.create(task.params["playlist_name"])
    music.add(playlist, titled(music, task.titles))
    assert task.evaluate(device, None) == 1.0
    key, song = music.content(playlist)[0]
    music.remove(key)
    music.add(playlist, [song])
    assert task.evaluate(device, None) == 0.0


def test_the_queue_has_just_the_songs_in_order(device, music):
    task = begin(device, retro.RetroPlayingQueue)
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
def test_the_saved_playlist_names_the_songs_in_order(device, music, text, score):
    names = {"files": ["one.m4a", "two.m4a"], "seconds": {"one.m4a": 200, "two.m4a": 200}}
    task = begin(device, retro.RetroSavePlaylist, **names)
    music.add(music.create(task.params["playlist_name"]), titled(music, ["one", "two"]))
    assert task.evaluate(device, None) == 0.0
    device.write(f"{retro.DOWNLOAD}/{task.params['playlist_name']}.m3u", text.encode())
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("minutes, score", [(19.9, 0.0), (20, 1.0), (25, 1.0), (25.1, 0.0)])
def test_a_playlist_lasts_as_long_as_was_asked_for(device, music, minutes, score):
    seconds = {"one.m4a": 900, "two.m4a": round(60 * minutes) - 900}
    task = begin(device, retro.RetroPlaylistDuration, low=20, high=25, seconds=seconds)
    music.add(music.create(task.params["playlist_name"]), titled(music, ["one", "two"]))
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family", FAMILIES)
def test_checks_do_not_raise_on_an_emptied_phone(device, family):
    task = begin(device, family)
    for folder in ("DCIM", "Download", "Pictures", "Music", "VLCVideos", "Documents", "Android"):
        device.remove(f"/sdcard/{folder}")
    assert task.evaluate(device, None) == 0.0


@pytest.mark.parametrize("family", [vlc.VlcCreatePlaylist, vlc.VlcCreateTwoPlaylists, *retro.TASKS])
def test_heldout_instances_share_no_name_with_training(family):
    def names(split):
        drawn = [family.sample(ParamRng(seed, split)) for seed in range(40)]
        return {name.rpartition("_")[2] for p in drawn for name in (*p.get("seconds", ()), *p.get("noise_files", ()))}

    assert names("train") and not names("train") & names("heldout")
