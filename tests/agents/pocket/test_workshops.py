"""What goes on from the shipped models: the judge that forks teach, and the policy that learns to see."""

import re

import pytest
import torch

from coach_gym.agents.models.policy import SHIPPED, Policy
from coach_gym.agents.playing.best_of_k import BestOfK
from coach_gym.agents.pocket import judge, sight
from coach_gym.hub import SHIPPED as NAMES

FAMILY = "SystemWifiTurnOff"


@pytest.fixture(scope="module")
def tokenizer():
    return Policy.load("pocket").tokenizer


def test_shipped_policies_have_names():
    assert tuple(SHIPPED) == NAMES
    assert all((folder / "model.safetensors").is_file() for folder in SHIPPED.values())


@pytest.mark.parametrize("experts", [True, False])
def test_a_judge_learns_verdicts_of_forks_and_goes_on(experts, tmp_path, monkeypatch, tokenizer):
    monkeypatch.setattr(judge, "TRIES", 2)
    settings = {"families": (FAMILY,), "instances": 2, "steps": 2, "experts": experts}
    workshop = judge.JudgeWorkshop(tmp_path, **settings)
    before = [weights.clone() for weights in workshop.prm.policy.model.parameters()]
    assert workshop.run()
    asked = [tokenizer.decode(sequence.ids) for sequence in workshop.questions]
    verdicts = [text.rpartition(" judgment:")[2].removesuffix("<|im_end|>") for text in asked]
    assert set(verdicts) == {"True", "False"}
    reasons = {re.search(r"<think>(.*)</think>", text)[1] for text in asked}
    assert "done" in reasons and len(reasons) > 2  # the last step's, and those of touches
    moved = [not torch.equal(a, b) for a, b in zip(before, workshop.prm.policy.model.parameters(), strict=True)]
    assert any(moved) and not all(moved)
    again = judge.JudgeWorkshop(tmp_path, **settings)
    assert again.steps == {"judge": 2}
    for kept, made in zip(again.prm.policy.model.parameters(), workshop.prm.policy.model.parameters(), strict=True):
        assert torch.equal(kept, made)


def test_in_a_second_round_the_judge_chooses_and_more_is_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "TRIES", 2)
    monkeypatch.setattr(judge, "TRIES_BY_CHOICE", 1)
    settings = {"families": (FAMILY,), "instances": 1, "steps": 1, "experts": False}
    first = judge.JudgeWorkshop(tmp_path, **settings)
    assert first.run()
    workshop = judge.JudgeWorkshop(tmp_path, **settings, rounds=2)
    assert workshop.steps == {"judge": 1, "judge_2": 0} and workshop.run()
    assert len(workshop.questions) > len(first.questions)
    kept = workshop.questions[: len(first.questions)]
    assert [asked.ids for asked in kept] == [asked.ids for asked in first.questions]
    assert isinstance(workshop.player, BestOfK) and not isinstance(first.player, BestOfK)


def test_without_any_solution_there_is_nothing_to_learn(tmp_path, monkeypatch):
    monkeypatch.setattr(judge.Solutions, "found", lambda episodes: None)
    monkeypatch.setattr(judge, "TRIES", 1)
    with pytest.raises(ValueError, match=f"no solution of the 1 instances of each family .{FAMILY}"):
        judge.JudgeWorkshop(tmp_path, families=(FAMILY,), instances=1, steps=1, experts=False).run()


def test_searches_answer_with_the_place_of_a_line(tokenizer):
    source = sight.Searches(tokenizer, seed=1)
    for _ in range(100):
        sequence = source._search()
        text = tokenizer.decode(sequence.ids)
        lines = set(text.split("<|vision_end|>")[-1].split("<|im_end|>")[0].split("\n"))
        answers = re.findall(r"Thought: (.+ [0-9]+ [0-9]+)\nAction: (?:click|long_press)", text)
        assert answers and set(answers) <= lines
        assert text.count("<|vision_start|>") == len(sequence.screenshots)
