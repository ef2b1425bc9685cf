"""Models that are never trained: one copy in a process, whoever asks it."""

from weakref import WeakSet, WeakValueDictionary

import torch

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.generation.make import Generation, is_address, make_generator
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.generation.vllm.generator import VllmGenerator
from coach_gym.agents.models.policy import Policy, PolicySource

_LOADED: "WeakValueDictionary[tuple[str, str], Generator]" = WeakValueDictionary()
_VLLM: "WeakSet[VllmGenerator]" = WeakSet()


def frozen_generator(source: PolicySource, generation: Generation = "transformers") -> Generator:
    """Returns a generator for a model that judges, with the model as its `policy`.

    What a process reward model and an outcome verifier name alike is loaded once, while one of them exists. With a
    GPU's vLLM or a server, the model here is a view of its file in main memory, of which all processes of a machine
    share one copy.

    Args:
        source: `"pocket"`, a directory, a hub id, or a model.
        generation: What draws the answers. vLLM's engines start here, because processes must start theirs together.
    """
    if not isinstance(generation, str) or isinstance(source, tuple | Policy):
        return _load(source, generation)
    name = str(source), generation
    generator = _LOADED.get(name)
    if generator is None:
        generator = _LOADED[name] = _load(source, generation)
    return generator


def _load(source: PolicySource, generation: Generation) -> Generator:
    elsewhere = isinstance(generation, str) and generation != "transformers"
    mapped = is_address(generation) or (elsewhere and torch.cuda.is_available())  # CPUs' engines compute in float32
    policy = Policy.load(source, device="cpu" if elsewhere else "auto", dtype="auto" if mapped else None)
    policy.model.requires_grad_(False)
    if generation == "transformers":
        return TransformersGenerator(policy, kept_tokens=0)
    generator = make_generator(generation, policy)
    if isinstance(generator, VllmGenerator):
        _VLLM.add(generator)
        if processes.size() > 1:
            generator.start()
    return generator


def sleep() -> None:
    """Frees the accelerator memory of all models that judge, until they are asked again."""
    for generator in list(_VLLM):
        generator.sleep()
