"""Rotary positions of mixed text and image sequences (multimodal rope of Qwen2-VL, arXiv:2409.12191 §2.1)."""

from collections.abc import Sequence

import torch
from torch import Tensor

Grid = tuple[int, int, int]
"""Temporal, vertical and horizontal size of one image in patches."""


def rope_index(
    input_ids: Sequence[int], grids: Sequence[Grid], image_token_id: int, merge_size: int, start: int = 0
) -> tuple[Tensor, int]:
    """Computes the positions of a sequence, and the position after it.

    Text advances all three axes by one per token. An image spreads its tokens over (time, height, width) and advances
    the axes by its longer side, so that a screenshot costs as many positions as its side, not its area.

    Args:
        input_ids: Tokens, in which every image is one run of `image_token_id`.
        grids: Patch grids of the images, in order of appearance.
        image_token_id: Placeholder token of an image patch group.
        merge_size: Patches per visual token along each side.
        start: Position of the first token.

    Returns:
        Positions of shape (3, L), int64, and the next free position.
    """
    pieces, cursor, position = [], 0, start
    for grid in grids:
        begin = input_ids.index(image_token_id, cursor)
        pieces.append(_text(position, begin - cursor))
        position += begin - cursor
        image, side = _image(position, grid, merge_size)
        pieces.append(image)
        position += side
        cursor = begin + image.shape[1]
    pieces.append(_text(position, len(input_ids) - cursor))
    return torch.cat(pieces, dim=1), position + len(input_ids) - cursor


def _text(start: int, length: int) -> Tensor:
    return torch.arange(start, start + length).expand(3, -1)


def _image(start: int, grid: Grid, merge_size: int) -> tuple[Tensor, int]:
    frames, height, width = grid[0], grid[1] // merge_size, grid[2] // merge_size
    axes = torch.meshgrid(torch.arange(frames), torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack(axes).reshape(3, -1) + start, max(height, width)
