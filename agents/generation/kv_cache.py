"""Keys and values of a batch while it is decoded, and of prompts while their episodes run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from coach_gym.agents.models.chatml import ImageInput
from coach_gym.agents.models.policy import Prompt


class BatchCache:
    """Keys and values of a batch in one preallocated block; the model takes it as `past_key_values`.

    Args:
        config: Text configuration of the model.
        rows: Number of sequences in the batch.
        capacity: Number of columns, that is tokens per row.
        dtype: Precision of the states.
        device: Device of the states.

    Attributes:
        states: Keys and values, (layers, 2, rows, heads, capacity, head size).
        cursor: Column where the next forward pass writes.
        filled: Number of columns written so far.
    """

    def __init__(self, config: Any, rows: int, capacity: int, dtype: torch.dtype, device: torch.device) -> None:
        head_size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        shape = (config.num_hidden_layers, 2, rows, config.num_key_value_heads, capacity, head_size)
        self.states = torch.empty(shape, dtype=dtype, device=device)
        self.cursor = self.filled = 0

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any) -> tuple[Tensor, Tensor]:
        """Appends keys and values of a layer, each (rows, heads, tokens, head size), and returns all so far."""
        end = self.filled = self.cursor + keys.shape[2]
        block = self.states[layer]
        block[0, :, :, self.cursor : end] = keys
        block[1, :, :, self.cursor : end] = values
        return block[0, :, :, :end], block[1, :, :, :end]

    def get_seq_length(self, _layer: int = 0) -> int:
        """Returns the number of columns filled."""
        return self.filled

    def write(self, row: int, end: int, chunks: Sequence[Tensor]) -> None:
        """Writes known states, (layers, 2, heads, tokens, head size), into the columns of a row up to column `end`."""
        start = end - sum(chunk.shape[-2] for chunk in chunks)
        self.states[:, :, row, :, :start] = 0  # masked, but uninitialised memory may hold NaN, and 0 * NaN is NaN
        for chunk in chunks:
            self.states[:, :, row, :, start : start + chunk.shape[-2]] = chunk
            start += chunk.shape[-2]

    def select(self, rows: Tensor) -> None:
        """Keeps only the rows where the boolean mask `rows` is True."""
        kept = self.states.new_empty(*self.states.shape[:2], int(rows.sum()), *self.states.shape[3:])
        kept[..., : self.filled, :] = self.states[:, :, rows, :, : self.filled]
        self.states = kept


@dataclass
class Prefix:
    """Tokens whose keys and values are known.

    Attributes:
        input_ids: The tokens.
        images: The screenshots among them, compared by identity.
        chunks: Their states in order, each (layers, 2, heads, tokens, head size), shared with longer prefixes.
    """

    input_ids: list[int] = field(default_factory=list)
    images: list[ImageInput] = field(default_factory=list)
    chunks: list[Tensor] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.input_ids)


class PrefixStore:
    """Keys and values of the latest prompts.

    The prompt of an episode's next step extends the previous one, so only the newest prefix of an episode is worth
    keeping: it replaces the one that it extends.

    Args:
        capacity: Maximum number of tokens.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.prefixes: list[Prefix] = []

    def find(self, prompt: Prompt) -> Prefix:
        """Returns the longest kept prefix of `prompt`, without its last token, whose logits are needed again."""
        longest = max(self.prefixes, key=lambda prefix: _overlap(prefix, prompt), default=Prefix())
        length = min(_overlap(longest, prompt), len(prompt) - 1)
        if length == 0:
            return Prefix()
        images = prompt.images[: len(longest.images)]  # the last token of a prompt is never an image
        return Prefix(prompt.input_ids[:length], images, _head(longest.chunks, length))

    def put(self, prefix: Prefix) -> None:
        """Keeps a prefix, and drops those that it extends and the oldest beyond the capacity."""
        if any(_overlap(old, prefix) == len(prefix) for old in self.prefixes):
            return
        self.prefixes = [old for old in self.prefixes if _overlap(old, prefix) < len(old)] + [prefix]
        while self.prefixes and sum(map(len, self.prefixes)) > self.capacity:
            self.prefixes.pop(0)

    def clear(self) -> None:
        """Drops everything."""
        self.prefixes = []


def _head(chunks: Sequence[Tensor], length: int) -> list[Tensor]:
    """The first `length` tokens of chunks."""
    head = []
    for chunk in chunks:
        if length > 0:
            head.append(chunk[..., :length, :])
        length -= chunk.shape[-2]
    return head


def _overlap(one: Prefix | Prompt, other: Prefix | Prompt) -> int:
    """The length of the shorter one if the other begins with it, else 0."""
    length, images = min(len(one), len(other)), min(len(one.images), len(other.images))
    if any(a is not b for a, b in zip(one.images[:images], other.images[:images], strict=True)):
        return 0
    return length if one.input_ids[:length] == other.input_ids[:length] else 0
