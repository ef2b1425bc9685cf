"""The first lesson in looking: what is drawn in each cell of a picture, taught to the vision tower alone.

Taught by questions only, a small model stays at chance for long, since both the tower and the decoder must have learned
something before either is of use. Here the direction of each visual token is to be that of the words for what it
covers, since a decoder normalises what it attends to and has learned to copy words. It is cheap: no decoder runs. It
also teaches where a token is, which a decoder cannot tell from rotary positions: those of columns turn too slowly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coach_gym.agents.models.policy import Policy
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
WORDED = ("color", "count", "shape", "direction", "tallest", "drawing", "state", "side")
"""Facts that one word tells; the others have no words."""
WORDS = tuple(dict.fromkeys(str(value) for name in WORDED for value in VALUES[name]))
WORDLESS = tuple((name, value) for name in VALUES if name not in WORDED for value in VALUES[name])
FACTS = {(name, value): WORDS.index(str(value)) for name in WORDED for value in VALUES[name]}
FACTS |= {fact: len(WORDS) + number for number, fact in enumerate(WORDLESS)}
"""What is true, by its number among all words and all facts without one."""
SIZE = len(WORDS) + len(WORDLESS)
ALIKE = 20.0  # factor of the cosine with a word


def seen(board: Board) -> np.ndarray:
    """Returns which of `FACTS` are true in each cell of the picture, (cells, facts) float32."""
    truth = np.zeros((ROWS * COLUMNS, SIZE), np.float32)
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
    """A vision tower, and what its tokens say: words by their likeness to these, the rest by a layer that is not kept.

    Each token is to tell all about the drawing that it covers, and so is the mean of a drawing's tokens, as it is such
    means that a decoder takes. The time, which takes the whole clock, is asked of the mean alone.

    Args:
        policy: A Qwen2.5-VL, whose tower is taught. A word of several tokens is the sum of their embeddings.
    """

    local: Tensor
    words: Tensor

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        self.tower: Any = policy.model.model.visual
        embeddings = policy.model.model.language_model.embed_tokens.weight.detach()
        tokens = [policy.tokenizer.encode(word, add_special_tokens=False) for word in WORDS]
        words = torch.stack([embeddings[each].sum(0) for each in tokens])
        self.rest = nn.Linear(words.shape[1], len(WORDLESS), bias=False)
        self.bias = nn.Parameter(torch.full((SIZE,), -4.0))  # few facts are true
        self.register_buffer("words", ALIKE * nn.functional.normalize(words, dim=-1))
        self.register_buffer("local", torch.ones(SIZE))
        self.local[[FACTS["time", value] for value in VALUES["time"]]] = 0

    def names(self, tokens: Tensor) -> Tensor:
        """Returns how surely each fact is told, as a logit, (..., facts)."""
        return torch.cat([tokens @ self.words.T, self.rest(ALIKE * tokens)], -1) + self.bias

    def loss(self, boards: list[Board]) -> tuple[Tensor, Tensor]:
        """Returns the loss, and which facts about the drawings were named, (M,) bool."""
        device = self.bias.device
        pixels = torch.from_numpy(np.stack([board.pixels for board in boards])).to(device)
        grid = torch.tensor([[1, HEIGHT // PATCH, WIDTH // PATCH]] * len(boards), device=device)
        tokens = nn.functional.normalize(self.tower(patches(pixels), grid_thw=grid).pooler_output, dim=-1)
        truth = torch.from_numpy(np.concatenate([seen(board) for board in boards])).to(device)
        losses = nn.functional.binary_cross_entropy_with_logits(self.names(tokens), truth, reduction="none")
        local = (losses * self.local).sum(-1).mean()
        things = [(number, t) for number, board in enumerate(boards) for t in board.things if t.kind]
        share, right = torch.zeros(len(things), len(tokens)), torch.zeros(len(things), SIZE)
        for row, (number, thing) in enumerate(things):
            covered = cells(thing)
            share[row, [number * ROWS * COLUMNS + cell for cell in covered]] = 1 / len(covered)
            right[row, [FACTS[fact] for fact in thing.facts.items()]] = 1
        said, right = self.names(share.to(device) @ tokens), right.to(device)
        told = nn.functional.binary_cross_entropy_with_logits(said, right, reduction="none")
        return local + told.sum(-1).mean(), said[right > 0] > 0
