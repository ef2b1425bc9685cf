"""What vLLM is asked for and what it answers, wherever it runs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from coach_gym.agents.models.policy import Prompt


@dataclass(frozen=True)
class Sampling:
    """How responses are drawn.

    Attributes:
        k: Responses per prompt.
        temperature: Divides the logits; 0 takes the most likely token.
        limit: Maximum number of tokens in a response.
        end: Token that ends a response.
        banned: Tokens that a response must not contain.
    """

    k: int
    temperature: float
    limit: int
    end: int
    banned: Sequence[int]


@dataclass
class Drawn:
    """One response as an engine returns it.

    Attributes:
        token_ids: Its tokens, including the end-of-turn token.
        logprobs: Log-probability of each token under the distribution it was drawn from.
        version: Version of the weights that drew it; None if they changed in between.
    """

    token_ids: list[int]
    logprobs: list[float]
    version: str | None


class Engine(Protocol):
    """vLLM in this process or behind a server."""

    @property
    def dtype(self) -> torch.dtype:
        """Precision of its forward passes."""
        ...

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        version: str,
        on_first: Callable[[int, Drawn], None],
    ) -> list[list[Drawn]]:
        """Draws responses to every prompt with the weights called `version`.

        `on_first` receives the index of a prompt and its first response, if possible while others are still drawn.
        """
        ...

    def load(self, weights: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Replaces the weights, given by transformers' names, and drops everything computed with the old ones."""
        ...

    def sleep(self) -> None:
        """Frees accelerator memory for the trainer until the next call of another method."""
        ...
