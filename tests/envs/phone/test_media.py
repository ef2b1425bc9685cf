"""Files of sound, pictures and moving pictures: other programs play what is written, and anything may be read."""

import io
import subprocess
import wave

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from coach_gym.envs.phone.media import audio, film, mp4, pictures

COLORS = ("red", "lime", "blue")


def jpeg(color, size=(64, 48)):
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "JPEG")
    return out.getvalue()


SLIDES = mp4.slides([jpeg(color) for color in COLORS], 8, (64, 48))
SILENCE = mp4.silence(12.5, title="Été", artist="Zoë")


def ffmpeg(data, *options, input_options=()):
    """What FFmpeg makes of a file, and what it complains of."""
    executable = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    command = [executable, "-v", "warning", *input_options, "-i", "pipe:0", *options, "pipe:1"]
    done = subprocess.run(command, input=data, capture_output=True, check=True, timeout=60)
    return done.stdout, done.stderr.decode()


def color_of(pixels):
    return tuple(int(channel > 127) for channel in pixels[len(pixels) // 2, pixels.shape[1] // 2])


# what is written


def test_ffmpeg_hears_silence_of_the_right_length():
    samples, complaints = ffmpeg(SILENCE, "-f", "s16le")
    assert complaints == "" and not np.frombuffer(samples, np.int16).any()
    assert len(samples) / 2 / mp4.RATE == pytest.approx(12.5, abs=0.2)


def test_opencv_sees_every_picture_at_its_time(tmp_path):
    cv2 = pytest.importorskip("cv2")
    path = tmp_path / "film.mp4"
    path.write_bytes(SLIDES)
    capture = cv2.VideoCapture(str(path))
    assert capture.get(cv2.CAP_PROP_FRAME_COUNT) == 3
    assert capture.get(cv2.CAP_PROP_FRAME_COUNT) / capture.get(cv2.CAP_PROP_FPS) == 24
    for expected in COLORS:
        found, frame = capture.read()
        assert found and color_of(frame[:, :, ::-1]) == color_of(np.asarray(Image.new("RGB", (9, 9), expected)))


def test_ffmpeg_hears_a_silent_mp3_of_the_right_length():
    data = audio.silent_mp3(200, "Été", "Zoë")
    samples, complaints = ffmpeg(data, "-f", "s16le")
    assert complaints == "" and not np.frombuffer(samples, np.int16).any()
    assert len(samples) / 2 / 16_000 == pytest.approx(200, abs=0.1)
    found = audio.sound(data)
    assert (found.title, found.artist) == ("Été", "Zoë") and found.seconds == pytest.approx(200, abs=0.04)


def test_a_minute_of_silence_is_small():
    assert len(mp4.silence(60)) < 4000


# what is read


def test_length_and_titles_are_read_back():
    assert mp4.duration(SILENCE) == 12.5 and mp4.tags(SILENCE) == {"title": "Été", "artist": "Zoë"}
    assert mp4.duration(SLIDES) == 24 and mp4.tags(SLIDES) == {}
    assert audio.sound(SILENCE) == audio.Sound(12.5, "Été", "Zoë")


@pytest.mark.parametrize("seconds, number", [(0, 0), (7.9, 0), (8, 1), (15.9, 1), (16, 2), (23, 2), (1e9, 2)])
def test_a_film_shows_the_picture_of_the_moment(seconds, number):
    assert mp4.slide_at(SLIDES, seconds) == jpeg(COLORS[number])
    assert film.frame(SLIDES, seconds, 32, 32).shape == (24, 32, 3)


@pytest.mark.parametrize("version", ["3", "4"])
@pytest.mark.parametrize("encoder", [("-b:a", "128k"), ("-q:a", "5"), ("-b:a", "64k", "-write_xing", "0")], ids=str)
def test_mp3_files_of_ffmpeg_are_read(version, encoder):
    pytest.importorskip("imageio_ffmpeg")
    pcm = bytes(44_100 * 2 * 30)
    tags = ("-metadata", "title=Dreamer's Awake", "-metadata", "artist=Zoë")
    raw = ("-f", "s16le", "-ar", "44100", "-ac", "1")
    data, _ = ffmpeg(pcm, *encoder, *tags, "-id3v2_version", version, "-f", "mp3", input_options=raw)
    found = audio.sound(data)
    assert (found.title, found.artist) == ("Dreamer's Awake", "Zoë")
    assert found.seconds == pytest.approx(30, abs=1)


def test_mp3_files_without_titles_or_frame_count_are_measured_by_their_size():
    frame = b"\xff\xfb\x90\xc4" + bytes(413)  # 128 kbit/s, 44.1 kHz, mono: 417 bytes
    assert audio.sound(frame * 383).seconds == pytest.approx(10, abs=0.05)


def test_wav_files_are_read():
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 1, 100, 0, "NONE", "not compressed"))
        file.writeframes(bytes(100 * 61))
    assert audio.sound(out.getvalue()) == audio.Sound(61)


