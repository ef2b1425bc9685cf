"""The dialect of GUI-Owl (Mobile-Agent-v3), a Qwen2.5-VL that thinks before its call and sums up after it.

An answer is `<thinking>…</thinking>`, a call of `mobile_use`, and `<conclusion>…</conclusion>`. The list of steps in
the next prompt consists of the conclusions.
"""

import re
from pathlib import Path

from coach_gym.actions import Action
from coach_gym.dialects.frames import Frame
from coach_gym.dialects.mobile_use import describe, read_action, read_answer, write_action, write_call
from coach_gym.dialects.qwen_mobile_use import QwenMobileUse, one_line

_THINKING = re.compile(r"\A\s*<think(?:ing)?>(.*?)</think(?:ing)?>\s*\Z", re.DOTALL)
_CONCLUSION = re.compile(r"<conclusion>(.*?)(?:</conclusion>|\Z)", re.DOTALL)


class GuiOwl(QwenMobileUse):
    """The dialect of GUI-Owl.

    Args:
        min_pixels: As in `QwenMobileUse`, as are all others; the published agent's by default.
        max_pixels: The published agent's by default.
        template: Text file that replaces the prompt.
        scale: None for pixels of the resized image; 1000 for GUI-Owl 1.5, which is a Qwen3-VL.
        max_turns: Turns that a prompt shows.
    """

    prompt = "gui_owl"

    def __init__(
        self,
        min_pixels: int = 4 * 28 * 28,
        max_pixels: int = 12800 * 28 * 28,
        template: Path | None = None,
        scale: int | None = None,
        max_turns: int | None = 1,
    ) -> None:
        super().__init__(min_pixels, max_pixels, template, scale, max_turns)

    def summary(self, answer: str) -> str:
        """Summarises an answer by its conclusion, without quotation marks; else as Qwen2.5-VL's."""
        found = _CONCLUSION.search(answer)
        return one_line(found[1].replace('"', "")) if found else super().summary(answer)

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads the thought and the tool call.

        Raises:
            ActionError: The answer is not a valid tool call.
        """
        before, arguments, _ = read_answer(text)
        found = _THINKING.match(before)
        return found[1].strip() if found else before, read_action(arguments, frame)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would."""
        call = write_call(write_action(action, frame))
        conclusion = f"<conclusion>\n{describe(action)}.\n</conclusion>"
        return f"<thinking>\n{thought}\n</thinking>\n{call}\n{conclusion}"
