"""Attention over a packed trajectory tree that computes only the visible part.

A dense mask makes attention quadratic in all tokens of the tree. Here the trunk attends causally to itself without a
mask, and the branches of each step attend to their prompt and to themselves. That is about a third of the work at
twelve steps of four candidates, without a mask of the whole square.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

NAME = "coach_gym_tree"
PLANNED = 16_384
"""Tokens from which on cuDNN's attention is faster in a model of 28 layers, though it plans for every new shape."""
UNPLANNED = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


@dataclass(frozen=True)
class StepBranches:
    """The branches of one step, adjacent columns of a packed tree.

    Attributes:
        prompt_end: End of their prompt, which is columns [0, prompt_end).
        start: First column of the branches.
        stop: Column after the last one.
        mask: Mask that is added to the scores, (1, 1, stop - start, prompt_end + stop - start).
    """

    prompt_end: int
    start: int
    stop: int
    mask: Tensor


class RowAttention(Protocol):
    """Attention of rows that lie side by side in one sequence, and of which each has keys and values of its own."""

    def attend(self, query: Tensor, layer: int, scaling: float) -> Tensor:
        """Returns the output, (1, L, heads, head size), of queries, (1, heads, L, head size)."""
        ...


def tree_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    branches: Sequence[StepBranches] | None = None,
    trunk_length: int = 0,
    ragged: RowAttention | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Computes PyTorch's attention, or that of a packed tree if there are branches, or of rows that have their own.

    Args:
        module: The attention layer.
        query: Queries, (1, heads, L, head size).
        key: Keys, (1, key-value heads, L, head size).
        value: Values, (1, key-value heads, L, head size).
        attention_mask: Mask of PyTorch's attention; None with branches.
        branches: The branches of each step, which follow the trunk.
        trunk_length: Number of columns of the trunk.
        ragged: Computes the attention of rows in place of all this.
        kwargs: Further arguments of PyTorch's attention.

    Returns:
        The output, (1, L, heads, head size), and None in place of attention weights.
    """
    if ragged is not None:
        layer: Any = module.layer_idx
        return ragged.attend(query, layer, kwargs["scaling"]), None
    if branches is None:
        return _attend(module, query, key, value, attention_mask, **kwargs), None
    blocks = [step.stop - step.start for step in branches]
    asked = query.split([trunk_length, *blocks], dim=2)
    # Split between prompts rather than sliced for each, because a slice's gradient is a zero-filled copy of the whole.
    ends = [step.prompt_end for step in branches]
    widths = [end - start for start, end in zip([0, *ends], [*ends, trunk_length], strict=True)]
    keys, values = key.split([*widths, *blocks], dim=2), value.split([*widths, *blocks], dim=2)

    def seen(pieces: Sequence[Tensor], prompts: int, *branch: Tensor) -> Tensor:
        return torch.cat([*pieces[:prompts], *branch], dim=2)

    trunk = len(widths)
    outputs = [_attend(module, asked[0], seen(keys, trunk), seen(values, trunk), None, **kwargs)]
    for n, step in enumerate(branches):
        past = seen(keys, n + 1, keys[trunk + n]), seen(values, n + 1, values[trunk + n])
        mask = step.mask.to(query.dtype)  # passes may use another precision than the weights
        outputs.append(_attend(module, asked[n + 1], *past, mask, **kwargs))
    return torch.cat(outputs, dim=1), None


def _attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **kwargs: Any
) -> Tensor:
    """Computes PyTorch's attention, without cuDNN for short prompts.

    A plan took 0.13 s on an H200, a layer of 8,000 tokens 3 ms and without cuDNN 6 ms, forward and backward. Hardly two
    prompts are of the same length.
    """
    if not query.is_cuda or mask is not None or query.shape[2] >= PLANNED:
        return sdpa_attention_forward(module, query, key, value, mask, **kwargs)[0]
    with sdpa_kernel(UNPLANNED):
        return sdpa_attention_forward(module, query, key, value, mask, **kwargs)[0]


AttentionInterface.register(NAME, tree_attention)
AttentionMaskInterface.register(NAME, sdpa_mask)


def enable_tree_attention(model: Any) -> None:
    """Lets the text layers of a model take branches; everything else stays as it is, and eager stays eager."""
    if text_attention(model) != "eager":
        model.set_attn_implementation({"text_config": NAME})


def text_attention(model: Any) -> str:
    """Returns the name of the attention implementation of the text layers."""
    return model.config.get_text_config()._attn_implementation


def sliding_window(model: Any) -> int | None:
    """Returns the window of the text layers with sliding attention; None without such, as in published models."""
    config = model.config.get_text_config()
    return config.sliding_window if "sliding_attention" in getattr(config, "layer_types", ()) else None
