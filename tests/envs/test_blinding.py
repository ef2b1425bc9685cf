"""Controls: pictures that tell nothing, over text and rewards that stay true."""

import numpy as np
import pytest

from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.blinding import FixedPicture, ShuffledPicture
from coach_gym.envs.suites.play import play
from coach_gym.envs.vector import AndroidVectorEnv

LOOKED_AT = (
    "ChromePressColor",
    "ChromePressShape",
    "GalleryArrowDirection",
    "GalleryDeletePicture",
    "VlcPlaylistOfColor",
)


def make():
    return AndroidEnv("android_sight", screen_size=(270, 600), tasks=LOOKED_AT)


def shuffled():
    return ShuffledPicture(make(), make())


def fixed():
    return FixedPicture(make())


def success(env, episodes=40):
    """Of experts, which look: one that does not find what it looks for has failed."""
    solved = 0
    for seed in range(episodes):
        observation, info = env.reset(seed=seed)
        try:
            solved += play(env, observation, info).reward == 1.0
        except (LookupError, StopIteration, RuntimeError, ValueError):
            continue
    return solved / episodes


def test_a_fixed_picture_is_the_first_one_or_the_one_given():
    env = fixed()
    first = env.reset(seed=0)[0]["screenshot"]
    later = env.step("open_app(app_name='Files')")[0]["screenshot"]
    assert (later == first).all() and (env.reset(seed=1)[0]["screenshot"] == first).all()
    black = np.zeros((600, 270, 3), np.uint8)
    assert (FixedPicture(make(), black).reset(seed=0)[0]["screenshot"] == 0).all()


@pytest.mark.parametrize("control", [fixed, shuffled])
def test_all_but_the_picture_stays_true(control):
    env, plain = control(), make()
    actions = ["open_app(app_name='Files')", "open_app(app_name='Clock')", "nonsense", "finished()"]
    pairs = [(env.reset(seed=3)[0], plain.reset(seed=3)[0])]
    pairs += [(env.step(action)[0], plain.step(action)[0]) for action in actions]
    for seen, true in pairs:
        assert {key: seen[key] for key in ("goal", "ui", "last_action_error")} == {
            key: true[key] for key in ("goal", "ui", "last_action_error")
        }


def test_a_shuffled_picture_is_of_the_same_task_and_of_another_instance():
    env, plain = shuffled(), make()
    task = {"task": "ChromePressColor"}
    env.reset(seed=5, options=task), plain.reset(seed=5, options=task)
    seen, true = (e.step("open_app(app_name='Simple Gallery Pro')")[0]["screenshot"] for e in (env, plain))
    assert seen.shape == true.shape
    assert env.other.unwrapped._task.name == "ChromePressColor"
    assert env.other.unwrapped._task.params != env.unwrapped._task.params


def test_a_seed_fixes_the_other_instance():
    env = shuffled()
    pictures, again = ([env.reset(seed=7)[0]["screenshot"]] + _opened(env) for _ in range(2))
    assert all((one == other).all() for one, other in zip(pictures, again, strict=True))


def _opened(env):
    actions = ["open_app(app_name='Simple Gallery Pro')", "open_app(app_name='VLC')"]
    return [env.step(action)[0]["screenshot"] for action in actions]


def test_who_looks_fails_when_shown_something_else():
    assert success(make()) == 1.0
    assert success(shuffled()) <= 0.4  # chance is 0.16 to 0.25
    assert success(fixed()) <= 0.4


def test_several_run_side_by_side():
    envs = AndroidVectorEnv([shuffled, shuffled])
    observations, _ = envs.reset(seed=0)
    observations, *_ = envs.step(["open_app(app_name='Files')"] * 2)
    assert observations["screenshot"].shape == (2, 600, 270, 3)
    envs.close()


def test_the_other_instance_is_another_one_with_a_single_family_too():
    """There, an environment's first draw from its seed is the instance itself."""
    mine, other = (AndroidEnv("android_sight", screen_size=(270, 600), tasks=("GalleryTallestBar",)) for _ in range(2))
    goals = []
    reset = other.reset

    def watched(**arguments):
        observation, info = reset(**arguments)
        goals.append(observation["goal"])
        return observation, info

    other.reset = watched
    env = ShuffledPicture(mine, other)
    for seed in range(4):
        assert env.reset(seed=seed)[0]["goal"] != goals[-1]  # the names of pictures differ
