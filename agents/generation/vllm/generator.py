"""Sampling with vLLM: tokens and preprocessed screenshots in, tokens and log-probabilities out.

vLLM neither sees text nor preprocesses screenshots: the policy does both once, so that trainer and sampler read the
same numbers. vLLM adds its kernels, its paged prefix cache, and batches that never wait for their longest member. It
receives the policy's weights before anything is drawn from them, and every transfer is verified: vLLM draws a response
that the policy scores.
"""

import hashlib
import math
import warnings
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.generator import Generator, OnFirst
from coach_gym.agents.generation.transformers import weights_version
from coach_gym.agents.generation.vllm.engine import LocalEngine, require_vllm
from coach_gym.agents.generation.vllm.protocol import Drawn, Engine, Sampling
from coach_gym.agents.models.lora import whole_weights
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.tree import sequence_log_probs
from coach_gym.episode import Candidate, Observation

PROBE_TOKENS = 16
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.1, torch.float16: 0.03}
"""Mean difference in log-probability per token that rounding explains. Tiny models differ by 1e-6 and 3e-3."""


def warn_of_rounding(generator: Generator) -> None:
    """Warns that an engine draws in 16 bits, for trainers that take its log-probabilities for their own."""
    if isinstance(generator, VllmGenerator) and generator.engine.dtype != torch.float32:
        warnings.warn(
            f"vLLM draws responses in {generator.engine.dtype}, whose log-probabilities are rounded otherwise than the "
            f"trainer's: PPO's ratio then differs from 1 before the policy has moved, and some of it is clipped; pass "
            f"recompute_log_probs=True, as verl does by default, or start the server with --dtype float32",
            stacklevel=2,
        )


class WeightMismatchError(RuntimeError):
    """vLLM draws from different weights than the policy's."""


