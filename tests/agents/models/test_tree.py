"""The packed tree gives the same values and gradients as one sequence per candidate."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import build_tree, log_probs, separate_log_probs, separate_tree
from coach_gym.episode import Candidate, Episode
from tests.agents import tiny


def _loss(scored: list[list[Tensor]]) -> Tensor:
    """Weights every token differently, so that no two can be confused."""
    tokens = torch.cat([candidate for step in scored for candidate in step])
    return (tokens * torch.linspace(-1, 1, len(tokens))).sum()


def _gradients(policy: Policy, scored: list[list[Tensor]]) -> dict[str, Tensor]:
    policy.model.zero_grad()
    _loss(scored).backward()
    return {name: p.grad.clone() for name, p in policy.model.named_parameters() if p.grad is not None}


def _assert_equal(policy: Policy, episode: Episode, temperature: float = 1.0) -> None:
    packed = log_probs(policy, build_tree(policy, episode), temperature)
    separate = separate_log_probs(policy, episode, temperature)
    for ours, theirs, step in zip(packed, separate, episode.steps, strict=True):
        for a, b, candidate in zip(ours, theirs, step.candidates, strict=True):
            assert a.shape == (len(candidate.token_ids),)
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    ours, theirs = _gradients(policy, packed), _gradients(policy, separate)
    assert ours.keys() == theirs.keys()
    for name in ours:
        error = (ours[name] - theirs[name]).norm() / theirs[name].norm().clamp(min=1e-6)
        assert error < 1e-5, f"gradient of {name} is off by {error:.1e}"


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_equal_to_separate_sequences(attention: str) -> None:
    policy = tiny.policy()
    if attention == "eager":  # the dense mask; otherwise attention by branches
        policy.model.set_attn_implementation("eager")
    _assert_equal(policy, tiny.episode(policy, steps=3, k=4), temperature=0.7)


def test_the_two_attentions_see_the_same() -> None:
    policy = tiny.policy()
    tree = build_tree(policy, tiny.episode(policy, steps=3, k=3))
    by_branches = log_probs(policy, tree)
    policy.model.set_attn_implementation("eager")
    dense = log_probs(policy, tree)
    for a, b in zip(sum(by_branches, []), sum(dense, []), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_equal_after_history_was_cut() -> None:
    policy = tiny.policy(max_prompt_length=150)
    episode = tiny.episode(policy, steps=6)
    assert len(build_tree(policy, episode).trunks) > 1
    _assert_equal(policy, episode)


def test_equal_with_repeated_candidates() -> None:
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=3, k=3)
    first, second, third = (step.candidates for step in episode.steps)
    first[:] = [first[0]] * 3  # all as executed
    second[(episode.steps[1].executed + 1) % 3] = second[(episode.steps[1].executed + 2) % 3]
    third[(episode.steps[2].executed + 1) % 3] = third[episode.steps[2].executed]
    _assert_equal(policy, episode)
    trunk = build_tree(policy, episode).trunks[0]
    assert [len(step) for step in trunk.branches] == [1, 1]  # the first step has no branch of its own


def test_equal_with_responses_of_one_token_and_without_end() -> None:
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=2, k=3)
    for step in episode.steps:
        step.candidates[0] = Candidate("", [policy.eos], [0.0])
        step.candidates[1] = Candidate("ab", [66, 67], [0.0, 0.0])
    _assert_equal(policy, episode)


@pytest.mark.parametrize("reentrant", [False, True])
def test_equal_under_gradient_checkpointing(reentrant: bool) -> None:
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=2)
    expected = _gradients(policy, separate_log_probs(policy, episode))
    policy.model.train()
    policy.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": reentrant})
    if reentrant:
        policy.model.enable_input_require_grads()
    tree = build_tree(policy, episode)
    actual = _gradients(policy, log_probs(policy, tree))
    for name in expected:
        torch.testing.assert_close(actual[name], expected[name], rtol=1e-4, atol=1e-5)


def test_executed_only_lies_on_the_trunk() -> None:
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=3)
    everything = log_probs(policy, build_tree(policy, episode))
    tree = build_tree(policy, episode, candidates="executed")
    assert not tree.trunks[0].branches
    for alone, step, among in zip(log_probs(policy, tree), episode.steps, everything, strict=True):
        assert len(alone) == 1
        torch.testing.assert_close(alone[0], among[step.executed], rtol=1e-5, atol=1e-5)


def test_token_count_is_that_of_trunk_and_branches() -> None:
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=4, k=3)
    trunk = build_tree(policy, episode).trunks[0]
    last = episode.steps[-1]
    prompt = policy.prompt(episode.goal, episode.steps[:-1], last.observation)
    expected = len(prompt) + len(last.candidates[last.executed].token_ids)
    others = [c for step in episode.steps for i, c in enumerate(step.candidates) if i != step.executed]
    assert trunk.length == expected
    assert trunk.input_ids.shape[1] == expected + sum(len(candidate.token_ids) for candidate in others)
    assert len(trunk.images) == 4


def test_mask_lets_a_token_see_its_prompt_and_its_own_response_only() -> None:
    policy = tiny.policy()
    trunk = build_tree(policy, tiny.episode(policy, steps=3)).trunks[0]
    mask = trunk.mask()[0, 0]
    for span in (span for step in trunk.branches for span in step):
        seen = set(range(span.prompt_end)) | {span.start}
        assert set(mask[span.start].nonzero().flatten().tolist()) == seen
        assert int(mask[span.stop - 1].sum()) == span.prompt_end + span.length


def test_real_proportions_work() -> None:
    """Head size, rope sections, head counts and padded vocabulary of the seven-billion-parameter model."""
    tok = tiny.tokenizer()
    sections = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]}
    shape: dict[str, Any] = dict(
        num_attention_heads=7, num_key_value_heads=1, vocab_size=len(tok) + 99, rope_parameters=sections
    )
    policy = tiny.policy(hidden=7 * 128, layers=1, std=0.02, **shape)
    assert policy.model.model.language_model.layers[0].self_attn.head_dim == 128
    _assert_equal(policy, tiny.episode(policy, steps=2, k=2))


def test_gradient_reaches_the_vision_encoder() -> None:
    policy = tiny.policy()
    gradients = _gradients(policy, log_probs(policy, build_tree(policy, tiny.episode(policy, steps=2))))
    vision = [g for name, g in gradients.items() if "visual" in name]
    assert vision and all(np.isfinite(g.norm()) and g.norm() > 0 for g in vision)


def _lengths(trunk: Any) -> list[int]:
    return [span.length for step in trunk.branches for span in step]


def test_branches_beyond_the_limit_go_into_further_trunks() -> None:
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=4, k=5)
    whole = build_tree(policy, episode).trunks[0]
    longest = max(_lengths(whole))
    tree = build_tree(policy, episode, max_branch_tokens=longest + 3)
    assert len(tree.trunks) > 4
    assert all(sum(_lengths(trunk)) <= longest + 3 for trunk in tree.trunks)
    assert sum((_lengths(trunk) for trunk in tree.trunks), []) == _lengths(whole)
    shown = [len(trunk.images) for trunk in tree.trunks]
    assert shown == sorted(shown) and shown[0] < shown[-1] == 4, "a chunk has no more history than its steps see"
    assert tree.by_step(range(20)) == [[*range(n, n + 5)] for n in (0, 5, 10, 15)]
    ends = [end for trunk in tree.trunks for end in trunk.prompt_ends]
    assert ends == whole.prompt_ends, "every state once, though some lie in several trunks"


def test_a_branch_longer_than_the_limit_is_alone() -> None:
    policy = tiny.policy()
    tree = build_tree(policy, tiny.episode(policy, steps=2, k=3), max_branch_tokens=0)
    assert [len(_lengths(trunk)) for trunk in tree.trunks] == [1, 1, 1, 1]


def test_equal_in_chunks() -> None:
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=3, k=4)
    chunks = build_tree(policy, episode, max_branch_tokens=9)
    assert len(chunks.trunks) > 3
    ours = _gradients(policy, log_probs(policy, chunks))
    theirs = _gradients(policy, separate_log_probs(policy, episode))
    for name in theirs:
        error = (ours[name] - theirs[name]).norm() / theirs[name].norm().clamp(min=1e-6)
        assert error < 1e-5, f"gradient of {name} is off by {error:.1e}"


def test_separate_sequences_share_nothing() -> None:
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=3, k=2)
    trunks = separate_tree(policy, episode).trunks
    expected = [
        [*policy.prompt(episode.goal, episode.steps[:t], step.observation).input_ids, *candidate.token_ids]
        for t, step in enumerate(episode.steps)
        for candidate in step.candidates
    ]
    assert [trunk.input_ids[0].tolist() for trunk in trunks] == expected
    assert [len(trunk.images) for trunk in trunks] == [1, 1, 2, 2, 3, 3] and not any(t.branches for t in trunks)
    executed = separate_tree(policy, episode, "executed").trunks
    chosen = [2 * t + step.executed for t, step in enumerate(episode.steps)]
    assert [trunk.input_ids[0].tolist() for trunk in executed] == [expected[number] for number in chosen]


def test_a_sliding_window_counts_the_tokens_of_a_sequence() -> None:
    """A branch's window equals that of a separate sequence without the later steps."""
    policy = tiny.policy()
    trunk = build_tree(policy, tiny.episode(policy, steps=3)).trunks[0]
    for span in (span for step in trunk.branches for span in step):
        seen = trunk.mask(window=5)[0, 0, span.start].nonzero().flatten().tolist()
        assert seen == [*range(span.prompt_end - 4, span.prompt_end), span.start]
