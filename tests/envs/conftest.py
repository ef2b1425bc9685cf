"""Fixtures that several modules share; one that defines its own of the same name goes before."""

import pytest

from coach_gym.envs.profiles import world_phone


@pytest.fixture(scope="module")
def made():
    """A phone, made once for a module, and how it was then."""
    phone = world_phone(270, 600)
    return phone, phone.snapshot()


@pytest.fixture
def phone(made):
    """A phone as new."""
    phone, fresh = made
    phone.restore(fresh)
    return phone
