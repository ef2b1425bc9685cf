"""Questions to a model that judges, and what all judges do with its answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from coach_gym.actions import ActionError, parse_action
from coach_gym.dialects import Dialect, Frame, Part

Asked = TypeVar("Asked")


@dataclass(frozen=True)
class Question:
    """The content of one user turn.

    Attributes:
        parts: Text, and `IMAGE` where a screenshot goes.
        screenshots: One screenshot, (height, width, 3) uint8, for each `IMAGE`.
    """

    parts: list[Part]
    screenshots: list[np.ndarray] = field(default_factory=list)


class JudgeModel(Protocol):
    """A model that answers questions: one in this process, or one behind a server.

    Attributes:
        dialect: How the model writes actions.
    """

    dialect: Dialect

    def frame(self, screenshot: np.ndarray) -> Frame:
        """Returns the coordinate frame in which the model sees a screenshot."""
        ...

    def fits(self, question: Question) -> bool:
        """Returns whether a question is short enough for the model."""
        ...

    def answer(self, questions: Sequence[Question], max_new_tokens: int, greedy: bool) -> list[str | None]:
        """Answers questions in one batch; None for those that got no answer, or only part of one.

        Args:
            questions: The questions.
            max_new_tokens: Length at which an answer is cut off.
            greedy: Takes the most likely answer instead of drawing one.
        """
        ...


def reword(action: str, dialect: Dialect, frame: Frame) -> str:
    """Writes an action in a judge's own dialect and frame; a text that is no action there stays as it is.

    Args:
        action: The action as the environment received it, in pixels of the screenshot.
        dialect: The judge's dialect.
        frame: The frame in which the judge sees the screenshot.
    """
    try:
        thought, parsed = parse_action(action)
        return dialect.format(parsed, thought, frame)
    except ActionError:
        return action


def ask_twice(
    ask: Callable[[Sequence[Asked], bool], list[float | None]], questions: Sequence[Asked]
) -> list[float | None]:
    """Asks for verdicts, greedily at first; those without one are asked for once more, and then unknown.

    Args:
        ask: Returns verdicts on questions; its second argument is whether to answer greedily.
        questions: The questions.
    """
    verdicts = ask(questions, True)
    missing = [index for index, verdict in enumerate(verdicts) if verdict is None]
    if missing:
        again = ask([questions[index] for index in missing], False)
        for index, verdict in zip(missing, again, strict=True):
            verdicts[index] = verdict
    return verdicts
