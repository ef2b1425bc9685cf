"""Layers of vision towers, computed as transformers computes them but faster."""

from torch import Tensor, nn
from torch.nn.functional import linear, pad
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VLMLP

from coach_gym.agents.models.vision_attention import batch_windows

MULTIPLE = 8
"""A GPU is fast at products of 16-bit matrices whose sides are multiples of this."""


def speed_up_vision(model: nn.Module) -> None:
    """Changes how the vision tower of one of the `ARCHITECTURES` computes; its weights stay as they are."""
    batch_windows(model)
    for module in model.modules():
        if type(module) is nn.Conv3d:
            module.__class__ = PatchProjection
        elif type(module) is Qwen2_5_VLMLP:
            module.__class__ = AlignedMLP


class PatchProjection(nn.Conv3d):
    """A convolution that only ever sees single patches, each as large as its kernel: a product of matrices.

    On a CPU, and on a GPU in half precision, the convolution is many times slower.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Projects patches, (N, channels, frames, height, width), to (N, features)."""
        return linear(input.flatten(1), self.weight.flatten(1), self.bias)


class AlignedMLP(Qwen2_5_VLMLP):  # type: ignore[misc]
    """A gated layer whose inner features are filled up with zeros on a GPU, to a multiple of eight.

    The published towers of Qwen2.5-VL have 3420. On an H200, products of that width take three times as long as those
    of 3424, and took 40 % of the tower's time.
    """

    def forward(self, hidden_state: Tensor) -> Tensor:
        """Returns the output, (patches, hidden size), for patches, likewise."""
        spare = -self.intermediate_size % MULTIPLE
        return self.padded(hidden_state, spare) if spare and hidden_state.is_cuda else super().forward(hidden_state)

    def padded(self, hidden: Tensor, spare: int) -> Tensor:
        """Computes the same with `spare` more inner features, whose weights are zero."""
        gate, up = (
            linear(hidden, pad(each.weight, (0, 0, 0, spare)), pad(each.bias, (0, spare)))
            for each in (self.gate_proj, self.up_proj)
        )
        return linear(self.act_fn(gate) * up, pad(self.down_proj.weight, (0, spare)), self.down_proj.bias)
