"""Vision attention in one call a layer is transformers' attention in one call a window."""

from unittest.mock import patch

import pytest
import torch

from coach_gym.agents.models import vision_attention
from coach_gym.agents.models.architectures import ARCHITECTURES, untrained_model
from tests.agents import tiny

SIDE = {"qwen2_vl": 14, "qwen2_5_vl": 14, "qwen3_vl": 16}


@pytest.mark.parametrize("grids", [[(1, 12, 8)], [(1, 12, 10), (1, 12, 10)], [(1, 6, 10), (1, 12, 8), (1, 2, 2)]])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_values_and_gradients_are_those_of_single_windows(architecture: str, grids: list[tuple[int, int, int]]):
    policy = tiny.policy(architecture=architecture)
    theirs = untrained_model(policy.model.config)
    theirs.load_state_dict(policy.model.state_dict())
    patches = torch.randn(sum(h * w for _, h, w in grids), 3 * 2 * SIDE[architecture] ** 2)
    outputs, gradients, calls = [], [], []
    for model in (policy.model, theirs):
        tower = model.model.visual
        with patch.object(
            vision_attention, "scaled_dot_product_attention", wraps=torch.nn.functional.scaled_dot_product_attention
        ) as attention:
            seen = tower(patches, torch.tensor(grids)).pooler_output
        seen.sin().sum().backward()
        outputs.append(seen.detach())
        gradients.append({name: p.grad for name, p in tower.named_parameters() if p.grad is not None})
        calls.append(attention.call_count)
    torch.testing.assert_close(outputs[0], outputs[1], rtol=0, atol=1e-5)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-3, atol=5e-5)
    assert outputs[0].std() > 1e-3
    assert calls == [len(policy.model.model.visual.blocks), 0]
