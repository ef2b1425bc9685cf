"""Our environments behind the Open Reward Standard, played by its own client over a real server on this computer."""

import urllib.error
import urllib.request
from contextlib import contextmanager

import gymnasium as gym
import pytest
from ors.client import ORS, Task

from coach_gym.bridges.ors_server import NAME, make_app
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.suites.in_order import InOrder
from coach_gym.live.serving import listening

SIZE = (270, 600)


class Broken(PhoneDevice):
    """A phone that fails when it is touched."""

    def perform(self, action):
        raise ConnectionError("the cable is out")


@contextmanager
def serving(**settings):
    with listening(lambda _: make_app("AndroidWorld-v0", screen_size=SIZE, **settings), 0) as address:
        with ORS(base_url=address) as client:
            yield address, client.environment(NAME)


def seeded(seed):
    return Task(environment_name=NAME, task_spec={"seed": seed})


def test_a_listed_task_is_the_one_that_a_session_plays():
    with serving() as (_, env), InOrder(gym.make("AndroidWorld-v0", screen_size=SIZE, split="test")) as reference:
        assert env.list_splits() == ["train", "validation", "test"]
        last = env.num_tasks("test") - 1
        observation, info = reference.reset(seed=last)
        listed = env.get_task("test", last)
        assert (listed.task_spec["goal"], listed.task_spec["task"]) == (observation["goal"], info["task"])
        (described,) = env.list_tools()
        assert described.name == "act" and "click(" in str(described.input_schema)
        for chosen in ({"task": listed}, {"split": "test", "index": last}):
            with env.session(**chosen) as session:
                goal, image, text = session.get_prompt()
                assert (goal.text, text.text, image.mimeType) == (observation["goal"], observation["ui"], "image/png")


def test_sessions_have_a_phone_each_and_what_did_nothing_is_said():
    with serving() as (_, env):
        with env.session(task=seeded(3)) as one, env.session(task=seeded(4)) as other:
            assert one.get_prompt()[0].text != other.get_prompt()[0].text
            refused = one.call_tool("act", {"action": "no action at all"})
            assert "did nothing" in refused.blocks[2].text and not refused.finished
            assert len(other.call_tool("act", {"action": "wait()"}).blocks) == 2


def test_a_fault_is_no_verdict():
    with serving(device=lambda: Broken(*SIZE)) as (_, env), env.session(task=seeded(0)) as session:
        end = session.call_tool("act", {"action": "press_back()"})
    assert (end.finished, end.reward, end.metadata["is_success"]) == (True, None, None)
    assert "the cable is out" in end.metadata["fault"]


def test_only_this_computer_asks():
    with serving() as (address, _):
        request = urllib.request.Request(f"{address}list_environments", headers={"Origin": "http://evil.example"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=60)
    assert refused.value.code == 403
