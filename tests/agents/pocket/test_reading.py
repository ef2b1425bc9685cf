"""Screens that random touches come upon: their tokens are the policy's own, and what is asked has one answer."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket.build import build_policy
from coach_gym.agents.pocket.reading import Reading, Tour, load_tours, save_tours, tours
from coach_gym.agents.pocket.screens import HEIGHT, KEPT_APART, PLACE, WIDTH

FAMILIES = ["MarkorDeleteNote", "ExpenseDeleteSingle"]
SCREEN = (270, 600)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return build_policy()


@pytest.fixture(scope="module")
def seen(policy: Policy) -> list[Tour]:
    return list(tours(policy, "AndroidWorld-v0", FAMILIES, 4, SCREEN))


def test_tours_see_different_screens_with_training_words(policy: Policy, seen: list[Tour]) -> None:
    assert len(seen) == 8
    for tour in seen:
        assert len(tour.texts) == len(set(tour.texts)) == len(tour.pictures) > 2
        assert tour.pictures.shape[1:] == (HEIGHT, WIDTH, 3)
    words = {word.casefold() for tour in seen for text in tour.texts for word in re.findall(r"[^\W\d_]+", text)}
    assert "proud" in words or "save" in words
    assert not words & (KEPT_APART - _on_every_phone(policy))


def _on_every_phone(policy: Policy) -> set[str]:
    """Words that stand on screens whatever the split, such as a city's in a list of all cities."""
    other = tours(policy, "AndroidWorld-v0", FAMILIES, 1, SCREEN, seed=1 << 12)
    return {word.casefold() for tour in other for text in tour.texts for word in re.findall(r"[^\W\d_]+", text)}


def test_the_same_seed_makes_the_same_tour(policy: Policy, seen: list[Tour]) -> None:
    again = next(tours(policy, "AndroidWorld-v0", FAMILIES, 4, SCREEN))
    assert again.texts == seen[0].texts and np.array_equal(again.pictures, seen[0].pictures)


def test_tours_survive_a_file(seen: list[Tour], tmp_path: Path) -> None:
    save_tours(seen, tmp_path / "tours.pt")
    for old, new in zip(seen, load_tours(tmp_path / "tours.pt"), strict=True):
        assert old.texts == new.texts and np.array_equal(old.pictures, new.pictures)


def test_a_screen_has_the_tokens_that_the_policy_reads(policy: Policy, seen: list[Tour]) -> None:
    reading = Reading(policy.tokenizer, seen)
    for tour in seen:
        for text in tour.texts:
            board = reading._lines(text)
            lines = [token for item, state in board for token in reading._line(item, []) + state + reading.newline]
            assert lines[:-1] == policy.chat.encode_text(text)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_asked_stands_once_on_the_latest_screen(policy: Policy, seen: list[Tour], seed: int) -> None:
    reading = Reading(policy.tokenizer, seen, seed)
    asked = 0
    for _ in range(30):
        sequence = reading.reading_sequence()
        assert len(sequence.ids) == len(sequence.weights) and len(sequence.screenshots) <= 3
        screen = ""
        for turn in policy.tokenizer.decode(sequence.ids).split("<|im_start|>"):
            if turn.startswith("user"):
                screen = turn.replace("<|im_end|>", "").split("<|vision_end|>")[-1]
            elif turn.startswith("assistant"):
                said = re.search(r"Thought: (.+ ([0-9]+) ([0-9]+))\nAction: click\(start_box='\(\2,\3\)'\)", turn)
                line = re.compile(re.escape(said[1]) + r"(,| on| off| \*| =|$)")
                assert sum(bool(line.match(each)) for each in screen.splitlines()) == 1
                asked += 1
    assert asked > 30 and any(weight == PLACE for weight in sequence.weights)


def test_the_rows_of_a_list_share_a_column_and_an_end(policy: Policy, seen: list[Tour]) -> None:
    reading = Reading(policy.tokenizer, seen)
    for _ in range(20):
        board = reading._column(reading._lines(seen[0].texts[1]))
        x, several = Counter(item.x for item, _ in board).most_common(1)[0]
        rows = [item for item, _ in board if item.x == x]
        kinds = Counter(tuple(item.name.plain[-2:]) for item in rows)
        details = Counter(tuple(item.details) for item in rows if item.details)
        assert several > 1 and max((kinds + details).values()) > 1


def test_replaced_names_are_replaced_everywhere(policy: Policy, seen: list[Tour]) -> None:
    reading = Reading(policy.tokenizer, seen)
    board, new = reading._lines(seen[0].texts[1]), {}
    for _ in range(2):
        again = reading._renamed(board, new, share=1.0)
        assert [item.name for item, _ in again] == [new[tuple(item.name.plain)] for item, _ in board]
        assert [(item.x, item.y) for item, _ in again] == [(item.x, item.y) for item, _ in board]
    assert reading._renamed(board, {}, share=0.0) == board


def test_the_same_seed_asks_the_same(policy: Policy, seen: list[Tour]) -> None:
    one, other = (Reading(policy.tokenizer, seen, 7).reading_sequence() for _ in range(2))
    assert one.ids == other.ids
    assert one.ids != Reading(policy.tokenizer, seen, 8).reading_sequence().ids
