"""Patches are projected as transformers projects them."""

import pytest
import torch
from torch import nn

from coach_gym.agents.models.architectures import ARCHITECTURES
from coach_gym.agents.models.patches import PatchProjection
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
