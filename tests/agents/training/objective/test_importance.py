"""Roll-outs hotter than the policy that learns from them: exact sums over all draws."""

import itertools

import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, GRPOAgent
from coach_gym.agents.training.objective.distinct import log_completions
from coach_gym.agents.training.objective.importance import truncated_weights
from tests.agents import few_responses, tiny
from tests.agents.trivial_env import ButtonEnv

Q = torch.tensor([0.4, -1.0, 2.0, 0.5, 0.0, 3.0, -2.0])


def make(policy, hot=2.0, **arguments):
    return CoachAgent(
        policy, None, 0.0, k=2, batch_size=1, max_grad_norm=1e9, rollout_temperature=hot,
        malformed_is_worthless=False, **{"max_importance_weight": 1e9, **arguments},
    )  # fmt: skip


@pytest.mark.parametrize("hot", [1.0, 2.0])
def test_an_update_follows_the_policy_gradient_in_the_mean(hot):
    """Over all pairs of independent draws at the temperature of the roll-out."""
    policy = few_responses.policy()
    agent, drawn = make(policy, hot), few_responses.responses(policy, hot)
    probs = few_responses.probabilities(drawn)
    expected = few_responses.policy_gradient(policy, Q)
    found = torch.zeros_like(expected)
    for pair in itertools.combinations_with_replacement(range(7), 2):
        twice = 1 if pair[0] == pair[1] else 2
        likely = twice * float(probs[list(pair)].prod())
        found += likely * few_responses.learned(agent, [drawn[i] for i in pair], Q[list(pair)].tolist())
    assert expected.norm() > 0.1
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_hot_and_distinct_together():
    policy = few_responses.policy()
    agent, drawn = make(policy, distinct=True), few_responses.responses(policy, 2.0)
    probs = few_responses.probabilities(drawn)
    expected = few_responses.policy_gradient(policy, Q)
    found = torch.zeros_like(expected)
    for pair in itertools.combinations(range(7), 2):
        likely = float(log_completions(probs[list(pair)].log())[0].exp())
        found += likely * few_responses.learned(agent, [drawn[i] for i in pair], Q[list(pair)].tolist())
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def test_weights_are_those_of_whole_responses_and_bounded():
    old = torch.tensor([-0.5, -0.5, -3.0, -0.1])
    drawn = torch.tensor([-1.0, -1.0, -2.0, -3.0])
    weights = truncated_weights(old, drawn, [2, 1, 1], largest=2.0)
    expected = torch.tensor([2.0, 2.0, -1.0, 2.0]).exp()
    expected[:2] = torch.tensor(1.0).exp()
    torch.testing.assert_close(weights, torch.tensor([2.0, 2.0, expected[2].item(), 2.0]))
    torch.testing.assert_close(truncated_weights(old, drawn, [2, 1, 1], 100.0)[:2], expected[:2])


def test_the_ratio_that_is_clipped_is_that_of_the_policy_before_the_update():
    """However hot the draws were, nothing is clipped before the policy has moved, and entropy is the policy's."""
    policy = few_responses.policy()
    agent, drawn = make(policy), few_responses.responses(policy, 2.0)
    few_responses.learned(agent, [drawn[1], drawn[4]], [1.0, 0.0])
    logged = agent.logger.name_to_value
    assert logged["train/clip_fraction"] == 0.0 and logged["train/approx_kl"] == pytest.approx(0, abs=1e-6)
    cold = few_responses.responses(policy, 1.0)
    ratios = [float(few_responses.probabilities([cold[i]]) / few_responses.probabilities([drawn[i]])) for i in (1, 4)]
    surprises = [-sum(cold[i].logprobs) for i in (1, 4)]
    expected = sum(w * s for w, s in zip(ratios, surprises, strict=True)) / sum(ratios)
    assert logged["train/entropy"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("method", "arguments"), [(CoachAgent, {"execute": "best", "malformed_is_worthless": False}), (GRPOAgent, {})]
)
def test_roll_outs_are_hot_and_actions_are_not(method, arguments, monkeypatch):
    envs = SyncVectorEnv([lambda: ButtonEnv()] * 4)
    settings = {"batch_size": 4, "max_new_tokens": 2, "rollout_temperature": 1.5, **arguments}
    agent = method(tiny.policy(), envs, 1e-3, **settings)
    temperatures = []
    sample = agent.generator.sample

    def noted(prompts, k, temperature, *arguments, **more):
        temperatures.append(temperature)
        return sample(prompts, k, temperature, *arguments, **more)

    monkeypatch.setattr(agent.generator, "sample", noted)
    agent.learn(4)
    assert set(temperatures) == {1.5}
    agent.predict(ButtonEnv().reset(seed=0)[0])
    assert temperatures[-1] == 1.0


def test_the_options_are_saved_and_checked(tmp_path):
    GRPOAgent(tiny.policy(), None, rollout_temperature=1.5, max_importance_weight=3.0).save(tmp_path / "agent")
    loaded = GRPOAgent.load(tmp_path / "agent")
    assert (loaded.rollout_temperature, loaded.max_importance_weight) == (1.5, 3.0)
    assert GRPOAgent(tiny.policy(), None, temperature=0.8).rollout_temperature == 0.8
    with pytest.raises(ValueError, match="rollout_temperature=0.0 is not above 0"):
        GRPOAgent(tiny.policy(), None, rollout_temperature=0.0)
