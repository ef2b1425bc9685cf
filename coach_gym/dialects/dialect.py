"""What a model family's dialect is: the prompt of an episode, and the way to read and write answers."""

import re
from enum import Enum
from pathlib import Path
from typing import Protocol

from coach_gym.actions import Action
from coach_gym.dialects.frames import Frame
from coach_gym.episode import Observation


class ImageSlot(Enum):
    """Type of :data:`IMAGE`."""

    IMAGE = "image"


IMAGE = ImageSlot.IMAGE
"""Stands in a turn's content where the screenshot of its step goes."""

Part = str | ImageSlot
Turn = tuple[str, list[Part]]
"""Role (``system``, ``user``) and content."""

_PROMPTS = Path(__file__).parent / "prompts"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_ROLE = re.compile(r"^<\|(system|user)\|>[ \t]*\n", re.MULTILINE)


class Dialect(Protocol):
    """Turns an episode into one model family's conversation and the model's answers into actions.

    The prompt of step t is the opening, then for every past step its observation and the model's answer, then
    the observation of step t. A turn never changes once it is said, so the prompt of a step is a prefix of
    the prompt of the next.
    """

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """The coordinate frame of a screen.

        Args:
            width, height: Of the screen, in pixels.
            factor: Side in pixels of the square that the model sees as one token: 28 for Qwen2-VL and Qwen2.5-VL,
                32 for Qwen3-VL.
        """
        ...

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """The turns before the first observation."""
        ...

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Content of the user's turn of a step.

        Args:
            goal: The instruction.
            observation: What the agent sees.
            step_index: Number of the step, from 0.
            frame: The frame of this screen.
            previous: The model's answers at all steps before, in its own text.
        """
        ...

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Thought and action of an answer, in pixels of the screen.

        Raises:
            ActionError: The answer is no action.
        """
        ...

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """An action in pixels of the screen as this family would have written it."""
        ...


def load_template(builtin: str, replacement: Path | None = None) -> dict[str, str]:
    """Reads the texts of a prompt, by role.

    A template is a text file. Lines ``<|system|>`` and ``<|user|>`` begin the text of that role; a file
    without them is the user's text and leaves the others as they are built in.

    Args:
        builtin: Name of a file under ``prompts/``, without its ending.
        replacement: The user's own file.

    Returns:
        The text of each role, without the line end at its end.
    """
    texts = _sections((_PROMPTS / f"{builtin}.txt").read_text("utf-8"))
    if replacement is not None:
        texts |= _sections(Path(replacement).read_text("utf-8"))
    return texts


def _sections(text: str) -> dict[str, str]:
    head, *pieces = _ROLE.split(text)
    if not pieces:
        return {"user": text.removesuffix("\n")}
    if head.strip():
        raise ValueError(f"a template with roles must begin with one; found {head.strip()[:40]!r} before it")
    return {role: body.removesuffix("\n") for role, body in zip(pieces[::2], pieces[1::2], strict=True)}


def fill(template: str, **values: str) -> str:
    """Replaces ``{name}`` by its value, in one pass: a placeholder inside a value is left as it is."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)
