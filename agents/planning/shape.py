"""What of a model's architecture determines its memory and its arithmetic."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig

from coach_gym.agents.models.architectures import read_config, untrained_model

QWEN2_5_VL = {
    "3B": dict(
        vocab_size=151_936, hidden_size=2048, intermediate_size=11_008, num_hidden_layers=36, num_attention_heads=16,
        num_key_value_heads=2, max_window_layers=36,
    ),
    "7B": dict(
        vocab_size=152_064, hidden_size=3584, intermediate_size=18_944, num_hidden_layers=28, num_attention_heads=28,
        num_key_value_heads=4, max_window_layers=28,
    ),
    "72B": dict(
        vocab_size=152_064, hidden_size=8192, intermediate_size=29_568, num_hidden_layers=80, num_attention_heads=64,
        num_key_value_heads=8, max_window_layers=80,
    ),
}  # fmt: skip
"""The text models of the published sizes; UI-TARS-1.5-7B and GUI-Owl-7B have the second."""
ALIKE = dict(
    rms_norm_eps=1e-6, max_position_embeddings=128_000,
    rope_parameters=dict(rope_type="default", rope_theta=1e6, mrope_section=[16, 24, 24]),
)  # fmt: skip
VISION = dict(
    depth=32, hidden_size=1280, num_heads=16, patch_size=14, spatial_merge_size=2, temporal_patch_size=2,
    window_size=112, fullatt_block_indexes=[7, 15, 23, 31], tokens_per_second=2,
)  # fmt: skip
_VISION_INNER = {"3B": 3420, "7B": 3420, "72B": 3456}


@dataclass(frozen=True)
class Shape:
    """An architecture.

    Attributes:
        total: Number of parameters.
        layer: Parameters of a decoder layer.
        outside: Parameters outside decoder layers and vision blocks.
        head: Parameters of the language head; 0 if it is tied to the embeddings.
        inputs: Sum over the linear layers of the decoder of their inputs and outputs: adapters of rank r have r times
            as many parameters.
        hidden: Hidden size of the text model.
        inner: Intermediate size of its feed-forward layers.
        layers: Number of decoder layers.
        kv: Size of a token's keys in one layer, which its values have too.
        repeated: Size of these keys once they are repeated for every head of the queries; a single one is only viewed.
        normed: Size of a token's queries if they and the keys are normalised, as in Qwen3-VL; else 0.
        vocabulary: Number of tokens.
        vision_hidden: Hidden size of the vision tower.
        vision_inner: Intermediate size of its feed-forward layers.
        vision_depth: Number of its blocks.
        vision_deep: Number of those whose output enters the text model besides the last one's, as in Qwen3-VL.
        patch: Numbers of a patch: pixels, colours and frames.
        merged: Patches per token.
        side: Pixels per side of a token.
    """

    total: int
    layer: int
    outside: int
    head: int
    inputs: int
    hidden: int
    inner: int
    layers: int
    kv: int
    repeated: int
    normed: int
    vocabulary: int
    vision_hidden: int
    vision_inner: int
    vision_depth: int
    vision_deep: int
    patch: int
    merged: int
    side: int


def published(size: str) -> Any:
    """Returns the configuration of a published Qwen2.5-VL: 3B, 7B or 72B."""
    text = QWEN2_5_VL[size]
    vision = {**VISION, "intermediate_size": _VISION_INNER[size], "out_hidden_size": text["hidden_size"]}
    return AutoConfig.for_model(
        "qwen2_5_vl", text_config={**text, **ALIKE}, vision_config=vision, tie_word_embeddings=size == "3B"
    )


def config_of(model: str | Path) -> Any:
    """Returns the configuration of a model.

    Args:
        model: A size of Qwen2.5-VL (3B, 7B, 72B); a directory or hub id; or the path of a config.json.

    Raises:
        ValueError: The architecture is not one that can be trained.
    """
    if str(model) in QWEN2_5_VL:
        return published(str(model))
    path = Path(model)
    return read_config(path.parent if path.name == "config.json" else model)


def empty_model(config: Any) -> Any:
    """Returns a model without memory for its weights."""
    with torch.device("meta"):
        return untrained_model(config)


def shape_of(model: Any) -> Shape:
    """Measures a model, which may be on the meta device."""
    text, tower = model.config.get_text_config(), model.config.vision_config
    layers, blocks = model.model.language_model.layers, model.model.visual.blocks
    named = list(layers[0].named_modules())
    linear = [part for part in layers.modules() if isinstance(part, nn.Linear)]
    head_size = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    width = tower.hidden_size if tower.model_type != "qwen2_vl_vision" else tower.embed_dim
    return Shape(
        total=_number(model),
        layer=_number(layers[0]),
        outside=_number(model) - _number(layers) - _number(blocks),
        head=0 if model.config.tie_word_embeddings else _number(model.lm_head),
        inputs=sum(part.in_features + part.out_features for part in linear),
        hidden=text.hidden_size,
        inner=text.intermediate_size,
        layers=text.num_hidden_layers,
        kv=text.num_key_value_heads * head_size,
        repeated=(text.num_attention_heads if text.num_key_value_heads > 1 else 1) * head_size,
        normed=text.num_attention_heads * head_size if any("q_norm" in name for name, _ in named) else 0,
        vocabulary=text.vocab_size,
        vision_hidden=width,
        vision_inner=_inner(blocks),
        vision_depth=tower.depth,
        vision_deep=len(getattr(tower, "deepstack_visual_indexes", ())),
        patch=3 * tower.temporal_patch_size * tower.patch_size**2,
        merged=tower.spatial_merge_size**2,
        side=tower.patch_size * tower.spatial_merge_size,
    )


def _inner(blocks: nn.ModuleList) -> int:
    """The widest output of a block's linear layers that is not one of the attention."""
    return max(
        part.out_features
        for name, part in blocks[0].named_modules()
        if isinstance(part, nn.Linear) and "attn" not in name
    )


def _number(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
