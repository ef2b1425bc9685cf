import itertools

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3.common.buffers import RolloutBuffer

from coach_gym.agents.training.objective.advantages import acloo, corrected, gae, grpo, less_baseline, rloo
from tests.agents.training.objective.oracle import VERL


def test_acloo_by_hand():
    assert acloo(torch.tensor([4.0, 1.0, 1.0])).tolist() == pytest.approx([3.0, -1.5, -1.5])


def test_acloo_is_verls_rloo_with_q_for_the_reward():
    torch.testing.assert_close(acloo(VERL["q"]), VERL["rloo"])


def test_acloo_with_one_candidate_has_no_baseline():
    assert acloo(torch.tensor([[0.3], [0.7]])).tolist() == [[pytest.approx(0.3)], [pytest.approx(0.7)]]


def test_acloo_ignores_what_the_candidates_share_and_sums_to_zero():
    q = torch.randn(5, 4, dtype=torch.float64)
    shifted = q + torch.randn(5, 1, dtype=torch.float64)
    torch.testing.assert_close(acloo(shifted), acloo(q))
    torch.testing.assert_close(acloo(q).sum(-1), torch.zeros(5, dtype=torch.float64))


@pytest.mark.parametrize("outcomes", [[1.0, 0.0, 0.0, 1.0], [0.0, 0.5, 1.0], [1.0, 1.0]])
def test_rloo_is_each_outcome_less_the_mean_of_the_others(outcomes):
    by_hand = [
        own - sum(other for j, other in enumerate(outcomes) if j != i) / (len(outcomes) - 1)
        for i, own in enumerate(outcomes)
    ]
    assert rloo(torch.tensor(outcomes)).tolist() == pytest.approx(by_hand)


def test_rloo_of_outcomes_is_verls_and_a_single_episode_has_nothing_to_be_compared_with():
    torch.testing.assert_close(torch.stack([rloo(row) for row in VERL["q"]]), VERL["rloo"])
    assert rloo(torch.tensor([1.0])).tolist() == [0.0]


def test_the_baselines_by_hand():
    q = torch.tensor([[4.0, 1.0, 1.0]])
    assert less_baseline(q, "leave_one_out").tolist() == [pytest.approx([3.0, -1.5, -1.5])]
    assert less_baseline(q, "mean").tolist() == [[2.0, -1.0, -1.0]]
    assert less_baseline(q, "value", torch.tensor([3.0])).tolist() == [[1.0, -2.0, -2.0]]
    assert less_baseline(q, "none").tolist() == q.tolist()


def expected_gradient(logits: torch.Tensor, q: torch.Tensor, k: int, baseline: bool) -> torch.Tensor:
    """Exact mean of sum_i A_i grad log pi(a_i) / k over every draw of k actions."""
    policy = logits.softmax(0)
    score = torch.eye(len(q), dtype=q.dtype) - policy  # row a: gradient of log pi(a) by the logits
    total = torch.zeros_like(logits)
    for actions in itertools.product(range(len(q)), repeat=k):
        drawn = q[list(actions)]
        advantages = acloo(drawn) if baseline else drawn
        total += policy[list(actions)].prod() * (advantages[:, None] * score[list(actions)]).mean(0)
    return total


@pytest.mark.parametrize("k", [2, 3, 4])
def test_acloo_is_unbiased(k):
    logits = torch.tensor([0.3, -1.0, 0.8], dtype=torch.float64)
    q = torch.tensor([1.0, 5.0, -2.0], dtype=torch.float64)
    policy = logits.softmax(0)
    true = policy * (q - (policy * q).sum())  # gradient of sum_a pi(a) Q(a) by the logits
    torch.testing.assert_close(expected_gradient(logits, q, k, baseline=True), true)
    torch.testing.assert_close(expected_gradient(logits, q, k, baseline=False), true)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_correction_makes_a_wrong_critic_unbiased(k):
    """Exact mean over every draw of k actions, of which the first one is executed; Q prefers the worst."""
    logits = torch.tensor([0.3, -1.0, 0.8], dtype=torch.float64)
    q, returns = torch.tensor([[0.1, 0.9, 0.2], [1.0, 0.0, 0.4]], dtype=torch.float64)
    policy = logits.softmax(0)
    score = torch.eye(3, dtype=torch.float64) - policy
    total = torch.zeros_like(logits)
    for actions in map(list, itertools.product(range(3), repeat=k)):
        drawn, executed = q[actions][None], torch.tensor([0])
        (advantages,) = corrected(acloo(drawn), drawn, executed, returns[actions[:1]])
        total += policy[actions].prod() * (advantages[:, None] * score[actions]).mean(0)
    torch.testing.assert_close(total, policy * (returns - (policy * returns).sum()))


