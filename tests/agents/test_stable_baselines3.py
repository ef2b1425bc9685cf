"""Stable-Baselines3's own evaluation and callbacks take our agents and environments."""

import numpy as np
import pytest
from gymnasium.vector import SyncVectorEnv
from stable_baselines3.common.callbacks import CheckpointCallback, EvalCallback, LogEveryNTimesteps
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

from coach_gym.agents import CoachAgent, evaluate
from coach_gym.agents.training.logs.logger import Logger
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv


@pytest.fixture
def agent():
    return CoachAgent(tiny.policy(), SyncVectorEnv([ButtonEnv] * 2), batch_size=2, max_new_tokens=3, seed=0)


def test_evaluate_policy_measures_what_ours_does(agent):
    rewards, lengths = evaluate_policy(agent, Monitor(ButtonEnv(colours=["red"])), 3, return_episode_rewards=True)
    ours = evaluate(agent, ButtonEnv(colours=["red"]), 3)
    assert rewards == [result.reward for result in ours.results] and lengths == [1, 1, 1]


def test_their_callbacks_evaluate_and_save(agent, tmp_path):
    evaluation = EvalCallback(
        Monitor(ButtonEnv()), n_eval_episodes=2, eval_freq=1, log_path=tmp_path, best_model_save_path=tmp_path,
        verbose=0,
    )  # fmt: skip
    agent.learn(2, [evaluation, CheckpointCallback(1, tmp_path, save_vecnormalize=True)])
    assert np.load(tmp_path / "evaluations.npz")["results"].shape == (1, 2)
    for name in ("best_model", "rl_model_2_steps.zip"):  # folders of that name
        assert CoachAgent.load(tmp_path / name).policy.eos == agent.policy.eos


def test_their_callback_writes_the_log_more_often(agent):
    dumped = []

    class Output:
        def write(self, values, excluded, step):
            dumped.append((step, "time/fps" in values))

        def close(self):
            pass

    agent.set_logger(Logger(None, [Output()]))
    agent.learn(4, LogEveryNTimesteps(2), log_interval=None)
    assert dumped == [(2, True), (4, True)]
