"""The projection of an image's patches as what it is: a linear layer.

transformers writes it as a convolution whose kernel covers exactly one patch. On a CPU, and on a GPU in half precision,
that is many times slower than the same product of matrices.
"""

from torch import Tensor, nn
from torch.nn.functional import linear


class PatchProjection(nn.Conv3d):
    """A convolution that only ever sees single patches, each as large as its kernel."""

    def forward(self, input: Tensor) -> Tensor:
        """Projects patches, (N, channels, frames, height, width), to (N, features)."""
        return linear(input.flatten(1), self.weight.flatten(1), self.bias)


def project_patches_linearly(model: nn.Module) -> None:
    """Changes how a model of one of the `ARCHITECTURES` projects patches; its weights stay as they are."""
    for module in model.modules():
        if type(module) is nn.Conv3d:
            module.__class__ = PatchProjection
