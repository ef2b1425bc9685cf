"""What maps are drawn with."""

from dataclasses import dataclass

import numpy as np
import pytest

from coach_gym.envs.phone.toolkit.map_canvas import MAX_WIDTH, MapCanvas, name_masks


@dataclass
class Square:
    """One degree of latitude and longitude on a square of dp."""

    width: float = 100
    height: float = 100

    def place(self, point):
        return point[1], 1 - point[0]


RED = (255, 0, 0)


def changed(canvas):
    """Rows and columns of what was drawn on white."""
    return np.argwhere((canvas.pixels != 255).any(axis=2))


@pytest.mark.parametrize("width, density, pixels", [(100, 2.0, 200), (360, 1.0, 360), (360, 3.0, MAX_WIDTH)])
def test_a_picture_is_no_wider_than_needed(width, density, pixels):
    canvas = MapCanvas(Square(width, width), density, "#ffffff")
    assert canvas.pixels.shape == (pixels, pixels, 3) and not len(changed(canvas))


def test_points_lie_where_the_view_places_them():
    canvas = MapCanvas(Square(), 2.0, "#ffffff")
    assert canvas.at((0.25, 0.5)) == (100, 150)
    canvas.dot((0.25, 0.5), 5, "#ff0000")
    drawn = changed(canvas)
    assert tuple(drawn.mean(axis=0)) == pytest.approx((150, 100), abs=1)
    assert np.ptp(drawn[:, 0]) == pytest.approx(20, abs=2) and tuple(canvas.pixels[150, 100]) == RED


def test_a_line_has_its_width():
    canvas = MapCanvas(Square(), 2.0, "#ffffff")
    canvas.line([(0.5, 0.1), (0.5, 0.9)], "#ff0000", 6)
    drawn = changed(canvas)
    assert np.ptp(drawn[:, 1]) == pytest.approx(160, abs=4) and np.ptp(drawn[:, 0]) + 1 == pytest.approx(12, abs=1)


def test_an_area_is_filled():
    canvas = MapCanvas(Square(), 1.0, "#ffffff")
    canvas.area([(0, 0), (0, 1), (1, 1), (1, 0)], "#ff0000")
    assert (canvas.pixels[5:-5, 5:-5] == RED).all()


def test_an_icon_stands_on_its_point():
    canvas = MapCanvas(Square(), 2.0, "#ffffff")
    canvas.icon((0.5, 0.5), "map_marker", "#ff0000", 32, 0.92)
    rows, columns = changed(canvas).T
    assert columns.mean() == pytest.approx(100, abs=2) and rows.max() == pytest.approx(100, abs=4)


def test_a_name_has_an_edge_wider_than_its_letters():
    letters, edge = (np.asarray(mask) for mask in name_masks("Vaduz", 20, 2, 4, 30))
    assert letters.shape == edge.shape and letters.shape[0] == 30
    assert (edge[letters > 128] > 128).all() and (edge > 128).sum() > (letters > 128).sum() > 0
    canvas = MapCanvas(Square(), 2.0, "#000000")
    canvas.name(10, 10, name_masks("Vaduz", 20, 2, 4, 30), "#ff0000")
    assert (canvas.pixels == 255).all(axis=2).any() and (canvas.pixels == RED).all(axis=2).any()
