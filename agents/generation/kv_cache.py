"""Keys and values of a batch while it is decoded, and of prompts while their episodes run."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coach_gym.agents.models.chatml import ImageInput
from coach_gym.agents.models.policy import Prompt


def empty_states(shape: Sequence[int], dtype: torch.dtype, device: torch.device | None = None) -> Tensor:
    """Returns memory for keys and values.

    Raises:
        ValueError: There is not enough of it.
    """
    try:
        return torch.empty(tuple(shape), dtype=dtype, device=device)
    except RuntimeError as error:
        size = math.prod(shape) * dtype.itemsize / 1e9
        raise ValueError(
            f"keys and values of that many responses, as long as they may be, need {size:.4g} GB, and there is not "
            f"that much memory; pass a smaller k or max_new_tokens"
        ) from error


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
        self.states = empty_states(shape, dtype, device)
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
    keeping: it replaces the one that it extends. Episodes that have parted, as those on forks of an environment, still
    share what they have in common.

    Args:
        capacity: Maximum number of tokens. The prefixes that were longest without use make room.
        image_pad: Placeholder token of images.
    """

    def __init__(self, capacity: int, image_pad: int) -> None:
        self.capacity = capacity
        self.image_pad = image_pad
        self._kept: list[tuple[np.ndarray, Prefix]] = []  # with its keys, so that no Ctrl-C can part them

    @property
    def prefixes(self) -> list[Prefix]:
        """What is kept; the latest in use comes last."""
        return [prefix for _, prefix in self._kept]

    def find(self, prompt: Prompt) -> Prefix:
        """Returns the longest known beginning of `prompt`, without its last token, whose logits are needed again."""
        keys = self._keys_of(prompt)
        shared = [_shared(known, keys) for known, _ in self._kept]
        longest = max(range(len(shared)), key=shared.__getitem__, default=None)
        if longest is None or shared[longest] == 0:
            return Prefix()
        self._kept.append(self._kept.pop(longest))
        return _beginning(prompt, keys, shared[longest], self._kept[-1][1].chunks)

    def shared(self, prompt: Prompt, other: Prompt) -> Prefix:
        """Returns what `prompt` begins with as the other one does, without its last token and without any states.

        Equal screenshots are the same here. In the store they are not, so that what is drawn in an episode does not
        depend on the screens of earlier ones.
        """
        keys, of_other = (self._keys_of(each, lambda image: id(image.pixel_values)) for each in (prompt, other))
        return _beginning(prompt, keys, _shared(keys, of_other), [])

    def put(self, prefix: Prefix) -> None:
        """Keeps a prefix, and drops those that it extends and the oldest beyond the capacity."""
        keys = self._keys_of(prefix)
        shared = [_shared(known, keys) for known, _ in self._kept]
        if len(keys) in shared:
            return
        others = [each for each, length in zip(self._kept, shared, strict=True) if length < len(each[0])]
        self._kept = [*others, (keys, prefix)]
        while sum(len(known) for known, _ in self._kept) > self.capacity:
            del self._kept[0]

    def clear(self) -> None:
        """Drops everything."""
        self._kept = []

    def _keys_of(self, prompt: Prefix | Prompt, name: Callable[[ImageInput], int] = id) -> np.ndarray:
        """The tokens, with those of an image replaced by a negative number that no other image has."""
        keys = np.array(prompt.input_ids)
        if prompt.images:
            places = np.flatnonzero(keys == self.image_pad)
            number = np.cumsum(np.diff(places, prepend=places[0]) > 1)
            keys[places] = np.array([-name(image) for image in prompt.images])[number]
        return keys


def _shared(one: np.ndarray, other: np.ndarray) -> int:
    """The number of leading entries that are equal."""
    length = min(len(one), len(other))
    different = one[:length] != other[:length]
    return int(different.argmax()) if different.any() else length


def _beginning(prompt: Prompt, keys: np.ndarray, length: int, chunks: Sequence[Tensor]) -> Prefix:
    """The first `length` tokens of a prompt, at most all but one, with the images among them and their states."""
    length = min(length, len(prompt) - 1)
    begun = np.diff(keys[:length] < 0, prepend=False) & (keys[:length] < 0)
    return Prefix(prompt.input_ids[:length], prompt.images[: int(begun.sum())], _head(chunks, length))


def _head(chunks: Sequence[Tensor], length: int) -> list[Tensor]:
    """The first `length` tokens of chunks."""
    head = []
    for chunk in chunks:
        if length > 0:
            head.append(chunk[..., :length, :])
        length -= chunk.shape[-2]
    return head
