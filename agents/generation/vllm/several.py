"""Several generation servers that draw for one trainer, as one engine."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import cached_property
from http.client import HTTPConnection
from typing import Any, Protocol

import torch
from torch import Tensor

from coach_gym.agents.generation.vllm.protocol import Drawn, Engine, Sampling
from coach_gym.agents.generation.vllm.wire import image_hash, pack
from coach_gym.agents.models.policy import Prompt

PIECE = 256 << 20
"""Bytes of weights in one message, unless a single tensor is larger."""


class Served(Engine, Protocol):
    """The client of a server, `client.ServedEngine`."""

    def answers(self) -> bool:
        """Returns whether the server answers now."""
        ...

    def begin(self, version: str) -> tuple[HTTPConnection, bool]:
        """Announces weights; returns the connection for them, and whether the server already holds that version."""
        ...

    def exchange(self, connection: HTTPConnection, path: str, body: Any) -> Any:
        """Sends a part of a transfer and returns the answer."""
        ...


class SeveralEngines:
    """Servers with the same weights, among which prompts are divided.

    The prompts of an episode go to the same server, whose cache has their prefix, unless it would have more than its
    share.

    Args:
        engines: Their clients.
    """

    def __init__(self, engines: Sequence[Served]) -> None:
        self.engines = engines

    @cached_property
    def dtype(self) -> torch.dtype:
        """Precision of the engines' passes.

        Raises:
            ValueError: They differ.
        """
        dtypes = [engine.dtype for engine in self.engines]
        if len(set(dtypes)) > 1:
            raise ValueError(f"the generation servers have the precisions {dtypes}; start all with the same --dtype")
        return dtypes[0]

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        version: str,
        on_first: Callable[[int, Drawn], None],
    ) -> list[list[Drawn]]:
        """Draws responses to every prompt, on all engines at once. See `Engine.generate`."""
        parts = divided(prompts, len(self.engines))
        busy = [(engine, part) for engine, part in zip(self.engines, parts, strict=True) if part]
        with ThreadPoolExecutor(len(busy)) as threads:
            asked = [
                threads.submit(engine.generate, [prompts[i] for i in part], sampling, version, lambda *_: None)
                for engine, part in busy
            ]
        rows: list[list[Drawn]] = [[]] * len(prompts)
        for (_, part), answer in zip(busy, asked, strict=True):
            for number, row in zip(part, answer.result(), strict=True):
                rows[number] = row
        for number, row in enumerate(rows):
            on_first(number, row[0])
        return rows

    def load(self, weights: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Replaces the weights of every server, in one pass over them. See `Engine.load`."""
        transfer(self.engines, weights, version)

    def answers(self) -> bool:
        """Returns whether all servers answer now, after a single brief attempt each."""
        return all(engine.answers() for engine in self.engines)

    def sleep(self) -> None:
        """Frees the servers' accelerator memory until the next call, where they were started with that option."""
        for engine in self.engines:
            engine.sleep()


def transfer(engines: Sequence[Served], weights: Iterable[tuple[str, Tensor]], version: str) -> None:
    """Sends weights to servers, piece by piece and each piece to all, except to those that hold that version."""
    with ExitStack() as stack:
        receiving = []
        for engine in engines:
            connection, held = engine.begin(version)
            stack.enter_context(closing(connection))
            if not held:
                receiving.append((engine, connection))
        if not receiving:
            return
        for piece in pieces(weights):
            body = pack({}, {name: tensor.cpu().contiguous() for name, tensor in piece.items()})
            for engine, connection in receiving:
                engine.exchange(connection, "/weights/piece", body)
        for engine, connection in receiving:
            engine.exchange(connection, "/weights/finish", pack({}))


def pieces(weights: Iterable[tuple[str, Tensor]], size: int = PIECE) -> Iterator[dict[str, Tensor]]:
    """Yields weights in portions of about `size` bytes."""
    piece: dict[str, Tensor] = {}
    held = 0
    for name, tensor in weights:
        if piece and held + tensor.nbytes > size:
            yield piece
            piece, held = {}, 0
        piece[name] = tensor
        held += tensor.nbytes
    if piece:
        yield piece


def divided(prompts: Sequence[Prompt], number: int) -> list[list[int]]:
    """Divides the indices of prompts into parts, none of which has more than its share of them, rounded up.

    A prompt's first picture, which all prompts of its episode show until it is dropped, chooses its part; what does not
    fit goes where there is room.
    """
    parts: list[list[int]] = [[] for _ in range(number)]
    most = -(-len(prompts) // number)
    over: list[int] = []
    for index, prompt in enumerate(prompts):
        part = parts[_home(prompt) % number]
        (part if len(part) < most else over).append(index)
    for index in over:
        min(parts, key=len).append(index)
    return parts


def _home(prompt: Prompt) -> int:
    name = image_hash(prompt.images[0]) if prompt.images else "none"
    return int.from_bytes(hashlib.blake2b(str(name).encode(), digest_size=8).digest())
