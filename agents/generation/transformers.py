"""Sampling with the policy's own weights: one prefill per prompt, all candidates of all prompts in one batch.

The k candidates of a prompt are columns of one row, not k rows: they share the prompt's keys and values, and a mask
separates them. Equal candidates share their columns too: a prefix that several have drawn is computed once, and each
continues with a draw of its own. The prompt's keys and values are kept between the steps of an episode, so that a step
costs its own screenshot and not its history.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from coach_gym.agents.generation.generator import OnFirst
from coach_gym.agents.generation.kv_cache import BatchCache, Prefix, PrefixStore
from coach_gym.agents.generation.ragged import decodes_ragged
from coach_gym.agents.generation.sampling import RaggedBatch, inverse_cdf, require_probabilities
from coach_gym.agents.models.chatml import ImageInput, stack_images
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.checks import require_whole
from coach_gym.episode import Candidate


class TransformersGenerator:
    """Draws candidate responses.

    Args:
        policy: The policy whose current weights are sampled. A change of the weights by an optimizer or in place drops
            the kept prefixes; a change through `.data` does not, because torch does not count those.
        batch_size: Number of prompts decoded together.
        kept_tokens: Number of prompt tokens whose keys and values are kept between calls; 0 keeps none.
    """

    def __init__(self, policy: Policy, batch_size: int = 32, kept_tokens: int = 65_536) -> None:
        require_whole(1, batch_size=batch_size)
        require_whole(0, kept_tokens=kept_tokens)
        self.policy = policy
        self.batch_size = batch_size
        self.prefixes = PrefixStore(kept_tokens, policy.chat.image_pad)
        self._weights = weights_version(policy.model)

    @torch.no_grad()
    def sample(
        self,
        prompts: Sequence[Prompt],
        k: int = 1,
        temperature: float = 1.0,
        max_new_tokens: int = 512,
        greedy: bool = False,
        on_first: OnFirst | None = None,
    ) -> list[list[Candidate]]:
        """Draws k independent responses to every prompt from the current policy. See `Generator.sample`."""
        candidates: list[list[Candidate]] = []
        kind = RaggedBatch if decodes_ragged(self.policy) else Batch
        with self.decoding():
            for first in range(0, len(prompts), self.batch_size):
                batch = kind(self.policy, self.prefixes, prompts[first : first + self.batch_size], k, max_new_tokens)
                candidates += batch.run(temperature, greedy, partial(tell, on_first, first))
        return candidates

    @contextmanager
    def decoding(self) -> Iterator[None]:
        """Puts the policy into evaluation mode, after dropping prefixes of earlier weights."""
        self._drop_stale_prefixes()
        training = self.policy.model.training
        self.policy.model.eval()
        try:
            yield
        finally:
            self.policy.model.train(training)

    def sleep(self) -> None:
        """Does nothing: the weights belong to the trainer, and kept prefixes may be needed again."""

    def _drop_stale_prefixes(self) -> None:
        weights = weights_version(self.policy.model)
        if weights != self._weights:
            self.prefixes.clear()
            self._weights = weights


class Batch:
    """Prompts in progress, from prefill to their last token.

    Columns of the key-value cache, left to right: the kept part of each prompt, right-aligned; the rest of each prompt,
    right-aligned; then for every token one column for each distinct prefix. The slot of a candidate is the index of its
    prefix among the latest of those.

    Args:
        policy: The policy.
        prefixes: Kept prefixes of earlier prompts.
        prompts: The prompts.
        k: Candidates per prompt.
        limit: Maximum number of tokens in a response.
    """

    def __init__(self, policy: Policy, prefixes: PrefixStore, prompts: Sequence[Prompt], k: int, limit: int) -> None:
        self.policy, self.prefixes, self.prompts = policy, prefixes, prompts
        self.k, self.limit = k, limit
        self.device, self.dtype = policy.device, policy.model.dtype
        self.kept = [prefixes.find(prompt) for prompt in prompts]
        self.kept_width = max(map(len, self.kept))
        self.width = self.kept_width + max(len(p) - len(kept) for p, kept in zip(prompts, self.kept, strict=True))
        config = policy.model.config.get_text_config()
        self.cache = BatchCache(config, len(prompts), self.width + k * limit, self.dtype, self.device)
        self.visible = torch.zeros(len(prompts), self.width, dtype=torch.bool, device=self.device)
        self.position = torch.zeros(len(prompts), dtype=torch.long, device=self.device)

    def run(self, temperature: float, greedy: bool, on_first: OnFirst) -> list[list[Candidate]]:
        """Draws all candidates. Finished prompts leave the batch whenever half of it is finished."""
        logits = self._prefill()[:, None]
        mask = self._decode_mask()
        rows = torch.arange(len(self.prompts), device=self.device)
        slots = torch.zeros(len(rows), self.k, dtype=torch.long, device=self.device)
        alive = torch.ones_like(slots, dtype=torch.bool)
        tokens = torch.full((*slots.shape, self.limit), self.policy.eos, device=self.device)
        logprobs = torch.zeros(tokens.shape, device=self.device)
        for step in range(self.limit):
            drawn, logprob = self._draw(logits, slots, temperature, greedy)
            tokens[rows, :, step], logprobs[rows, :, step] = drawn, logprob
            ended = alive & ((drawn == self.policy.eos) | (step + 1 == self.limit))
            alive &= ~ended
            for row in rows[ended[:, 0]].tolist():
                on_first(row, self._candidate(tokens[row, 0], logprobs[row, 0]))
            unfinished = alive.any(1)
            if not unfinished.any():
                break
            if 2 * int(unfinished.sum()) <= len(rows):
                state = rows, alive, slots, drawn, mask, self.position
                rows, alive, slots, drawn, mask, self.position = (tensor[unfinished] for tensor in state)
                self.cache.select(unfinished)
            slots, leaders = distinct(slots, drawn, alive)
            logits = self._decode(drawn.gather(1, leaders), step, self._open(mask, slots, leaders))
        return [list(map(self._candidate, *row)) for row in zip(tokens, logprobs, strict=True)]

    def _prefill(self) -> Tensor:
        """Fills the cache, keeps the prompts' prefixes and returns the logits after them, (rows, vocabulary)."""
        width = self.width - self.kept_width
        input_ids = torch.full((len(self.prompts), width), self.policy.eos)
        position_ids = torch.zeros(3, len(self.prompts), width, dtype=torch.long)
        images: list[ImageInput] = []
        for row, (prompt, kept) in enumerate(zip(self.prompts, self.kept, strict=True)):
            new = len(prompt) - len(kept)
            positions, self.position[row] = self.policy.position_ids(prompt)
            input_ids[row, width - new :] = torch.tensor(prompt.input_ids[len(kept) :])
            position_ids[:, row, width - new :] = positions[:, len(kept) :]
            images += prompt.images[len(kept.images) :]
            self.visible[row, self.width - new :] = True
            self.visible[row, self.kept_width - len(kept) : self.kept_width] = True
            self.cache.write(row, self.kept_width, kept.chunks)
        self.cache.cursor = self.kept_width
        hidden = self._forward(input_ids, position_ids, self._prefill_mask(width), images)
        self._keep_prefixes()
        return self.policy.model.lm_head(hidden[:, -1])

    def _prefill_mask(self, width: int) -> Tensor:
        """A mask that is causal among the new columns and open to the kept ones."""
        causal = torch.ones(width, self.width, dtype=torch.bool, device=self.device).tril(self.kept_width)
        return self._additive((causal & self.visible[:, None])[:, None])

    def _keep_prefixes(self) -> None:
        for row, (prompt, kept) in enumerate(zip(self.prompts, self.kept, strict=True)):
            new = self.cache.states[:, :, row, :, self.width - len(prompt) + len(kept) : self.width]
            self.prefixes.put(Prefix(prompt.input_ids, prompt.images, [*kept.chunks, new.clone()]))

    def _decode_mask(self) -> Tensor:
        """A mask, (rows, k, all columns): a candidate sees its prompt, and none of the columns to come."""
        shut = torch.zeros(len(self.prompts), self.k * self.limit, dtype=torch.bool, device=self.device)
        return self._additive(torch.cat([self.visible, shut], dim=1)[:, None].repeat(1, self.k, 1))

    def _open(self, mask: Tensor, slots: Tensor, leaders: Tensor) -> Tensor:
        """Lets every candidate see the next column of its slot, and returns the leaders' mask."""
        mask.scatter_(2, (self.cache.filled + slots)[..., None], 0)
        columns = mask[..., : self.cache.filled + leaders.shape[1]]
        return columns.gather(1, leaders[..., None].expand(-1, -1, columns.shape[2]))[:, None]

    def _decode(self, tokens: Tensor, step: int, mask: Tensor) -> Tensor:
        """The logits, (rows, slots, vocabulary), after `tokens`, (rows, slots), which are at index `step`."""
        self.cache.cursor = self.cache.filled
        position_ids = (self.position + step)[None, :, None].expand(3, *tokens.shape)
        hidden = self._forward(tokens, position_ids, mask)
        return self.policy.model.lm_head(hidden)

    def _forward(
        self, input_ids: Tensor, position_ids: Tensor, mask: Tensor, images: Sequence[ImageInput] = ()
    ) -> Tensor:
        output = self.policy.model.model(
            input_ids=input_ids.to(self.device),
            position_ids=position_ids.to(self.device),
            attention_mask=mask,
            past_key_values=self.cache,
            use_cache=True,
            **stack_images(images, self.device),
        )
        return output.last_hidden_state

    def _additive(self, mask: Tensor) -> Tensor:
        """Converts a boolean mask to one that is added to the scores, which all attention implementations accept.

        Its entries are finite, so that padding, which sees nothing, attends to everything equally and stays finite.
        """
        return torch.zeros(mask.shape, dtype=self.dtype, device=self.device).masked_fill_(
            ~mask, torch.finfo(self.dtype).min
        )

    def _draw(self, logits: Tensor, slots: Tensor, temperature: float, greedy: bool) -> tuple[Tensor, Tensor]:
        """Draws a token for every candidate from the logits at its slot, with its log-probability; both (rows, k)."""
        logprobs = self.policy.log_probs(logits, temperature)
        require_probabilities(logprobs)
        if greedy:
            drawn = logprobs.argmax(-1).gather(1, slots)
        else:
            drawn = inverse_cdf(logprobs, self.k).gather(1, slots[:, None])[:, 0]
        rows = torch.arange(len(slots), device=self.device)[:, None]
        return drawn, logprobs[rows, slots, drawn]

    def _candidate(self, tokens: Tensor, logprobs: Tensor) -> Candidate:
        """One response, up to the end of its turn."""
        token_ids, eos = tokens.tolist(), self.policy.eos
        length = token_ids.index(eos) + 1 if eos in token_ids else self.limit
        return self.policy.candidate(token_ids[:length], logprobs[:length].tolist())


