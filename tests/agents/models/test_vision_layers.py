"""Layers of vision towers compute what those of transformers compute."""

import pytest
import torch
from torch import nn

from coach_gym.agents.models.architectures import ARCHITECTURES
from coach_gym.agents.models.vision_layers import AlignedMLP, PatchProjection
from tests.agents import tiny


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_values_and_gradients_are_those_of_the_convolution(architecture: str) -> None:
    (projection,) = (m for m in tiny.policy(architecture=architecture).model.modules() if isinstance(m, nn.Conv3d))
    assert type(projection) is PatchProjection
    convolution = nn.Conv3d(
        projection.in_channels, projection.out_channels, projection.kernel_size, projection.stride,
        bias=projection.bias is not None,
    )  # fmt: skip
    convolution.load_state_dict(projection.state_dict())
    patches = torch.randn(5, projection.in_channels, *projection.kernel_size)
    ours, theirs = (module(patches).view(5, -1) for module in (projection, convolution))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    for output in (ours, theirs):
        output.sin().sum().backward()
    torch.testing.assert_close(projection.weight.grad, convolution.weight.grad, rtol=1e-4, atol=1e-4)


def test_padding_changes_neither_values_nor_gradients() -> None:
    layer = tiny.policy().model.model.visual.blocks[0].mlp
    assert type(layer) is AlignedMLP
    patches = torch.randn(5, layer.hidden_size)
    results = []
    for compute in (layer.forward, lambda hidden: layer.padded(hidden, 3)):
        layer.zero_grad()
        output = compute(patches)
        output.sin().sum().backward()
        results.append({"output": output.detach(), **{name: p.grad.clone() for name, p in layer.named_parameters()}})
    torch.testing.assert_close(results[0], results[1], rtol=1e-5, atol=1e-6)
    assert len(results[0]) == 7 and results[0]["output"].std() > 1e-3
