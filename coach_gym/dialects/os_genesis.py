"""The dialect of OS-Genesis models for AndroidWorld, which see a screenshot and where its elements are.

An answer is `Low-level thought: ...` and `action: {...}`, AndroidWorld's JSON in pixels of the screenshot.
"""

import json
from pathlib import Path

from coach_gym.actions import Action, Point
from coach_gym.dialects import json_action
from coach_gym.dialects.dialect import IMAGE, Part, Turn, fill, load_template
from coach_gym.dialects.frames import Frame, smart_resize
from coach_gym.episode import Observation
from coach_gym.ui import parse_ui

_SUMMARY = 300


class OSGenesis:
    """The dialect of OS-Genesis.

    Args:
        min_pixels: Lower bound of the resized image's area; the processor's of the published 7B by default.
        max_pixels: Upper bound of the resized image's area; the processor's of the published 7B by default.
        template: Text file that replaces the prompt. `{goal}` or `{instruction}` becomes the goal, `{history}` the
            steps so far, `{accessibility_tree}` the names and centres of the elements.
        max_turns: Turns that a prompt shows; 1 is the published prompt, None shows the whole conversation.
    """

    def __init__(
        self,
        min_pixels: int = 4 * 28 * 28,
        max_pixels: int = 16384 * 28 * 28,
        template: Path | None = None,
        max_turns: int | None = 1,
    ) -> None:
        self.min_pixels = min_pixels
        self.max_pixels = max_pixels
        self.template = template
        self.max_turns = max_turns
        self._texts = load_template("os_genesis", template)

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """Returns the coordinate frame of a screen, whose coordinates are pixels of the screen itself."""
        rows, columns = smart_resize(height, width, factor, self.min_pixels, self.max_pixels)
        return Frame(screen=(width, height), model=(width, height), resized=(columns, rows))

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """Returns the system turn if a template has one; the published prompt has none."""
        return [("system", [self._texts["system"]])] if "system" in self._texts else []

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Returns the screenshot, the goal, the steps so far and the elements."""
        history = "\n".join(f"Step {i}: {' '.join(text.split())[:_SUMMARY]}" for i, text in enumerate(previous, 1))
        if observation.last_action_error:
            history += f"\nThe last action was not carried out: {observation.last_action_error}"
        values = {"goal": goal, "instruction": goal, "history": history, "accessibility_tree": _tree(observation.ui)}
        return [IMAGE, "\n" + fill(self._texts["user"], **values)]

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads thought and action from an answer.

        Raises:
            ActionError: The answer is not an action.
        """

        def locate(fields: json_action.Fields) -> Point | None:
            point = json_action.read_point(fields)
            return None if point is None else frame.to_screen(*point)

        thought, fields = json_action.read_answer(text)
        return thought, json_action.read_action(fields, locate, frame.screen)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would."""
        place = {} if action.start is None else dict(zip("xy", frame.to_model(*action.start), strict=True))
        fields = json_action.write_action(action, place, "type", "successful")
        written = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return f"Low-level thought: {thought}\naction: {written}"


def _tree(ui: str) -> str:
    """Names of the elements with their centres, as JSON."""
    centres: dict[str, str] = {}
    for element in parse_ui(ui):
        name = " ".join((element.value or element.label or f"{element.cls} {element.id}").split())
        if element.checkable:
            name += f" Is_Checked: {element.checked}"
        left, top, right, bottom = element.bounds
        centres[name] = f"({(left + right) / 2}, {(top + bottom) / 2})"
    return json.dumps(centres, ensure_ascii=False)
