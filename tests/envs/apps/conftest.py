"""Fixtures for tests of what apps' tasks accept and refuse."""

import pytest

from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.tasks.words import ParamRng


@pytest.fixture(scope="module")
def made_device():
    """AndroidWorld's phone, made once for a module."""
    return PhoneDevice(270, 600)


@pytest.fixture
def device(made_device):
    """AndroidWorld's phone as new."""
    made_device.reset_state()
    return made_device


@pytest.fixture
def begin(device):
    """Makes an instance of a family, with some parameters of the test's own, and sets the phone up for it."""

    def begun(family, seed=0, **params):
        task = family({**family.sample(ParamRng(seed)), **params})
        task.setup(device)
        assert task.evaluate(device, None) == 0.0
        return task

    return begun


@pytest.fixture
def empty_storage(device):
    """Removes the user's files from the phone, as a confused agent might."""

    def empty():
        for folder in ("DCIM", "Download", "Pictures", "Music", "VLCVideos", "Documents", "Android"):
            device.remove(f"/sdcard/{folder}")

    return empty


@pytest.fixture
def accepts(device):
    """Checks which answers a question counts as right, each on a phone that is set up afresh."""

    def check(task, right, wrong):
        scores = {}
        for answer in (*right, *wrong, None, "", " "):
            device.reset_state()
            task.setup(device)
            scores[answer] = task.evaluate(device, answer)
        assert {answer for answer, score in scores.items() if score == 1.0} == set(right)
        assert set(scores.values()) <= {0.0, 1.0}

    return check
