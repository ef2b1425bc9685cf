"""Sampling with vLLM in a server of its own, which several trainers share: the client's half.

The trainer needs no vLLM: this is its standard library and safetensors. Requests name the weights that are to draw,
and a server that holds others refuses. A server that does not answer is tried again until a time is up.
"""

import hashlib
import http.client
import json
import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from functools import cached_property
from itertools import count
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
import torch
from torch import Tensor
from torch.distributed.fsdp import FSDPModule

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.generator import OnFirst
from coach_gym.agents.generation.vllm.generator import (
    TOLERANCE,
    VllmGenerator,
    WeightMismatchError,
    fingerprint,
    whole_weights,
)
from coach_gym.agents.generation.vllm.protocol import Drawn, Sampling
from coach_gym.agents.generation.vllm.wire import CONTENT_TYPE, KEY, image_hash, pack, pack_prompts
from coach_gym.agents.models.chatml import ImageInput
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.episode import Candidate, Observation

PIECE = 256 << 20
"""Bytes of weights that travel at once, unless a single tensor has more."""
LONGEST_PAUSE = 8.0  # seconds between two attempts
GLANCE = 2.0  # seconds in which a server that is well says so, whatever it is drawing

Result = TypeVar("Result")


class GenerationServerError(RuntimeError):
    """The server is gone, too slow, or in trouble: nothing is known about what it was asked."""


class WeightsLostError(WeightMismatchError):
    """The server holds no weights: it was started again, or another transfer to it broke off."""


class ServedGenerator(VllmGenerator):
    """Draws candidate responses with the vLLM of a server (`coach-gym serve`).

    Trainers with the same weights share a server: several frozen judges, or the processes of one training. Where the
    policy is spread over processes, all of them call `follow` together after every update; the first one streams
    the weights. Otherwise weights follow by themselves before anything is drawn.

    Args:
        policy: whose current weights are sampled from.
        url: of the server.
        patience: seconds until an answer, with all attempts to get one.

    Raises:
        GenerationServerError: No answer came. By every method that asks the server.
        WeightMismatchError: The server has other weights than the policy. Likewise.
    """

    def __init__(self, policy: Policy, url: str, patience: float = 300.0) -> None:
        self._server = ServedEngine(policy, url, patience)
        super().__init__(policy, self._server)

    def sample(
        self,
        prompts: Sequence[Prompt],
        k: int = 1,
        temperature: float = 1.0,
        max_new_tokens: int = 512,
        greedy: bool = False,
        on_first: OnFirst | None = None,
    ) -> list[list[Candidate]]:
        """As `VllmGenerator.sample`; a server that was started again is given the weights again.

        A request is answered when all of it is drawn, so the first candidates are a request of their own.
        """
        if on_first is not None and k > 1:
            firsts = self.sample(prompts, 1, temperature, max_new_tokens, greedy, on_first)
            rest = self.sample(prompts, k - 1, temperature, max_new_tokens, greedy)
            return [first + others for first, others in zip(firsts, rest, strict=True)]
        arguments = prompts, k, temperature, max_new_tokens, greedy, on_first
        try:
            return super().sample(*arguments)
        except WeightsLostError:
            if self._spread:
                raise
        self._weights = None
        return super().sample(*arguments)

    def answers(self) -> bool:
        """Whether the server answers now. Asked once and briefly, with no patience."""
        return self._server.answers()

    @torch.no_grad()
    def follow(self, dtype: torch.dtype) -> None:
        """Streams the weights of a policy that is spread over processes, and verifies that they are in force.

        Args:
            dtype: of the policy's passes, to which weights are rounded before they travel.
        """
        parts = processes.gather(fingerprint(self.policy.model))
        self.version = hashlib.blake2b("".join(parts).encode(), digest_size=8).hexdigest()
        weights = whole_weights(self.policy.model, dtype)
        if processes.rank() == 0:
            self.engine.load(weights, self.version)
        deque(weights, maxlen=0)  # all processes take part in gathering each weight, whoever wants it
        prompt = self._noise()
        drawn = processes.gather(self._draw_probe(prompt) if processes.rank() == 0 else None)[0]
        assert drawn is not None
        self._verify(prompt, drawn, dtype)

    @property
    def _spread(self) -> bool:
        return isinstance(self.policy.model, FSDPModule)

    def _follow(self, probe: Prompt) -> None:
        if not self._spread:
            super()._follow(probe)

    def _noise(self) -> Prompt:
        """A prompt that every process makes alike, and that every weight has a part in."""
        pixels = np.random.default_rng(0).integers(0, 256, (112, 112, 3), dtype=np.uint8)
        return self.policy.prompt("Say something", [], Observation(pixels))


