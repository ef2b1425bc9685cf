"""Pictures of text, and films of them: files that others can read."""

import io

import numpy as np
import pytest
from PIL import Image

from coach_gym.envs.phone.media import mp4
from coach_gym.envs.tasks import pictures


def opened(data):
    return Image.open(io.BytesIO(data))


@pytest.mark.parametrize(("name", "format"), [("a.png", "PNG"), ("a.jpg", "JPEG"), ("a.jpeg", "JPEG"), ("a", "JPEG")])
def test_the_name_says_the_format(name, format):
    assert opened(pictures.text_picture(["Hello"], name)).format == format


def test_more_and_longer_lines_make_larger_pictures():
    small, tall, wide = (
        opened(pictures.text_picture(lines, "a.png")).size for lines in (["a"], ["a"] * 4, ["wide " * 30])
    )
    assert small[0] == tall[0] == pictures.NARROWEST + 2 * pictures.MARGIN < wide[0]
    assert tall[1] - small[1] == 3 * (small[1] - 2 * pictures.MARGIN) and small[1] == wide[1]


def test_text_is_dark_on_white_and_within_the_margin():
    pixels = np.asarray(opened(pictures.text_picture(["Flour", "Sugar"], "a.png")))
    assert pixels.min() < 60 and pixels[0].min() == 255
    dark = np.argwhere(pixels < 128)
    assert dark.min() >= pictures.MARGIN - 2, "letters may reach over by a pixel or two"


def test_different_texts_look_different():
    assert pictures.text_picture(["Flour"], "a.png") != pictures.text_picture(["Sugar"], "a.png")


@pytest.mark.parametrize(("count", "seconds"), [(1, 2.0), (3, 1.5)])
def test_a_film_shows_each_text_for_its_time(count, seconds):
    messages = tuple(f"word {number}" for number in range(count))
    film = pictures.film(messages, seconds)
    assert film[4:8] == b"ftyp"
    assert mp4.duration(film) == pytest.approx(count * seconds, abs=0.1)


def test_a_film_is_made_once():
    assert pictures.film(("a",), 1.0) is pictures.film(("a",), 1.0)
