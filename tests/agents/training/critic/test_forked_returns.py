"""CoachAgent with returns that are measured on forks, for its critic or in place of it."""

import copy

import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, evaluate
from coach_gym.envs.errors import UsageError
from coach_gym.envs.make import make_vector_env
from coach_gym.envs.vector import AndroidVectorEnv
from tests.agents import tiny
from tests.agents.trivial_env import LETTERS, ButtonEnv
from tests.agents.warm_start import warm_policy


class Buttons(ButtonEnv):
    def fork(self):
        return copy.deepcopy(self)


def make(steps=2, **settings):
    torch.manual_seed(0)
    envs = AndroidVectorEnv([lambda: Buttons(steps=steps)] * 4)
    options = {"k": 4, "batch_size": 8, "max_new_tokens": 3, "seed": 0, "gamma": 0.9, **settings}
    return CoachAgent(warm_policy(), envs, options.pop("learning_rate", 1e-3), malformed_is_worthless=False, **options)


@pytest.mark.parametrize("collection", ["events", "rounds"])
def test_every_candidate_has_the_return_of_its_own_continuation(collection):
    agent = make(forks="policy", collection=collection, batch_size=32)  # enough that every case is among them
    episodes = [episode for group in agent.collect_rollouts() for episode in group]
    before = agent.num_timesteps
    differing = [s for e in episodes for s in e.steps if len({c.text for c in s.candidates}) > 1]
    assert differing and {id(s) for e in episodes for s in e.steps if s.env is not None} == set(map(id, differing))
    agent.assign_returns(episodes)
    agent.measure(episodes)
    seen = set()
    for episode in episodes:
        for t, (step, returns) in enumerate(zip(episode.steps, agent.known_returns(episode), strict=True)):
            assert step.env is None
            if not any(step is each for each in differing):
                continue
            for candidate, value in zip(step.candidates, returns.tolist(), strict=True):
                right = candidate.text[:1] == LETTERS[episode.goal]
                possible = {0.0} if not right else {1.0} if t == 1 else {0.0, 0.9}
                assert min(abs(value - each) for each in possible) < 1e-6
                seen.add((t, right, round(value, 3)))
                if candidate.text == step.candidates[step.executed].text:
                    assert value == pytest.approx(step.return_)
    assert {(0, True, 0.9), (1, True, 1.0), (0, False, 0.0)} <= seen
    assert agent.num_fork_steps > 0 and agent.num_timesteps == before


def test_the_policy_learns_from_measured_returns_without_the_critic(tmp_path):
    agent = make(steps=1, forks="policy", learning_rate=3e-3, batch_size=16)
    before = [p.clone() for p in agent.critic.parameters()]
    base = evaluate(agent, agent.env, 60, deterministic=False).success_rate
    agent.learn(160, log_interval=None)
    assert evaluate(agent, agent.env, 60, deterministic=False).success_rate > base + 0.2
    assert all(map(torch.equal, before, agent.critic.parameters()))
    agent.save(tmp_path / "agent")
    assert CoachAgent.load(tmp_path / "agent").num_fork_steps == agent.num_fork_steps > 0


def test_the_critic_learns_from_forks_how_candidates_differ():
    gaps = {}
    for forks in (None, "critic"):
        agent = make(
            steps=1, forks=forks, learning_rate=0.0, critic_learning_rate=2e-3, critic_warmup_ratio=0.0,
            critic_epochs=10, critic_contrast=4.0,
        )  # fmt: skip
        seen = []
        agent.log_training = lambda seen=seen, **values: seen.append(values)
        agent.learn(1, log_interval=None)
        gaps[forks] = [values["q_spread"] for values in seen if "q_spread" in values][-1]
    assert gaps["critic"] > 2 * gaps[None]


def test_what_is_unknown_after_a_fault_is_neither_better_nor_worse():
    agent = make(steps=1, forks="policy")
    (episode, *_) = [e for (e,) in agent.collect_rollouts() if len({c.text for c in e.steps[0].candidates}) > 1]
    agent.assign_returns([episode])
    agent.measure([episode])
    texts = [candidate.text for candidate in episode.steps[0].candidates]
    lost = next(c for c in episode.steps[0].candidates if c.text != texts[0])
    lost.return_ = float("nan")
    (sample,) = agent.policy_samples([episode])
    assert sample.advantages.isfinite().all()


def test_environments_that_cannot_be_forked_are_refused_before_anything_is_played():
    agent = make(forks="critic")
    agent.set_env(SyncVectorEnv([ButtonEnv] * 8))
    with pytest.raises(ValueError, match="SyncVectorEnv makes none"):
        agent.learn(8)
    agent.set_env(AndroidVectorEnv([ButtonEnv] * 8))
    with pytest.raises(UsageError, match="ButtonEnv cannot be forked"):
        agent.learn(8)
    agent.set_env(make_vector_env(8, screen_size=(270, 600), forkable=False))
    with pytest.raises(UsageError, match="forkable=False"):
        agent.learn(8)
    assert agent.num_timesteps == 0


@pytest.mark.parametrize("other", [{"resample": True}, {"reward_model": "pocket"}, {"rollout_temperature": 1.2}])
def test_forks_measure_the_outcome_of_the_rollouts_candidates_only(other):
    with pytest.raises(ValueError, match="forks='critic'"):
        CoachAgent(tiny.policy(), None, forks="critic", **other)