class ServedEngine:
    """vLLM in a server.

    Args:
        policy: whose architecture the server is to have.
        url: of the server, `http://127.0.0.1:8100`.
        patience: seconds until an answer, with all attempts to get one.
    """

    def __init__(self, policy: Policy, url: str, patience: float) -> None:
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(f"{url!r} is no address of a generation server; it looks like http://127.0.0.1:8100")
        self.url, self.patience = url, patience
        self._kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        self._host, self._port = address.hostname, address.port
        self._shapes = {name: list(parameter.shape) for name, parameter in policy.model.named_parameters()}
        self._sent: weakref.WeakSet[ImageInput] = weakref.WeakSet()

    @cached_property
    def dtype(self) -> torch.dtype:
        """Of the server's passes."""
        names = {str(dtype).removeprefix("torch."): dtype for dtype in TOLERANCE}
        return names[self.status()["dtype"]]

    def status(self) -> dict[str, Any]:
        """What the server says of itself: the `version` of its weights, its `dtype`, and counts of what it did."""
        return self._ask("/status")

    def answers(self) -> bool:
        """Whether the server answers now. Asked once and briefly, with no patience."""
        try:
            connection, _ = self._open("/status", None, GLANCE)
        except (OSError, http.client.HTTPException, GenerationServerError):
            return False
        connection.close()
        return True

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        version: str,
        on_first: Callable[[int, Drawn], None],
    ) -> list[list[Drawn]]:
        """Draws responses to every prompt, in one batch with what other clients ask for."""
        head = {"sampling": asdict(sampling), "version": version}
        images = {image_hash(image): image for prompt in prompts for image in prompt.images}
        unsent = {name: image for name, image in images.items() if image not in self._sent}
        reply = self._ask("/sample", pack_prompts(head, prompts, unsent))
        if "missing" in reply:  # it was started again, or had no room for them any more
            reply = self._ask("/sample", pack_prompts(head, prompts, images))
        self._sent.update(images.values())
        rows = [[Drawn(*one) for one in row] for row in reply["drawn"]]
        for number, row in enumerate(rows):
            on_first(number, row[0])
        return rows

    def load(self, weights: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Replaces the server's weights, unless it holds those of that version."""
        opening = pack({"version": version, "shapes": self._shapes})
        connection, reply = self._insist(lambda timeout: self._open("/weights/begin", opening, timeout))
        with closing(connection):
            if reply["held"]:
                return
            for piece in pieces(weights):
                self._exchange(connection, "/weights/piece", pack({}, piece))
            self._exchange(connection, "/weights/finish", pack({}))

    def sleep(self) -> None:
        """Gives the server's accelerator memory to others until the next call, if it was started for that."""
        self._ask("/sleep", pack({}))

    # ---- HTTP -------------------------------------------------------------------------------------------------

    def _ask(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        connection, reply = self._insist(lambda timeout: self._open(path, body, timeout))
        connection.close()
        return reply

    def _insist(self, attempt: Callable[[float], Result]) -> Result:
        """The result of an attempt that reaches the server, with ever longer pauses between attempts."""
        started = time.monotonic()
        for number in count(1):
            left = self.patience - (time.monotonic() - started)
            pause = min(LONGEST_PAUSE, 0.1 * 2**number)
            try:
                return attempt(max(left, 0.01))
            except (OSError, http.client.HTTPException) as error:
                if time.monotonic() - started + pause > self.patience:
                    raise self._gone(f"{number} attempts in {self.patience:g} s", error) from error
            time.sleep(pause)
        raise AssertionError("unreachable")

    def _gone(self, attempts: str, error: Exception) -> GenerationServerError:
        return GenerationServerError(
            f"the generation server at {self.url} did not answer, {attempts}; the last time: "
            f"{type(error).__name__}: {error}. See what it printed; start it again with `coach-gym serve`, or if it is "
            f"only slow, give it more than patience={self.patience:g}"
        )

    def _open(self, path: str, body: bytes | None, timeout: float) -> tuple[http.client.HTTPConnection, dict[str, Any]]:
        """A new connection, and the answer to the first question on it."""
        connection = self._kind(self._host, self._port, timeout=timeout)
        try:
            return connection, self._read(self._send(connection, path, body))
        except BaseException:
            connection.close()
            raise

    def _exchange(self, connection: http.client.HTTPConnection, path: str, body: bytes) -> dict[str, Any]:
        """One more question on a connection; there is no second attempt, for the server has forgotten the first."""
        try:
            return self._read(self._send(connection, path, body))
        except (OSError, http.client.HTTPException) as error:
            raise self._gone("in the middle of a transfer of weights", error) from error

    def _send(self, connection: http.client.HTTPConnection, path: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Content-Type": CONTENT_TYPE}
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was read: the answer says why
            connection.request("GET" if body is None else "POST", path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def _read(self, answer: tuple[int, bytes]) -> dict[str, Any]:
        status, content = answer
        if status == 200:
            return json.loads(content)
        problem = content.decode("utf-8", "replace").strip()
        if status == 401:
            raise ValueError(f"{self.url} asks for another key than the one in {KEY}, or for one where there is none")
        if status == 409:
            raise WeightMismatchError(f"{self.url}: {problem}")
        if status == 410:
            raise WeightsLostError(f"{self.url}: {problem}")
        if status == 400:
            raise ValueError(f"{self.url} refused a request: {problem}")
        raise GenerationServerError(f"{self.url} answered {status}: {problem}. See what it printed")


def pieces(weights: Iterable[tuple[str, Tensor]], size: int = PIECE) -> Iterator[dict[str, Tensor]]:
    """Weights in portions of some `size` bytes, on the CPU."""
    piece: dict[str, Tensor] = {}
    held = 0
    for name, tensor in weights:
        if piece and held + tensor.nbytes > size:
            yield piece
            piece, held = {}, 0
        piece[name] = tensor.cpu().contiguous()
        held += tensor.nbytes
    if piece:
        yield piece
