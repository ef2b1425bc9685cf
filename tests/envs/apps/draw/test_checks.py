"""What the check of a drawing lets pass."""

import io

import pytest
from PIL import Image, ImageDraw

from coach_gym.envs.apps.draw import world_tasks as draw


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
def test_a_drawing_is_of_its_format_and_not_blank(device, name, data, score, begin):
    task = begin(draw.SimpleDrawProCreateDrawing, file_name=name)
    device.write(f"{draw.PICTURES}/{name}", data)
    assert task.evaluate(device, None) == score


@pytest.mark.parametrize("family", draw.TASKS)
def test_the_check_does_not_raise_on_an_emptied_phone(device, family, begin, empty_storage):
    task = begin(family)
    empty_storage()
    assert task.evaluate(device, None) == 0.0
