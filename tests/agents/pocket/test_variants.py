"""Demonstrations with other words: the same episode in the same words everywhere, and only names change."""

import re

import numpy as np
import pytest

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket import variants
from coach_gym.agents.pocket.build import build_policy
from coach_gym.agents.pocket.demonstrations import demonstrate, to_sequence
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
    monkeypatch.setattr(variants, "_words", lambda texts: set())
    for old, new in zip(shown, draw(policy, shown), strict=True):
        assert (old.ids, old.weights, old.task) == (new.ids, new.weights, new.task)


def test_names_change_and_the_rest_stays(policy: Policy, shown: list[Sequence], monkeypatch) -> None:
    monkeypatch.setattr(variants, "CHANGED", 1.0)
    for old, new in zip(shown, draw(policy, shown), strict=True):
        before, after = (re.findall(r"[^\W\d_]{2,}|.|\n", policy.tokenizer.decode(each.ids)) for each in (old, new))
        assert len(before) == len(after)
        changed = {a: b for a, b in zip(before, after, strict=True) if a != b}
        assert len(changed) > 3 and all(changed[a] == b for a, b in zip(before, after, strict=True) if a in changed)
        assert not changed.keys() & {"Markor", "Delete", "OK", "Action", "click", "SMS", "assistant", "done"}
        assert not {word.casefold() for word in changed.values()} & KEPT_APART
        assert np.array_equal(old.screenshots, new.screenshots)


def test_some_stay_as_they_were(policy: Policy, shown: list[Sequence]) -> None:
    same = [old.ids == new.ids for seed in range(5) for old, new in zip(shown, draw(policy, shown, seed), strict=True)]
    assert 0.1 < np.mean(same) < 0.6


def test_a_seed_draws_the_same(policy: Policy, shown: list[Sequence]) -> None:
    assert [each.ids for each in draw(policy, shown, 3)] == [each.ids for each in draw(policy, shown, 3)]
    assert [each.ids for each in draw(policy, shown, 3)] != [each.ids for each in draw(policy, shown, 4)]
