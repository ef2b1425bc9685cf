"""Sampling without replacement: k different responses, in the order in which single draws would find them.

This is stochastic beam search (Kool et al. 2019, "Stochastic Beams and Where to Find Them"). Whoever adds independent
Gumbel noise to the log-probabilities of all responses, and takes those with the k largest sums, samples without
replacement. Not all sums need to be computed: the largest one below a prefix is a Gumbel variable too, so sums can be
drawn from the root towards the leaves, where a prefix leaves its sum to its largest child. The k best responses are
always among the continuations of the k best prefixes. The best one is a draw from the policy like any other.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import softplus

from coach_gym.agents.generation.generator import OnFirst
from coach_gym.agents.generation.transformers import Batch, TransformersGenerator, distinct, tell
from coach_gym.agents.models.policy import Prompt
from coach_gym.episode import Candidate


class StochasticBeamGenerator(TransformersGenerator):
    """A `TransformersGenerator` that can also draw without replacement."""

    @torch.no_grad()
    def sample_distinct(
        self,
        prompts: Sequence[Prompt],
        k: int,
        temperature: float = 1.0,
        max_new_tokens: int = 512,
        on_first: OnFirst | None = None,
    ) -> list[list[Candidate]]:
        """Draws k different responses to every prompt. See `DistinctGenerator.sample_distinct`."""
        candidates: list[list[Candidate]] = []
        with self.decoding():
            for first in range(0, len(prompts), self.batch_size):
                some = prompts[first : first + self.batch_size]
                beams = StochasticBeams(self.policy, self.prefixes, some, k, max_new_tokens)
                candidates += beams.search(temperature, partial(tell, on_first, first))
        return candidates


class StochasticBeams(Batch):
    """A `Batch` whose k candidates are the beams of a search.

    Attributes:
        tokens: The beams' tokens, (rows, k, limit), each row from the largest perturbed log-probability down.
        logprobs: Log-probabilities of the tokens, of the same shape.
        perturbed: Perturbed log-probabilities of the beams, (rows, k) float64; -inf for a beam yet to be born.
    """

    def search(self, temperature: float, on_first: OnFirst) -> list[list[Candidate]]:
        """Draws all candidates. Finished prompts leave the batch whenever half of it is finished."""
        logits = self._prefill()[:, None]
        mask = self._decode_mask()
        rows = torch.arange(len(self.prompts), device=self.device)
        self.tokens = torch.full((len(rows), self.k, self.limit), self.policy.eos, device=self.device)
        self.logprobs = torch.zeros(self.tokens.shape, device=self.device)
        self.perturbed = torch.full((len(rows), self.k), float("-inf"), dtype=torch.double, device=self.device)
        self.perturbed[:, 0] = 0.0  # that of the root may be anything: only differences matter
        slots = torch.zeros(self.perturbed.shape, dtype=torch.long, device=self.device)
        alive = self.perturbed > float("-inf")
        for step in range(self.limit):
            parents, drawn, grown = self._grow(rows, alive, self._of_slots(logits, slots, temperature), step)
            alive = grown & (drawn != self.policy.eos) & (step + 1 < self.limit)
            for row in rows[grown[:, 0] & ~alive[:, 0]].tolist():
                on_first(row, self._candidate(self.tokens[row, 0], self.logprobs[row, 0]))
            unfinished = alive.any(1)
            if not unfinished.any():
                break
            mask = mask.gather(1, parents[..., None].expand_as(mask))
            if 2 * int(unfinished.sum()) <= len(rows):
                state = rows, alive, drawn, mask, self.position
                rows, alive, drawn, mask, self.position = (tensor[unfinished] for tensor in state)
                self.cache.select(unfinished)
            slots, leaders = distinct(torch.arange(self.k, device=self.device).expand_as(alive), drawn, alive)
            logits = self._decode(drawn.gather(1, leaders), step, self._open(mask, slots, leaders))
        if self.perturbed.isinf().any():
            raise ValueError(f"a prompt has fewer than k={self.k} different responses; pass a smaller k")
        return [list(map(self._candidate, *row)) for row in zip(self.tokens, self.logprobs, strict=True)]

    def _of_slots(self, logits: Tensor, slots: Tensor, temperature: float) -> Tensor:
        """The log-probabilities of each beam's next token, (rows, k, vocabulary)."""
        logprobs = self.policy.log_probs(logits, temperature)
        return logprobs.gather(1, slots[..., None].expand(-1, -1, logprobs.shape[2]))

    def _grow(self, rows: Tensor, alive: Tensor, logprobs: Tensor, step: int) -> tuple[Tensor, Tensor, Tensor]:
        """Replaces the beams of some rows by the best of their continuations and of those that have ended.

        Returns:
            For each new beam the old one that it continues or is, its new token, and whether it has one; all (rows, k).
        """
        totals = self.logprobs[rows].sum(2, dtype=torch.double)[..., None] + logprobs
        children = perturb(totals, self.perturbed[rows]).masked_fill(~alive[..., None], float("-inf"))
        best, places = children.flatten(1).topk(self.k)
        ended = self.perturbed[rows].masked_fill(alive, float("-inf"))
        self.perturbed[rows], chosen = torch.cat([best, ended], dim=1).topk(self.k)
        grown = (chosen < self.k) & (self.perturbed[rows] > float("-inf"))
        place = places.gather(1, chosen.clamp(max=self.k - 1))
        parents = torch.where(grown, place // logprobs.shape[2], (chosen - self.k).clamp(min=0))
        drawn = torch.where(grown, place % logprobs.shape[2], self.policy.eos)
        of_parents = parents[..., None].expand(-1, -1, self.limit)
        self.tokens[rows] = self.tokens[rows].gather(1, of_parents)
        self.logprobs[rows] = self.logprobs[rows].gather(1, of_parents)
        own = logprobs.gather(1, parents[..., None].expand_as(logprobs)).gather(2, drawn[..., None])[..., 0]
        self.tokens[rows, :, step] = drawn
        self.logprobs[rows, :, step] = own.masked_fill(~grown, 0.0)
        return parents, drawn, grown


def perturb(log_probs: Tensor, largest: Tensor) -> Tensor:
    """Draws Gumbel variables with a given maximum.

    Args:
        log_probs: Locations, (..., n) float64; -inf yields -inf.
        largest: The maximum of the n variables, (...).

    Returns:
        The variables, (..., n), one of which is `largest`.
    """
    free = log_probs - torch.empty_like(log_probs).exponential_().log()
    below = free - free.amax(-1, keepdim=True)
    # Kool et al. 2019, Appendix B.3, which keeps all digits; at the maximum, `excess` is -inf.
    excess = largest[..., None] - free + torch.log(-torch.expm1(below))
    return largest[..., None] - softplus(excess, threshold=50)
