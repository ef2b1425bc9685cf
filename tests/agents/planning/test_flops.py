"""Counted arithmetic compared with PyTorch's own counter and with the tree's mask."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.seven_b import TINY, build, record, with_candidates
from coach_gym.agents.models.tree import build_tree, log_probs, separate_tree
from coach_gym.agents.planning.flops import forward_flops, size_of_tree


@pytest.fixture(scope="module")
def policy():
    policy = build(TINY, torch.device("cpu"))
    policy.model.eval()
    policy.model.set_attn_implementation("eager")  # plain products, which PyTorch counts completely
    return policy


@pytest.fixture(scope="module")
def episode(policy):
    whole = record(policy, TINY)
    return with_candidates(replace(whole, steps=whole.steps[:3]), 2)


def counted(run):
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return counter.get_total_flops()


@pytest.mark.parametrize("make", [build_tree, separate_tree])
def test_pass_over_an_episode(policy, episode, make):
    tree = make(policy, episode)
    size = size_of_tree(tree, scored=True)
    assert size.pairs == sum(int(trunk.mask().sum()) for trunk in tree.trunks)
    size.pairs = sum(trunk.input_ids.shape[1] ** 2 for trunk in tree.trunks)  # what eager attention computes
    assert sum(forward_flops(policy.model, size).values()) == counted(lambda: log_probs(policy, tree))
