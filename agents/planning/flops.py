"""Counts the arithmetic of a forward pass of Qwen2.5-VL from its input.

A multiplication and an addition count as two operations. Attention counts the pairs that attend to each other, whatever
else a kernel computes. Norms, activations and the softmax are left out, as is usual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import nn

from coach_gym.agents.models.mrope import Grid
from coach_gym.agents.models.tree import Tree


@dataclass
class Size:
    """The input of some passes.

    Attributes:
        tokens: Tokens of the text model.
        pairs: Pairs of a token and one it attends to.
        scored: Tokens that the language head predicts; 0 for a critic.
        grids: Grids of the screenshots, one for each time the vision tower encodes one.
    """

    tokens: int = 0
    pairs: int = 0
    scored: int = 0
    grids: list[Grid] = field(default_factory=list)

    def __add__(self, other: Size) -> Size:
        return Size(
            self.tokens + other.tokens, self.pairs + other.pairs, self.scored + other.scored, self.grids + other.grids
        )


def size_of_tree(tree: Tree, scored: bool) -> Size:
    """Returns the size of one pass over each trunk."""
    total = Size()
    for trunk in tree.trunks:
        pairs = _triangle(trunk.length)
        pairs += sum(span.length * span.prompt_end + _triangle(span.length) for step in trunk.branches for span in step)
        rows = sum(span.length for step in trunk.spans for span in step) if scored else 0
        total += Size(trunk.input_ids.shape[1], pairs, rows, [image.grid for image in trunk.images])
    return total


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


def forward_flops(model: Any, size: Size) -> dict[str, float]:
    """Counts additions and multiplications of forward passes, by part of the model.

    Args:
        model: The policy's model, whose linear layers are counted.
        size: Size of the input.
    """
    text, tower = model.model.language_model, model.model.visual
    config, vision = text.config, tower.config
    patches = [int(np.prod(grid)) for grid in size.grids]
    per_patch = linear_weights(tower.blocks) + tower.patch_embed.proj.weight.numel()
    per_merged = linear_weights(tower.merger) / vision.spatial_merge_size**2
    seen = sum(_seen_by_tower(grid, vision) for grid in size.grids)
    return {
        "text": 2.0 * linear_weights(text) * size.tokens,
        "text_attention": 4.0 * config.hidden_size * config.num_hidden_layers * size.pairs,
        "head": 2.0 * model.lm_head.weight.numel() * size.scored,
        "vision": 2.0 * (per_patch + per_merged) * sum(patches),
        "vision_attention": 4.0 * vision.hidden_size * seen,
    }


def linear_weights(module: nn.Module) -> int:
    """Counts the weights of a module's linear layers."""
    return sum(part.weight.numel() for part in module.modules() if isinstance(part, nn.Linear))


def _seen_by_tower(grid: Grid, vision: Any) -> int:
    """Counts pairs of patches that attend to each other, in blocks that see the whole image and in windowed ones."""
    frames, *sides = grid
    window = vision.window_size // vision.patch_size
    squares = [side // window * window**2 + (side % window) ** 2 for side in sides]
    whole = len(vision.fullatt_block_indexes)
    return frames * (whole * (sides[0] * sides[1]) ** 2 + (vision.depth - whole) * squares[0] * squares[1])
