"""Attention of a vision tower in one call a layer, whatever the number of images and windows.

transformers calls PyTorch's attention once for every window of every image, hundreds of times a layer for a few
screenshots. Here, all windows of a layer are rows of one batch. Shorter ones, as at the edges of an image, are padded
with patches that nothing attends to.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VLVisionAttention, apply_rotary_pos_emb_vision
from transformers.models.qwen2_vl.modeling_qwen2_vl import VisionAttention
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLVisionAttention


class BatchedWindows:
    """The forward pass of a vision attention with PyTorch's attention; others keep that of transformers."""

    def forward(
        self: Any,
        hidden_states: Tensor,
        cu_seqlens: Tensor,
        position_embeddings: tuple[Tensor, Tensor] | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Returns the output, (patches, hidden size), for patches of which `cu_seqlens` says where windows begin."""
        if self.config._attn_implementation != "sdpa" or position_embeddings is None:
            return super().forward(hidden_states, cu_seqlens, position_embeddings=position_embeddings, **kwargs)  # type: ignore[misc]
        states = self.qkv(hidden_states).unflatten(-1, (3, self.num_heads, -1))
        query, key = apply_rotary_pos_emb_vision(states[:, 0], states[:, 1], *position_embeddings)
        seen = attend_in_windows(query, key, states[:, 2], (cu_seqlens[1:] - cu_seqlens[:-1]).tolist(), self.scaling)
        return self.proj(seen.flatten(1))


class _Qwen2(BatchedWindows, VisionAttention): ...  # type: ignore[misc]


class _Qwen2_5(BatchedWindows, Qwen2_5_VLVisionAttention): ...  # type: ignore[misc]


class _Qwen3(BatchedWindows, Qwen3VLVisionAttention): ...  # type: ignore[misc]


_BATCHED: dict[type[nn.Module], type[nn.Module]] = {
    VisionAttention: _Qwen2,
    Qwen2_5_VLVisionAttention: _Qwen2_5,
    Qwen3VLVisionAttention: _Qwen3,
}


def batch_windows(model: nn.Module) -> None:
    """Changes how a model of one of the `ARCHITECTURES` attends in its vision tower; its weights stay as they are."""
    for module in model.modules():
        module.__class__ = _BATCHED.get(type(module), type(module))


def attend_in_windows(query: Tensor, key: Tensor, value: Tensor, lengths: list[int], scaling: float) -> Tensor:
    """Computes attention within windows that lie one after another.

    Args:
        query: Queries, (patches, heads, head size).
        key: Keys, likewise.
        value: Values, likewise.
        lengths: Numbers of patches of the windows.
        scaling: Factor of the scores.

    Returns:
        The output, (patches, heads, head size).
    """
    number, longest = len(lengths), max(lengths)
    if min(lengths) == longest:
        q, k, v = (each.unflatten(0, (number, longest)).transpose(1, 2) for each in (query, key, value))
        return scaled_dot_product_attention(q, k, v, scale=scaling).transpose(1, 2).flatten(0, 1)
    filled = torch.arange(longest) < torch.tensor(lengths)[:, None]
    filled = filled.to(query.device)
    places = filled.flatten().nonzero()[:, 0]  # of the patches among the rows' columns

    def padded(each: Tensor) -> Tensor:
        blank = each.new_zeros(number * longest, *each.shape[1:])
        return blank.index_copy(0, places, each).unflatten(0, (number, longest)).transpose(1, 2)

    q, k, v = padded(query), padded(key), padded(value)
    seen = scaled_dot_product_attention(q, k, v, attn_mask=filled[:, None, None], scale=scaling)
    return seen.transpose(1, 2).flatten(0, 1).index_select(0, places)
