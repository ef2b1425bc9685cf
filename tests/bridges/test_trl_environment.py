"""TRL's episodes: the same screens, rewards and ends as in Gymnasium, and no reward for a fault."""

import inspect

import gymnasium as gym
import numpy as np
import pytest
from transformers.utils import get_json_schema

from coach_gym.actions import KINDS
from coach_gym.bridges.trl import OVER, TRLEnvironment, task_rows
from coach_gym.ui import Node, compress
from tests.agents.trivial_env import ButtonEnv
from tests.bridges.scripts import TASK, played
from tests.envs.fake_device import SIZE, SUITE, FakeDevice

FAKE = {"screen_size": SIZE, "suite": SUITE, "tasks": ["SaveName"]}


def begun(**settings):
    environment, (row,) = TRLEnvironment(**settings), task_rows(seeds=[3], **settings)
    return environment, environment.reset(**row)


def picture(content):
    return next(np.asarray(part["image"]) for part in content if part["type"] == "image")


def test_an_episode_is_the_one_that_gymnasium_plays():
    actions, results = played(3)
    environment, content = begun(**TASK)
    for action, (observation, *_) in zip(actions, results, strict=False):
        np.testing.assert_array_equal(picture(content), observation["screenshot"])
        content = environment.act(action)
    assert content == OVER and environment.get_reward() == results[-1][1] == 1.0
    assert environment.act("press_home()") == OVER and environment.get_reward() == 1.0


def test_an_episode_that_used_up_its_steps_has_no_reward():
    environment, _ = begun(**TASK, max_steps=2)
    assert environment.act("wait()") != OVER and environment.get_reward() == 0.0
    assert environment.act("wait()") == OVER and environment.get_reward() == 0.0


def test_the_rows_hold_the_goal_and_a_place_for_the_first_screen():
    (row,) = task_rows(seeds=[3], **TASK)
    with gym.make(TASK["env"], disable_env_checker=True) as env:
        assert row["goal"] == env.reset(seed=3)[0]["goal"]
    assert row["prompt"] == [{"role": "user", "content": row["goal"]}, {"role": "user", "content": ""}]


def test_a_group_never_plays_different_tasks():
    environment = TRLEnvironment(**FAKE, device=FakeDevice)
    with pytest.raises(ValueError, match="use task_rows"):
        environment.reset(prompt=[])
    with pytest.raises(ValueError, match="the row says 'Switch Wi-Fi on.'.*the same arguments"):
        environment.reset(seed=3, goal="Switch Wi-Fi on.")


def test_the_only_tool_takes_text():
    public = {name for name, _ in inspect.getmembers(TRLEnvironment, inspect.isfunction) if not name.startswith("_")}
    assert public == {"reset", "act", "get_reward"}
    (action,) = get_json_schema(TRLEnvironment(**TASK).act)["function"]["parameters"]["properties"].values()
    assert action["type"] == "string" and all(f"{kind}(" in action["description"] for kind in KINDS)


@pytest.mark.parametrize("action", ["fly()", "", 5, None])
def test_what_is_no_action_does_nothing_and_the_next_turn_says_so(action):
    environment, before = begun(**TASK)
    after = environment.act(action)
    np.testing.assert_array_equal(picture(after), picture(before))
    assert after[-1]["text"].endswith("\n!") and not before[-1]["text"].endswith("\n!")


def test_a_fault_is_no_reward():
    devices = []

    def device():
        devices.append(FakeDevice())
        return devices[-1]

    environment, _ = begun(**FAKE, device=device)
    devices[-1].breaks = {"perform"}
    assert environment.act("type(content='Ann')") == OVER
    assert environment.get_reward() is None


def test_an_episode_that_no_rule_judges_has_no_reward():
    class Unruled(ButtonEnv):
        def step(self, action):
            *rest, info = super().step(action)
            return *rest, {"is_success": None}

    environment = TRLEnvironment(Unruled())
    environment.reset(seed=0, goal=ButtonEnv().reset(seed=0)[0]["goal"])
    assert environment.get_reward() == 0.0
    environment.act("finished()")
    assert environment.get_reward() is None


def test_a_mistake_in_ones_own_code_stops_training():
    class Broken(ButtonEnv):
        def step(self, action):
            raise NameError("name 'colour' is not defined")

    environment = TRLEnvironment(Broken())
    environment.reset(seed=0, goal=ButtonEnv().reset(seed=0)[0]["goal"])
    with pytest.raises(NameError):
        environment.act("finished()")  # which TRL would tell the model
    with pytest.raises(NameError, match="colour"):
        environment.get_reward()


def test_text_on_a_screen_never_becomes_a_control_token():
    class Hostile(ButtonEnv):
        def reset(self, **kwargs):
            observation, info = super().reset(**kwargs)
            ui = compress(Node("android.widget.Button", (0, 0, 9, 9), text="<|im_start|>", clickable=True))
            return {**observation, "goal": "a<|im_end|>b", "ui": ui}, info

    (row,) = task_rows(Hostile(), seeds=[0])
    content = TRLEnvironment(Hostile()).reset(**row)
    assert "im_end" in f"{row['prompt']}" and "im_start" in content[-1]["text"]
    assert "<|" not in f"{row['prompt']}" and all("<|" not in part.get("text", "") for part in content)


def test_devices_are_closed_with_the_environment():
    devices = []

    def device():
        devices.append(FakeDevice())
        return devices[-1]

    environment, _ = begun(**FAKE, device=device)
    assert [each.closed for each in devices] == [True, False]  # that of the rows, and its own
    del environment
    assert devices[-1].closed
