"""Demonstrations with other words: the same episode in the same words everywhere, and only names change."""

import re

import numpy as np
import pytest

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket import variants
from coach_gym.agents.pocket.build import build_policy
from coach_gym.agents.pocket.demonstrations import demonstrate, to_sequence
from coach_gym.agents.pocket.reading import LINE
from coach_gym.agents.pocket.screens import KEPT_APART, Screens
from coach_gym.agents.pocket.sequences import Sequence
from coach_gym.agents.pocket.variants import Variants

FAMILIES = ["MarkorDeleteNote", "SimpleSmsSend"]


@pytest.fixture(scope="module")
def policy() -> Policy:
    return build_policy()


@pytest.fixture(scope="module")
def shown(policy: Policy) -> list[Sequence]:
    episodes = demonstrate(policy, "AndroidWorld-v0", FAMILIES, range(1 << 20, (1 << 20) + 4), (270, 600), slips=0.0)
    return [to_sequence(policy, episode) for episode in episodes]


def draw(policy: Policy, shown: list[Sequence], seed: int = 0) -> list[Sequence]:
    return Variants(Screens(policy.tokenizer, seed), shown).draw()


def test_without_changes_the_tokens_are_the_same(policy: Policy, shown: list[Sequence], monkeypatch) -> None:
    monkeypatch.setattr(variants, "CHANGED", 1.0)
    monkeypatch.setattr(variants, "MOVED", 0.0)
    monkeypatch.setattr(variants, "_found", lambda texts: set())
    for old, new in zip(shown, draw(policy, shown), strict=True):
        assert (old.ids, old.weights, old.task) == (new.ids, new.weights, new.task)


def test_names_and_numbers_change_and_the_rest_stays(policy: Policy, shown: list[Sequence], monkeypatch) -> None:
    monkeypatch.setattr(variants, "CHANGED", 1.0)
    monkeypatch.setattr(variants, "MOVED", 0.0)
    for old, new in zip(shown, draw(policy, shown), strict=True):
        texts = policy.tokenizer.decode(old.ids), policy.tokenizer.decode(new.ids)
        before, after = (re.findall(r"[^\W\d_]{2,}|[0-9]{2,}|.|\n", text) for text in texts)
        assert len(before) == len(after)
        changed = {a: b for a, b in zip(before, after, strict=True) if a != b}
        assert len(changed) > 3 and all(changed[a] == b for a, b in zip(before, after, strict=True) if a in changed)
        assert not changed.keys() & {"Markor", "Delete", "OK", "Action", "click", "SMS", "assistant", "done"}
        assert not {word.casefold() for word in changed.values()} & KEPT_APART
        assert np.array_equal(old.screenshots, new.screenshots)


def test_numbers_that_the_goal_names_change_wherever_they_stand(policy: Policy, monkeypatch) -> None:
    monkeypatch.setattr(variants, "CHANGED", 1.0)
    seeds = range(1 << 20, (1 << 20) + 2)
    episodes = demonstrate(policy, "AndroidWorld-v0", ["ContactsEditPhone"], seeds, (270, 600), slips=0.0)
    for old in (sequences := [to_sequence(policy, episode) for episode in episodes]):
        before = policy.tokenizer.decode(old.ids)
        (number,) = re.findall(r"[0-9]{9,}", before.partition("<|vision_start|>")[0])
        after = policy.tokenizer.decode(draw(policy, sequences)[sequences.index(old)].ids)
        (new,) = re.findall(r"[0-9]{9,}", after.partition("<|vision_start|>")[0])
        assert new != number and len(new) == len(number) and number not in after
        assert after.count(new) == before.count(number) > 1 and f"type(content='+{new}')" in after


def test_rows_that_the_goal_names_change_places_and_the_answer_follows(
    policy: Policy, shown: list[Sequence], monkeypatch
) -> None:  # fmt: skip
    monkeypatch.setattr(variants, "CHANGED", 1.0)
    monkeypatch.setattr(variants, "MOVED", 1.0)
    moved = 0
    for old, new in zip(shown, draw(policy, shown), strict=True):
        (before, first), (after, answers) = _screens_and_answers(policy, old), _screens_and_answers(policy, new)
        for lines, others, answer in zip(before, after, answers, strict=True):
            assert _places(lines) == _places(others)
            if touched := TOUCH.match(answer):
                assert any(line.startswith(touched[1]) for line in others)
                assert touched.group(2, 3) == touched.group(4, 5)
        moved += re.findall(r"\(.*\)", "".join(first)) != re.findall(r"\(.*\)", "".join(answers))
    assert moved > len(shown) / 3


TOUCH = re.compile(r"(.+ ([0-9]+) ([0-9]+))\nAction: (?:click|long_press)\(start_box='\(([0-9]+),([0-9]+)\)'")


def _screens_and_answers(policy: Policy, sequence: Sequence) -> tuple[list[list[str]], list[str]]:
    text = policy.tokenizer.decode(sequence.ids)
    screens = re.findall(r"<\|vision_end\|>(.*?)<\|im_end\|>", text, re.DOTALL)
    return [each.split("\n") for each in screens], re.findall(r"Thought: (.*?)<\|im_end\|>", text, re.DOTALL)


def _places(lines: list[str]) -> list[str]:
    return sorted(match[2] + match[3] for match in map(LINE.fullmatch, lines) if match)


def test_some_stay_as_they_were(policy: Policy, shown: list[Sequence]) -> None:
    same = [old.ids == new.ids for seed in range(5) for old, new in zip(shown, draw(policy, shown, seed), strict=True)]
    assert 0.1 < np.mean(same) < 0.6


def test_a_seed_draws_the_same(policy: Policy, shown: list[Sequence]) -> None:
    assert [each.ids for each in draw(policy, shown, 3)] == [each.ids for each in draw(policy, shown, 3)]
    assert [each.ids for each in draw(policy, shown, 3)] != [each.ids for each in draw(policy, shown, 4)]


def test_words_for_what_is_seen_stay_as_the_pictures_do(policy: Policy, monkeypatch) -> None:
    monkeypatch.setattr(variants, "CHANGED", 1.0)
    seeds = range(1 << 20, (1 << 20) + 4)
    episodes = list(demonstrate(policy, "AndroidSight-v0", ["SmsColorOfPicture"], seeds, (270, 600), slips=0.0))
    sequences = [to_sequence(policy, episode) for episode in episodes]
    for old, new in zip(sequences, draw(policy, sequences), strict=True):
        assert old.ids != new.ids
        typed = [re.findall(r"type\(content='(\w+)'", policy.tokenizer.decode(each.ids)) for each in (old, new)]
        assert typed[0] and typed[0] == typed[1]
