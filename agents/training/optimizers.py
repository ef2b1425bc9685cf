"""The optimizers of policy and critic."""

from torch import nn
from torch.optim import AdamW, Optimizer


def make_optimizer(model: nn.Module, learning_rate: float) -> Optimizer:
    """Returns AdamW of the weights that are trained, which are not all if a model has adapters."""
    return AdamW([parameter for parameter in model.parameters() if parameter.requires_grad], lr=learning_rate)
