"""Stochastic beams are draws without replacement, with the log-probabilities of independent draws."""

import itertools
from collections import Counter

import pytest
import torch

from coach_gym.agents.generation.generator import DistinctGenerator
from coach_gym.agents.generation.stochastic_beams import StochasticBeamGenerator, perturb
from coach_gym.agents.models.tree import sequence_log_probs
from tests.agents import few_responses, tiny


def test_every_order_comes_as_often_as_single_draws_would_find_it():
    """210 orders of three out of seven responses; the 99.99th percentile of chi-square for 209 is 295."""
    policy = few_responses.policy()
    responses = few_responses.responses(policy, temperature=1.3)
    names = [tuple(response.token_ids) for response in responses]
    probs = dict(zip(names, few_responses.probabilities(responses), strict=True))
    torch.manual_seed(0)
    number = 2500
    generator = StochasticBeamGenerator(policy, batch_size=1000)
    prompts = [few_responses.prompt(policy)] * number
    drawn = generator.sample_distinct(prompts, 3, temperature=1.3, max_new_tokens=few_responses.LIMIT)
    seen = Counter(tuple(tuple(candidate.token_ids) for candidate in row) for row in drawn)
    statistic = 0.0
    for order in itertools.permutations(probs, 3):
        left, expected = 1.0, float(number)
        for tokens in order:
            expected *= float(probs[tokens]) / left
            left -= float(probs[tokens])
        statistic += (seen[order] - expected) ** 2 / expected
    assert statistic < 295


def test_log_probs_are_those_of_scoring_and_first_ones_come_early():
    """Prompts of different lengths, beams that change places, rows that leave the batch when they are finished."""
    policy = tiny.policy()
    with torch.no_grad():
        policy.model.lm_head.weight[policy.eos] *= 8.0
    episodes = [tiny.episode(policy, steps=n, seed=n) for n in (1, 3, 2, 2)]
    prompts = [policy.prompt(e.goal, e.steps[:-1], e.steps[-1].observation) for e in episodes]
    generator = StochasticBeamGenerator(policy, batch_size=3)
    told = {}
    assert isinstance(generator, DistinctGenerator)
    torch.manual_seed(0)
    for temperature in (1.0, 0.7):
        drawn = generator.sample_distinct(prompts, 5, temperature, 12, told.__setitem__)
        lengths = {len(candidate.token_ids) for row in drawn for candidate in row}
        assert len(lengths) > 4, "beams end at different times"
        assert {number: row[0] for number, row in enumerate(drawn)} == told
        for prompt, row in zip(prompts, drawn, strict=True):
            assert len({tuple(candidate.token_ids) for candidate in row}) == 5
            for candidate in row:
                with torch.no_grad():
                    scored = sequence_log_probs(policy, prompt, candidate, temperature)
                torch.testing.assert_close(torch.tensor(candidate.logprobs), scored, rtol=1e-4, atol=1e-5)


def test_more_responses_than_there_are():
    policy = few_responses.policy()
    generator = StochasticBeamGenerator(policy)
    prompts = [few_responses.prompt(policy)]
    assert len(generator.sample_distinct(prompts, 7, 1.0, few_responses.LIMIT)[0]) == 7
    with pytest.raises(ValueError, match="fewer than k=8 different responses"):
        generator.sample_distinct(prompts, 8, 1.0, few_responses.LIMIT)


def test_gumbels_with_a_given_maximum():
    """Their maximum is exact, the argmax is a draw, and what is impossible stays so, however large the numbers."""
    torch.manual_seed(0)
    log_probs = torch.tensor([0.7, 0.3, 0.0], dtype=torch.double).log().repeat(20_000, 1)
    drawn = perturb(log_probs, torch.tensor([-30.0, 50.0], dtype=torch.double).repeat(10_000))
    assert torch.equal(drawn.amax(1), torch.tensor([-30.0, 50.0], dtype=torch.double).repeat(10_000))
    assert drawn.argmax(1).bincount().tolist() == [pytest.approx(14_000, abs=300), pytest.approx(6_000, abs=300)]
    assert drawn[:, 2].eq(float("-inf")).all() and drawn[:, :2].isfinite().all()
