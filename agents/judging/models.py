"""The two kinds of models that judge: one in this process, and one behind an OpenAI-compatible server."""

from collections.abc import Sequence

import numpy as np

from coach_gym.agents.generation.frozen import frozen_generator
from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.generation.make import Generation
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.judging.chat import ChatClient, as_message
from coach_gym.agents.judging.question import JudgeModel, Question
from coach_gym.agents.models.policy import Policy, PolicySource, Prompt
from coach_gym.checks import require_whole
from coach_gym.dialects import Dialect, Frame, UITars

SERVED = "openai:"
"""Begins the names of models behind OpenAI-compatible servers."""


class LocalModel(JudgeModel):
    """A frozen policy that answers questions.

    Args:
        policy: The model; its dialect determines the size of screenshots and the coordinates in actions.
        generator: Draws the answers; None for transformers.
    """

    def __init__(self, policy: Policy, generator: Generator | None = None) -> None:
        self.policy = policy
        self.dialect = policy.dialect
        self.generator: Generator = generator or TransformersGenerator(policy, kept_tokens=0)

    def frame(self, screenshot: np.ndarray) -> Frame:
        """Returns the frame of the policy's dialect."""
        height, width = screenshot.shape[:2]
        return self.dialect.frame(width, height, self.policy.chat.token_side)

    def fits(self, question: Question) -> bool:
        """Returns whether the prompt has at most the policy's `max_prompt_length` tokens."""
        return len(self._prompt(question)) <= self.policy.max_prompt_length

    def answer(self, questions: Sequence[Question], max_new_tokens: int, greedy: bool) -> list[str | None]:
        """Answers questions; None for answers that reach the maximum length. See `JudgeModel.answer`."""
        prompts = [self._prompt(question) for question in questions]
        drawn = self.generator.sample(prompts, max_new_tokens=max_new_tokens, greedy=greedy)
        end = self.policy.eos
        return [answer.text if answer.token_ids[-1:] == [end] else None for (answer,) in drawn]

    def _prompt(self, question: Question) -> Prompt:
        chat = self.policy.chat
        images = [chat.encode_image(shown, self.frame(shown)) for shown in question.screenshots]
        return chat.turn("user", question.parts, images) + chat.generation_prompt


class ServedModel(JudgeModel):
    """A model behind an OpenAI-compatible server that answers questions.

    Args:
        client: Asks the server.
        dialect: How the model writes actions, and the size in which it gets screenshots; None for UI-TARS with the
            paper's pixels. For a Qwen3-VL pass `UITars(scale=1000)`.
        max_characters: Longest text of a question; the default leaves room in a context of 128,000 tokens.
    """

    def __init__(self, client: ChatClient, dialect: Dialect | None = None, max_characters: int = 300_000) -> None:
        require_whole(1, max_characters=max_characters)
        self.client = client
        self.dialect: Dialect = dialect or UITars()
        self.max_characters = max_characters

    def frame(self, screenshot: np.ndarray) -> Frame:
        """Returns the frame of the dialect."""
        height, width = screenshot.shape[:2]
        return self.dialect.frame(width, height)

    def fits(self, question: Question) -> bool:
        """Returns whether the text has at most `max_characters`."""
        return sum(len(part) for part in question.parts if isinstance(part, str)) <= self.max_characters

    def answer(self, questions: Sequence[Question], max_new_tokens: int, greedy: bool) -> list[str | None]:
        """Answers questions in parallel. See `JudgeModel.answer`."""
        asked = [[self._message(question)] for question in questions]
        return self.client.ask(asked, max_new_tokens, temperature=0.0 if greedy else 1.0)

    def _message(self, question: Question) -> dict[str, object]:
        frames = [self.frame(shown) for shown in question.screenshots]
        return as_message("user", question.parts, question.screenshots, frames)


def load_model(source: PolicySource, generation: Generation = "transformers") -> JudgeModel:
    """Loads a model that judges.

    Args:
        source: `"openai:MODEL"` for a model behind the server that the environment variable OPENAI_BASE_URL names
            (without it OpenAI's), `"openai:MODEL@http://127.0.0.1:8000/v1"` for one behind another server; otherwise
            `"pocket"`, a directory, a hub id, or a model.
        generation: What draws the answers of a model in this process, see `frozen_generator`.

    Raises:
        ChatServerError: The server does not answer, or refuses.
    """
    if isinstance(source, str) and source.startswith(SERVED):
        name, _, address = source.removeprefix(SERVED).partition("@http")
        client = ChatClient(name, f"http{address}" if address else None)
        client.check()
        return ServedModel(client)
    generator = frozen_generator(source, generation)
    return LocalModel(generator.policy, generator)
