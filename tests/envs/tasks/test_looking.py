"""What experts read off pictures is what was drawn, at every size that a screen shows them in."""

import numpy as np
import pytest
from PIL import Image

from coach_gym.envs.tasks import looking, scenes

SIDES = (33, 49, 79, 168, 330)  # pixels: from a thumbnail on the smallest screenshots to a whole picture


def seen(picture, side):
    """A crop of a screen on which a picture is shown."""
    return looking.crop(np.asarray(picture.resize((side, side), Image.Resampling.BOX)), (0, 0, side, side))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("shape", scenes.SHAPES)
@pytest.mark.parametrize("color", scenes.COLORS)
def test_shapes_are_told_apart_by_number_color_and_form(shape, color, side):
    for count in range(1, 4 if side < 100 else 7):
        scene = {"kind": "shapes", "shape": shape, "color": color, "count": count, "seed": 10 * count + side}
        assert looking.caption_of(seen(scenes.drawn(scene), side)) == scenes.caption(scene)


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        ({"shape": "circle", "color": "red", "count": 2}, "two red circles"),
        ({"shape": "cross", "color": "blue", "count": 3}, "three blue crosses"),
        ({"shape": "ring", "color": "black", "count": 1}, "one black ring"),
    ],
)
def test_captions_are_english(scene, words):
    assert scenes.caption(scene) == words


def test_every_half_hour_looks_different():
    times = [f"{hour}:{minute:02d}" for hour in range(1, 13) for minute in (0, 30)]
    clocks = {time: scenes.drawn({"kind": "clock", "time": time}) for time in times}
    assert [looking.most_alike(seen(clocks[time], 120), clocks) for time in times] == times


def test_the_tallest_bar_is_found_by_its_color():
    colors = ["red", "green", "blue", "yellow"]
    for tallest in range(4):
        heights = [0.8 if bar == tallest else 0.65 for bar in range(4)]
        scene = {"kind": "bars", "heights": heights, "colors": colors, "tallest": colors[tallest]}
        assert looking.tallest_bar(seen(scenes.drawn(scene), 120), colors) == colors[tallest]


@pytest.mark.parametrize("direction", scenes.DIRECTIONS)
def test_arrows_point_where_they_say(direction):
    scene = {"kind": "arrow", "direction": direction, "color": "black", "seed": 1}
    ink = np.asarray(scenes.drawn(scene).convert("L")) < 90
    ink = ink[ink.any(axis=1)][:, ink.any(axis=0)]
    top, bottom, left, right = (int(line.sum()) for line in (ink[4], ink[-5], ink[:, 4], ink[:, -5]))
    sharpness = {"up": bottom / top, "down": top / bottom, "left": right / left, "right": left / right}
    assert max(sharpness, key=sharpness.__getitem__) == direction  # opposite the broad end of the shaft


def test_files_are_as_large_whatever_they_show():
    pictures = [scenes.drawn({"kind": "word", "word": "FROG"}), scenes.drawn({"kind": "plain", "color": "red"})]
    files = [scenes.picture_file(picture) for picture in pictures]
    films = [scenes.film_frame(picture, (320, 240)) for picture in pictures]
    assert len({len(data) for data in (*files, *films)}) == 1 and len(set(files)) == 2


def test_the_square_in_the_middle_of_a_box():
    assert looking.middle_square((0, 50, 100, 350)) == (0, 150, 100, 250)
