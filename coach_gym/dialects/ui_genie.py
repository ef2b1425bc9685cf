"""The dialect of UI-Genie, a Qwen2.5-VL whose calls of `mobile_use` describe themselves.

Every call has an argument `action_desc`, and a swipe has the direction of the finger instead of two points. The list of
steps in the next prompt consists of the descriptions.
"""

from pathlib import Path

from coach_gym.actions import Action, ActionError
from coach_gym.dialects.frames import Frame
from coach_gym.dialects.mobile_use import finger_direction, read_action, read_answer, write_action, write_call
from coach_gym.dialects.qwen_mobile_use import QwenMobileUse, one_line


class UIGenie(QwenMobileUse):
    """The dialect of UI-Genie-Agent.

    A swipe starts in the middle of the screen, and what the model thinks is the description of its action.

    Args:
        min_pixels: As in `QwenMobileUse`, as are all others.
        max_pixels: The published evaluation's by default.
        template: Text file that replaces the prompt.
        scale: None for pixels of the resized image.
        max_turns: Turns that a prompt shows.
    """

    prompt = "ui_genie"

    def __init__(
        self,
        min_pixels: int = 4 * 28 * 28,
        max_pixels: int = 768 * 28 * 28,
        template: Path | None = None,
        scale: int | None = None,
        max_turns: int | None = 1,
    ) -> None:
        super().__init__(min_pixels, max_pixels, template, scale, max_turns)

    def summary(self, answer: str) -> str:
        """Summarises an answer by the description of its action; else as Qwen2.5-VL's."""
        try:
            description = read_answer(answer)[1].get("action_desc")
        except ActionError:
            description = None
        return one_line(description) if isinstance(description, str) else super().summary(answer)

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads the tool call; the thought is what precedes it, or the description of the action.

        Raises:
            ActionError: The answer is not a valid tool call.
        """
        thought, arguments, _ = read_answer(text)
        description = arguments.get("action_desc")
        return thought or (description if isinstance(description, str) else ""), read_action(arguments, frame)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would."""
        if action.kind in ("scroll", "drag"):
            arguments = {"action": "swipe", "direction": finger_direction(action)}
        else:
            arguments = write_action(action, frame)
        return write_call(arguments | ({"action_desc": thought} if thought else {}))
