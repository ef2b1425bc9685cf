"""The optimizers of the pocket model's supervised stages."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor, nn

INNER = re.compile(r"language_model\.layers|^tower\.")


class Optimizers:
    """Muon for the matrices of the decoder's layers or of a vision tower alone, AdamW for the rest, in one schedule.

    Args:
        model: The model in training.
        rate: Learning rate of AdamW; Muon's is `MUON` times that.
    """

    MUON, WARM_UP = 6.0, 50

    def __init__(self, model: nn.Module, rate: float) -> None:
        named = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
        inner = [p for name, p in named if INNER.search(name) and p.ndim == 2]
        known = {id(p) for p in inner}
        rest = [p for _, p in named if id(p) not in known]
        self.parameters = inner + rest
        self.rates = (self.MUON * rate, rate)
        self.optimizers: list[torch.optim.Optimizer] = [
            torch.optim.Muon(inner, lr=self.rates[0], momentum=0.95, weight_decay=0.01),
            torch.optim.AdamW(rest, lr=self.rates[1], betas=(0.9, 0.95), weight_decay=0.01),
        ]
        self.steps = 0

    def step(self, loss: Tensor, factor: float) -> None:
        """Makes one update at `factor` times the full learning rate."""
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.steps += 1
        for optimizer, rate in zip(self.optimizers, self.rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = rate * factor * min(1.0, self.steps / self.WARM_UP)
            optimizer.step()
            optimizer.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """Returns the state for `load_state_dict`."""
        return {"steps": self.steps, "optimizers": [optimizer.state_dict() for optimizer in self.optimizers]}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
        self.steps = state["steps"]
        for optimizer, kept in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(kept)
