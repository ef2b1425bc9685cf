"""The client of a generation server: sampling with vLLM in a process that several trainers share.

The trainer does not need vLLM, only the standard library and safetensors. Requests name the weights to draw with, and a
server that holds others refuses. A request without an answer is repeated until a time limit.
"""

import http.client
import json
import math
import os
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from itertools import count
from typing import Any, TypeVar
from urllib.parse import SplitResult

import torch
from torch import Tensor

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.generator import OnFirst
from coach_gym.agents.generation.vllm.generator import (
    TOLERANCE,
    VllmGenerator,
    WeightMismatchError,
)
from coach_gym.agents.generation.vllm.protocol import Drawn, Sampling
from coach_gym.agents.generation.vllm.several import SeveralEngines, transfer
from coach_gym.agents.generation.vllm.wire import CONTENT_TYPE, KEY, image_hash, pack, pack_prompts
from coach_gym.agents.models.chatml import ImageInput
from coach_gym.agents.models.lora import whole_shapes
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.checks import ServerError, require_address, require_seconds
from coach_gym.episode import Candidate

LONGEST_PAUSE = 8.0  # maximum number of seconds between two attempts
UNTOLD = 5  # attempts before the user is told that the server does not answer; refused ones take three seconds
GLANCE = 2.0  # seconds in which a healthy server answers, even while it draws

Result = TypeVar("Result")


class GenerationServerError(ServerError):
    """The server is gone, too slow, or broken; the result of the request is unknown."""


class WeightsLostError(WeightMismatchError):
    """The server holds no weights, because it was restarted or another transfer to it was interrupted."""


