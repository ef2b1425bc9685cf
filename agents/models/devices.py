"""Where a model computes, which is not always where its weights are."""

from typing import Any

import torch
from torch.distributed.tensor import DTensor


def pass_device(model: Any) -> torch.device:
    """Returns the device of a model's passes: that of its weights, or of its process if shards wait on the host."""
    parameter = next(model.parameters())
    if not isinstance(parameter, DTensor) or parameter.device_mesh.device_type == "cpu":
        return parameter.device
    return torch.device(parameter.device_mesh.device_type, torch.cuda.current_device())
