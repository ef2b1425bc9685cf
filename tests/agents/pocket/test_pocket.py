"""The pocket model: its tokenizer, its training data, its training, and the weights that are shipped."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from coach_gym.actions import Action, parse_action
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM, parse_judgment
from coach_gym.agents.playing.rollout import observation_of
from coach_gym.agents.pocket import train
from coach_gym.agents.pocket.build import build_image_processor, build_policy
from coach_gym.agents.pocket.curriculum import Curriculum
from coach_gym.agents.pocket.demonstrations import demonstrate, load_sequences, save_sequences, to_sequence
from coach_gym.agents.pocket.judgments import balanced, judge, matches, verdict_sequences
from coach_gym.agents.pocket.screens import KEPT_APART, PLACE, Screens
from coach_gym.agents.pocket.sequences import Sequence, batches, collate, patches, token_loss
from coach_gym.dialects.ui_tars import NAMED
from coach_gym.episode import Candidate, Step

WEIGHTS = Path(train.__file__).parent / "weights"
SCREEN = (270, 600)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return build_policy()


@pytest.fixture(scope="module")
def shown(policy: Policy):
    """Returns a demonstration without a wrong touch."""
    return next(demonstrate(policy, "AndroidWorld-v0", ["ContactsFavorite"], [3], SCREEN, slips=0.0))


# The tokenizer


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_every_text_survives_the_tokenizer(policy: Policy, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert policy.chat.decode(policy.chat.encode_text(text)) == text


@pytest.mark.parametrize("name", ["Anna", "Zbigniew", "Wi-Fi", "icy_spider.md", "Ünal", "+19235550182", "08:30"])
def test_a_name_is_cut_the_same_way_after_a_space(policy: Policy, name: str) -> None:
    plain, spaced = policy.chat.encode_text(name), policy.chat.encode_text(f" {name}")
    pieces = [policy.chat.decode([i]) for i in plain] if name.isascii() else None
    assert len(spaced) - len(plain) in (0, 1)
    assert spaced[-len(plain) + 1 :] == plain[1:] or len(plain) == 1
    assert pieces is None or "".join(pieces) == name


def test_an_answer_takes_few_tokens(policy: Policy) -> None:
    ids = policy.chat.encode_text("Thought: Save 50 8\nAction: click(start_box='(50,8)')")
    assert len(ids) == 9
    assert all(len(policy.chat.encode_text(str(n))) == 1 for n in range(100))


# The model before training


def test_an_untrained_model_already_copies(policy: Policy) -> None:
    generator = torch.Generator().manual_seed(0)
    first = torch.randint(300, 1500, (8, 40), generator=generator)
    ids = torch.cat([first, first], dim=1)
    with torch.no_grad():
        logits = policy.model(input_ids=ids).logits
    predicted = logits[:, 42:79].argmax(-1)
    assert (predicted == ids[:, 43:80]).float().mean() > 0.25  # chance: 1 in 2,314


def test_embeddings_are_untied(policy: Policy) -> None:
    assert not policy.model.config.tie_word_embeddings
    assert policy.model.lm_head.weight.data_ptr() != policy.model.get_input_embeddings().weight.data_ptr()


# Synthetic screens


def test_places_asked_for_are_places_shown(policy: Policy) -> None:
    screens = Screens(policy.tokenizer, seed=1)
    for _ in range(30):
        text = policy.tokenizer.decode(screens.sequence(elements=8).ids)
        turns = text.split("<|im_start|>")
        lines = turns[2].removeprefix("user\n").removesuffix("<|im_end|>\n").split("\n")
        for turn in turns[3:]:
            answer = turn.removeprefix("assistant\n").removesuffix("<|im_end|>\n")
            thought, action = parse_action(answer)
            if action.kind == "click":
                assert any(line.startswith(thought) for line in lines)
                assert thought.split()[-2:] == [str(action.start[0]), str(action.start[1])]
            elif action.kind == "type":
                field, _, where = thought.rpartition(", ")  # the word before the text, and the text's first
                word, first = where.split(" ", 1)
                assert action.content.startswith(first)
                assert field in turns[1] and f"{word} {action.content}" in turns[1]
            elif thought == "answer":
                assert any(line.removeprefix(NAMED).startswith(action.content) for line in lines)
            else:
                of_field = [line for line in lines if line.removeprefix(NAMED).startswith(thought)]
                assert any(f"={action.content}" in line for line in of_field)


def test_the_rows_of_a_list_end_alike_and_lead_elsewhere(policy: Policy, monkeypatch) -> None:
    monkeypatch.setattr("coach_gym.agents.pocket.screens.ALIKE", 1.0)
    screens, alike, files = Screens(policy.tokenizer, seed=7), 0, 0
    for _ in range(30):
        board = screens._board(12, [], simple=False)
        kinds = Counter(tuple(item.name.plain[-1:]) for item in board)
        details = Counter(tuple(item.details) for item in board if item.details)
        alike += max(*kinds.values(), *details.values(), 0) >= len(board) // 2
        files += any(policy.tokenizer.decode(kind).startswith(".") for kind in kinds)
        assert len({tuple(item.name.plain) for item in board}) == len(board)
    assert alike > 25 and 3 < files < 27


def test_what_cannot_be_known_is_not_learned(policy: Policy) -> None:
    screens = Screens(policy.tokenizer, seed=2)
    sequence = screens.sequence(elements=4)
    assert len(sequence.ids) == len(sequence.weights)
    first_screen_ends = sequence.ids.index(screens.assistant[-1])
    assert not any(sequence.weights[:first_screen_ends])
    assert any(sequence.weights)


def test_screens_invent_no_word_that_is_kept_apart_from_training(policy: Policy, monkeypatch) -> None:
    screens = Screens(policy.tokenizer, seed=6)
    invented = [policy.tokenizer.decode(screens._invented().plain).casefold() for _ in range(20_000)]
    assert not KEPT_APART & set(invented)
    unlucky = invented[0]
    monkeypatch.setattr("coach_gym.agents.pocket.screens.KEPT_APART", {unlucky})
    again = Screens(policy.tokenizer, seed=6)
    assert policy.tokenizer.decode(again._invented().plain).casefold() != unlucky


def test_screens_of_one_seed_are_equal(policy: Policy) -> None:
    one, two = (Screens(policy.tokenizer, seed=5).sequence(10, 2).ids for _ in range(2))
    assert one == two


def test_the_curriculum_grows_with_accuracy(policy: Policy) -> None:
    curriculum = Curriculum(policy, tokens=300)
    before = curriculum.elements
    for _ in range(100):
        curriculum.learn(torch.tensor([True, False]), torch.tensor([PLACE, 1.0]))
    assert curriculum.elements > before
    easy = curriculum.elements
    for _ in range(100):
        curriculum.learn(torch.tensor([False, True]), torch.tensor([PLACE, 1.0]))
    assert curriculum.elements == easy


# Batches


def test_patches_are_the_image_processors() -> None:
    pictures = np.random.default_rng(0).integers(0, 256, (2, 112, 56, 3), dtype=np.uint8)
    images = [Image.fromarray(picture) for picture in pictures]
    expected = build_image_processor()(images=images, do_resize=False, return_tensors="pt")
    torch.testing.assert_close(patches(torch.from_numpy(pictures)), expected["pixel_values"], atol=1e-6, rtol=0)


def test_padding_changes_nothing(policy: Policy) -> None:
    screens = Screens(policy.tokenizer, seed=3)
    short, long = screens.sequence(3), screens.sequence(12)
    with torch.no_grad():
        together = token_loss(policy.model, collate([short, replace(long, weights=[0.0] * len(long.ids))], 0))[0]
        alone = token_loss(policy.model, collate([short], 0))[0]
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


def test_batches_hold_every_sequence_once(policy: Policy) -> None:
    screens = Screens(policy.tokenizer, seed=4)
    sequences = [screens.sequence(n) for n in range(3, 13)]
    made = list(batches(sequences, 600, policy.chat.image_pad, random.Random(0)))
    rows = [row[: len(row)] for batch in made for row in batch.ids.tolist()]
    assert len(rows) == len(sequences)
    assert {tuple(s.ids) for s in sequences} == {tuple(row[: len(s.ids)]) for row in rows for s in sequences
                                                if row[: len(s.ids)] == s.ids}  # fmt: skip


# Demonstrations


def test_a_demonstration_has_the_tokens_of_the_policys_prompts(policy: Policy, shown) -> None:
    sequence = to_sequence(policy, shown)
    steps: list[Step] = []
    for observation, text, _ in shown.steps:
        prompt = policy.prompt(shown.goal, steps, observation)
        answer = [*policy.chat.encode_text(text), policy.chat.turn_end]
        end = len(prompt) + len(answer)
        assert sequence.ids[:end] == prompt.input_ids + answer
        assert sequence.weights[len(prompt) : end] == [1.0] * len(answer)
        steps.append(Step(observation, [Candidate(text, answer, [])], 0, text))
    assert sum(sequence.weights) == sum(len(step.candidates[0].token_ids) for step in steps)
    assert sequence.screenshots.shape == (len(steps), 224, 112, 3)


def test_training_sees_what_the_policy_sees(policy: Policy, shown) -> None:
    """The loss of a demonstration is the mean log-probability that the plain model gives its answers."""
    sequence = to_sequence(policy, shown)
    with torch.no_grad():
        loss = token_loss(policy.model, collate([sequence], policy.chat.image_pad))[0]
        total = 0.0
        steps: list[Step] = []
        for observation, text, _ in shown.steps:
            prompt = policy.prompt(shown.goal, steps, observation)
            answer = [*policy.chat.encode_text(text), policy.chat.turn_end]
            positions, _ = policy.position_ids(prompt + type(prompt)(answer))
            logits = policy.model(
                input_ids=torch.tensor([prompt.input_ids + answer]), position_ids=positions[:, None],
                pixel_values=torch.cat([image.pixel_values for image in prompt.images]),
                image_grid_thw=torch.tensor([image.grid for image in prompt.images]),
            ).logits[0, len(prompt) - 1 : -1]  # fmt: skip
            total -= logits.log_softmax(-1).gather(1, torch.tensor(answer)[:, None]).sum().item()
            steps.append(Step(observation, [Candidate(text, answer, [])], 0, text))
    assert loss.item() == pytest.approx(total / sum(sequence.weights), abs=2e-3)


def test_a_slip_is_shown_but_not_taught(policy: Policy) -> None:
    made = list(demonstrate(policy, "AndroidWorld-v0", ["ContactsFavorite"], range(6), SCREEN, slips=1.0))
    slipped = [d for d in made if not all(taught for *_, taught in d.steps)]
    assert slipped
    sequence = to_sequence(policy, slipped[0])
    taught = sum(len(policy.chat.encode_text(text)) + 1 for _, text, teach in slipped[0].steps if teach)
    assert sum(sequence.weights) == taught


def test_sequences_survive_the_disk(policy: Policy, shown, tmp_path: Path) -> None:
    kept = [to_sequence(policy, shown), Sequence([1, 2], [0.0, 1.0])]
    save_sequences(kept, tmp_path / "kept.pt")
    for old, new in zip(kept, load_sequences(tmp_path / "kept.pt"), strict=True):
        assert (old.ids, old.weights, old.task) == (new.ids, new.weights, new.task)
        np.testing.assert_array_equal(old.screenshots, new.screenshots)


# Judgments


def test_points_match_within_14_percent_of_the_width() -> None:
    expert = Action("click", (100, 200))
    assert matches(Action("click", (100, 200 + 37)), expert, width=270)
    assert not matches(Action("click", (100, 200 + 38)), expert, width=270)
    assert not matches(Action("long_press", (100, 200)), expert, width=270)


def test_words_must_be_equal() -> None:
    expert = Action("type", content="Anna ")
    assert matches(Action("type", content="Anna"), expert, width=270)
    assert not matches(Action("type", content="Hanna"), expert, width=270)
    assert not matches(Action("finished", content="Anna"), expert, width=270)


def test_verdicts_are_balanced_and_readable(policy: Policy, shown) -> None:
    judged = judge(policy, shown, random.Random(0), TransformersGenerator(policy))
    assert all(verdicts[0] for verdicts in judged.good)
    chosen = list(balanced(judged, random.Random(0)))
    assert chosen and sum(good for *_, good in chosen) * 2 == len(chosen)
    prm = GenerativePRM(policy)
    for sequence, (_, _, good) in zip(verdict_sequences(prm, judged, random.Random(0)), chosen, strict=True):
        learned = [token for token, weight in zip(sequence.ids, sequence.weights, strict=True) if weight]
        assert parse_judgment(policy.chat.decode(learned)) == float(good)


# Training


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, train.Stage]:
    """Returns short stages, and makes all else in the workshop as small."""
    monkeypatch.setattr(train, "FAMILIES", {"AndroidWorld-v0": ("OpenAppTaskEval",)})
    monkeypatch.setattr(train, "DEMONSTRATIONS", 2)
    monkeypatch.setattr(train, "TOKENS", 300)
    monkeypatch.setattr(train, "BOARDS", 2)
    monkeypatch.setattr(train, "TOURS", {"AndroidLab-v0": 1})
    monkeypatch.setattr(train, "STRETCH", 2)
    return {name: train.Stage(4, 1e-3, 0.5) for name in train.STAGES}


def test_interruptions_change_nothing_bit_for_bit(tmp_path: Path, small: dict[str, train.Stage]) -> None:
    torch.set_num_threads(1)
    whole = train.Workshop(tmp_path / "whole", stages=small)
    assert whole.run()
    pauses = 0
    while not train.Workshop(tmp_path / "parts", stages=small).run(deadline=0.0):  # pauses after every stretch
        pauses += 1
    assert pauses == 2 * len(small) - 1
    parts = train.Workshop(tmp_path / "parts", stages=small)
    for one, other in ((whole.policy, parts.policy), (whole.prm.policy, parts.prm.policy)):
        for old, new in zip(one.model.parameters(), other.model.parameters(), strict=True):
            assert torch.equal(old, new)
    parts.publish(tmp_path / "weights")
    assert isinstance(Policy.load(tmp_path / "weights" / "policy"), Policy)
    assert isinstance(GenerativePRM.load(tmp_path / "weights" / "prm"), GenerativePRM)


def test_another_seed_makes_another_model(tmp_path: Path, small: dict[str, train.Stage]) -> None:
    one, other = (train.Workshop(tmp_path / str(seed), seed, {"ground": small["ground"]}) for seed in (0, 1))
    assert one.run() and other.run()
    assert not torch.equal(one.policy.model.lm_head.weight, other.policy.model.lm_head.weight)


# What is shipped


def test_the_weights_are_small() -> None:
    """Two policies, a critic and three judges."""
    assert sum(path.stat().st_size for path in WEIGHTS.rglob("*") if path.is_file()) < 30e6


def test_the_shipped_tokenizer_is_the_one_that_is_built(policy: Policy) -> None:
    assert Policy.load("pocket").tokenizer.get_vocab() == policy.tokenizer.get_vocab()


def test_the_shipped_policy_acts() -> None:
    pocket = Policy.load("pocket")
    generator = TransformersGenerator(pocket)
    solved = 0
    env = gym.make("AndroidWorld-v0", screen_size=SCREEN, tasks=["SystemWifiTurnOn", "CameraTakePhoto"])
    for seed in range(4):
        raw, info = env.reset(seed=seed)
        steps: list[Step] = []
        over = False
        while not over:
            observation = observation_of(raw)
            prompt = pocket.prompt(raw["goal"], steps, observation)
            ((answer,),) = generator.sample([prompt], max_new_tokens=48, greedy=True)
            action = pocket.parse(answer.text, pocket.frame(observation))
            raw, reward, terminated, truncated, info = env.step(action)
            steps.append(Step(observation, [answer], 0, action))
            over = terminated or truncated
        solved += int(info["is_success"])
    assert solved >= 2


def test_the_shipped_judge_and_critic_load() -> None:
    prm, critic = GenerativePRM.load("pocket"), Critic.load("pocket")
    assert prm.policy.dialect.ui_text
    assert critic.value_head.weight.abs().sum() > 0
