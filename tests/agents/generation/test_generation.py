"""Sampling draws from the model's distribution and reports its log-probabilities; shortcuts change nothing."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from coach_gym.agents.generation import transformers
from coach_gym.agents.generation.kv_cache import Prefix, PrefixStore
from coach_gym.agents.generation.sampling import inverse_cdf
from coach_gym.agents.generation.transformers import TransformersGenerator, distinct
from coach_gym.agents.models.chatml import ImageInput, Segment, stack_images
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.tree import build_tree, log_probs, separate_log_probs, sequence_log_probs
from coach_gym.episode import Candidate, Episode, Step
from tests.agents import tiny


@pytest.fixture
def policy() -> Policy:
    return tiny.policy()


@pytest.fixture(autouse=True, params=["ragged", "padded"])
def decoding(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything holds for both ways of decoding."""
    if request.param == "padded":
        _pad(monkeypatch)


def _pad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformers, "decodes_ragged", lambda _: False)


def _prompts(policy: Policy, lengths: tuple[int, ...] = (1, 3, 2)) -> list[Prompt]:
    """Returns prompts of different lengths: after 0, 2 and 1 steps."""
    episodes = [tiny.episode(policy, steps=n, seed=n) for n in lengths]
    return [policy.prompt(e.goal, e.steps[:-1], e.steps[-1].observation) for e in episodes]


def _talkative_end(policy: Policy, factor: float = 8.0) -> None:
    """Makes the end of the turn likely in some contexts and impossible in others: responses of many lengths."""
    with torch.no_grad():
        policy.model.lm_head.weight[policy.eos] *= factor


def _texts(candidates: list[list[Candidate]]) -> list[list[list[int]]]:
    return [[candidate.token_ids for candidate in row] for row in candidates]


def test_responses_that_no_memory_holds_are_refused(policy: Policy) -> None:
    with pytest.raises(ValueError, match=r"need .* GB, and there is not that much memory; pass a smaller k"):
        TransformersGenerator(policy).sample(_prompts(policy), k=10**6, max_new_tokens=10**6)


# ---- against transformers --------------------------------------------------------------------------------------


