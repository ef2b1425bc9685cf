"""The choice of a generator by name, address or function."""

from collections.abc import Callable
from typing import Literal

from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.generation.stochastic_beams import StochasticBeamGenerator
from coach_gym.agents.generation.vllm.client import ServedGenerator, require_generation_server
from coach_gym.agents.generation.vllm.generator import VllmGenerator
from coach_gym.agents.models.policy import Policy
from coach_gym.checks import WrongType

Generation = Literal["transformers", "vllm"] | str | Callable[[Policy], Generator]
"""A generator by name, the address of a generation server, or a function that makes a generator for a policy."""


def is_address(generation: Generation) -> bool:
    """Returns whether `generation` is the address of a server."""
    return isinstance(generation, str) and generation.startswith(("http://", "https://"))


def check_generation(generation: Generation) -> None:
    """Refuses an unknown generator before any model is loaded.

    Raises:
        ValueError: `generation` is neither a known name nor an address nor a function.
    """
    if not (callable(generation) or generation in ("transformers", "vllm") or is_address(generation)):
        raise ValueError(
            f"generation={generation!r} is unknown; pass 'transformers', 'vllm', the address of a server such as "
            f"'http://127.0.0.1:8100', or a function that takes a policy"
        )
    if is_address(generation):
        for url in str(generation).split(","):
            require_generation_server(url.strip())


def make_generator(generation: Generation, policy: Policy) -> Generator:
    """Makes the generator that `generation` names.

    Raises:
        TypeError: A function of the caller's returns no generator.
        ValueError: `generation` is neither a known name nor an address nor a function.
    """
    check_generation(generation)
    if callable(generation):
        made = generation(policy)
        if not isinstance(made, Generator):
            raise WrongType(
                f"generation={generation!r} returned a {type(made).__name__}, which lacks policy, sample or sleep; "
                f"return a generator"
            )
        return made
    if is_address(generation):
        return ServedGenerator(policy, generation)
    return StochasticBeamGenerator(policy) if generation == "transformers" else VllmGenerator(policy)
