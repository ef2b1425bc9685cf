"""A client of models behind servers with OpenAI's chat protocol: OpenAI's own, vLLM, SGLang, Ollama, OpenRouter.

The key is read from an environment variable and appears in no message, log or file.
"""

import asyncio
import base64
import io
import os
import threading
import warnings
import weakref
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from PIL import Image

from coach_gym.checks import ServerError, require_address, require_not_negative, require_seconds, require_whole
from coach_gym.dialects import Frame, ImageSlot, Part

KEY_VARIABLE, URL_VARIABLE = "OPENAI_API_KEY", "OPENAI_BASE_URL"
OPENAI = "https://api.openai.com/v1"
LARGEST_ANSWER = 8 << 20  # bytes; an answer has a few thousand
Message = dict[str, Any]
"""A message of the protocol: `role` and `content`."""


class ChatServerError(ServerError):
    """The server cannot be used: it does not answer, or it refuses the key or the model."""


@dataclass
class Usage:
    """What a client has asked for so far.

    Attributes:
        requests: Questions asked.
        failures: Questions that got no answer.
        prompt_tokens: Tokens sent, as far as the server reports them.
        completion_tokens: Tokens received, as far as the server reports them.
        cost: Dollars, at the prices that the client was given.
    """

    requests: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: "Usage") -> "Usage":
        return Usage(*(mine - theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


class ChatClient:
    """Asks a model behind a server, several questions at a time.

    Questions that meet a busy or broken server are repeated with growing pauses, as the `openai` package does. A server
    that has left a whole batch unanswered is asked only once per question until it answers again.

    Args:
        model: The server's name of the model.
        base_url: Address of the API, such as `http://127.0.0.1:8000/v1`; None for the environment variable
            OPENAI_BASE_URL, and without it OpenAI's.
        key_variable: Environment variable that holds the key; local servers need none.
        timeout: Seconds that one attempt may take.
        patience: Seconds that a question may take, over all attempts.
        retries: Attempts after the first.
        parallel: Questions in progress at a time.
        prices: Dollars per million tokens sent and received.
        request: Further fields of every request, such as `{"top_p": 0.9}`; None as a value leaves out a field that
            the model does not accept, such as `{"temperature": None}`.

    Attributes:
        host: The server's name and port.
        usage: Questions and tokens so far.

    Raises:
        ImportError: The package `openai` is not installed.
        ValueError: The address contains a password, or a number is out of its range.
        TypeError: A number is none.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        key_variable: str = KEY_VARIABLE,
        timeout: float = 120.0,
        patience: float = 600.0,
        retries: int = 5,
        parallel: int = 8,
        prices: tuple[float, float] = (0.0, 0.0),
        request: Mapping[str, Any] | None = None,
    ) -> None:
        require_seconds(timeout=timeout, patience=patience)
        require_whole(0, retries=retries)
        require_whole(1, parallel=parallel)
        sent, received = prices
        require_not_negative(price_of_tokens_sent=sent, price_of_tokens_received=received)
        try:
            import openai
        except ImportError as error:
            raise ImportError("models behind chat servers need the extra: pip install 'coach-gym[openai]'") from error
        self.model = model
        self.base_url = base_url or os.environ.get(URL_VARIABLE) or OPENAI
        if not model.strip():
            raise ValueError("a server has many models, and none is named; pass 'openai:MODEL'")
        example = f"http://127.0.0.1:8000/v1, after 'openai:MODEL@' or in {URL_VARIABLE}"
        self.host = require_address(self.base_url, "server of models", example).netloc
        if "@" in self.host:
            raise ValueError(
                f"the address {self.host.rpartition('@')[2]} comes with a password, which logs and saved settings "
                f"would show; remove it and put the key in the environment variable {key_variable}"
            )
        self.key_variable = key_variable
        self.patience = patience
        self.retries = retries
        self.prices = prices
        self.request = dict(request or {})
        self.usage = Usage()
        self._key = os.environ.get(key_variable) or "none"
        self._client = openai.AsyncOpenAI(
            api_key=self._key, base_url=self.base_url, timeout=timeout,
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_bound]}),
        )  # fmt: skip
        self._called: set[str] = {model}
        self._slots = asyncio.Semaphore(parallel)
        self._down = False
        _CLIENTS.add(self)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True, name="chat client").start()

    def check(self) -> None:
        """Asks for a word, to find mistakes in address, key and model before they cost anything.

        Raises:
            ChatServerError: The server does not answer, or refuses.
        """
        hello = [{"role": "user", "content": "Say yes."}]
        (reply,) = self._run([self._complete(hello, {"max_completion_tokens": 16}, retries=1)])
        if isinstance(reply, Failure) and not reply.answered:
            raise ChatServerError(
                f"{self.model} at {self.host} cannot be asked: {reply.reason}; check its name, the address "
                f"({URL_VARIABLE} or base_url) and the key in {self.key_variable}"
            )

    def ask(
        self, conversations: Sequence[Sequence[Message]], max_new_tokens: int = 1024, temperature: float = 0.0
    ) -> list[str | None]:
        """Asks questions in parallel.

        Args:
            conversations: The messages of each question.
            max_new_tokens: Length at which an answer is cut off.
            temperature: Sampling temperature; 0 takes the most likely answer.

        Returns:
            The answers; None where none came, or only part of one. A warning says how many and why.
        """
        replies = self.replies(conversations, max_new_tokens, temperature)
        failures = [reply for reply in replies if isinstance(reply, Failure)]
        if failures:
            warnings.warn(
                f"{len(failures)} of {len(replies)} questions to {self.model} at {self.host} got no answer; "
                f"the first: {failures[0].reason}",
                stacklevel=2,
            )
        return [None if isinstance(reply, Failure) else reply for reply in replies]

    def replies(
        self, conversations: Sequence[Sequence[Message]], max_new_tokens: int = 1024, temperature: float = 0.0
    ) -> "list[str | Failure]":
        """Asks questions as `ask` does, and returns why an answer is missing instead of None."""
        fields = {"max_completion_tokens": max_new_tokens, "temperature": temperature}
        retries = 0 if self._down else self.retries
        replies = self._run([self._complete(messages, fields, retries) for messages in conversations])
        self.usage.requests += len(replies)
        self.usage.failures += sum(isinstance(reply, Failure) for reply in replies)
        self._down = bool(replies) and all(isinstance(reply, Failure) and not reply.answered for reply in replies)
        return replies

    def _run(self, questions: "Sequence[Awaitable[str | Failure]]") -> "list[str | Failure]":
        async def together() -> "list[str | Failure]":
            return await asyncio.gather(*questions)

        future = asyncio.run_coroutine_threadsafe(together(), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def _complete(self, messages: Sequence[Message], fields: Mapping[str, Any], retries: int) -> "str | Failure":
        """Returns the answer, or why there is none."""
        import openai

        sent: Any = {"model": self.model, "messages": list(messages), **fields, **self.request}
        sent = {name: value for name, value in sent.items() if value is not None}
        client = self._client.with_options(max_retries=retries)
        async with self._slots:
            try:
                async with asyncio.timeout(self.patience):
                    completion = await client.chat.completions.create(**sent)
            except TimeoutError:
                return Failure(f"no answer within {self.patience:g} s")
            except (openai.OpenAIError, ValueError, RecursionError) as error:
                cause = f" ({error.__cause__})" if error.__cause__ else ""
                return Failure(self._line(f"{type(error).__name__}: {error}{cause}"))
        try:
            return self._read(completion)
        except (ValueError, TypeError, AttributeError, LookupError):  # a server may send anything
            return Failure(self._line(f"it sent no single answer of the protocol, but {completion}"))

    def _read(self, completion: Any) -> "str | Failure":
        usage = completion.usage
        if usage is not None:
            sent, received = (max(0, int(each)) for each in (usage.prompt_tokens, usage.completion_tokens))
            self.usage.prompt_tokens += sent
            self.usage.completion_tokens += received
            self.usage.cost += (self.prices[0] * sent + self.prices[1] * received) / 1e6
        (choice,) = completion.choices
        if completion.model and completion.model not in self._called:
            self._called.add(completion.model)
            if not completion.model.startswith(self.model):  # gpt-4o is gpt-4o-2024-08-06
                warnings.warn(
                    f"{self.host} was asked for {self.model}, and answers as {self._line(completion.model)}: if that "
                    f"is another model, so are the answers",
                    stacklevel=2,
                )
        if choice.finish_reason == "length":
            return Failure("an answer was cut off at its maximum length", answered=True)
        answer = choice.message.content or ""
        if not isinstance(answer, str):
            raise TypeError(type(answer))
        return answer or Failure("an answer was empty", answered=True)

    def _line(self, text: str) -> str:
        """The text in one line, without the key, which some servers repeat."""
        line = " ".join(text.split())
        return line.replace(self._key, "***")[:300] if self._key != "none" else line[:300]


async def _bound(response: Any) -> None:
    """Ends answers that do not end."""
    parts = response.aiter_bytes

    async def bounded() -> AsyncIterator[bytes]:
        size = 0
        async for part in parts():
            size += len(part)
            if size > LARGEST_ANSWER:
                raise ValueError(f"more than {LARGEST_ANSWER} bytes in one answer")
            yield part

    response.aiter_bytes = bounded


_CLIENTS: "weakref.WeakSet[ChatClient]" = weakref.WeakSet()


def spent() -> Usage:
    """Returns what all clients of this process have asked for so far."""
    return sum((client.usage for client in _CLIENTS), start=Usage())


@dataclass(frozen=True)
class Failure:
    """A question without an answer.

    Attributes:
        reason: Why, in one line.
        answered: Whether the server answered at all.
    """

    reason: str
    answered: bool = False


def as_message(role: str, parts: Sequence[Part], screenshots: Sequence[np.ndarray], frames: Sequence[Frame]) -> Message:
    """Writes a turn as a message of the protocol.

    Args:
        role: `system`, `user` or `assistant`.
        parts: Text, and `IMAGE` where a screenshot goes.
        screenshots: One screenshot, (height, width, 3) uint8, for each `IMAGE`.
        frames: The frame of each screenshot, which is sent in the size that its coordinates refer to.
    """
    pictures = iter(zip(screenshots, frames, strict=True))
    content = [
        _picture(*next(pictures)) if isinstance(part, ImageSlot) else {"type": "text", "text": part} for part in parts
    ]
    if all(part["type"] == "text" for part in content):
        return {"role": role, "content": "".join(part["text"] for part in content)}
    return {"role": role, "content": content}


def _picture(screenshot: np.ndarray, frame: Frame) -> dict[str, Any]:
    image = Image.fromarray(screenshot)
    if image.size != frame.image:
        image = image.resize(frame.image, Image.Resampling.BICUBIC)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}
