"""The first lesson in looking: what is drawn in each cell of a picture, taught to the vision tower alone.

Taught by questions only, a small model stays at chance for long, since both the tower and the decoder must have learned
something before either is of use. Here a linear layer names what each visual token covers. It is cheap: no decoder
runs. It also teaches where a token is, which the decoder cannot tell from its rotary positions: those of columns turn
too slowly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coach_gym.agents.pocket.boards import Board, Thing
from coach_gym.agents.pocket.drawings import CHARTED, COLORS, COUNTS, DIRECTIONS, MINUTES, SHAPES, STROKES
from coach_gym.agents.pocket.screens import HEIGHT, WIDTH
from coach_gym.agents.pocket.sequences import MERGE, PATCH, patches

CELL, STEP = PATCH * MERGE, 7  # pixels of a visual token's side, and the precision of places
COLUMNS, ROWS = WIDTH // CELL, HEIGHT // CELL
EDGE = 5  # pixels: what reaches less far into a cell is not counted as seen in it
VALUES: dict[str, tuple[object, ...]] = {
    "color": tuple(COLORS), "count": COUNTS, "shape": tuple(SHAPES), "direction": DIRECTIONS, "tallest": CHARTED,
    "time": tuple(f"{hour}:{minute}" for hour in range(1, 13) for minute in MINUTES), "drawing": tuple(STROKES),
    "state": ("on", "off"), "side": ("west", "east"), "x": tuple(range(0, WIDTH, STEP)),
    "y": tuple(range(0, HEIGHT, STEP)), "column": tuple(range(COLUMNS)), "row": tuple(range(ROWS)),
}  # fmt: skip
"""What a token is to name: what is true of the drawings it covers, where their middles are, and where it is itself."""
FACTS = {(name, value): number for number, (name, value) in enumerate(
    (name, value) for name, values in VALUES.items() for value in values)}  # fmt: skip
LOCAL = ("color", "state", "x", "y", "column", "row")
"""What can be told from a cell and its neighbors; the rest takes a whole drawing."""
ROUGH = 1.0  # weight of places, which have many values


def seen(board: Board) -> np.ndarray:
    """Returns which of `FACTS` are true in each cell of the picture, (cells, facts) float32."""
    truth = np.zeros((ROWS * COLUMNS, len(FACTS)), np.float32)
    for cell in range(ROWS * COLUMNS):
        truth[cell, [FACTS["row", cell // COLUMNS], FACTS["column", cell % COLUMNS]]] = 1
    for thing in (thing for thing in board.things if thing.kind):
        places = ((axis, int(at) // STEP * STEP) for axis, at in zip("xy", thing.box.center, strict=True))
        truth[np.ix_(cells(thing), [FACTS[fact] for fact in (*thing.facts.items(), *places)])] = 1
    return truth


def cells(thing: Thing) -> list[int]:
    """Returns the numbers of the cells that a drawing covers."""
    left, top = (max(0, int(at + EDGE) // CELL) for at in thing.box[:2])
    right, bottom = (int(at - EDGE) // CELL + 1 for at in thing.box[2:])
    rows, columns = range(top, min(bottom, ROWS)), range(left, min(right, COLUMNS))
    return [row * COLUMNS + column for row in rows for column in columns]


class Looking(nn.Module):
    """A vision tower with a linear layer that names what its tokens cover; the layer is not kept.

    The mean of a drawing's tokens is to tell all about it, as it is such means that a decoder takes; each of them alone
    is to tell what is local.

    Args:
        tower: The `visual` part of a Qwen2.5-VL.
    """

    local: Tensor

    def __init__(self, tower: Any) -> None:
        super().__init__()
        self.tower = tower
        self.names = nn.Linear(tower.config.out_hidden_size, len(FACTS))
        nn.init.constant_(self.names.bias, -4.0)  # few facts are true
        weights = [ROUGH if name in "xy" else float(name in LOCAL) for name, _ in FACTS]
        self.register_buffer("local", torch.tensor(weights))

    def loss(self, boards: list[Board]) -> tuple[Tensor, Tensor]:
        """Returns the loss, and which facts about the drawings were named, (M,) bool."""
        device = self.names.weight.device
        pixels = torch.from_numpy(np.stack([board.pixels for board in boards])).to(device)
        grid = torch.tensor([[1, HEIGHT // PATCH, WIDTH // PATCH]] * len(boards), device=device)
        tokens = self.tower(patches(pixels), grid_thw=grid).pooler_output
        truth = torch.from_numpy(np.concatenate([seen(board) for board in boards])).to(device)
        losses = nn.functional.binary_cross_entropy_with_logits(self.names(tokens), truth, reduction="none")
        local = (losses * self.local).sum(-1).mean()
        things = [(number, t) for number, board in enumerate(boards) for t in board.things if t.kind]
        share, right = torch.zeros(len(things), len(tokens)), torch.zeros(len(things), len(FACTS))
        for row, (number, thing) in enumerate(things):
            covered = cells(thing)
            share[row, [number * ROWS * COLUMNS + cell for cell in covered]] = 1 / len(covered)
            right[row, [FACTS[fact] for fact in thing.facts.items()]] = 1
        said, right = self.names(share.to(device) @ tokens), right.to(device)
        told = nn.functional.binary_cross_entropy_with_logits(said, right, reduction="none")
        return local + told.sum(-1).mean(), said[right > 0] > 0
