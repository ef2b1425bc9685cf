"""Updates that happen whole or not at all."""

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from coach_gym.agents.distributed import processes
from coach_gym.agents.models.learner import Learner


class Backup:
    """A copy of trained weights and optimizer states, to return to when an update fails.

    It lies in main memory: 12 bytes a trained weight with AdamW and float32, of each process's own shards. The copies
    are allocated once and written over before every update.

    Attributes:
        active: Whether an update has begun that is not yet known to be whole.
    """

    def __init__(self) -> None:
        self.active = False
        self._weights: dict[nn.Parameter, Tensor] = {}
        self._states: dict[nn.Parameter, dict[str, Any]] = {}
        self._groups: dict[str, list[dict[str, Any]]] = {}

    @torch.no_grad()
    def keep(self, learner: Learner) -> None:
        """Copies what the next update may change."""
        for name, model in learner.models.items():
            states = learner.optimizer(name).state
            for parameter in filter(lambda each: each.requires_grad, model.parameters()):
                self._weights[parameter] = _copied(parameter, self._weights.get(parameter))
                before = self._states.get(parameter, {})
                kept = {key: _copied(value, before.get(key)) for key, value in states.get(parameter, {}).items()}
                self._states[parameter] = kept
        self._groups = {name: _settings(learner, name) for name in learner.optimizers}
        self.active = True  # last: an interruption before this leaves nothing to undo

    @torch.no_grad()
    def restore(self, learner: Learner) -> None:
        """Puts back what `keep` copied; does nothing unless an update has begun."""
        if not self.active:
            return
        for name, model in learner.models.items():
            optimizer = learner.optimizer(name)
            optimizer.zero_grad(set_to_none=True)
            for parameter in filter(lambda each: each.requires_grad, model.parameters()):
                _local(parameter).copy_(self._weights[parameter])
                kept, state = self._states[parameter], optimizer.state.pop(parameter, {})
                if kept:
                    optimizer.state[parameter] = {key: _returned(state.get(key), kept[key]) for key in kept}
        for name, groups in self._groups.items():
            for group, settings in zip(learner.optimizers[name].param_groups, groups, strict=True):
                group.update(deepcopy(settings))
        self.active = False


def require_finite(learner: Learner) -> None:
    """Checks that every trained weight and optimizer state is finite; all processes call it.

    Raises:
        FloatingPointError: One is not; raised in all processes.
    """
    spoiled = _first_not_finite(learner)
    for name in processes.gather(spoiled):
        if name is not None:
            raise FloatingPointError(
                f"{name} is not finite, so it is neither kept nor saved; continue from an earlier checkpoint with a "
                f"smaller learning_rate or critic_learning_rate"
            )


@torch.no_grad()
def _first_not_finite(learner: Learner) -> str | None:
    names: list[str] = []
    extremes: list[Tensor] = []
    for part, model in learner.models.items():
        states = learner.optimizer(part).state
        for name, parameter in model.named_parameters():
            tensors = {"": parameter, **{f" ({key})": value for key, value in states.get(parameter, {}).items()}}
            for key, value in tensors.items():
                if isinstance(value, Tensor) and value.is_floating_point() and _local(value).numel():
                    names.append(f"{part} {name}{key}")
                    extremes.append(torch.stack(torch.aminmax(_local(value).dequantize())).isfinite().all())
    together = torch.stack([each.cpu() for each in extremes]) if extremes else torch.ones(1, dtype=torch.bool)
    return None if together.all() else names[int((~together).nonzero()[0])]


def _settings(learner: Learner, name: str) -> list[dict[str, Any]]:
    """An optimizer's settings, such as its learning rate, group by group."""
    groups = learner.optimizers[name].param_groups
    return [deepcopy({key: value for key, value in group.items() if key != "params"}) for group in groups]


def _local(value: Tensor) -> Tensor:
    """This process's shard of a tensor."""
    return value.to_local() if isinstance(value, DTensor) else value


def _copied(value: Any, before: Any) -> Any:
    """Copies a value to main memory, into the tensor that holds the previous copy if it fits."""
    if not isinstance(value, Tensor):
        return deepcopy(value)
    local = _local(value.detach())
    if isinstance(before, Tensor) and before.shape == local.shape and before.dtype == local.dtype:
        return before.copy_(local)
    return local.clone() if local.device.type == "cpu" else local.cpu()  # torchao's moments ignore `copy=True`


def _returned(value: Any, kept: Any) -> Any:
    """Puts a copy back into the tensor that it was made of."""
    if not isinstance(value, Tensor):
        return deepcopy(kept)
    _local(value).copy_(kept)
    return value
