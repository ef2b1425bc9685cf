"""Camera by touch: photos and videos are files, and sound needs a permission."""

import io
from datetime import timedelta

import pytest
from PIL import Image

from coach_gym.envs.apps.camera.app import PHOTOS, VIDEOS, photo
from coach_gym.envs.phone.media import mp4
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.profiles import world_phone
from coach_gym.ui import compress, parse_ui


@pytest.fixture
def phone() -> Phone:
    phone = world_phone(270, 600)
    phone.launch("com.android.camera2")
    return phone


def tap(phone, label):
    phone.tap(*next(e for e in parse_ui(compress(phone.ui())) if e.label == label).center)


def has(phone, label):
    return any(e.label == label for e in parse_ui(compress(phone.ui())))


def test_the_shutter_writes_a_jpeg_named_after_the_phones_clock(phone):
    tap(phone, "Shutter")
    (name,) = phone.storage.listdir(PHOTOS)
    assert name.startswith("IMG_20231015_1534")
    assert Image.open(io.BytesIO(phone.storage.read(f"{PHOTOS}/{name}"))).size == (300, 400)


def test_a_video_is_written_when_the_recording_stops(phone):
    tap(phone, "Video")
    tap(phone, "Start recording")
    tap(phone, "While using the app")
    assert phone.storage.listdir(VIDEOS) == [] and not has(phone, "Start recording")
    tap(phone, "Photo")
    assert has(phone, "Stop recording"), "the mode does not change while recording"
    phone.elapse(timedelta(seconds=20))
    tap(phone, "Stop recording")
    (name,) = phone.storage.listdir(VIDEOS)
    film = phone.storage.read(f"{VIDEOS}/{name}")
    assert name.endswith(".mp4") and mp4.duration(film) == 22 and mp4.slide_at(film, 21) == photo()


@pytest.mark.parametrize("answer, recording, asked_again", [
    ("While using the app", True, False), ("Only this time", True, True), ("Don’t allow", False, True)
])  # fmt: skip
def test_permissions_are_asked_for_and_remembered(phone, answer, recording, asked_again):
    tap(phone, "Video")
    tap(phone, "Start recording")
    assert has(phone, "Allow Camera to record audio?")
    tap(phone, answer)
    assert has(phone, "Stop recording") == recording
    if recording:
        tap(phone, "Stop recording")
    tap(phone, "Start recording")
    assert has(phone, "Allow Camera to record audio?") == asked_again
