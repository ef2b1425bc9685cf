"""The dialect of UI-TARS, and of the pocket model, which shares its grammar but has a shorter prompt.

An answer is `Thought: ...` and `Action: click(start_box='<|box_start|>(x,y)<|box_end|>')`. UI-TARS 1.5 gives
coordinates in pixels of the resized image (see `smart_resize`); its predecessors on Qwen2-VL count from 0 to 1000 on
both axes.
"""

import re
from pathlib import Path

from coach_gym.actions import Action, format_action, parse_action
from coach_gym.dialects.dialect import IMAGE, Part, Turn, fill, load_template
from coach_gym.dialects.frames import Frame, frame_of, require_limits
from coach_gym.episode import Observation
from coach_gym.ui import Element, parse_ui

WORD = re.compile(r"\w+")
PAPER_PIXELS = 256, 1_270_180
"""Bounds of an image's area in the paper's table of hyper-parameters. A screen of 1080 x 2400 becomes 1,620 tokens."""


class UITars:
    """The dialect of UI-TARS models.

    Args:
        min_pixels: Lower bound of the resized image's area; the paper's by default.
        max_pixels: Upper bound of the resized image's area; the paper's by default. The published model's own are
            100 * 28 * 28 and 16384 * 28 * 28.
        template: Text file that replaces the prompt. `{instruction}` or `{goal}` becomes the goal, `{language}` the
            language of thoughts.
        ui_text: Prompt with the bare goal and append the screen's elements to every user turn, one per line. The pocket
            model is trained on such prompts.
        language: Language in which the prompt asks for thoughts.
        scale: Upper end of the model's coordinates on both axes, 1000 for UI-TARS before 1.5; None if they are pixels
            of the resized image.
        max_turns: Steps that a prompt shows, 5 in the published agent; None for as many as fit.
    """

    def __init__(
        self,
        min_pixels: int = PAPER_PIXELS[0],
        max_pixels: int = PAPER_PIXELS[1],
        template: Path | None = None,
        ui_text: bool = False,
        language: str = "English",
        scale: int | None = None,
        max_turns: int | None = None,
    ) -> None:
        require_limits(min_pixels, max_pixels, scale=scale, max_turns=max_turns)
        self.min_pixels = min_pixels
        self.max_pixels = max_pixels
        self.template = template
        self.ui_text = ui_text
        self.language = language
        self.scale = scale
        self.max_turns = max_turns
        self._texts = load_template("pocket" if ui_text else "ui_tars", template)

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """Returns the coordinate frame of a screen. See `Dialect.frame`."""
        return frame_of(width, height, factor, self.min_pixels, self.max_pixels, self.scale)

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """Returns the instructions with the goal."""
        values = {"instruction": goal, "goal": goal, "language": self.language}
        return [(role, [fill(self._texts[role], **values)]) for role in ("system", "user") if role in self._texts]

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Returns the screenshot, the elements as text if `ui_text` is set, and the last error if there was one."""
        if self.ui_text:
            return [IMAGE, screen_lines(observation, frame, goal)]
        if observation.last_action_error:
            return [IMAGE, f"The last action was not carried out: {observation.last_action_error}"]
        return [IMAGE]

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads thought and action from an answer. See `coach_gym.actions.parse_action`.

        Raises:
            ActionError: The answer is not an action.
        """
        return parse_action(text, frame.to_screen)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would."""
        box = "({},{})" if self.ui_text else "<|box_start|>({},{})<|box_end|>"
        return format_action(action, thought, lambda point: box.format(*frame.to_model(*point)))


NAMED = "> "
"""Stands before the name of an element that the goal names."""


def screen_lines(observation: Observation, frame: Frame, goal: str = "") -> str:
    """Writes the elements of a screen for a small model, one per line: name, centre, details, state.

    `NAMED` comes before names that stand in the goal, whole and in the same order of words: a model of this size learns
    slowly to look for the words of one text in another.

    The centre is in the model's coordinates, ready to be copied into an answer. It comes right after the name, because
    the details of a list's rows, such as their dates, are often alike, and what follows them is then hard to tell
    apart. Checkable elements end with ` on` or ` off`, the focused field or selected tab with ` *`, text fields with
    ` =` and their text. Disabled elements are omitted. A final line `!` says that the last action was not carried out.
    """
    lines = [_element_line(element, frame, goal) for element in parse_ui(observation.ui) if element.enabled]
    if observation.last_action_error:
        lines.append("!")
    return "\n".join(lines)


def name_and_details(element: Element) -> tuple[str, str]:
    """Returns what `screen_lines` writes before and after the centre of an element.

    Of a row of a list, which can be touched, the first text is its name. Everything else is a name as a whole.
    """
    label = " ".join((element.label or element.id or element.cls).split())
    if not (element.clickable or element.long_clickable):
        return label, ""
    name, comma, more = label.partition(", ")
    return name, comma + more


def marked_name(element: Element, goal: str) -> str:
    """Returns the name of an element, after `NAMED` if it stands in the goal."""
    name, _ = name_and_details(element)
    words = _words(name)
    return NAMED + name if len(words) > 3 and words in _words(goal) else name


def _words(text: str) -> str:
    """All words and numbers of a text in lower case, each between spaces."""
    return f" {' '.join(WORD.findall(text.casefold()))} "


def _element_line(element: Element, frame: Frame, goal: str) -> str:
    x, y = frame.to_model(*element.center)
    line = f"{marked_name(element, goal)} {x} {y}{name_and_details(element)[1]}"
    if element.checkable:
        line += " on" if element.checked else " off"
    if element.focused or element.selected:
        line += " *"
    if element.value:
        line += f" ={' '.join(element.value.split())}"
    return line
