"""Candidates drawn without replacement leave the expected gradient as it is: exact sums over all draws."""

import itertools
from collections.abc import Iterator

import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent
from coach_gym.agents.generation.stochastic_beams import StochasticBeamGenerator
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.training.objective.advantages import corrected
from coach_gym.agents.training.objective.distinct import distinct_acloo, first_weights, log_completions
from tests.agents import few_responses, tiny
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import warm_policy

LOGITS = {
    "lively": torch.tensor([0.3, -1.0, 0.8, 0.1, -0.4, 1.2], dtype=torch.double),
    "collapsed": torch.tensor([9.0, -3.0, 0.0, -7.0, 1.0, -5.0], dtype=torch.double),
}
Q = torch.tensor([1.0, 5.0, -2.0, 0.5, 3.0, -1.0], dtype=torch.double)


def orders(probs: torch.Tensor, k: int) -> Iterator[tuple[list[int], float]]:
    """Yields every order of k draws without replacement with its probability."""
    for order in itertools.permutations(range(len(probs)), k):
        probability, left = 1.0, 1.0
        for index in order:
            probability *= float(probs[index]) / left
            left = float(probs.sum() - probs[list(order[: order.index(index) + 1])].sum())
        yield list(order), probability


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("logits", LOGITS.values(), ids=LOGITS)
def test_the_gradient_is_unbiased_with_and_without_the_baseline(logits, k):
    probs = logits.softmax(0)
    score = torch.eye(len(Q), dtype=Q.dtype) - probs  # row a: gradient of log pi(a) by the logits
    plain = based = torch.zeros_like(logits)
    for order, probability in orders(probs, k):
        log_probs = logits.log_softmax(0)[order]
        weights = first_weights(log_probs)[:, None]
        plain = plain + probability * (weights * Q[order, None] * score[order]).sum(0)
        based = based + probability * (weights * distinct_acloo(Q[order], log_probs)[:, None] * score[order]).sum(0)
    true = probs * (Q - (probs * Q).sum())
    torch.testing.assert_close(plain, true, rtol=0, atol=1e-9)
    torch.testing.assert_close(based, true, rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_a_correction_by_the_executed_return_is_unbiased_whatever_the_critic_believes(k):
    logits = LOGITS["lively"]
    probs = logits.softmax(0)
    score = torch.eye(len(Q), dtype=Q.dtype) - probs
    wrong, executed = -Q, torch.zeros(1, dtype=torch.long)  # the first one drawn is executed
    total = torch.zeros_like(logits)
    for order, probability in orders(probs, k):
        log_probs = logits.log_softmax(0)[order][None]
        shares, believed = first_weights(log_probs), wrong[order][None]
        advantages = corrected(
            distinct_acloo(believed, log_probs), believed, executed, Q[order[:1]], shares=shares
        )
        total += probability * (shares * advantages)[0] @ score[order]
    torch.testing.assert_close(total, probs * (Q - (probs * Q).sum()), rtol=0, atol=1e-9)


def test_it_varies_less_than_independent_draws():
    """That is what it is for."""
    probs = LOGITS["lively"].softmax(0)
    score = torch.eye(len(Q), dtype=Q.dtype) - probs
    true = probs * (Q - (probs * Q).sum())

    def spread(estimates):
        return sum(probability * float(((estimate - true) ** 2).sum()) for estimate, probability in estimates)

    distinct = []
    for order, probability in orders(probs, 3):
        log_probs = probs.log()[order]
        weights = first_weights(log_probs) * distinct_acloo(Q[order], log_probs)
        distinct.append((weights @ score[order], probability))
    independent = []
    for draws in itertools.product(range(len(Q)), repeat=3):
        q = Q[list(draws)]
        estimate = ((q - q.mean()) * 3 / 2) @ score[list(draws)] / 3
        independent.append((estimate, float(probs[list(draws)].prod())))
    assert spread(distinct) < 0.6 * spread(independent)


@pytest.mark.parametrize("log_probs", [[0.0, -90.0, -100.0, -800.0], [1e-6, -17.0, -18.0, -40.0], [-200.0] * 4])
def test_probabilities_that_round_to_nothing_or_all(log_probs):
    """Sums of float32 log-probabilities may even exceed 1."""
    log_probs = torch.tensor(log_probs)
    weights, advantages = first_weights(log_probs), distinct_acloo(torch.arange(4.0), log_probs)
    assert weights.sum() == pytest.approx(1) and weights.isfinite().all() and advantages.isfinite().all()
    assert log_completions(log_probs).shape == (16,)


@pytest.mark.parametrize("k", [2, 3])
def test_an_update_follows_the_policy_gradient_in_the_mean(k):
    """The whole way from candidates to the gradient of the weights, over every set of k out of seven responses."""
    policy = few_responses.policy()
    agent = CoachAgent(
        policy, None, 0.0, k=k, distinct=True, batch_size=1, max_grad_norm=1e9, malformed_is_worthless=False
    )
    drawn = few_responses.responses(policy)
    q = torch.tensor([0.4, -1.0, 2.0, 0.5, 0.0, 3.0, -2.0])
    expected = few_responses.policy_gradient(policy, q)
    found = torch.zeros_like(expected)
    probs = few_responses.probabilities(drawn)
    for chosen in itertools.combinations(range(7), k):
        likely = float(log_completions(probs[list(chosen)].log())[0].exp())
        found += likely * few_responses.learned(agent, [drawn[i] for i in chosen], q[list(chosen)].tolist())
    assert expected.norm() > 0.1
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("resample", [False, True])
def test_all_candidates_of_a_state_differ(resample):
    """Of a policy that gives one answer in most states; the executed one is the first draw."""
    policy = warm_policy()
    with torch.no_grad():
        policy.model.lm_head.weight *= 3.0  # a cold policy
    envs = SyncVectorEnv([lambda: ButtonEnv(steps=2)] * 4)
    agent = CoachAgent(
        policy, envs, 1e-3, k=4, distinct=True, resample=resample, batch_size=8, max_new_tokens=3, seed=0,
        malformed_is_worthless=False,
    )  # fmt: skip
    agent.critic.value_head.weight.data.normal_()
    groups = agent.collect_rollouts()
    episodes = [episode for group in groups for episode in group]
    if resample:
        assert {len(step.candidates) for episode in episodes for step in episode.steps} == {1}
        episodes = agent.draw_candidates(episodes, 4)
    drawn = [[tuple(c.token_ids) for c in step.candidates[resample:]] for e in episodes for step in e.steps]
    assert all(len(set(candidates)) == len(candidates) == 4 for candidates in drawn)
    agent.train(groups)
    assert agent.logger.name_to_value["train/all_equal"] == 0.0
    assert agent.logger.name_to_value["train/grad_norm"] > 0.0


def test_the_option_is_saved_and_its_limits_are_told(tmp_path):
    agent = CoachAgent(tiny.policy(), None, k=2, distinct=True)
    agent.save(tmp_path / "agent")
    assert CoachAgent.load(tmp_path / "agent").rollout_player.distinct
    with pytest.raises(ValueError, match="distinct=True needs k=2 or more.* k=1"):
        CoachAgent(tiny.policy(), None, k=1, distinct=True)
    with pytest.raises(ValueError, match="TransformersGenerator cannot; pass generation='transformers'"):
        CoachAgent(tiny.policy(), None, distinct=True, generation=TransformersGenerator)
    assert isinstance(CoachAgent(tiny.policy(), None).generator, StochasticBeamGenerator)
