"""The interface of everything that draws responses."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.episode import Candidate

OnFirst = Callable[[int, Candidate], None]
"""Receives the index of a prompt and its first candidate, while other candidates may still be drawn."""


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
