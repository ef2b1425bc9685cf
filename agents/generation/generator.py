"""The interface of everything that draws responses."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.episode import Candidate

OnFirst = Callable[[int, Candidate], None]
"""Receives the index of a prompt and its first candidate, while other candidates may still be drawn."""


@runtime_checkable
class Generator(Protocol):
    """Draws candidate responses from the current weights of a policy.

    Attributes:
        policy: The policy whose weights are sampled.
    """

    policy: Policy

    def sample(
        self,
        prompts: Sequence[Prompt],
        k: int = 1,
        temperature: float = 1.0,
        max_new_tokens: int = 512,
        greedy: bool = False,
        on_first: OnFirst | None = None,
    ) -> list[list[Candidate]]:
        """Draws k independent responses to every prompt.

        Args:
            prompts: Prompts of any lengths.
            k: Responses per prompt.
            temperature: Divides the logits, also those behind the returned log-probabilities.
            max_new_tokens: Length at which a response is cut off.
            greedy: Takes the most likely token instead of drawing one.
            on_first: Called as soon as the first candidate of a prompt is complete.

        Returns:
            k candidates for every prompt. Their log-probabilities are those of the distribution they were drawn from
            and include the end-of-turn token.
        """
        ...

    def sleep(self) -> None:
        """Frees accelerator memory for the trainer until the next call of `sample`."""
        ...


@runtime_checkable
class DistinctGenerator(Generator, Protocol):
    """A generator that can also draw without replacement."""

    def sample_distinct(
        self,
        prompts: Sequence[Prompt],
        k: int,
        temperature: float = 1.0,
        max_new_tokens: int = 512,
        on_first: OnFirst | None = None,
    ) -> list[list[Candidate]]:
        """Draws k different responses to every prompt without replacement, in the order of the draws.

        The first one is a draw from the policy; each further one is a draw from the policy without the earlier ones.
        Arguments and log-probabilities are those of `sample`: the latter do not depend on the other draws.

        Raises:
            ValueError: There are fewer than k different responses.
        """
        ...


def require_drawn(drawn: Any, prompts: int, k: int, vocabulary: int) -> None:
    """Checks what a generator, which may be the user's own, has drawn.

    Raises:
        ValueError: It is not k candidates for every prompt, each with a log-probability for every token.
    """
    if not isinstance(drawn, Sequence) or len(drawn) != prompts or not all(len(row) == k for row in drawn):
        kind = [len(row) for row in drawn] if isinstance(drawn, Sequence) else type(drawn).__name__
        raise ValueError(
            f"the generator returned {kind!r:.100} for {prompts} prompts; it must give each {k} candidates"
        )
    for candidate in (candidate for row in drawn for candidate in row):
        tokens, logprobs = candidate.token_ids, candidate.logprobs
        if not tokens or len(tokens) != len(logprobs):
            raise ValueError(
                f"the generator returned {len(tokens)} tokens with {len(logprobs)} log-probabilities for a response; "
                f"it must give at least one, the end of the turn, and one for each"
            )
        if min(tokens) < 0 or max(tokens) >= vocabulary:
            raise ValueError(
                f"the generator returned the tokens {min(tokens)} to {max(tokens)}, but the policy's vocabulary has "
                f"those from 0 to {vocabulary - 1}"
            )
