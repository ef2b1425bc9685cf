"""Our environments behind OpenEnv, played by its own client over a real server on this computer."""

import base64
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym
import numpy as np
import pytest
from openenv.core import GenericEnvClient
from starlette.testclient import TestClient

import coach_gym  # noqa: F401
from coach_gym.bridges.openenv_server import PhoneAction, PhoneEnvironment, make_app
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.suites.in_order import InOrder
from tests.coach_gym.bridges.played import SIZE, expert_actions, pixels_of

CONTACT, BRIGHTNESS = "ContactsAddContact", "SystemBrightnessMax"
HOSTILE = "<script>hacked()</script>"


class Broken(PhoneDevice):
    """A phone that fails when it is touched."""

    def perform(self, action):
        raise ConnectionError("the cable is out")


@pytest.fixture(scope="module")
def address():
    command = [sys.executable, "-m", "coach_gym", "openenv", "--port", "0", "--sessions", "2"]
    process = subprocess.Popen([*command, "--screen_size", json.dumps(SIZE)], stdout=subprocess.PIPE, text=True)
    yield re.match(r"(http://127\.0\.0\.1:\d+)/ ", process.stdout.readline())[1]
    process.terminate()
    process.communicate(timeout=30)


def client(address):
    return GenericEnvClient(base_url=address).sync()


def ask(address, path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **headers}
    with urllib.request.urlopen(urllib.request.Request(address + path, data, headers), timeout=60) as answer:
        return answer.read().decode()


def test_sessions_play_side_by_side_with_a_phone_each_and_a_third_is_refused(address):
    actions = [expert_actions("AndroidWorld-v0", seed, CONTACT) for seed in (3, 4)]
    with client(address) as one, client(address) as other:
        goals = [each.reset(seed=seed, task=CONTACT).observation["goal"] for each, seed in ((one, 3), (other, 4))]
        assert goals[0] != goals[1]
        with client(address) as third, pytest.raises(Exception, match="(?i)capacity|max"):
            third.reset()
        with ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(_play, (one, other), actions))
    assert [(end.reward, end.done, end.metadata["is_success"]) for end in ends] == [(1.0, True, True)] * 2


def _play(session, actions):
    for action in actions:
        result = session.step({"text": action})
    return result


def test_the_task_api_lists_what_reset_begins(address):
    assert [each["name"] for each in json.loads(ask(address, "/coach_gym/splits"))] == ["train", "validation", "test"]
    goals = {}
    for split in ("train", "test"):
        number = json.loads(ask(address, "/coach_gym/num_tasks", {"split": split}))["num_tasks"]
        last = json.loads(ask(address, "/coach_gym/task", {"split": split, "index": number - 1}))["task"]
        env = InOrder(gym.make("AndroidWorld-v0", screen_size=SIZE, split=split))
        observation, info = env.reset(seed=number - 1)
        with client(address) as session:
            begun = session.reset(split=split, index=number - 1)
        assert last["goal"] == begun.observation["goal"] == observation["goal"] and last["task"] == info["task"]
        assert begun.metadata["split"] == split
        assert np.array_equal(pixels_of(base64.b64decode(begun.observation["screenshot"])), observation["screenshot"])
        part = json.loads(ask(address, "/coach_gym/task_range", {"split": split, "start": 0, "stop": 40}))["tasks"]
        goals[split] = {each["goal"] for each in part}
        env.close()
    assert len(goals["test"]) > 30 and goals["test"] != goals["train"]
    for wrong in ({"split": "test", "index": 10**6}, {"split": "test", "index": -1}):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(address, "/coach_gym/task", wrong)
        assert refused.value.code == 400


def test_what_is_wrong_is_said_and_the_session_goes_on(address):
    with client(address) as session:
        for wrong, said in (
            ({"split": "nonsense"}, "nonsense"), ({"colour": 1}, "options"), ({"task": "NoSuch"}, "NoSuch"),
        ):  # fmt: skip
            with pytest.raises(RuntimeError, match=said):
                session.reset(**wrong)
        session.reset(seed=0, task=CONTACT)
        result = session.step({"text": "no action at all"})
        assert "holds no action" in result.observation["last_action_error"] and not result.done
        assert session.state()["step_count"] == 1 and session.state()["task"] == CONTACT


def test_the_page_is_there_and_only_for_this_computer(address):
    assert "gradio" in ask(address, "/web/")
    for headers, code in (({"Host": "evil.example"}, 400), ({"Origin": "http://evil.example"}, 403)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(address, "/web/reset", {}, **headers)
        assert refused.value.code == code
    stranger = GenericEnvClient(base_url=address, headers={"Origin": "http://evil.example"}).sync()
    with pytest.raises(ConnectionError):
        stranger.connect()


def test_the_page_plays_an_episode():
    with TestClient(make_app("AndroidWorld/SystemBrightnessMax-v0", 1, screen_size=SIZE), "http://localhost") as page:
        begun = page.post("/web/reset", json={"seed": 0}).json()
        assert "brightness" in begun["observation"]["goal"]
        step = page.post("/web/step", json={"action": {"text": "finished()"}}).json()
        assert (step["done"], step["reward"]) == (True, 0.0)


def test_the_page_draws_the_screen_with_hostile_text_escaped():
    env = PhoneEnvironment("AndroidWorld/SystemBrightnessMax-v0", screen_size=SIZE)
    observation = env.reset(seed=0).model_dump() | {"goal": HOSTILE, "last_action_error": HOSTILE}
    drawn = env.render_web(observation)
    assert HOSTILE not in drawn and drawn.count("&lt;script&gt;") == 2 and observation["screenshot"] in drawn
    shortcuts = dict(env.web_actions(observation))
    assert "Settings" in env.step(PhoneAction(**shortcuts["Settings"])).ui
    env.close()


def test_a_fault_is_no_verdict():
    env = PhoneEnvironment("AndroidWorld/SystemBrightnessMax-v0", screen_size=SIZE, device=lambda: Broken(*SIZE))
    env.reset(seed=0)
    end = env.step(PhoneAction(text="press_back()"))
    assert (end.done, end.reward, end.metadata["is_success"]) == (True, None, None)
    assert "the cable is out" in end.metadata["fault"] and end.metadata["truncated"]
    env.close()


def test_no_device_no_verdict():
    def fails():
        raise ConnectionError("no such port")

    env = PhoneEnvironment("AndroidWorld/SystemBrightnessMax-v0", screen_size=SIZE, device=fails)
    begun = env.reset(seed=0)
    assert (begun.done, begun.reward) == (True, None) and "no such port" in begun.metadata["fault"]
