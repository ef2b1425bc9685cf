"""Fixtures that several modules share; one that defines its own of the same name goes before."""

import pytest
from hypothesis import HealthCheck, settings

from coach_gym.envs.profiles import world_phone

# a busy machine is no failure
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


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
