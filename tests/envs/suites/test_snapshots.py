"""Every screen that an expert visits can be snapshotted and restored exactly, on every app."""

import random

import gymnasium as gym
import numpy as np
import pytest

import coach_gym  # noqa: F401  registers the environments
from coach_gym.envs.suites import android_lab, android_world
from coach_gym.envs.tasks.screen import Screen
from coach_gym.ui import compress

SUITES = {"AndroidWorld": android_world.TASKS, "AndroidLab": android_lab.TASKS}
ONE_PER_APP = sorted({task.apps[0]: (suite, task.name) for suite in SUITES for task in SUITES[suite]}.items())


@pytest.mark.parametrize("app, family", ONE_PER_APP, ids=[app for app, _ in ONE_PER_APP])
def test_restoring_any_step_and_going_on_leads_to_the_same_end(app, family):
    suite, name = family
    env = gym.make(f"{suite}/{name}-v0", screen_size=(270, 600))
    observation, info = env.reset(seed=1)
    device = env.unwrapped._device
    screen, snapshots = Screen(), []
    screen.update(observation)
    for action in env.unwrapped.suite.expert(name)(screen, dict(info["params"])):
        snapshots.append((device.phone.snapshot(), device.screenshot(), compress(device.ui()), action))
        observation, *_ = env.step(action)
        screen.update(observation)
    final = compress(device.ui())
    saved, frame, text, _ = snapshots[random.Random(0).randrange(len(snapshots))]
    device.phone.restore(saved)
    assert np.array_equal(device.screenshot(), frame) and compress(device.ui()) == text
    start = next(i for i, entry in enumerate(snapshots) if entry[0] is saved)
    for *_, action in snapshots[start:]:
        device.perform(_parsed(action))
    assert compress(device.ui()) == final


def _parsed(action):
    from coach_gym.actions import parse_action

    return parse_action(action)[1]
