"""A generation server without vLLM: its engine draws with transformers, one prompt per step. The rest is real."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy, deepcopy
from itertools import count

import torch
from torch import Tensor

from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.generation.vllm.protocol import Drawn, Sampling
from coach_gym.agents.generation.vllm.server import GenerationServer
from coach_gym.agents.models.policy import Policy, Prompt


class StandIn:
    """The part of `LocalEngine` that a server needs.

    Attributes:
        pause: held by whoever wants the engine to stand still.
        largest: Largest number of prompts that were in progress at once.
        naps: how often it was put to sleep.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = copy(policy)
        self.policy.model = deepcopy(policy.model).requires_grad_(False)
        with torch.no_grad():
            for parameter in self.policy.model.parameters():
                parameter.zero_()
        self.generator = TransformersGenerator(self.policy)
        self.dtype = policy.model.dtype
        self.counts: Counter[str] = Counter()
        self.pause, self.largest, self.naps = threading.Lock(), 0, 0
        self._version, self._numbers = "", map(str, count())
        self._waiting: dict[str, tuple[Prompt, Sampling]] = {}

    @property
    def busy(self) -> bool:
        return bool(self._waiting)

    def submit(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[str]:
        if any(len(prompt) > 4000 for prompt in prompts):
            raise ValueError("a prompt is too long")
        numbers = [next(self._numbers) for _ in prompts]
        self._waiting |= {number: (prompt, sampling) for number, prompt in zip(numbers, prompts, strict=True)}
        return numbers

    def step(self) -> dict[str, list[Drawn]]:
        with self.pause:
            self.largest = max(self.largest, len(self._waiting))
            number = next(iter(self._waiting))
            prompt, how = self._waiting.pop(number)
            arguments = how.k, how.temperature or 1.0, how.limit, how.temperature == 0
            (row,) = self.generator.sample([prompt], *arguments)
            self.counts["responses"] += len(row)
            return {number: [Drawn(c.token_ids, c.logprobs, self._version) for c in row]}

    def begin_update(self) -> None:
        assert not self.busy

    def update(self, weights: Mapping[str, Tensor]) -> None:
        self.policy.model.load_state_dict(weights, strict=False)

    def finish_update(self, version: str) -> None:
        self._version = version

    def sleep(self) -> None:
        self.naps += 1


@contextmanager
def serving(policy: Policy, port: int = 0) -> Iterator[tuple[GenerationServer, StandIn]]:
    """Runs a server for models like this policy's in a thread of its own."""
    server, engine = GenerationServer(policy, port=port), StandIn(policy)
    threading.Thread(target=server.run, args=(engine,), daemon=True).start()
    _wait_for(server)
    yield server, engine
    server.shutdown()
    server.server_close()


def _wait_for(server: GenerationServer) -> None:
    while True:
        try:
            return socket.create_connection(server.server_address).close()
        except ConnectionRefusedError:
            time.sleep(0.01)
