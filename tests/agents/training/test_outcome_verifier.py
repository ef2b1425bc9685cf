"""Agents learn from the verdicts of an outcome verifier, and never from episodes without one."""

from contextlib import nullcontext

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, GRPOAgent, PPOAgent
from coach_gym.agents.judging.verifiers import FirstVerdict, Rules
from coach_gym.agents.training.logs.logger import Logger
from coach_gym.agents.training.logs.rollout_log import log_judges
from coach_gym.episode import Episode
from tests.agents import tiny
from tests.agents.judging.scripted_server import serving
from tests.agents.judging.test_verifiers import NO, YES
from tests.agents.trivial_env import LETTERS, ButtonEnv


class WithoutRule(gym.Wrapper):
    """An environment whose tasks for red have no rule."""

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated and self.env.unwrapped.colour == "red":
            return observation, 0.0, terminated, truncated, {"is_success": None}
        return observation, reward, terminated, truncated, info


class ByLetter:
    """Knows the right button."""

    def __init__(self) -> None:
        self.asked: list[Episode] = []

    def verify(self, episodes):
        self.asked += episodes
        return [float(each.steps[-1].action[:1] == LETTERS[each.goal.split()[-1].strip(".")]) for each in episodes]


class Broken:
    def verify(self, episodes):
        raise ConnectionError("HTTP 429")


def make(verifier, colours=("red",), method=CoachAgent, **settings):
    envs = SyncVectorEnv([lambda: WithoutRule(ButtonEnv(colours=colours)) for _ in range(4)])
    size = {"group_size": 4} if method is GRPOAgent else {}
    return method(
        tiny.policy(), envs, batch_size=4, max_new_tokens=3, seed=0, outcome_verifier=verifier, **size, **settings
    )


@pytest.mark.parametrize("method", [CoachAgent, PPOAgent, GRPOAgent])
def test_a_verifier_is_the_source_of_outcomes(method):
    verifier = ByLetter()
    agent = make(verifier, method=method)
    groups = agent.collect_rollouts()
    episodes = [episode for group in groups for episode in group]
    assert len(episodes) == 4 and verifier.asked == episodes
    assert all(episode.outcome == float(episode.steps[-1].action[:1] == "a") for episode in episodes)
    assert len(agent.ep_success_buffer) == 4


def test_rules_come_first_where_there_are_any():
    verifier = ByLetter()
    agent = make(FirstVerdict(Rules(), verifier), colours=("red", "blue"), method=PPOAgent)
    for _ in range(3):
        agent.collect_rollouts()
    goals = {episode.goal for episode in verifier.asked}
    assert len(goals) == 1 and "red" in goals.pop()


def test_what_nobody_judged_is_unknown_and_logged():
    agent = make("rules")
    agent.set_logger(Logger(None, []))
    assert agent.collect_rollouts() == []
    assert agent.logger.name_to_value["rollout/unverified"] == 1.0
    assert not agent.ep_success_buffer


def test_a_verifier_that_raises_ends_no_training():
    agent = make(Broken())
    with pytest.warns(UserWarning, match="no verdict on 4 episodes: ConnectionError: HTTP 429"):
        agent.learn(4)
    assert agent.num_timesteps >= 4 and agent.n_updates == 0


def test_training_goes_on_while_a_verifier_is_gone_and_learns_again_when_it_is_back():
    class Server(ByLetter):
        gone = False

        def verify(self, episodes):
            if self.gone:
                raise ConnectionError("connection refused")
            return super().verify(episodes)

    verifier = Server()
    agent = make(verifier, malformed_is_worthless=False)
    updates, steps = [], []
    for gone in (False, True, True, False):
        verifier.gone = gone
        with pytest.warns(UserWarning, match="connection refused") if gone else nullcontext():
            agent.learn(4, reset_num_timesteps=False)
        updates.append(agent.n_updates)
        steps.append(agent.num_timesteps)
    assert steps == sorted(set(steps))
    assert 0 < updates[0] == updates[1] == updates[2] < updates[3]


class Mistyped:
    def verify(self, episodes):
        return [epsiode.outcome for _ in episodes]  # noqa: F821


def test_a_mistake_in_a_verifier_ends_the_training_with_its_traceback():
    with pytest.raises(NameError, match="epsiode") as raised:
        make(Mistyped()).learn(4)
    assert raised.traceback[-1].path.samefile(__file__) and "judge_errors='unknown'" in raised.value.__notes__[0]
    with pytest.warns(UserWarning, match="no verdict on 4 episodes: NameError"):
        make(Mistyped(), judge_errors="unknown").learn(4)


@pytest.mark.parametrize("error", [ConnectionError("HTTP 429"), KeyError("choices")])
def test_a_process_reward_model_of_ones_own_in_trouble_leaves_steps_unjudged(error):
    class Model:
        def score(self, goal, steps):
            raise error

    agent = make(Rules(), colours=("green",), reward_model=Model())
    if isinstance(error, KeyError):
        with pytest.raises(KeyError, match="choices"):
            agent.learn(4)
        return
    with pytest.warns(UserWarning, match="process reward model gave no verdict on 1 steps: ConnectionError"):
        agent.learn(4)
    assert agent.num_timesteps >= 4


def test_a_judge_behind_a_server_is_named_saved_and_its_tokens_are_logged(tmp_path):
    replies = [YES, NO]
    with serving(lambda number, request: replies[number % 2]) as server:
        agent = make(f"openai:judge@{server.url}", tensorboard_log=None)
        agent.set_logger(Logger(None, []))
        agent.learn(4, log_interval=None)
        assert {0.0, 1.0} == set(np.array(agent.ep_success_buffer).tolist())
        log_judges(agent.logger)
        assert agent.logger.name_to_value["judge/prompt_tokens"] >= 400
        agent.save(tmp_path / "agent")
        again = CoachAgent.load(tmp_path / "agent")
        assert again.arguments["outcome_verifier"] == f"openai:judge@{server.url}"
