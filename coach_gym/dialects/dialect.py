"""The interface of a dialect: it writes an episode as a model family's prompt, and reads and writes its answers."""

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from coach_gym.actions import Action
from coach_gym.dialects.frames import Frame
from coach_gym.dialects.marks import draw_marks
from coach_gym.episode import Observation


class ImageSlot(Enum):
    """The type of `IMAGE` and `MARKED`."""

    IMAGE = "image"
    MARKED = "marked"


IMAGE = ImageSlot.IMAGE
"""Marks where the screenshot of a step goes in the content of its turn."""
MARKED = ImageSlot.MARKED
"""Marks where the screenshot with numbered elements goes (`coach_gym.dialects.marks`)."""

Part = str | ImageSlot
Turn = tuple[str, list[Part]]
"""Role (`system` or `user`) and content."""

_PROMPTS = Path(__file__).parent / "prompts"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_ROLE = re.compile(r"^<\|(system|user)\|>[ \t]*\n", re.MULTILINE)


@runtime_checkable
class Dialect(Protocol):
    """Turns episodes into one model family's conversations, and the model's answers into actions.

    The prompt of step t consists of the opening, observation and answer of every past step, and the observation of step
    t. Turns never change afterwards, so the prompt of a step is a prefix of the next step's prompt, unless `max_turns`
    leaves out old steps.

    A dialect that is to be saved with its model keeps every argument of its constructor as an attribute of the same
    name (`coach_gym.dialects.names`).

    Attributes:
        max_turns: Steps that a prompt shows, the current one included; None for as many as fit.
    """

    max_turns: int | None

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """Returns the coordinate frame of a screen.

        Args:
            width: Width of the screen in pixels.
            height: Height of the screen in pixels.
            factor: Side of the square that becomes one visual token, in pixels: 28 for Qwen2-VL and Qwen2.5-VL, 32 for
                Qwen3-VL.
        """
        ...

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """Returns the turns before the first observation."""
        ...

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Returns the content of a step's user turn.

        Args:
            goal: The instruction.
            observation: What the agent sees.
            step_index: Index of the step, from 0.
            frame: Coordinate frame of the screen.
            previous: The model's answers at all earlier steps, as it wrote them.
        """
        ...

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads thought and action from an answer; points are in screen pixels.

        Raises:
            ActionError: The answer is not an action.
        """
        ...

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an action, given in screen pixels, as this model family would.

        Raises:
            ActionError: The family has no such action.
        """
        ...


def pictures(parts: Sequence[Part], observation: Observation) -> list[np.ndarray]:
    """Returns the pictures, (height, width, 3) uint8, that go into the slots of a step's turn."""
    drawn = {IMAGE: lambda: observation.screenshot, MARKED: lambda: draw_marks(observation.screenshot, observation.ui)}
    return [drawn[part]() for part in parts if isinstance(part, ImageSlot)]


def load_template(builtin: str, replacement: Path | None = None) -> dict[str, str]:
    """Reads a prompt template.

    In a template file, the lines `<|system|>` and `<|user|>` begin the text of a role. A file without them replaces
    only the user's text.

    Args:
        builtin: Name of a file in `prompts/`, without its suffix.
        replacement: A file whose texts replace the built-in ones.

    Returns:
        The text of each role, without its final newline.

    Raises:
        ValueError: The replacement has text before the first role, or no place for the goal.
    """
    texts = _sections((_PROMPTS / f"{builtin}.txt").read_text("utf-8"))
    if replacement is not None:
        texts |= _sections(Path(replacement).read_text("utf-8"))
        if not any(goal in text for goal in ("{goal}", "{instruction}") for text in texts.values()):
            raise ValueError(f"{replacement} has no {{goal}}, so the model would not know its task; add it")
    return texts


def _sections(text: str) -> dict[str, str]:
    head, *pieces = _ROLE.split(text)
    if not pieces:
        return {"user": text.removesuffix("\n")}
    if head.strip():
        raise ValueError(f"a template with roles must begin with one; found {head.strip()[:40]!r} before it")
    return {role: body.removesuffix("\n") for role, body in zip(pieces[::2], pieces[1::2], strict=True)}


def fill(template: str, **values: str) -> str:
    """Replaces each `{name}` by its value in a single pass, so placeholders inside values stay as they are."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)
