"""A pass whose last layer is computed only where it is read.

Of a packed episode, only the columns that predict or end up in responses are read, a fifth of them. Below the last
layer every column counts, because others attend to it. In the last layer, the others are needed as keys and values
alone, which saves a sixth of a pass with four layers, forward and backward.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule
from transformers import Qwen2_5_VLModel, Qwen2VLModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import rotate_half

from coach_gym.agents.models.tree_attention import NAME, sliding_window, text_attention


def can_trim(backbone: Any) -> bool:
    """Returns whether `trimmed_hidden_states` can run a model without language head; otherwise, it runs as a whole."""
    if type(backbone) not in (Qwen2VLModel, Qwen2_5_VLModel):
        return False
    last = backbone.language_model.layers[-1]
    if isinstance(last, FSDPModule) or (last.gradient_checkpointing and last.training):  # both work through hooks
        return False
    return text_attention(backbone) == NAME and sliding_window(backbone) is None


def trimmed_hidden_states(backbone: Any, arguments: dict[str, Any], read: Tensor, visible: Tensor) -> Tensor:
    """Computes the last hidden states of some columns.

    Args:
        backbone: A model for which `can_trim` holds.
        arguments: Arguments of its forward pass over a sequence of L tokens, from `Trunk.forward_arguments`.
        read: The columns, (n,).
        visible: Which columns they see, (n, L) bool.

    Returns:
        Hidden states after the final norm, (n, hidden size).
    """
    given = dict(arguments)
    input_ids, position_ids = given.pop("input_ids"), given.pop("position_ids")
    del given["use_cache"]
    text = backbone.language_model
    hidden = text.embed_tokens(input_ids)
    if "pixel_values" in given:
        images = backbone.get_image_features(given.pop("pixel_values"), given.pop("image_grid_thw")).pooler_output
        places = input_ids == backbone.config.image_token_id
        hidden = hidden.masked_scatter(places[..., None], torch.cat(images).to(hidden))
    rotary = text.rotary_emb(hidden, position_ids)
    for layer in text.layers[:-1]:
        hidden = layer(hidden, position_embeddings=rotary, **given)
    return text.norm(_last_layer(text.layers[-1], hidden, rotary, read, visible)[0])


def _last_layer(layer: Any, hidden: Tensor, rotary: tuple[Tensor, Tensor], read: Tensor, visible: Tensor) -> Tensor:
    """The output of a decoder layer, (1, n, hidden size)."""
    attention = layer.self_attn
    normed = layer.input_layernorm(hidden)
    cos, sin = rotary
    query = _heads(attention.q_proj, normed.index_select(1, read), attention.head_dim)
    query = _rotated(query, cos[:, None, read], sin[:, None, read])
    key = _rotated(_heads(attention.k_proj, normed, attention.head_dim), cos[:, None], sin[:, None])
    value = _heads(attention.v_proj, normed, attention.head_dim)
    mask = torch.zeros(visible.shape, dtype=query.dtype, device=query.device)
    mask = mask.masked_fill_(~visible.to(query.device), float("-inf"))[None, None]
    seen, _ = sdpa_attention_forward(attention, query, key, value, mask, scaling=attention.scaling)
    hidden = hidden.index_select(1, read) + attention.o_proj(seen.flatten(2))
    return hidden + layer.mlp(layer.post_attention_layernorm(hidden))


def _heads(projection: nn.Module, hidden: Tensor, size: int) -> Tensor:
    """A projection by head, (1, heads, tokens, head size)."""
    return projection(hidden).unflatten(-1, (-1, size)).transpose(1, 2)


def _rotated(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return states * cos + rotate_half(states) * sin
