"""verifiers' own evaluation plays episodes on the embedded phone, against an OpenAI-compatible server on loopback."""

import asyncio
import re
import tomllib

import numpy as np
import pytest

pytest.importorskip("verifiers.v1", reason="verifiers is in the environment of make test-bridges")

from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig

from coach_gym.envs.devices.phone import PhoneDevice
from tests.bridges.chat_server import screens, serving, texts
from tests.bridges.evaluations import evaluated
from tests.bridges.scripts import TASK, played
from tests.bridges.test_pages import PAGE


class Loses(PhoneDevice):
    """A phone whose first action is its last."""

    def perform(self, action):
        raise ConnectionError("the cable is out")


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("NO_KEY_NEEDED", "none")


def test_an_episode_is_the_one_that_gymnasium_plays(tmp_path):
    actions, results = played(3)
    goal = results[0][0]["goal"]
    with serving({goal: actions}) as server:
        (episode,) = evaluated(server, tmp_path)
    (trace,) = episode.traces
    assert episode.ok and trace.reward == results[-1][1] == 1.0 and trace.num_turns == len(actions)
    assert trace.metrics["steps"] == len(actions) and trace.task.data.name == f"{TASK['env']}#3"
    for number, asked in enumerate(server.asked):
        shown = screens(asked)
        assert len(shown) == number + 1 and goal in texts(asked)
        for screen, (observation, *_) in zip(shown, results, strict=False):
            np.testing.assert_array_equal(screen, observation["screenshot"])


def test_what_does_not_solve_the_task_has_reward_0(tmp_path):
    with serving({"": ["no action at all", "finished()"]}) as server:
        (episode,) = evaluated(server, tmp_path)
    assert episode.ok and episode.traces[0].reward == 0.0
    assert "not carried out" in texts(server.asked[1][-1:])


def test_a_limit_of_verifiers_ends_an_episode_without_reward(tmp_path):
    with serving({"": ["wait()"] * 9}) as server:
        (episode,) = evaluated(server, tmp_path, player={"max_turns": 2})
    assert episode.ok and episode.traces[0].reward == 0.0 and len(server.asked) == 2


def test_episodes_play_side_by_side_and_their_devices_are_used_again(tmp_path):
    with serving({"": ["wait()", "finished()"]}) as server:
        episodes = evaluated(server, tmp_path, tasks=5)
    assert [episode.ok for episode in episodes] == [True] * 5
    assert sorted(episode.traces[0].task.data.seed for episode in episodes) == [3, 4, 5, 6, 7]
    assert len(server.asked) == 10


def test_a_fault_fails_the_episode_and_has_no_reward(tmp_path, monkeypatch):
    monkeypatch.setattr("coach_gym.envs.devices.phone.PhoneDevice", Loses)
    with serving({"": ["wait()"] * 9}) as server:
        (episode,) = evaluated(server, tmp_path)
    assert not episode.ok and "the cable is out" in episode.errors[-1].message
    assert "verdict" not in episode.traces[0].rewards


def test_the_settings_of_the_page_are_valid(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "none")
    (block,) = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    settings = tomllib.loads(block)
    with serving({"": ["?"] * 4}) as server:
        settings["client"]["base_url"], settings["env"]["player"]["max_turns"] = server.url, 1
        settings["env"]["taskset"]["seeds"] = 1
        episodes = asyncio.run(run_eval(EvalConfig(**settings, rich=None, output_dir=tmp_path, run={"dir": "run"})))
    assert [episode.ok for episode in episodes] == [True] * 4 and len(server.asked) == 4
