"""The space of screenshots: a Box without image-sized bounds."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from coach_gym.spaces import Pixels

SHAPE = (6, 4, 3)


def test_has_the_members_of_the_box():
    box, pixels = Box(0, 255, SHAPE, np.uint8), Pixels(SHAPE)
    images = [np.zeros(SHAPE, np.uint8), np.full(SHAPE, 255, np.uint8), pixels.sample(), box.sample()]
    others = [np.zeros(SHAPE), np.zeros((4, 6, 3), np.uint8), np.zeros(SHAPE, np.uint8).tolist(), None]
    assert all(image in pixels and image in box for image in images)
    assert not any(other in pixels for other in others)


def test_equals_the_box_of_its_shape():
    assert Pixels(SHAPE) == Pixels(SHAPE) == Box(0, 255, SHAPE, np.uint8) == Pixels(SHAPE)
    assert Pixels(SHAPE) != Pixels((4, 6, 3)) and Pixels(SHAPE) != Box(0, 254, SHAPE, np.uint8)
    assert (Pixels(SHAPE).low == 0).all() and (Pixels(SHAPE).high == 255).all() and Pixels(SHAPE).is_bounded()


def test_batches_like_the_box():
    batch = batch_space(Pixels(SHAPE), 5)
    assert isinstance(batch, Pixels) and batch == batch_space(Box(0, 255, SHAPE, np.uint8), 5)
    images = [Pixels(SHAPE, seed=i).sample() for i in range(5)]
    assert concatenate(Pixels(SHAPE), images, create_empty_array(Pixels(SHAPE), 5)) in batch


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda space: pickle.loads(pickle.dumps(space))])
def test_copies_draw_the_same(duplicate):
    space = Pixels(SHAPE, seed=3)
    twin = duplicate(space)
    assert twin == space and (twin.sample() == space.sample()).all()


def test_bounds_take_no_memory_however_large_the_batch():
    space = batch_space(Pixels((2400, 1080, 3)), 1000)
    assert space.shape == (1000, 2400, 1080, 3)
    for bounds in (space.low, space.high, space.bounded_below, space.bounded_above):
        assert not any(bounds.strides)
    assert not any(copy.deepcopy(space).low.strides)
