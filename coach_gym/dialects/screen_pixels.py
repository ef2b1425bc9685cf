"""What the dialects share that answer with AndroidWorld's JSON, in pixels of the screen itself."""

from pathlib import Path

from coach_gym.dialects.dialect import Turn, load_template
from coach_gym.dialects.frames import Frame, require_limits, smart_resize
from coach_gym.episode import Observation

_SUMMARY = 300  # characters of a step in the list of steps


class ScreenPixels:
    """A dialect whose every prompt has the goal, the list of steps and the latest screen.

    Args:
        min_pixels: Lower bound of the resized image's area; the processor's of Qwen2-VL by default.
        max_pixels: Upper bound of the resized image's area; the processor's of Qwen2-VL by default.
        template: Text file that replaces the prompt.
        max_turns: Turns that a prompt shows; 1 is the published prompt, None shows the whole conversation.
    """

    prompt: str
    """Name of the prompt's file."""

    def __init__(
        self,
        min_pixels: int = 4 * 28 * 28,
        max_pixels: int = 16384 * 28 * 28,
        template: Path | None = None,
        max_turns: int | None = 1,
    ) -> None:
        require_limits(min_pixels, max_pixels, max_turns=max_turns)
        self.min_pixels = min_pixels
        self.max_pixels = max_pixels
        self.template = template
        self.max_turns = max_turns
        self._texts = load_template(self.prompt, template)

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """Returns the coordinate frame of a screen, whose coordinates are pixels of the screen itself."""
        rows, columns = smart_resize(height, width, factor, self.min_pixels, self.max_pixels)
        return Frame(screen=(width, height), model=(width, height), resized=(columns, rows))

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """Returns the system turn if a template has one; the published prompts have none."""
        return [("system", [self._texts["system"]])] if "system" in self._texts else []


def list_steps(observation: Observation, previous: list[str], start: str = "") -> str:
    """Returns the steps so far, or `start` before the first one, and the last error if there was one."""
    steps = "\n".join(f"Step {i}: {' '.join(text.split())[:_SUMMARY]}" for i, text in enumerate(previous, 1)) or start
    if observation.last_action_error:
        steps += f"\nThe last action was not carried out: {observation.last_action_error}"
    return steps
