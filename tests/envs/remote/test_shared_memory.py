"""Arrays of another process are used where they lie, and are never overwritten while somebody holds them."""

import mmap
import os
from multiprocessing import Pipe

import numpy as np
import pytest
from PIL import Image

from coach_gym.envs.remote.shared_memory import ChildEnd, ParentEnd, new_memory

SHAPE = (60, 27, 3)


class Ends:
    """Both ends of a channel, in one process."""

    def __init__(self):
        ours, theirs = Pipe()
        self.memory = new_memory()
        self.parent, self.child = ParentEnd(ours, self.memory), ChildEnd(theirs, self.memory)

    def answer(self, value):
        self.parent.send("?")
        assert self.child.receive() == "?"
        self.child.send(value)
        return self.parent.receive()

    @property
    def size(self):
        return os.fstat(self.memory).st_size


@pytest.fixture
def ends():
    return Ends()


def screen(number, shape=SHAPE):
    return np.full(shape, number, np.uint8)


def is_shared(array):
    """Whether an array's bytes lie in a map of memory."""
    owner = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return isinstance(owner, mmap.mmap)


def test_values_arrive_as_they_were_sent(ends):
    value = {
        "screen": screen(1), "bytes": b"x", "floats": np.linspace(0, 1, 7), "none": np.zeros((0, 3)),
        "whole": np.arange(3, dtype=np.int64), "strided": np.arange(10)[::3], "text": "é" * 30_000,
    }  # fmt: skip
    for _ in range(3):
        got = ends.answer(value)
        assert got.keys() == value.keys() and all(np.array_equal(got[key], value[key]) for key in value)
        assert got["floats"].flags.aligned and got["screen"].flags.writeable
    assert ends.answer("no arrays") == "no arrays"


def test_a_caller_who_keeps_the_last_two_screens_gets_no_copies(ends):
    kept, shared = [], []
    for number in range(20):
        kept = [*kept[-1:], ends.answer(screen(number))]
        shared.append(is_shared(kept[-1]))
    assert all(shared)
    assert ends.size < 5 * screen(0).nbytes + mmap.PAGESIZE


@pytest.mark.parametrize(
    "hold",
    [
        lambda array: array, lambda array: array[:1, :, 0], lambda array: memoryview(array), Image.fromarray,
        lambda array: array.reshape(-1)[::2].view(np.int8), lambda array: __import__("torch").from_numpy(array)[:1],
    ],
    ids=["array", "slice", "memoryview", "image", "view of a view", "tensor"],
)  # fmt: skip
def test_what_is_held_in_any_way_is_never_overwritten(ends, hold):
    held = [hold(ends.answer(screen(number))) for number in range(12)]
    for number, kept in enumerate(held):
        assert np.array_equal(np.unique(np.asarray(kept)), [number])
    assert ends.size < 5 * screen(0).nbytes + mmap.PAGESIZE  # the memory does not grow with what is kept
    del held, kept
    assert is_shared(ends.answer(screen(99)))


def test_screens_may_grow_and_shrink(ends):
    sizes = [10, 200, 30, 200, 500, 10]
    kept = [ends.answer(screen(number, (size, 7, 3))) for number, size in enumerate(sizes)]
    assert [array.shape for array in kept] == [(size, 7, 3) for size in sizes]
    assert [int(array.max()) for array in kept] == list(range(6)) == [int(array.min()) for array in kept]


def test_screens_outlive_their_channel(ends):
    kept = ends.answer(screen(7))
    ends.parent.close()
    assert kept.min() == kept.max() == 7
    with pytest.raises(EOFError):
        ends.child.receive()
