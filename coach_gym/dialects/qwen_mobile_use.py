"""The dialects of Qwen2.5-VL and Qwen3-VL with their `mobile_use` tool.

Coordinates refer to the screen size that the tool's description states: the size of the resized image for Qwen2.5-VL,
999x999 for Qwen3-VL. Every user turn repeats the task and lists the steps so far.
"""

import re
from pathlib import Path

from coach_gym.actions import Action
from coach_gym.dialects.dialect import IMAGE, Part, Turn, fill, load_template
from coach_gym.dialects.frames import Frame, frame_of, require_limits
from coach_gym.dialects.mobile_use import END_TAG, TAG, describe, read_action, read_answer, write_action, write_call
from coach_gym.episode import Observation

_SUMMARY = 200  # characters of a step in the list of steps
_THOUGHT = re.compile(r"(?:Thought:)?(.*?)(?:^Action:(.*))?\Z", re.DOTALL | re.MULTILINE)


class QwenMobileUse:
    """The dialect of Qwen2.5-VL's `mobile_use` tool; `coach_gym.dialects.mobile_use` describes its calls.

    Args:
        min_pixels: Lower bound of the resized image's area; the published processor's by default.
        max_pixels: Upper bound of the resized image's area; the published processor's by default.
        template: Text file that replaces the prompt. `{width}` and `{height}` become the screen size in the model's
            coordinates, `{goal}` or `{instruction}` the goal, `{progress}` the steps so far.
        scale: Upper end of the model's coordinates on both axes; None if they are pixels of the resized image.
        max_turns: Turns that a prompt shows; 1 is the published prompt, None shows the whole conversation.
    """

    prompt = "qwen_mobile_use"

    def __init__(
        self,
        min_pixels: int = 4 * 28 * 28,
        max_pixels: int = 16384 * 28 * 28,
        template: Path | None = None,
        scale: int | None = None,
        max_turns: int | None = 1,
    ) -> None:
        require_limits(min_pixels, max_pixels, scale=scale, max_turns=max_turns)
        self.min_pixels = min_pixels
        self.max_pixels = max_pixels
        self.template = template
        self.scale = scale
        self.max_turns = max_turns
        self._texts = load_template(self.prompt, template)

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """Returns the coordinate frame of a screen. See `Dialect.frame`."""
        return frame_of(width, height, factor, self.min_pixels, self.max_pixels, self.scale)

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """Returns the system turn, which describes the tool."""
        return [("system", [self._fill("system", goal, frame)])]

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Returns the task, the steps so far, the last error if there was one, and the screenshot."""
        progress = "".join(f"Step {i}: {self.summary(text)}; " for i, text in enumerate(previous, 1))
        text = self._fill("user", goal, frame, progress)
        if observation.last_action_error:
            text += f"\nThe last step was not carried out: {observation.last_action_error}"
        return [text, IMAGE]

    def _fill(self, role: str, goal: str, frame: Frame, progress: str = "") -> str:
        width, height = map(str, frame.model)
        values = {"goal": goal, "instruction": goal, "progress": progress, "width": width, "height": height}
        return fill(self._texts[role], **values)

    def summary(self, answer: str) -> str:
        """Summarises an answer for the list of steps: its thought if there is one, else its call."""
        thought, _, call = answer.partition(TAG)
        return one_line(thought.strip() or call.removesuffix(END_TAG))

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads the thought before the tool call, and the call.

        Raises:
            ActionError: The answer is not a valid tool call.
        """
        thought, arguments, _ = read_answer(text)
        return thought, read_action(arguments, frame)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would."""
        return f"{thought}\n{write_call(write_action(action, frame))}".lstrip("\n")


class Qwen3MobileUse(QwenMobileUse):
    """The dialect of Qwen3-VL's `mobile_use` tool.

    An answer is a thought, the next action in words, and the call. The list of steps consists of the actions in words.

    Args:
        min_pixels: As in `QwenMobileUse`, as are all others.
        max_pixels: The published processor's by default.
        template: Text file that replaces the prompt.
        scale: 999, as the tool's description states.
        max_turns: Turns that a prompt shows.
    """

    prompt = "qwen3_mobile_use"

    def __init__(
        self,
        min_pixels: int = 64 * 32 * 32,
        max_pixels: int = 16384 * 32 * 32,
        template: Path | None = None,
        scale: int | None = 999,
        max_turns: int | None = 1,
    ) -> None:
        super().__init__(min_pixels, max_pixels, template, scale, max_turns)

    def frame(self, width: int, height: int, factor: int = 32) -> Frame:
        """Returns the coordinate frame of a screen. See `Dialect.frame`."""
        return super().frame(width, height, factor)

    def summary(self, answer: str) -> str:
        """Summarises an answer by its action in words, else as Qwen2.5-VL's."""
        found = _THOUGHT.match(answer.partition(TAG)[0])
        return one_line(found[2]) if found and found[2] else super().summary(answer)

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads the thought and the tool call.

        Raises:
            ActionError: The answer is not a valid tool call.
        """
        before, arguments, _ = read_answer(text)
        found = _THOUGHT.match(before)
        return found[1].strip() if found else before, read_action(arguments, frame)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would."""
        words = f"Thought: {thought}\n" if thought else ""
        return f"{words}Action: {describe(action)}.\n{write_call(write_action(action, frame))}"


def one_line(text: str) -> str:
    """Returns the beginning of a text in one line, for a list of steps."""
    return " ".join(text.split())[:_SUMMARY]