def tell(on_first: OnFirst | None, before: int, row: int, candidate: Candidate) -> None:
    """Hands a first candidate over under the number of its prompt among those of all batches."""
    if on_first is not None:
        on_first(before + row, candidate)


def distinct(slots: Tensor, drawn: Tensor, alive: Tensor) -> tuple[Tensor, Tensor]:
    """Finds the candidates that are still equal, token for token.

    Args:
        slots: Slots of the candidates, (rows, k), the same for candidates of a row that were equal so far.
        drawn: The tokens that they drew since, (rows, k).
        alive: Whether they need further tokens, (rows, k) bool.

    Returns:
        The new slots, (rows, k), counted from 0 in every row; and the first candidate of every slot, (rows, largest
        number of slots in a row). Unused slots, and those of finished candidates, have no meaning.
    """
    equal = (slots[:, :, None] == slots[:, None]) & (drawn[:, :, None] == drawn[:, None]) & alive[:, None]
    first = equal.int().argmax(2)
    leads = alive & (first == torch.arange(slots.shape[1], device=slots.device))
    numbers = (leads.cumsum(1) - 1).clamp_(min=0)
    leaders = (~leads).int().argsort(stable=True)[:, : int(leads.sum(1).max())]
    return numbers.gather(1, first), leaders


_steps_taken = 0


def _count_step(*_: Any) -> None:
    global _steps_taken
    _steps_taken += 1


register_optimizer_step_post_hook(_count_step)


def weights_version(model: nn.Module) -> tuple[int, int]:
    """Returns a value that changes with a model's weights: its tensors' version counters and all optimizers' steps.

    Both are needed: fused optimizers do not advance the counters, and `load_state_dict` takes no optimizer step. No
    optimizer steps a frozen model. A change through `.data` goes unnoticed.
    """
    trained = any(parameter.requires_grad for parameter in model.parameters())
    return sum(parameter._version for parameter in model.parameters()), _steps_taken if trained else 0
