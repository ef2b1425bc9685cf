"""Counted arithmetic against PyTorch's own counter, and against the mask of the tree."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.flops import forward_flops, size_of_sequence, size_of_tree
from benchmarks.seven_b import TINY, build, record, sequence
from coach_gym.agents.tree import build_tree, log_probs, sequence_log_probs


@pytest.fixture(scope="module")
def policy():
    policy = build(TINY, torch.device("cpu"))
    policy.model.eval()
    policy.model.set_attn_implementation("eager")  # plain products, all of which PyTorch counts
    return policy


@pytest.fixture(scope="module")
def episode(policy):
    return record(policy, TINY)


def counted(run):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return counter.get_total_flops()


def test_pass_over_a_tree(policy, episode):
    tree = build_tree(policy, episode)
    size = size_of_tree(tree, scored=True)
    assert size.pairs == sum(int(trunk.mask().sum()) for trunk in tree.trunks)
    size.pairs = size.tokens**2  # what eager attention computes
    assert sum(forward_flops(policy.model, size).values()) == counted(lambda: log_probs(policy, tree))


def test_pass_over_a_sequence(policy, episode):
    prompt, candidate = sequence(policy, episode, 2)
    size = size_of_sequence(prompt, candidate)
    assert size.pairs == size.tokens * (size.tokens + 1) // 2
    size.pairs = size.tokens**2
    expected = counted(lambda: sequence_log_probs(policy, prompt, candidate))
    assert sum(forward_flops(policy.model, size).values()) == expected
