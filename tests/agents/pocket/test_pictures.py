"""Synthetic pictures: what is said about them is true, their text does not tell it, and a small tower learns it."""

import random

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from torch import nn

from coach_gym.agents.pocket.boards import Boards, caption
from coach_gym.agents.pocket.build import build_policy
from coach_gym.agents.pocket.drawings import COLORS, INVENT, Artist, Box
from coach_gym.agents.pocket.looking import CELL, COLUMNS, FACTS, WORDS, Looking, seen
from coach_gym.agents.pocket.pictures import OPTIONS, PADS, QUESTIONS, Pictures, picture_batches
from coach_gym.agents.pocket.screens import HEIGHT, PLACE, WIDTH

SIDE = 112


@pytest.fixture(scope="module")
def policy():
    return build_policy()


@pytest.fixture
def pictures(policy):
    return Pictures(policy.tokenizer, seed=3)


def drawn(kind, facts, seed=0):
    image = Image.new("RGB", (SIDE, SIDE), "white")
    Artist(ImageDraw.Draw(image), random.Random(seed)).draw(kind, Box(0, 0, SIDE, SIDE), facts)
    return np.asarray(image).astype(int)


def near(pixels, color):
    return np.abs(pixels - COLORS[color]).sum(axis=-1) < 60


@pytest.mark.parametrize("color", ["red", "green", "blue", "yellow", "purple", "black"])
def test_colors_are_those_named(color):
    assert near(drawn("plain", {"color": color}), color).all()


