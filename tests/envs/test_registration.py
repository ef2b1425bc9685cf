"""The Gymnasium ids and the command line."""

import os
import subprocess
import sys
from functools import partial

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

import coach_gym  # noqa: F401  (registers the ids)
from coach_gym.__main__ import main
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.registration import env_ids

SMALL = {"screen_size": (270, 600)}
SAMPLE = [
    "AndroidWorld-v0", "AndroidLab-v0", "AndroidSight-v0", "AndroidWorldAndLab-v0",
    "AndroidWorld/ContactsAddContact-v0",
]  # fmt: skip
CHECKED = env_ids() if os.environ.get("COACH_CHECK_ALL") else SAMPLE


def test_every_task_has_an_id_and_every_suite():
    assert set(SAMPLE) <= set(env_ids())
    families = [load_suite(benchmark).families for benchmark in ("android_world", "android_lab", "android_sight")]
    assert len(env_ids()) == 4 + sum(map(len, families))


@pytest.mark.parametrize("id", CHECKED)
def test_ids_pass_gymnasiums_checker(id):
    env = gym.make(id, render_mode="rgb_array", **SMALL)
    check_env(env.unwrapped)


@pytest.mark.parametrize("id", ["AndroidWorld-v0", "AndroidWorldAndLab-v0"])
def test_a_first_reset_that_is_refused_does_not_spoil_the_steps(id):
    env = gym.make(id, **SMALL)
    with pytest.raises(ValueError):
        env.reset(options={"tsk": "x"})
    env.reset(seed=0)
    assert len(env.step("press_home()")) == 5


@pytest.mark.parametrize("render_mode", [5, b"human", ["rgb_array"]])
@pytest.mark.parametrize("id", ["AndroidWorld-v0", "AndroidWorldAndLab-v0"])
def test_a_render_mode_that_is_no_text_is_refused(id, render_mode):
    for make in (gym.make, partial(gym.make_vec, vectorization_mode="vector_entry_point")):
        with pytest.raises(TypeError, match="^render_mode=.* is of type .*; pass None, 'rgb_array' or 'human'$"):
            make(id, render_mode=render_mode)


def test_a_task_id_is_that_task():
    env = gym.make("AndroidWorld/ContactsAddContact-v0", **SMALL)
    assert {env.reset(seed=seed)[1]["task"] for seed in range(5)} == {"ContactsAddContact"}


def test_seeds_fix_the_phone():
    env = gym.make("AndroidWorld-v0", **SMALL)
    first, again = env.reset(seed=11)[0], env.reset(seed=11)[0]
    assert first["ui"] == again["ui"] and (first["screenshot"] == again["screenshot"]).all()


def test_make_vec_gives_our_vector_environment():
    envs = gym.make_vec("AndroidWorld-v0", num_envs=2, vectorization_mode="vector_entry_point", **SMALL)
    assert isinstance(envs, AndroidVectorEnv)
    _, infos = envs.reset(seed=0)
    assert infos["device"].tolist() == ["embedded phone"] * 2 and infos["suite"].tolist() == ["builtin"] * 2
    envs.close()


@pytest.mark.parametrize("id", ["AndroidWorld-v0", "AndroidWorldAndLab-v0"])
def test_more_environments_than_there_are_threads_for_are_refused(id):
    with pytest.raises(ValueError, match="^num_envs=1000000000 is too large; pass 16384 or less$"):
        gym.make_vec(id, num_envs=10**9, vectorization_mode="vector_entry_point", **SMALL)


def test_importing_the_package_is_light():
    """Neither the phone nor anything that learns: ids must cost nothing to those who only list them."""
    heavy = "[m for m in ('torch', 'transformers', 'coach_gym.envs.phone.phone') if m in sys.modules]"
    run = subprocess.run(
        [sys.executable, "-c", f"import sys, coach_gym; print({heavy})"], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_the_command_line_lists_the_ids(capsys):
    main(["envs"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == env_ids()
    assert any("ContactsAddContact-v0" in line and "Contacts" in line and "easy" in line for line in lines)


def test_the_command_line_asks_for_a_command(capsys):
    with pytest.raises(SystemExit):
        main([])
    assert "command" in capsys.readouterr().err


@pytest.mark.parametrize("id", [id for id in env_ids() if "/" in id][::17])
def test_a_single_task_needs_no_options(id):
    env = gym.make(id, **SMALL)
    observation, info = env.reset(seed=3)
    assert id == f"{id.split('/')[0]}/{info['task']}-v0" and observation["goal"]
    assert "fault" not in info


@pytest.mark.parametrize("id", ["AndroidWorld-v0", "AndroidLab-v0", "AndroidSight-v0"])
def test_a_suite_draws_many_of_its_tasks(id):
    env = gym.make(id, **SMALL)
    drawn = {env.reset(seed=seed)[1]["task"] for seed in range(40)}
    assert len(drawn) > 10 and drawn <= set(env.unwrapped.suite.families)


def test_ids_take_the_arguments_of_the_environment():
    env = gym.make("AndroidLab-v0", tasks=["ClockAddAlarm"], max_steps=2, split="validation", unseen="words", **SMALL)
    _, info = env.reset(seed=0)
    assert (info["task"], info["budget"], info["suite"]) == ("ClockAddAlarm", 2, "builtin")
    assert [env.step("press_home()")[3] for _ in range(2)] == [False, True]
