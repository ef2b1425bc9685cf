"""Drawing k candidates for every prompt of a batch, where equal candidates are computed once."""

from collections.abc import Sequence

import torch
from torch import Tensor

from coach_gym.agents.generation.generator import OnFirst
from coach_gym.agents.generation.kv_cache import PrefixStore
from coach_gym.agents.generation.ragged import RaggedDecoder
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.episode import Candidate


class RaggedBatch:
    """The same as a `Batch`, decoded without padding.

    Args:
        policy: The policy.
        prefixes: Kept prefixes of earlier prompts.
        prompts: The prompts.
        k: Candidates per prompt.
        limit: Maximum number of tokens in a response.
    """

    def __init__(self, policy: Policy, prefixes: PrefixStore, prompts: Sequence[Prompt], k: int, limit: int) -> None:
        self.policy = policy
        self.rows, self.k, self.limit = len(prompts), k, limit
        self.decoder = RaggedDecoder(policy, prefixes, prompts, room=k * limit)

    def run(self, temperature: float, greedy: bool, on_first: OnFirst) -> list[list[Candidate]]:
        """Draws all candidates."""
        tokens: list[list[int]] = [[] for _ in range(self.rows * self.k)]
        logprobs: list[list[float]] = [[] for _ in tokens]
        alive, branches = list(range(len(tokens))), [number // self.k for number in range(len(tokens))]
        logits = self.decoder.prefill()
        for step in range(self.limit):
            drawn = self._draw(logits, branches, [number % self.k for number in alive], temperature, greedy)
            grown: dict[tuple[int, int], int] = {}  # a branch for each distinct continuation of one
            unfinished, following = [], []
            for number, branch, token, logprob in zip(alive, branches, *drawn, strict=True):
                tokens[number].append(token)
                logprobs[number].append(logprob)
                if token == self.policy.eos or step + 1 == self.limit:
                    if number % self.k == 0:
                        on_first(number // self.k, self.policy.candidate(tokens[number], logprobs[number]))
                    continue
                unfinished.append(number)
                following.append(grown.setdefault((branch, token), len(grown)))
            if not unfinished:
                break
            alive, branches = unfinished, following
            logits = self.decoder.extend(*zip(*grown, strict=True))
        candidates = list(map(self.policy.candidate, tokens, logprobs))
        return [candidates[first : first + self.k] for first in range(0, len(candidates), self.k)]

    def _draw(
        self, logits: Tensor, branches: list[int], draws: list[int], temperature: float, greedy: bool
    ) -> tuple[list[int], list[float]]:
        """Draws a token for every candidate from the logits after its branch, with its log-probability."""
        logprobs = self.policy.log_probs(logits, temperature)
        require_probabilities(logprobs)
        drawn = logprobs.argmax(-1)[branches] if greedy else inverse_cdf(logprobs, self.k)[branches, draws]
        return drawn.tolist(), logprobs[branches, drawn].tolist()


def require_probabilities(logprobs: Tensor) -> None:
    """Checks that tokens can be drawn from distributions, (..., vocabulary).

    Raises:
        FloatingPointError: They are not numbers.
    """
    if logprobs[..., :1].isnan().any():  # normalised, so one that is not a number leaves none that is
        raise FloatingPointError(
            "the policy's probabilities are not numbers, so nothing can be drawn: its weights are damaged, or overflow "
            "in their precision; load an earlier checkpoint"
        )


def inverse_cdf(logprobs: Tensor, draws: int) -> Tensor:
    """Draws indices, (..., draws), from each distribution in the last dimension; never one of probability zero.

    It uses one random number per draw, where `torch.multinomial` uses one per token of the vocabulary.
    """
    cumulative = logprobs.double().exp_().cumsum(-1)
    threshold = torch.rand(*cumulative.shape[:-1], draws, dtype=cumulative.dtype, device=cumulative.device)
    return torch.searchsorted(cumulative, threshold * cumulative[..., -1:], right=True)
