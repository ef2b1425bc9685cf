"""Attention over a packed trajectory tree that computes only what is visible.

A dense mask makes attention quadratic in all tokens of the tree. Here the trunk attends causally to itself, without
a mask, and the branches of each step attend to their prompt and to themselves: about a third of the work at twelve
steps of four candidates, and no mask of the whole square.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

NAME = "coach_gym_tree"


@dataclass(frozen=True)
class StepBranches:
    """The branches of one step, adjacent columns of a packed tree.

    Attributes:
        prompt_end: columns [0, prompt_end) are their prompt.
        start, stop: columns of the branches.
        mask: (1, 1, stop - start, prompt_end + stop - start), added to the scores.
    """

    prompt_end: int
    start: int
    stop: int
    mask: Tensor


def tree_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    branches: Sequence[StepBranches] | None = None,
    trunk_length: int = 0,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """PyTorch's attention, except when it is told about branches: then that of a packed tree.

    Args:
        module: attention layer.
        query: (1, heads, L, head size).
        key, value: (1, key-value heads, L, head size).
        attention_mask: None with `branches`.
        branches: what follows the trunk, by step.
        trunk_length: columns of the trunk.

    Returns:
        (1, L, heads, head size), and no weights.
    """
    if branches is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
    blocks = [step.stop - step.start for step in branches]
    asked = query.split([trunk_length, *blocks], dim=2)
    # Split between prompts rather than sliced for each: a slice's gradient is a zero-filled copy of the whole.
    ends = [step.prompt_end for step in branches]
    widths = [end - start for start, end in zip([0, *ends], [*ends, trunk_length], strict=True)]
    keys, values = key.split([*widths, *blocks], dim=2), value.split([*widths, *blocks], dim=2)

    def seen(pieces: Sequence[Tensor], prompts: int, *branch: Tensor) -> Tensor:
        return torch.cat([*pieces[:prompts], *branch], dim=2)

    trunk = len(widths)
    outputs = [sdpa_attention_forward(module, asked[0], seen(keys, trunk), seen(values, trunk), None, **kwargs)[0]]
    for n, step in enumerate(branches):
        past = seen(keys, n + 1, keys[trunk + n]), seen(values, n + 1, values[trunk + n])
        mask = step.mask.to(query.dtype)  # weights may be kept in another precision than passes are made in
        outputs.append(sdpa_attention_forward(module, asked[n + 1], past[0], past[1], mask, **kwargs)[0])
    return torch.cat(outputs, dim=1), None


AttentionInterface.register(NAME, tree_attention)
AttentionMaskInterface.register(NAME, sdpa_mask)


def enable_tree_attention(model: Any) -> None:
    """Lets the text layers of a model take branches. Anything else they do as before; eager stays eager."""
    if text_attention(model) != "eager":
        model.set_attn_implementation({"text_config": NAME})


def text_attention(model: Any) -> str:
    """Name of the attention implementation of the text layers."""
    return model.config.get_text_config()._attn_implementation


def sliding_window(model: Any) -> int | None:
    """Tokens that the text layers of sliding attention see; None where there are none, as in all published models."""
    config = model.config.get_text_config()
    return config.sliding_window if "sliding_attention" in getattr(config, "layer_types", ()) else None