def test_greedy_is_what_transformers_generates(policy: Policy) -> None:
    _talkative_end(policy)
    prompts = _prompts(policy)
    ours = TransformersGenerator(policy).sample(prompts, max_new_tokens=20, greedy=True)
    for prompt, (candidate,) in zip(prompts, ours, strict=True):
        input_ids = torch.tensor([prompt.input_ids])
        theirs = policy.model.generate(
            input_ids=input_ids,
            mm_token_type_ids=(input_ids == policy.chat.image_pad).int(),
            **stack_images(prompt.images, policy.device),
            max_new_tokens=20,
            do_sample=False,
            suppress_tokens=policy.banned,
            eos_token_id=policy.eos,
            pad_token_id=policy.tokenizer.pad_token_id,
        )[0, len(prompt) :]
        assert candidate.token_ids == theirs.tolist()


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_log_probs_are_those_of_scoring(policy: Policy, temperature: float) -> None:
    """The first update's ratio is 1: scoring a draw, in a tree or alone, gives its sampling log-probabilities."""
    episode = tiny.episode(policy, steps=3, k=4)
    generator = TransformersGenerator(policy)
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
        (step.candidates,) = generator.sample([prompt], k=4, temperature=temperature, max_new_tokens=9)
    packed = log_probs(policy, build_tree(policy, episode), temperature)
    separate = separate_log_probs(policy, episode, temperature)
    for step, ours, theirs in zip(episode.steps, packed, separate, strict=True):
        for candidate, a, b in zip(step.candidates, ours, theirs, strict=True):
            drawn = torch.tensor(candidate.logprobs)
            torch.testing.assert_close(drawn, a.detach(), rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(drawn, b.detach(), rtol=1e-4, atol=1e-5)


# ---- batching --------------------------------------------------------------------------------------------------


def test_a_prompt_answers_alone_as_in_a_batch(policy: Policy) -> None:
    """Padding, batching and leaving the batch early change no answer."""
    _talkative_end(policy)
    prompts = _prompts(policy, (1, 3, 2, 1, 4))
    together = TransformersGenerator(policy).sample(prompts, max_new_tokens=30, greedy=True)
    alone = [TransformersGenerator(policy).sample([p], max_new_tokens=30, greedy=True)[0] for p in prompts]
    assert _texts(together) == _texts(alone)
    lengths = sorted(len(ids) for (ids,) in _texts(alone))
    assert lengths[2] < lengths[-1]  # half of the batch left before the end
    for (a,), (b,) in zip(together, alone, strict=True):
        np.testing.assert_allclose(a.logprobs, b.logprobs, rtol=1e-4, atol=1e-5)


def test_small_batches_give_the_same(policy: Policy) -> None:
    prompts = _prompts(policy)
    whole = TransformersGenerator(policy).sample(prompts, max_new_tokens=6, greedy=True)
    parts = TransformersGenerator(policy, batch_size=2).sample(prompts, max_new_tokens=6, greedy=True)
    assert _texts(whole) == _texts(parts)


def test_candidates_end_at_the_first_end_of_turn(policy: Policy) -> None:
    _talkative_end(policy)
    torch.manual_seed(0)
    for row in TransformersGenerator(policy).sample(_prompts(policy), k=6, max_new_tokens=12):
        for candidate in row:
            assert 1 <= len(candidate.token_ids) == len(candidate.logprobs) <= 12
            assert policy.eos not in candidate.token_ids[:-1]
            assert candidate.token_ids[-1] == policy.eos or len(candidate.token_ids) == 12
            assert candidate.text == policy.chat.decode(candidate.token_ids)


def test_the_first_candidates_are_told_as_soon_as_they_are_complete(policy: Policy) -> None:
    _talkative_end(policy)
    torch.manual_seed(0)
    passes: list[int] = []
    told: dict[int, tuple[Candidate, int]] = {}
    handle = policy.model.lm_head.register_forward_hook(lambda *_: passes.append(1))
    drawn = TransformersGenerator(policy, batch_size=2).sample(
        _prompts(policy), k=4, max_new_tokens=12, on_first=lambda row, first: told.update({row: (first, len(passes))})
    )
    handle.remove()
    of_first_batch = max(len(candidate.token_ids) for row in drawn[:2] for candidate in row)
    for number, (first, *_) in enumerate(drawn):
        assert told[number] == (first, len(first.token_ids) + (of_first_batch if number == 2 else 0))
    assert told[0][1] < of_first_batch


def test_seeded(policy: Policy) -> None:
    prompts, drawn = _prompts(policy), []
    for _ in range(2):
        torch.manual_seed(3)
        drawn.append(_texts(TransformersGenerator(policy).sample(prompts, k=2, max_new_tokens=5)))
    assert drawn[0] == drawn[1]
    assert drawn[0][0][0] != drawn[0][0][1]


def test_nothing_banned_is_drawn(policy: Policy) -> None:
    with torch.no_grad():
        policy.model.lm_head.weight[policy.banned] *= 100
    torch.manual_seed(0)
    drawn = TransformersGenerator(policy).sample(_prompts(policy), k=8, max_new_tokens=10)
    tokens = {token for row in drawn for candidate in row for token in candidate.token_ids}
    assert not tokens & set(policy.banned)


def test_leaves_the_model_as_it_was(policy: Policy) -> None:
    policy.model.train()
    TransformersGenerator(policy).sample(_prompts(policy), max_new_tokens=2)
    assert policy.model.training
    assert all(p.grad is None and p.requires_grad for p in policy.model.parameters())
    log_probs(policy, build_tree(policy, tiny.episode(policy, steps=1)))[0][0].sum().backward()


# ---- the distribution ------------------------------------------------------------------------------------------


def test_draws_follow_the_probabilities() -> None:
    torch.manual_seed(0)
    logits = torch.tensor([0.5, float("-inf"), 2.0, -1.0, float("-inf")])
    expected = logits.softmax(-1)
    draws = 40_000
    counts = torch.bincount(inverse_cdf(logits.log_softmax(-1).expand(draws // 4, -1), 4).flatten(), minlength=5)
    assert counts[1] == counts[4] == 0
    assert ((counts / draws - expected).abs() < 4 * (expected * (1 - expected) / draws).sqrt() + 1e-9).all()


@pytest.mark.parametrize(("number", "drawn"), [(0.0, 1), (1.0 - 2**-53, 2)])
def test_extreme_random_numbers_draw_something_possible(
    monkeypatch: pytest.MonkeyPatch, number: float, drawn: int
) -> None:
    monkeypatch.setattr(torch, "rand", lambda *shape, **kind: torch.full(shape, number, **kind))
    assert inverse_cdf(torch.tensor([0.0, 0.5, 0.5, 0.0]).log(), 1).item() == drawn


def test_candidates_are_independent_draws(policy: Policy) -> None:
    """The first tokens of 3,000 candidates of one prompt have the model's probabilities as frequencies."""
    torch.manual_seed(0)
    (prompt,) = _prompts(policy, (1,))
    (drawn,) = TransformersGenerator(policy).sample([prompt], k=3000, max_new_tokens=1)
    expected = {c.token_ids[0]: np.exp(c.logprobs[0]) for c in drawn}
    counts = {token: sum(c.token_ids[0] == token for c in drawn) for token in expected}
    for token, probability in expected.items():
        assert abs(counts[token] / 3000 - probability) < 5 * np.sqrt(probability / 3000)


def test_pairs_of_tokens_are_independent_draws(policy: Policy) -> None:
    """Candidates that share their first token continue with the model's probabilities."""
    _sure_of_itself(policy)
    torch.manual_seed(0)
    (prompt,) = _prompts(policy, (1,))
    (drawn,) = TransformersGenerator(policy).sample([prompt], k=3000, max_new_tokens=2)
    expected = {tuple(c.token_ids): np.exp(sum(c.logprobs)) for c in drawn}
    counts = Counter(tuple(c.token_ids) for c in drawn)
    often = {tokens: probability for tokens, probability in expected.items() if 3000 * probability > 10}
    assert len(often) > len({first for first, _ in often}) > 3  # candidates began alike and parted
    for tokens, probability in often.items():
        assert abs(counts[tokens] / 3000 - probability) < 5 * np.sqrt(probability / 3000)


# ---- equal candidates ------------------------------------------------------------------------------------------


def _sure_of_itself(policy: Policy) -> None:
    """Makes few tokens likely, so that candidates often begin with the same ones."""
    with torch.no_grad():
        policy.model.lm_head.weight *= 3


def test_equal_candidates_share_their_columns(policy: Policy) -> None:
    """Shared prefixes score as separate sequences do, in rows of different lengths, and cost less than k columns."""
    _sure_of_itself(policy)
    _talkative_end(policy, 6)
    torch.manual_seed(0)
    decoded: list[int] = []
    handle = policy.model.lm_head.register_forward_hook(lambda _, inputs, __: decoded.append(inputs[0].shape[-2]))
    prompts = _prompts(policy, (1, 3, 2, 1))
    drawn = TransformersGenerator(policy).sample(prompts, k=6, max_new_tokens=12)
    handle.remove()
    if transformers.decodes_ragged(policy):
        begun = [{tuple(c.token_ids[:n]) for c in row for n in range(1, len(c.token_ids))} for row in drawn]
        assert sum(decoded[1:]) == sum(map(len, begun))
    else:
        assert min(decoded[1:]) <= 4 and max(decoded[1:]) == 6
    assert len({len(candidate.token_ids) for row in drawn for candidate in row}) > 3
    for prompt, row in zip(prompts, drawn, strict=True):
        for candidate in row:
            scored = sequence_log_probs(policy, prompt, candidate).detach()
            np.testing.assert_allclose(candidate.logprobs, scored, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("kept_tokens", [0, 65_536])
def test_ragged_and_padded_draws_are_the_same(
    policy: Policy, monkeypatch: pytest.MonkeyPatch, kept_tokens: int
) -> None:
    """With one seed, as long as no response ends: the padded batch goes on drawing for rows that have ended."""
    _sure_of_itself(policy)
    monkeypatch.setattr(policy, "banned", [*policy.banned, policy.eos])

    def draw() -> list[list[Candidate]]:
        torch.manual_seed(3)
        generator = TransformersGenerator(policy, kept_tokens=kept_tokens)
        generator.sample(_prompts(policy), max_new_tokens=1)
        return generator.sample(_prompts(policy), max_new_tokens=15)

    ragged = draw()
    _pad(monkeypatch)
    padded = draw()
    assert _texts(ragged) == _texts(padded)
    for (one,), (other,) in zip(ragged, padded, strict=True):
        np.testing.assert_allclose(one.logprobs, other.logprobs, rtol=1e-4, atol=1e-5)


def test_distinct_tells_prefixes_apart() -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        slots, drawn = (torch.randint(3, (4, 7), generator=generator) for _ in range(2))
        alive = torch.rand(4, 7, generator=generator) < 0.6
        alive[0, 0] = True
        numbers, leaders = distinct(slots, drawn, alive)
        for row in range(4):
            keys = list(zip(slots[row].tolist(), drawn[row].tolist(), strict=True))
            living = [column for column in range(7) if alive[row, column]]
            order = list(dict.fromkeys(keys[column] for column in living))
            assert len(order) <= leaders.shape[1]
            for column in living:
                assert numbers[row, column] == order.index(keys[column])
                assert keys[leaders[row, numbers[row, column]]] == keys[column]


# ---- prefixes --------------------------------------------------------------------------------------------------


def _play(policy: Policy, generator: TransformersGenerator, steps: int = 4) -> list[Episode]:
    """Plays three episodes in step, each continuing with its own greedy answer; one joins late."""
    rng = np.random.default_rng(0)
    episodes = [Episode("Save"), Episode("Save"), Episode("Delete the note")]
    for number in range(steps):
        running = episodes if number else episodes[:2]
        seen = [tiny.observation(rng) for _ in running]
        prompts = [policy.prompt(e.goal, e.steps, o) for e, o in zip(running, seen, strict=True)]
        drawn = generator.sample(prompts, k=2, max_new_tokens=7, greedy=True)
        for episode, observation, candidates in zip(running, seen, drawn, strict=True):
            episode.steps.append(Step(observation, candidates, 1, "wait()"))
    return episodes


@pytest.fixture
def prefilled(monkeypatch: pytest.MonkeyPatch, policy: Policy) -> Iterator[list[int]]:
    """Records the widths of prefills."""
    widths: list[int] = []

    def record(_: torch.nn.Module, arguments: tuple, keywords: dict[str, Tensor]) -> None:
        if "pixel_values" in keywords:
            widths.append(keywords["input_ids"].shape[1])

    handle = policy.model.model.register_forward_pre_hook(record, with_kwargs=True)
    yield widths
    handle.remove()


def test_kept_prefixes_change_nothing(policy: Policy, prefilled: list[int]) -> None:
    plain = _play(policy, TransformersGenerator(policy, kept_tokens=0))
    full, prefilled[:] = list(prefilled), []
    kept = _play(policy, TransformersGenerator(policy))
    for a, b in zip(plain, kept, strict=True):
        for one, other in zip(a.steps, b.steps, strict=True):
            assert _texts([one.candidates]) == _texts([other.candidates])
            for x, y in zip(one.candidates, other.candidates, strict=True):
                np.testing.assert_allclose(x.logprobs, y.logprobs, rtol=1e-4, atol=1e-5)
    assert full[3] > 3 * prefilled[3]  # a step costs its own screenshot, not the history


def test_earlier_prompts_are_prefixes_too(policy: Policy, prefilled: list[int]) -> None:
    """Drawing again in every state of a finished episode needs no further prefill."""
    generator = TransformersGenerator(policy)
    episode = _play(policy, generator)[0]
    prompts = [policy.prompt(episode.goal, episode.steps[:t], s.observation) for t, s in enumerate(episode.steps)]
    prefilled.clear()
    again = generator.sample(prompts, k=1, max_new_tokens=7, greedy=True)
    assert not prefilled  # no image was encoded
    assert _texts(again) == [[step.candidates[0].token_ids] for step in episode.steps]


@pytest.mark.parametrize("kept_tokens", [0, 65_536])
def test_what_a_prompt_has_in_common_with_the_one_before_is_read_once(
    policy: Policy, prefilled: list[int], kept_tokens: int
) -> None:
    """The states of an episode, then two questions about the last of them and another episode's; without padding."""
    episode = tiny.episode(policy, steps=4, seed=1)
    prompts = [policy.prompt(episode.goal, episode.steps[:t], s.observation) for t, s in enumerate(episode.steps)]
    again = [policy.prompt(episode.goal, episode.steps[:-1], episode.steps[-1].observation) for _ in range(3)]
    questions = [
        prompt + Segment(policy.chat.encode_text(text))
        for prompt, text in zip(again, ("Save", "Save it", "Delete"), strict=True)
    ]
    mixed = [*prompts, *questions, *_prompts(policy, (2,))]
    together = TransformersGenerator(policy, kept_tokens=kept_tokens).sample(mixed, k=2, max_new_tokens=9, greedy=True)
    if transformers.decodes_ragged(policy):
        own = len(mixed[-1]) - mixed[-1].input_ids.index(policy.chat.image_pad)  # the goal is the same
        assert prefilled == [len(questions[1]) + len(policy.chat.encode_text("Delete")) + own]
    alone = [TransformersGenerator(policy).sample([p], k=2, max_new_tokens=9, greedy=True)[0] for p in mixed]
    assert _texts(together) == _texts(alone)
    for one, other in zip(sum(together, []), sum(alone, []), strict=True):
        np.testing.assert_allclose(one.logprobs, other.logprobs, rtol=1e-4, atol=1e-5)


def test_forks_share_the_episode_up_to_where_they_part(policy: Policy, prefilled: list[int]) -> None:
    generator = TransformersGenerator(policy)
    episode = _play(policy, generator)[0]
    said = generator.sample(_prompts(policy, (1,)), max_new_tokens=9)[0]
    fork = [*episode.steps[:2], replace(episode.steps[2], candidates=said, executed=0)]
    prompt = policy.prompt(episode.goal, fork, tiny.observation(np.random.default_rng(5)))
    prefilled.clear()
    kept = generator.sample([prompt], max_new_tokens=7, greedy=True)
    assert prefilled[0] < 0.4 * len(prompt)
    plain = TransformersGenerator(policy, kept_tokens=0).sample([prompt], max_new_tokens=7, greedy=True)
    assert _texts(kept) == _texts(plain)
    np.testing.assert_allclose(kept[0][0].logprobs, plain[0][0].logprobs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("change", ["optimizer", "fused", "load"])
def test_new_weights_drop_the_prefixes(policy: Policy, change: str) -> None:
    generator = TransformersGenerator(policy)
    prompts = _prompts(policy)
    before = generator.sample(prompts, max_new_tokens=5, greedy=True)
    if change == "load":
        policy.model.load_state_dict(tiny.policy(seed=1).model.state_dict())
    else:
        optimizer = torch.optim.AdamW(policy.model.parameters(), lr=0.1, fused=change == "fused")
        log_probs(policy, build_tree(policy, tiny.episode(policy, steps=1)))[0][0].sum().backward()
        optimizer.step()
    after = generator.sample(prompts, max_new_tokens=5, greedy=True)
    fresh = TransformersGenerator(policy).sample(prompts, max_new_tokens=5, greedy=True)
    said_before, said_after, said_fresh = (np.array([c.logprobs for (c,) in drawn]) for drawn in (before, after, fresh))
    np.testing.assert_allclose(said_after, said_fresh, rtol=1e-4)
    assert np.abs(said_after - said_before).min() > 1e-3


def _prefix(*ids: int, images: tuple[ImageInput, ...] = ()) -> Prefix:
    return Prefix(list(ids), list(images), [torch.arange(len(ids)).view(1, 1, 1, -1, 1)])


def test_store_finds_the_longest_and_replaces_what_is_extended() -> None:
    store = PrefixStore(capacity=100, image_pad=9)
    store.put(_prefix(1, 2))
    store.put(_prefix(7, 7))
    store.put(_prefix(1, 2, 3))
    assert sorted(map(len, store.prefixes)) == [2, 3]
    assert store.find(Prompt([1, 2, 3, 4])).input_ids == [1, 2, 3]
    assert store.find(Prompt([1, 2, 3])).input_ids == [1, 2]  # the last token's logits are wanted
    assert store.find(Prompt([1, 3, 3])).input_ids == [1]  # episodes that have parted share their beginning
    assert len(store.find(Prompt([3]))) == len(store.find(Prompt([1]))) == 0
    store.put(_prefix(1, 2))
    assert sorted(map(len, store.prefixes)) == [2, 3]


def test_store_tells_equal_tokens_with_other_pictures_apart() -> None:
    one, other = (ImageInput(torch.zeros(4, 4), (1, 2, 2)) for _ in range(2))
    store = PrefixStore(capacity=100, image_pad=9)
    store.put(_prefix(1, 9, 9, 3, images=(one,)))
    assert store.find(Prompt([1, 9, 9, 3, 4], [other])).input_ids == [1]
    found = store.find(Prompt([1, 9, 9, 3, 9, 9, 5], [one, other]))
    assert found.input_ids == [1, 9, 9, 3] and found.images == [one]


def test_store_forgets_what_was_longest_without_use_beyond_its_capacity() -> None:
    store = PrefixStore(capacity=5, image_pad=9)
    for first in (1, 2, 3):
        store.put(_prefix(first, 0))
    assert [prefix.input_ids[0] for prefix in store.prefixes] == [2, 3]
    store.find(Prompt([2, 0, 0]))
    store.put(_prefix(4, 0))
    assert [prefix.input_ids[0] for prefix in store.prefixes] == [2, 4]
    store.put(_prefix(*range(9)))
    assert not store.prefixes
