"""Steps whose right answer depends on the instance are told from those where it does not."""

import json
from pathlib import Path

import pytest
import torch

from benchmarks.controls.mistakes import Answer, compare, summarize
from benchmarks.demo import SCREEN
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket.demonstrations import demonstrate
from coach_gym.episode import Candidate, Step

RESULTS = Path(__file__).parents[3] / "benchmarks/results/mistakes.json"


def test_a_step_depends_on_the_instance_if_its_answers_differ() -> None:
    likely, unlikely = 0.0, -torch.inf
    answers = [
        Answer("Delete", 0, "open", True, likely), Answer("Delete", 0, "open", False, unlikely),
        Answer("Delete", 1, "Anna", True, likely), Answer("Delete", 1, "Bob", False, unlikely),
        Answer("Call", 1, "dial", True, likely),
    ]  # fmt: skip
    found = summarize(answers)
    assert (found["fixed"], found["fixed_greedy"], found["fixed_drawn"]) == (3, 0.667, 0.667)
    assert (found["dependent"], found["dependent_greedy"], found["dependent_drawn"]) == (2, 0.5, 0.5)
    assert summarize(answers[:2])["dependent_greedy"] is None


def test_an_answer_that_agrees_is_what_the_policy_generates() -> None:
    """Against the generator, which reads prompts one by one and knows nothing of sequences."""
    policy = Policy.load("pocket")
    shown = next(demonstrate(policy, "AndroidWorld-v0", ["SmsDeleteThread"], [0], SCREEN, 0.0, "validation"))
    steps: list[Step] = []
    generator = TransformersGenerator(policy)
    for (observation, text, _), found in zip(shown.steps, compare(policy, shown), strict=True):
        prompt = policy.prompt(shown.goal, steps, observation)
        ((drawn,),) = generator.sample([prompt], max_new_tokens=48, greedy=True)
        assert found.greedy is (drawn.text == text) and found.text == text
        if found.greedy:
            assert found.log_prob == pytest.approx(sum(drawn.logprobs), abs=0.02)
        taken = Candidate(text, [*policy.chat.encode_text(text), policy.chat.turn_end], [])
        steps.append(Step(observation, [taken], 0, policy.parse(text, policy.frame(observation))))


def test_the_committed_base_knows_the_way_and_misreads_names() -> None:
    """What docs/results/base.md says of it."""
    found = json.loads(RESULTS.read_text())["headline"]
    assert found["fixed_greedy"] > 0.97 and found["dependent_greedy"] < 0.75