@pytest.mark.parametrize("seed", range(5))
def test_arrows_bars_switches_and_pins_are_as_said(seed):
    across, down = np.meshgrid(np.arange(SIDE), np.arange(SIDE))
    heads = {}
    for direction in ("up", "right", "down", "left"):
        ink = near(drawn("arrow", {"color": "red", "direction": direction}, seed), "red")
        x, y = across[ink], down[ink]
        heads[direction] = (np.median(x) - (x.min() + x.max()) / 2, np.median(y) - (y.min() + y.max()) / 2)
    assert heads["up"][1] < -2 < 2 < heads["down"][1] and heads["left"][0] < -2 < 2 < heads["right"][0]

    chart = drawn("bars", {"tallest": "green"}, seed)
    tops = {c: down[near(chart, c)].min() for c in ("red", "green", "blue", "yellow", "purple") if near(chart, c).any()}
    assert min(tops, key=tops.get) == "green"

    for state, side in (("on", 1), ("off", -1)):
        pixels = drawn("switch", {"state": state}, seed)
        knob = (pixels[SIDE // 2] == 255).all(axis=-1)
        assert (np.flatnonzero(knob).mean() - SIDE / 2) * side > 0

    for where, side in (("east", 1), ("west", -1)):
        pixels = drawn("pin", {"side": where}, seed)
        pin = near(pixels, "red")
        water = np.abs(pixels - (150, 200, 235)).sum(axis=-1) < 10
        rows = pin.any(axis=1)
        assert (across[pin].mean() - across[water & rows[:, None]].mean()) * side > 0


@pytest.mark.parametrize("kind", INVENT)
def test_every_fact_can_be_asked_for_and_is_known_to_the_tower(kind):
    for seed in range(20):
        for fact, value in INVENT[kind](random.Random(seed)).items():
            assert fact in QUESTIONS and (fact, value) in FACTS
            assert value in OPTIONS.get(fact, (value,))


def test_the_text_is_the_same_whatever_is_seen(pictures):
    """Names are drawn without regard to what is drawn, and places lie within the picture."""
    boards = Boards(random.Random(1), lambda simple: "name")
    for _ in range(50):
        for board in (boards.one(), boards.several(9)[0], boards.switches()[0]):
            assert board.pixels.shape == (HEIGHT, WIDTH, 3) and board.pixels.dtype == np.uint8
            names = {line.label for line in board.lines}
            assert names <= {"name", "Button", "Image", "View", "Save"}
            assert all(0 <= line.x < WIDTH and 0 <= line.y < HEIGHT for line in board.lines)


def test_what_is_called_by_its_looks_is_the_only_one(pictures):
    for _ in range(60):
        board, calls = pictures.boards.several(9)
        called = [call for call in calls if call]
        assert called and len(set(called)) == len(called)
        if len(called) == 1 and len(calls) > 1:  # the odd one
            said = [caption(thing.facts) for thing in board.things]
            assert said.count(said[calls.index(called[0])]) == 1


def test_sequences_repeat_with_their_seed_and_have_a_picture_for_every_pad(policy):
    one, same, other = (Pictures(policy.tokenizer, seed) for seed in (5, 5, 6))
    drawn = [[source.picture_sequence() for _ in range(30)] for source in (one, same, other)]
    assert [s.ids for s in drawn[0]] == [s.ids for s in drawn[1]] != [s.ids for s in drawn[2]]
    for sequence in drawn[0]:
        assert sequence.ids.count(policy.chat.image_pad) == PADS * len(sequence.screenshots)
        assert PLACE in sequence.weights and len(sequence.ids) == len(sequence.weights)


def test_only_answers_are_in_the_loss(policy, pictures):
    for _ in range(30):
        sequence = pictures.picture_sequence()
        text = [policy.tokenizer.decode([i]) for i in sequence.ids]
        taught = "".join(t for t, w in zip(text, sequence.weights, strict=True) if w)
        assert "user" not in taught.replace("User", "") or "user" in "".join(text).split("assistant\n", 1)[1]
        assert not any(w for i, w in zip(sequence.ids, sequence.weights, strict=True) if i == policy.chat.image_pad)


def test_batches_show_all_pictures(policy):
    batch = next(picture_batches(Pictures(policy.tokenizer, seed=0), 1500, policy.chat.image_pad))
    assert sum(len(shown) for shown in batch.screenshots) == len(batch.grids)
    assert (batch.ids == policy.chat.image_pad).sum() == PADS * len(batch.grids)


def test_cells_know_what_they_cover(pictures):
    board = pictures.boards.one()
    truth, thing = seen(board), board.things[0]
    x, y = (int(at) // CELL for at in thing.box.center)
    middle = truth[y * COLUMNS + x]
    assert all(middle[FACTS[fact]] for fact in thing.facts.items())
    assert middle[FACTS["column", x]] and middle[FACTS["row", y]]
    assert truth[0].sum() == 2  # only where it is


def test_a_visual_token_says_a_word_if_it_has_its_direction():
    policy = build_policy()
    looking, length = Looking(policy), 25.0  # a decoder normalises what it attends to
    embeddings = policy.model.model.language_model.embed_tokens.weight
    (token,) = policy.tokenizer.encode("left", add_special_tokens=False)
    said = looking.names(nn.functional.normalize(length * embeddings[token], dim=-1))[: len(WORDS)]
    assert said.argmax() == FACTS["direction", "left"] and said.topk(2).values.diff().item() < -5


def test_a_question_is_repeated_before_it_is_answered(policy, pictures):
    for _ in range(20):
        text = policy.tokenizer.decode(pictures._questions().ids)
        turns = [turn.partition("<|im_end|>")[0] for turn in text.split("<|im_start|>")]
        goals = [turn for turn in turns if turn.startswith("user") and "<|vision_start|>" not in turn]
        answers = [turn for turn in turns if "finished(" in turn]
        assert len(goals) == len(answers)
        for goal, answer in zip(goals, answers, strict=True):
            assert answer.split("Thought: ")[1].split("\n")[0] in goal


def test_a_tower_learns_colors():
    torch.manual_seed(0)
    policy = build_policy()
    looking, boards = Looking(policy), Boards(random.Random(0), lambda simple: "name")
    shown = [boards.one() for _ in range(8)]
    optimizer = torch.optim.AdamW(looking.parameters(), 2e-3)
    losses = []
    for _ in range(12):
        loss, _ = looking.loss(shown)
        losses.append(loss.item())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert losses[-1] < 0.7 * losses[0]
