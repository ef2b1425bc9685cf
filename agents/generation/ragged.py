"""Decoding without padding: the tokens of all rows side by side, each attending to the keys and values of its own row.

On a CPU, a padded batch costs what its longest row costs, times its most diverse one. Here all tokens of a pass are one
sequence for the linear layers, and only attention goes row by row. What a prompt has in common with the one before it,
as a judge's questions about the candidates of a state have, or the states of an episode, is computed once.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from coach_gym.agents.generation.kv_cache import Prefix, PrefixStore, empty_states
from coach_gym.agents.models.chatml import ImageInput, stack_images
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.tree_attention import NAME, sliding_window, text_attention


class Span(NamedTuple):
    """The tokens of one row in a pass.

    Attributes:
        start: Index of its first token.
        stop: Index after its last token.
        begin: First column of the row.
        end: Column after the last one that is visible.
        mask: Mask that is added to the scores, (tokens, columns).
    """

    start: int
    stop: int
    begin: int
    end: int
    mask: Tensor


class Copy(NamedTuple):
    """The beginning of a row that another one shares: `length` columns from `source` on, copied to `target`."""

    source: int
    target: int
    length: int


class RaggedCache:
    """Keys and values of rows of different lengths, side by side; the model takes it as `past_key_values`.

    Args:
        config: Text configuration of the model.
        capacity: Number of columns, those of all rows.
        dtype: Precision of the states.

    Attributes:
        states: Keys and values, (layers, 2, heads, capacity, head size).
        columns: Columns that the next pass writes, one for each of its tokens.
        spans: The rows of the next pass.
        copies: What these rows begin with that other rows compute, in the order in which it is copied.
    """

    def __init__(self, config: Any, capacity: int, dtype: torch.dtype) -> None:
        head_size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        shape = (config.num_hidden_layers, 2, config.num_key_value_heads, capacity, head_size)
        self.states = empty_states(shape, dtype)
        self.columns = torch.empty(0, dtype=torch.long)
        self.spans: list[Span] = []
        self.copies: list[Copy] = []

    def update(self, keys: Tensor, values: Tensor, layer: int, *_: Any) -> tuple[Tensor, Tensor]:
        """Stores keys and values of a layer, each (1, heads, tokens, head size), and returns them."""
        states = self.states[layer]
        states[0].index_copy_(1, self.columns, keys[0])
        states[1].index_copy_(1, self.columns, values[0])
        for source, target, length in self.copies:
            states[:, :, target : target + length] = states[:, :, source : source + length]
        return keys, values

    def get_seq_length(self, _layer: int = 0) -> int:
        """Returns 0: positions and masks are not derived from this."""
        return 0

    def attend(self, query: Tensor, layer: int, scaling: float) -> Tensor:
        """Computes the attention of each row to its own columns.

        Args:
            query: Queries, (1, heads, tokens, head size).
            layer: Index of the layer.
            scaling: Factor of the scores.

        Returns:
            The output, (1, tokens, heads, head size).
        """
        keys, values = self.states[layer]
        groups = query.shape[1] // keys.shape[0]
        outputs = []
        for start, stop, begin, end, mask in self.spans:
            # Queries on the same key-value head are one longer query, which needs no copies of the keys.
            asked = query[0, :, start:stop].reshape(1, keys.shape[0], groups * (stop - start), -1)
            seen = keys[None, :, begin:end], values[None, :, begin:end]
            if groups > 1:
                mask = mask.repeat(groups, 1)
            heard = scaled_dot_product_attention(asked, *seen, attn_mask=mask, scale=scaling)
            outputs.append(heard.view(query.shape[1], stop - start, -1))
        return torch.cat(outputs, dim=1).transpose(0, 1)[None]


class RaggedDecoder:
    """Rows in progress: a prompt each, and branches of tokens that continue it.

    Columns of a row: its prompt, then its branches' tokens in the order of their passes.

    Args:
        policy: The policy, on a CPU.
        prefixes: Kept prefixes of earlier prompts.
        prompts: The prompts.
        room: Maximum number of tokens that the branches of a row have together.
    """

    def __init__(self, policy: Policy, prefixes: PrefixStore, prompts: Sequence[Prompt], room: int) -> None:
        self.policy, self.prefixes, self.prompts = policy, prefixes, prompts
        self.room = room
        sizes = [len(prompt) + room for prompt in prompts]
        self._cache = RaggedCache(policy.model.config.get_text_config(), sum(sizes), policy.model.dtype)
        self._begins = [sum(sizes[:row]) for row in range(len(sizes))]
        self._ends = [begin + len(prompt) for begin, prompt in zip(self._begins, prompts, strict=True)]
        widest = max(map(len, prompts))  # prompts end at the same column of the mask
        self._shifts = [widest - end for end in self._ends]
        self._rows: list[int] = []
        self._positions = torch.empty(0, dtype=torch.long)
        self._mask = torch.zeros(len(prompts), widest)

    def prefill(self) -> Tensor:
        """Reads the prompts and keeps their prefixes; returns the logits after them, (rows, vocabulary).

        Afterwards every row has one branch, without tokens.
        """
        kept = [self.prefixes.find(prompt) for prompt in self.prompts]
        tokens: list[int] = []
        columns, positions, images, nexts = [], [], list[ImageInput](), []
        self._cache.spans, self._cache.copies = [], []
        for row, (begin, end, prompt) in enumerate(zip(self._begins, self._ends, self.prompts, strict=True)):
            known = self._known(row, kept[row])
            place, following = self.policy.position_ids(prompt)
            new = slice(len(tokens), len(tokens) + len(prompt) - len(known))
            self._cache.spans.append(Span(new.start, new.stop, begin, end, _causal(new.stop - new.start, end - begin)))
            tokens += prompt.input_ids[len(known) :]
            columns.append(torch.arange(begin + len(known), end))
            positions.append(place[:, len(known) :])
            images += prompt.images[len(known.images) :]
            nexts.append(following)
        self._cache.columns = torch.cat(columns)
        hidden = self._forward(torch.tensor(tokens), torch.cat(positions, dim=1), images)
        self._cache.copies = []
        self._keep_prefixes(kept)
        self._rows, self._positions = list(range(len(self.prompts))), torch.tensor(nexts)
        return self.policy.model.lm_head(hidden[[span.stop - 1 for span in self._cache.spans]])

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> Tensor:
        """Continues branches; those that are not continued are gone.

        Args:
            parents: The branch that each new branch continues: an index among the latest ones, in ascending order.
            tokens: The token that it appends.

        Returns:
            The logits after each new branch, (branches, vocabulary).
        """
        chosen = torch.tensor(parents)
        self._rows = [self._rows[parent] for parent in parents]
        columns = []
        for row in self._rows:
            columns.append(self._ends[row])
            self._ends[row] += 1
        places = [column + self._shifts[row] for row, column in zip(self._rows, columns, strict=True)]
        width = max(max(places) + 1, self._mask.shape[1])
        mask = torch.full((len(parents), width), float("-inf"))
        mask[:, : self._mask.shape[1]] = self._mask[chosen]
        mask[torch.arange(len(parents)), torch.tensor(places)] = 0.0
        self._mask, self._positions = mask, self._positions[chosen]
        self._cache.columns = torch.tensor(columns)
        self._cache.spans = self._spans()
        hidden = self._forward(torch.tensor(tokens), self._positions.expand(3, -1), [])
        self._positions = self._positions + 1
        return self.policy.model.lm_head(hidden)

    def _known(self, row: int, kept: Prefix) -> Prefix:
        """Returns what a row begins with that need not be computed: a kept prefix, or what the row before shares."""
        begin = self._begins[row]
        if row:
            shared = self.prefixes.shared(self.prompts[row], self.prompts[row - 1])
            if len(shared) > len(kept):
                self._cache.copies.append(Copy(self._begins[row - 1], begin, len(shared)))
                return shared
        for chunk in kept.chunks:
            self._cache.states[:, :, :, begin : begin + chunk.shape[-2]] = chunk
            begin += chunk.shape[-2]
        return kept

    def _spans(self) -> list[Span]:
        spans, start = [], 0
        while start < len(self._rows):
            row, stop = self._rows[start], start + 1
            while stop < len(self._rows) and self._rows[stop] == row:
                stop += 1
            begin, end, shift = self._begins[row], self._ends[row], self._shifts[row]
            spans.append(Span(start, stop, begin, end, self._mask[start:stop, begin + shift : end + shift]))
            start = stop
        return spans

    def _keep_prefixes(self, kept: Sequence[Prefix]) -> None:
        for begin, end, prompt, prefix in zip(self._begins, self._ends, self.prompts, kept, strict=True):
            new = self._cache.states[:, :, :, begin + len(prefix) : end].clone()
            self.prefixes.put(Prefix(prompt.input_ids, prompt.images, [*prefix.chunks, new]))

    def _forward(self, tokens: Tensor, positions: Tensor, images: Sequence[ImageInput]) -> Tensor:
        """The last hidden states, (tokens, hidden size)."""
        output = self.policy.model.model(
            input_ids=tokens[None],
            position_ids=positions[:, None],
            attention_mask=torch.zeros(1, 1, 1, 1),  # keeps transformers from making one; the cache has its own
            past_key_values=self._cache,
            use_cache=True,
            ragged=self._cache,
            **stack_images(images, self.policy.device),
        )
        return output.last_hidden_state[0]


def decodes_ragged(policy: Policy) -> bool:
    """Returns whether a `RaggedDecoder` can run a policy, and is faster than a padded batch."""
    model = policy.model
    return model.device.type == "cpu" and text_attention(model) == NAME and sliding_window(model) is None


def _causal(new: int, columns: int) -> Tensor:
    """A mask of the last `new` of a number of columns: a token sees itself and all before."""
    return torch.full((new, columns), float("-inf")).triu_(columns - new + 1)
