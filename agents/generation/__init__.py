"""Drawing responses: one interface, by transformers in the policy itself, by vLLM beside it, or by a server."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.episode import Candidate

OnFirst = Callable[[int, Candidate], None]
"""Is told the number of a prompt and the first of its candidates, while others may still be drawn."""


class Generator(Protocol):
    """Draws candidate responses from the current weights of a policy.

    Attributes:
        policy: whose weights these are.
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
        """Draws k independent responses to every prompt; `on_first` is told each first one once it is complete."""
        ...

    def sleep(self) -> None:
        """Gives accelerator memory to the trainer until the next `sample`."""
        ...


Generation = Literal["transformers", "vllm"] | str | Callable[[Policy], Generator]
"""What draws responses: one of ours by name, a server by its address, or a function that makes one for a policy."""


def is_address(generation: Generation) -> bool:
    """Whether it names a server."""
    return isinstance(generation, str) and generation.startswith(("http://", "https://"))


def make_generator(generation: Generation, policy: Policy) -> Generator:
    """Makes what draws responses.

    Raises:
        ValueError: There is none of that name.
    """
    if callable(generation):
        return generation(policy)
    if generation == "transformers":
        from coach_gym.agents.generation.transformers import TransformersGenerator

        return TransformersGenerator(policy)
    if generation == "vllm":
        from coach_gym.agents.generation.vllm.generator import VllmGenerator

        return VllmGenerator(policy)
    if is_address(generation):
        from coach_gym.agents.generation.vllm.client import ServedGenerator

        return ServedGenerator(policy, generation)
    raise ValueError(
        f"generation={generation!r} is neither 'transformers' nor 'vllm', nor the address of a server like "
        f"'http://127.0.0.1:8100', nor a function of a policy"
    )
