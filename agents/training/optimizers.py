"""The optimizers of policy and critic."""

from importlib.util import find_spec
from typing import Literal

from torch import nn
from torch.optim import AdamW, Optimizer

OptimizerName = Literal["adamw", "adamw8bit"]


def check_optimizer(name: OptimizerName) -> None:
    """Refuses an optimizer that cannot be made, before any model is loaded.

    Raises:
        ImportError: Its library is not installed.
    """
    if name == "adamw8bit" and find_spec("torchao") is None:
        raise ImportError(
            "optimizer='adamw8bit' needs torchao, which is not installed: pip install 'coach-gym[torchao]'"
        )


def make_optimizer(model: nn.Module, learning_rate: float, name: OptimizerName = "adamw") -> Optimizer:
    """Returns AdamW of the weights that are trained, which are not all if a model has adapters.

    Raises:
        ValueError: None is.
    """
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not trained:
        raise ValueError(
            "all weights of the model are frozen; if it has adapters, pass their lora_rank and lora_alpha, or merge "
            "them first with Policy.merged()"
        )
    if name == "adamw":
        on_cpu = all(parameter.device.type == "cpu" for parameter in trained)
        return AdamW(trained, lr=learning_rate, fused=on_cpu or None)  # a fifth of the time of torch's choice there
    from coach_gym.agents.training.eight_bit import AdamW8bit

    return AdamW8bit(trained, lr=learning_rate)
