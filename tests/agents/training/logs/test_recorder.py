"""Episodes of a training are kept with what the agent made of them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, EvalCallback, GRPOAgent, evaluate
from coach_gym.agents.training.logs.recorder import EpisodeRecorder
from coach_gym.recording.store import find_stores, load_episodes, read_index, read_trajectory
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import warm_policy

K = 3


class Reasoning:
    """Approves of every step, and says why."""

    def score(self, goal, steps):
        from coach_gym.agents.models.reward_models import parse_judgment

        return [parse_judgment(f"<think>because {goal}</think> judgment:True") for _ in steps]


def buttons(**settings) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: ButtonEnv(**settings)] * 2)


def coach(**settings) -> CoachAgent:
    return CoachAgent(
        warm_policy(), buttons(steps=2), 1e-3, k=K, batch_size=4, max_new_tokens=2, seed=0, verbose=0,
        malformed_is_worthless=False, **settings,
    )  # fmt: skip


def test_q_of_kept_episodes_can_be_recomputed(tmp_path: Path) -> None:
    agent = coach(reward_model=Reasoning())
    agent.learn(4, EpisodeRecorder(folder=tmp_path, most_time=1.0))
    kept = list(load_episodes(tmp_path))
    assert len(kept) == 4 and all(len(step.candidates) == K for episode in kept for step in episode.steps)
    with torch.no_grad():
        for episode in kept:
            q = torch.stack(agent.critic.q_values(agent.tree(episode)))
            stored = torch.tensor([[candidate.q for candidate in step.candidates] for step in episode.steps])
            assert stored.std() > 0 and torch.allclose(q, stored, atol=1e-5, rtol=0)
            others = (stored.sum(1, keepdim=True) - stored) / (K - 1)
            advantages = [[candidate.advantage for candidate in step.candidates] for step in episode.steps]
            assert np.allclose(advantages, stored - others, atol=1e-5)


def test_verdicts_come_with_their_reasoning(tmp_path: Path) -> None:
    coach(reward_model=Reasoning()).learn(4, EpisodeRecorder(folder=tmp_path, most_time=1.0))
    for episode in load_episodes(tmp_path):
        assert episode.last is not None and episode.seed is not None
        assert {(step.process_reward, step.reasoning) for step in episode.steps} == {(1.0, f"because {episode.goal}")}


def test_runs_keep_episodes_by_default(tmp_path: Path) -> None:
    agent = coach(tensorboard_log=tmp_path)
    agent.learn(8, EvalCallback(buttons(), eval_freq=2, n_eval_episodes=3, verbose=0))
    (store,) = find_stores(tmp_path)
    assert store == tmp_path / "CoachAgent_1" / "episodes"
    phases = [row["phase"] for row in read_index(store)]
    assert phases.count("evaluation") % 3 == 0 and {"evaluation", "train"} == set(phases)


@pytest.mark.parametrize("share, written", [(0.0, 0), (0.01, 1), (0.5, 4), (1.0, 8)])
def test_share(share: float, written: int, tmp_path: Path) -> None:
    agent = GRPOAgent(tiny.policy(), buttons(), 1e-3, batch_size=8, group_size=2, max_new_tokens=2, seed=0)
    agent.learn(8, EpisodeRecorder(share, tmp_path, most_time=1.0))
    assert len(read_index(tmp_path)) == written


def test_time_is_bounded(tmp_path: Path) -> None:
    agent = GRPOAgent(tiny.policy(), buttons(), 1e-3, batch_size=8, group_size=2, max_new_tokens=2, seed=0)
    agent.learn(8, EpisodeRecorder(folder=tmp_path, most_time=0.0))
    assert len(read_index(tmp_path)) <= 1


def test_evaluation_keeps_what_the_policy_said(tmp_path: Path) -> None:
    policy = coach()
    evaluation = evaluate(policy, buttons(), 3, keep=tmp_path, timesteps=12)
    rows = read_index(tmp_path)
    assert [row["outcome"] for row in rows] and len(rows) == 3 and rows[0]["timesteps"] == 12
    assert sorted(row["seed"] for row in rows) == sorted(result.seed for result in evaluation.results)
    for row, episode in zip(rows, load_episodes(tmp_path), strict=True):
        assert all(step.candidates[0].token_ids for step in episode.steps)
        assert read_trajectory(tmp_path, row["id"])["extra"]["phase"] == "evaluation"


def test_a_full_disk_does_not_end_the_training(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, where the folder should be")
    with pytest.warns(UserWarning, match="no more episodes are kept"):
        coach().learn(4, EpisodeRecorder(folder=tmp_path / "taken", most_time=1.0))
