"""The dialect of OS-Genesis models for AndroidWorld, which see a screenshot and where its elements are.

An answer is `Low-level thought: ...` and `action: {...}`, AndroidWorld's JSON in pixels of the screenshot.
"""

import json

from coach_gym.actions import Action, Point
from coach_gym.dialects import json_action
from coach_gym.dialects.dialect import IMAGE, Part, fill
from coach_gym.dialects.frames import Frame
from coach_gym.dialects.screen_pixels import ScreenPixels, list_steps
from coach_gym.episode import Observation
from coach_gym.ui import parse_ui


class OSGenesis(ScreenPixels):
    """The dialect of OS-Genesis.

    Args:
        min_pixels: Lower bound of the resized image's area; the processor's of the published 7B by default.
        max_pixels: Upper bound of the resized image's area; the processor's of the published 7B by default.
        template: Text file that replaces the prompt. `{goal}` or `{instruction}` becomes the goal, `{history}` the
            steps so far, `{accessibility_tree}` the names and centres of the elements.
        max_turns: Turns that a prompt shows; 1 is the published prompt, None shows the whole conversation.
    """

    prompt = "os_genesis"

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Returns the screenshot, the goal, the steps so far and the elements."""
        history = list_steps(observation, previous)
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