class VllmGenerator:
    """Draws candidate responses with vLLM.

    If the policy is sharded over processes, all of them call `follow` after every update: it gathers the weights one by
    one, and each process's engine receives them. Otherwise the weights are sent automatically before anything is drawn.

    Args:
        policy: The policy whose current weights are sampled.
        engine: A running engine; None starts one in this process.
        options: vLLM's `EngineArgs` for an engine in this process, such as `gpu_memory_utilization=0.4`.

    Attributes:
        version: Name of the weights in use, derived from their content.
    """

    def __init__(self, policy: Policy, engine: Engine | None = None, **options: Any) -> None:
        if engine is None:
            require_vllm()
        self.policy = policy
        self.version = ""
        self._engine, self._options = engine, options
        self._weights: tuple[int, int] | None = None
        self._copies = 1  # of the weights that the engine holds

    @cached_property
    def engine(self) -> Engine:
        """The engine, started when it is first needed."""
        if self._engine is not None:
            return self._engine
        return LocalEngine(self.policy, **self._options)

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
        """Draws k independent responses to every prompt from the current policy. See `Generator.sample`.

        With `greedy`, log-probabilities are those at temperature 1.

        Raises:
            WeightMismatchError: vLLM has different weights than the policy.
        """
        if not prompts:
            return []
        self._follow(prompts[0])
        sampling = self._sampling(k, 0.0 if greedy else temperature, max_new_tokens)

        def tell(number: int, drawn: Drawn) -> None:
            if on_first is not None:
                on_first(number, self._candidate(drawn))

        rows = self.engine.generate(prompts, sampling, self.version, tell)
        return [[self._candidate(drawn) for drawn in row] for row in rows]

    def start(self) -> None:
        """Starts the engine; of several processes, all must do so together."""
        self.engine  # noqa: B018

    @torch.no_grad()
    def follow(self, dtype: torch.dtype) -> None:
        """Sends the weights of a policy that is sharded over processes, and verifies that they are in use.

        All processes call it together, after every update.

        Args:
            dtype: Precision of the policy's passes, to which weights are rounded before they are sent.
        """
        parts = processes.gather(fingerprint(self.policy.model))
        self.version = hashlib.blake2b("".join(parts).encode(), digest_size=8).hexdigest()
        self._options.setdefault("dtype", str(dtype).removeprefix("torch."))
        weights = whole_weights(self.policy.model, dtype)
        self._receive(weights)
        deque(weights, maxlen=0)  # all processes take part in gathering each weight
        prompt = self._noise()
        for drawn in self._draw_noise(prompt):
            self._verify(prompt, drawn, dtype)

    def _receive(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        self.engine.load(weights, self.version)

    def _draw_noise(self, prompt: Prompt) -> list[Candidate]:
        return self._draw_probes(prompt)

    def _noise(self) -> Prompt:
        """A prompt that is the same in every process and involves every weight."""
        pixels = np.random.default_rng(0).integers(0, 256, (112, 112, 3), dtype=np.uint8)
        return self.policy.prompt("Say something", [], Observation(pixels))

    @property
    def _spread(self) -> bool:
        return isinstance(self.policy.model, FSDPModule)

    def sleep(self) -> None:
        """Frees accelerator memory for the trainer until the next `sample`."""
        if "engine" in vars(self):
            self.engine.sleep()

    def _sampling(self, k: int, temperature: float, limit: int) -> Sampling:
        return Sampling(k, temperature, limit, self.policy.eos, self.policy.banned)

    def _candidate(self, drawn: Drawn) -> Candidate:
        if drawn.version != self.version:
            raise WeightMismatchError(
                f"a response was drawn with weights {drawn.version}, but the policy's are {self.version}: another "
                f"policy updates this engine. Give each policy an engine of its own"
            )
        return self.policy.candidate(drawn.token_ids, drawn.logprobs)

    def _follow(self, probe: Prompt) -> None:
        """Sends the policy's weights to the engine if they have changed, and verifies that they are in use."""
        if self._spread:
            return
        weights = weights_version(self.policy.model)
        if weights == self._weights:
            return
        self.version = fingerprint(self.policy.model)
        self.engine.load(whole_weights(self.policy.model), self.version)
        for drawn in self._draw_probes(probe):
            self._verify(probe, drawn, self.policy.model.dtype)
        self._weights = weights

    def _draw_probes(self, prompt: Prompt) -> list[Candidate]:
        """Draws a response from each copy of the weights."""
        with torch.random.fork_rng():  # a transfer must not change what is drawn later
            sampling = self._sampling(1, 1.0, PROBE_TOKENS)
            rows = self.engine.generate([prompt] * self._copies, sampling, self.version, lambda *_: None)
        return [self._candidate(drawn) for (drawn,) in rows]

    def _verify(self, prompt: Prompt, drawn: Candidate, dtype: torch.dtype) -> None:
        """Compares a drawn response with the policy, whose passes are in `dtype`."""
        training = self.policy.model.training
        self.policy.model.eval()
        try:
            scored = sequence_log_probs(self.policy, prompt, drawn)
        finally:
            self.policy.model.train(training)
        difference = (scored.cpu() - torch.tensor(drawn.logprobs)).abs().mean().item()
        tolerance = max(TOLERANCE[self.engine.dtype], TOLERANCE[dtype])
        if not difference <= tolerance:  # nor NaN
            raise WeightMismatchError(
                f"after the transfer of weights {self.version} vLLM's log-probabilities differ from the policy's by "
                f"{difference:.2g} a token, where {self.engine.dtype} explains {tolerance}: the weights did not "
                f"arrive, or vLLM runs another model. Check that both sides have the same versions and checkpoint"
            )


def fingerprint(model: nn.Module) -> str:
    """Returns a short name for a model's weights, derived from their content and equal in all processes.

    It hashes the sums of the bits in every row and every column. A change of three weights or fewer shows in one of
    them; a change of more goes unnoticed only if it cancels in all, which does not happen by chance. For a sharded
    model, the name covers the shards of this process.
    """
    sums = []
    for parameter in model.parameters():
        words = _words((parameter.to_local() if isinstance(parameter, DTensor) else parameter).detach())
        sums += [words.sum(0), words.sum(1)]
    return hashlib.blake2b(torch.cat(sums).cpu().numpy().tobytes(), digest_size=8).hexdigest()


def _words(weights: Tensor) -> Tensor:
    """Views the bits of weights as a matrix of integers without a copy, 64 bits at a time where possible."""
    rows = weights.reshape(len(weights), math.prod(weights.shape[1:]))
    unit = math.gcd(rows.shape[1], rows.stride(0), rows.storage_offset()) * rows.element_size()
    return rows.view(next(kind for kind in (torch.int64, torch.int32, torch.int16) if unit % kind.itemsize == 0))