def test_an_unknown_return_corrects_nothing_and_the_weight_scales():
    q = torch.tensor([[0.2, 0.6], [0.4, 0.5]])
    result = corrected(acloo(q), q, torch.tensor([1, 0]), torch.tensor([1.0, float("nan")]), weight=0.5)
    torch.testing.assert_close(result - acloo(q), torch.tensor([[0.0, 0.4], [0.0, 0.0]]))


def test_acloo_reduces_variance():
    """If Q is far from zero, as after learning from 0/1 outcomes, the baseline removes nearly all noise."""
    generator = torch.Generator().manual_seed(0)
    policy = torch.tensor([0.5, 0.3, 0.2])
    q = torch.tensor([10.0, 10.5, 11.0])
    score = torch.eye(3) - policy
    actions = torch.multinomial(policy, 4 * 2000, replacement=True, generator=generator).reshape(2000, 4)
    with_baseline = (acloo(q[actions])[..., None] * score[actions]).mean(1)
    without = (q[actions][..., None] * score[actions]).mean(1)
    assert with_baseline.var(0).sum() < 0.02 * without.var(0).sum()


def sb3_gae(rewards: list[float], values: list[float], gamma: float, lam: float) -> np.ndarray:
    """The advantages of one finished episode, computed by Stable-Baselines3."""
    box = gym.spaces.Box(-1, 1, (1,))
    buffer = RolloutBuffer(len(rewards), box, box, gamma=gamma, gae_lambda=lam)
    for step, (reward, value) in enumerate(zip(rewards, values, strict=True)):
        zeros = np.zeros((1, 1))
        buffer.add(zeros, zeros, np.array([reward]), np.array([step == 0]), torch.tensor([value]), torch.zeros(1))
    buffer.compute_returns_and_advantage(last_values=torch.zeros(1), dones=np.array([True]))
    return buffer.advantages[:, 0]


@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_gae_is_stable_baselines(lam):
    rewards, values = [0.0, 0.5, 0.0, 1.0], [0.2, -0.1, 0.4, 0.6]
    ours = gae(torch.tensor(rewards), torch.tensor(values), gamma=0.95, lam=lam)
    np.testing.assert_allclose(ours, sb3_gae(rewards, values, 0.95, lam), rtol=1e-5)


def test_gae_is_verls():
    values = VERL["old_values"][:9]
    advantages = gae(VERL["rewards"], values, gamma=0.95, lam=0.8)
    torch.testing.assert_close(advantages + values, VERL["gae_returns"])


def test_gae_with_lambda_one_is_the_discounted_outcome_minus_the_value():
    values = torch.tensor([0.1, 0.2, 0.3])
    advantages = gae(torch.tensor([0.0, 0.0, 1.0]), values, gamma=0.5, lam=1.0)
    torch.testing.assert_close(advantages, torch.tensor([0.25, 0.5, 1.0]) - values)


def test_grpo_is_verls():
    ours = torch.stack([grpo(group) for group in VERL["outcomes"]])
    torch.testing.assert_close(ours, VERL["grpo"])


def test_grpo_says_nothing_about_groups_without_contrast():
    assert grpo(torch.ones(4)).tolist() == [0.0] * 4
    assert grpo(torch.tensor([1.0])).tolist() == [0.0]