def test_films_of_other_codecs_need_opencv(tmp_path):
    cv2 = pytest.importorskip("cv2")
    path = tmp_path / "film.mp4"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), 2, (64, 48))
    for color in ((0, 0, 255), (0, 255, 0)):
        for _ in range(4):
            writer.write(np.full((48, 64, 3), color, np.uint8))
    writer.release()
    data = path.read_bytes()
    assert mp4.duration(data) == 4 and mp4.slide_at(data, 0) is None
    assert color_of(film.frame(data, 0.4, 99, 99)) == (1, 0, 0) and color_of(film.frame(data, 3, 99, 99)) == (0, 1, 0)
    assert color_of(film.frame(data, 99, 99, 99)) == (0, 1, 0), "past the end stands the last picture"


# pictures


def test_a_thumbnail_is_the_middle_of_a_picture():
    image = Image.new("RGB", (300, 100), "red")
    image.paste("blue", (100, 0, 200, 100))
    out = io.BytesIO()
    image.save(out, "PNG")
    thumbnail = pictures.thumbnail(out.getvalue(), 40)
    assert thumbnail.shape == (40, 40, 3) and (thumbnail[:, 4:36] == (0, 0, 255)).all()


def test_a_picture_is_made_smaller_but_never_larger():
    assert pictures.pixels(jpeg("red", (640, 480)), 200, 200).shape == (150, 200, 3)
    assert pictures.pixels(jpeg("red"), 1080, 2400).shape == (48, 64, 3)
    assert pictures.size(jpeg("red")) == (64, 48)


def test_what_is_no_picture_or_too_large_is_none():
    bomb = io.BytesIO()
    Image.new("1", (9000, 9000)).save(bomb, "PNG")
    for data in (b"", b"x" * 99, jpeg("red")[:100], bomb.getvalue()):
        assert pictures.pixels(data, 10, 10) is None and pictures.thumbnail(data, 10) is None
    assert pictures.size(bomb.getvalue()) is None


# anything


WHOLE = (SILENCE, SLIDES, jpeg("red"), b"ID3\x04\0\0\0\0\x0f\x7fTIT2\0\0\0\x03\0\0\x03abc", b"RIFF\0\0\0\0WAVE")


@given(st.data())
def test_damaged_files_raise_nothing(data):
    whole = data.draw(st.sampled_from(WHOLE))
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for _ in range(data.draw(st.integers(0, 4)) if damaged else 0):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(damaged)
    audio.sound(content)
    mp4.duration(content)
    mp4.tags(content)
    mp4.slide_at(content, data.draw(st.floats(0, 100)))
    pictures.pixels(content, 20, 20)


@given(st.binary(max_size=200))
def test_any_bytes_raise_nothing(content):
    for data in (content, b"\0\0\0\x08ftyp" + content, b"ID3" + content, b"\xff\xfb" + content, b"RIFF" + content):
        audio.sound(data)
        mp4.slide_at(data, 1.0)
