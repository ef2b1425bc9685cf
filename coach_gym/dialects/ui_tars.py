"""UI-TARS, and the pocket model, which speaks the same grammar with a shorter prompt.

An answer is ``Thought: ...`` and ``Action: click(start_box='<|box_start|>(x,y)<|box_end|>')``. Coordinates of
UI-TARS 1.5 are pixels of the image as ``smart_resize`` leaves it; those of its predecessors on Qwen2-VL run from 0 to
1000 on both axes.
"""

from pathlib import Path

from coach_gym.actions import Action, format_action, parse_action
from coach_gym.dialects.dialect import IMAGE, Part, Turn, fill, load_template
from coach_gym.dialects.frames import Frame, frame_of
from coach_gym.episode import Observation
from coach_gym.ui import Element, parse_ui


class UITars:
    """The dialect of UI-TARS models.

    Args:
        min_pixels, max_pixels: Bounds of the resized image's area; the published model's by default.
        template: Text file that replaces the prompt; ``{instruction}`` or ``{goal}`` in it becomes the goal,
            ``{language}`` the language of thoughts.
        ui_text: Append the screen's elements as text to every user turn, one line each, and ask with the
            bare goal: what the pocket model is trained on.
        language: Language that thoughts are asked for in.
        scale: Where the model's coordinates end on both axes, 1000 for UI-TARS before 1.5; None where they are pixels
            of the resized image.
    """

    def __init__(
        self,
        min_pixels: int = 100 * 28 * 28,
        max_pixels: int = 16384 * 28 * 28,
        template: Path | None = None,
        ui_text: bool = False,
        language: str = "English",
        scale: int | None = None,
    ) -> None:
        self.min_pixels = min_pixels
        self.max_pixels = max_pixels
        self.template = template
        self.ui_text = ui_text
        self.language = language
        self.scale = scale
        self._texts = load_template("pocket" if ui_text else "ui_tars", template)

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """Pixels of the screen, and what the model sees and says of it."""
        return frame_of(width, height, factor, self.min_pixels, self.max_pixels, self.scale)

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """The instructions with the goal."""
        values = {"instruction": goal, "goal": goal, "language": self.language}
        return [(role, [fill(self._texts[role], **values)]) for role in ("system", "user") if role in self._texts]

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """The screenshot, with the elements as text if asked for, and what went wrong if anything did."""
        if self.ui_text:
            return [IMAGE, screen_lines(observation, frame)]
        if observation.last_action_error:
            return [IMAGE, f"The last action was not carried out: {observation.last_action_error}"]
        return [IMAGE]

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Thought and action of an answer; see :func:`coach_gym.actions.parse_action`."""
        return parse_action(text, frame.to_screen)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """An answer as the model writes it."""
        box = "({},{})" if self.ui_text else "<|box_start|>({},{})<|box_end|>"
        return format_action(action, thought, lambda point: box.format(*frame.to_model(*point)))


def screen_lines(observation: Observation, frame: Frame) -> str:
    """The elements of a screen for a small model, one a line: name, centre, state.

    The centre is in the model's frame, so that an answer copies it. A check mark is `` on`` or `` off``, the
    field or tab that is active has `` *``, a text field shows `` =`` and its text. Disabled elements are left
    out. A line ``!`` at the end says that the last action was not carried out.
    """
    lines = [_element_line(element, frame) for element in parse_ui(observation.ui) if element.enabled]
    if observation.last_action_error:
        lines.append("!")
    return "\n".join(lines)


def _element_line(element: Element, frame: Frame) -> str:
    x, y = frame.to_model(*element.center)
    name = " ".join((element.label or element.id or element.cls).split())
    line = f"{name} {x} {y}"
    if element.checkable:
        line += " on" if element.checked else " off"
    if element.focused or element.selected:
        line += " *"
    if element.value:
        line += f" ={' '.join(element.value.split())}"
    return line