class ServedGenerator(VllmGenerator):
    """Draws candidate responses with the vLLM of a server (`coach-gym serve`).

    Trainers with the same weights can share a server: several frozen judges, or the processes of one training. Of
    processes that share a policy, the first one sends the weights.

    Every method that asks the server raises `GenerationServerError` if no answer comes, and `WeightMismatchError` if
    the server has different weights than the policy.

    Args:
        policy: The policy whose current weights are sampled.
        url: Address of the server; or of several, separated by commas, among which prompts are divided.
        patience: Seconds until an answer, including all attempts.
    """

    def __init__(self, policy: Policy, url: str, patience: float = 300.0) -> None:
        require_seconds(patience=patience)
        engines = [ServedEngine(policy, each.strip(), patience) for each in url.split(",")]
        self._server: ServedEngine | SeveralEngines = engines[0] if len(engines) == 1 else SeveralEngines(engines)
        super().__init__(policy, self._server)
        self._copies = len(engines)

    def sample(
        self,
        prompts: Sequence[Prompt],
        k: int = 1,
        temperature: float = 1.0,
        max_new_tokens: int = 512,
        greedy: bool = False,
        on_first: OnFirst | None = None,
    ) -> list[list[Candidate]]:
        """Draws responses as `VllmGenerator.sample` does; a restarted server receives the weights again.

        A request is answered once all of it is drawn, so the first candidates are a request of their own.
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
        """Returns whether the server answers now, after a single brief attempt."""
        return self._server.answers()

    def _receive(self, weights: Iterable[tuple[str, Tensor]]) -> None:
        if processes.rank() == 0:
            super()._receive(weights)

    def _draw_noise(self, prompt: Prompt) -> list[Candidate]:
        return processes.gather(self._draw_probes(prompt) if processes.rank() == 0 else [])[0]


def require_generation_server(url: str) -> SplitResult:
    """Returns the parts of the address of a generation server.

    Raises:
        ValueError: It is none.
    """
    return require_address(url, "generation server", "http://127.0.0.1:8100")


class ServedEngine:
    """vLLM behind a server.

    Args:
        policy: The policy whose architecture the server must have.
        url: Address of the server, such as `http://127.0.0.1:8100`.
        patience: Seconds until an answer, including all attempts.

    Raises:
        ValueError: `url` is not the address of a server.
    """

    def __init__(self, policy: Policy, url: str, patience: float) -> None:
        address = require_generation_server(url)
        self.url, self.patience = url, patience
        self._kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        self._host, self._port = address.hostname or "", address.port
        self._shapes = whole_shapes(policy.model)
        self._sent: weakref.WeakSet[ImageInput] = weakref.WeakSet()

    @cached_property
    def dtype(self) -> torch.dtype:
        """Precision of the server's passes."""
        names = {str(dtype).removeprefix("torch."): dtype for dtype in TOLERANCE}
        return names[self.status()["dtype"]]

    def status(self) -> dict[str, Any]:
        """Returns the server's status: the `version` of its weights, its `dtype`, and its totals."""
        return self._ask("/status")

    def answers(self) -> bool:
        """Returns whether the server answers now, after a single brief attempt."""
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
        """Draws responses to every prompt, in one batch with other clients' requests. See `Engine.generate`."""
        head = {"sampling": asdict(sampling), "version": version}
        images = {image_hash(image): image for prompt in prompts for image in prompt.images}
        unsent = {name: image for name, image in images.items() if image not in self._sent}
        reply = self._ask("/sample", pack_prompts(head, prompts, unsent))
        if "missing" in reply:  # it was restarted, or has dropped them for lack of room
            reply = self._ask("/sample", pack_prompts(head, prompts, images))
        self._sent.update(images.values())
        rows = self._rows(reply, len(prompts), sampling.k)
        for number, row in enumerate(rows):
            on_first(number, row[0])
        return rows

    def _rows(self, reply: dict[str, Any], prompts: int, k: int) -> list[list[Drawn]]:
        """Reads the responses in a reply; what is not k of them for every prompt would spoil the weights."""
        try:
            rows = [[Drawn(*one) for one in row] for row in reply["drawn"]]
            sound = [len(row) for row in rows] == [k] * prompts and all(_sound(drawn) for row in rows for drawn in row)
        except (TypeError, LookupError):
            sound = False
        if not sound:
            raise GenerationServerError(
                f"the generation server at {self.url} sent something else than {k} responses, with a finite "
                f"log-probability for each token, to each of {prompts} prompts; see its output and restart it"
            )
        return rows

    def load(self, weights: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Replaces the server's weights, unless it already holds that version."""
        transfer([self], weights, version)

    def begin(self, version: str) -> tuple[http.client.HTTPConnection, bool]:
        """Announces weights; returns the connection for them, and whether the server already holds that version."""
        opening = pack({"version": version, "shapes": self._shapes})
        connection, reply = self._insist(lambda timeout: self._open("/weights/begin", opening, timeout))
        return connection, reply["held"]

    def sleep(self) -> None:
        """Frees the server's accelerator memory until the next call, if it was started with that option."""
        self._ask("/sleep", pack({}))

    # ---- HTTP -------------------------------------------------------------------------------------------------

    def _ask(self, path: str, body: bytes | None = None) -> dict[str, Any]:
        connection, reply = self._insist(lambda timeout: self._open(path, body, timeout))
        connection.close()
        return reply

    def _insist(self, attempt: Callable[[float], Result]) -> Result:
        """Repeats an attempt until it reaches the server, with increasing pauses, and returns its result.

        Warns if that takes a while.
        """
        started = time.monotonic()
        for number in count(1):
            left = self.patience - (time.monotonic() - started)
            pause = min(LONGEST_PAUSE, 0.1 * 2**number)
            try:
                return attempt(max(left, 0.01))
            except (OSError, http.client.HTTPException) as error:
                if time.monotonic() - started + pause > self.patience:
                    raise self._gone(f"{number} attempts in {self.patience:g} s", error) from error
                if number == UNTOLD:
                    warnings.warn(
                        f"the generation server at {self.url} does not answer ({type(error).__name__}: {error}); "
                        f"trying again until {self.patience:g} s are over",
                        stacklevel=2,
                    )
            time.sleep(pause)
        raise AssertionError("unreachable")

    def _gone(self, attempts: str, error: Exception) -> GenerationServerError:
        return GenerationServerError(
            f"the generation server at {self.url} did not answer, {attempts}; the last error: "
            f"{type(error).__name__}: {error}. See its output; restart it with `coach-gym serve`, or if it is only "
            f"slow, pass more than patience={self.patience:g}"
        )

    def _open(self, path: str, body: bytes | None, timeout: float) -> tuple[http.client.HTTPConnection, dict[str, Any]]:
        """Opens a connection and returns it with the answer to its first request."""
        connection = self._kind(self._host, self._port, timeout=timeout)
        try:
            return connection, self._read(self._send(connection, path, body))
        except BaseException:
            connection.close()
            raise

    def exchange(self, connection: http.client.HTTPConnection, path: str, body: bytes) -> dict[str, Any]:
        """Sends another request on a connection, without a second attempt: the server has dropped the transfer."""
        try:
            return self._read(self._send(connection, path, body))
        except (OSError, http.client.HTTPException) as error:
            raise self._gone("in the middle of a transfer of weights", error) from error

    def _send(self, connection: http.client.HTTPConnection, path: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {"Content-Type": CONTENT_TYPE}
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        with suppress(BrokenPipeError, ConnectionResetError):  # refused early; the answer has the reason
            connection.request("GET" if body is None else "POST", path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def _read(self, answer: tuple[int, bytes]) -> dict[str, Any]:
        status, content = answer
        if status == 200:
            return self._json(content)
        problem = content.decode("utf-8", "replace").strip()
        if status == 401:
            raise ValueError(f"{self.url} requires a different key; set {KEY} to the key it was started with")
        if status == 409:
            raise WeightMismatchError(f"{self.url}: {problem}")
        if status == 410:
            raise WeightsLostError(f"{self.url}: {problem}")
        if status == 400:
            raise ValueError(f"{self.url} refused a request: {problem}")
        raise GenerationServerError(f"{self.url} answered {status}: {problem}. See its output")

    def _json(self, content: bytes) -> dict[str, Any]:
        try:
            reply = json.loads(content)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise GenerationServerError(
                f"{self.url} answered {content[:60]!r}, which is no answer of a generation server; is the address that "
                f"of `coach-gym serve`?"
            )
        return reply


def _sound(drawn: Drawn) -> bool:
    """Returns whether a response has tokens, and a finite log-probability for each."""
    return (
        0 < len(drawn.token_ids) == len(drawn.logprobs)
        and all(isinstance(token, int) and token >= 0 for token in drawn.token_ids)
        and all(isinstance(each, int | float) and math.isfinite(each) for each in drawn.logprobs)
    )
