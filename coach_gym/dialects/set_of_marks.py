"""Set-of-marks for general models, which cannot point at pixels but can name a numbered element.

The prompt has the structure of AndroidWorld's M3A: the screenshot plain and with marks, a list of the elements, and the
steps so far. An answer is `Reason: ...` and `Action: {"action_type": "click", "index": 3}`. M3A asks a second time for
a summary of every step; here the answers themselves are the history.
"""

import json

from coach_gym.actions import Action, ActionError, Point
from coach_gym.dialects import json_action
from coach_gym.dialects.dialect import IMAGE, MARKED, Part, fill
from coach_gym.dialects.frames import Frame
from coach_gym.dialects.marks import element_at, marked_elements
from coach_gym.dialects.screen_pixels import ScreenPixels, list_steps
from coach_gym.episode import Observation
from coach_gym.ui import Element


class SetOfMarks(ScreenPixels):
    """The set-of-marks dialect. The environment must show the screen's elements (`ui=True`, the default).

    Args:
        min_pixels: Lower bound of the resized image's area.
        max_pixels: Upper bound of the resized image's area.
        template: Text file that replaces the prompt. `{goal}` or `{instruction}` becomes the goal, `{history}` the
            steps so far, `{elements}` the list of elements.
        max_turns: Turns that a prompt shows; 1 is M3A's prompt, None shows the whole conversation.
    """

    prompt = "set_of_marks"

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Returns the goal, the steps so far, the elements, and the screenshot without and with marks."""
        history = list_steps(observation, previous, "You have just begun; nothing has been done yet.")
        lines = [_describe(number, element) for number, element in enumerate(marked_elements(observation.ui))]
        elements = "\n".join(lines) or "No element is known; use coordinates."
        values = {"goal": goal, "instruction": goal, "history": history, "elements": elements}
        return [fill(self._texts["user"], **values), IMAGE, MARKED]

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads reason and action from an answer; the numbers are those of the elements in `frame.ui`.

        Raises:
            ActionError: The answer is not an action, or no element has its number.
        """

        def locate(fields: json_action.Fields) -> Point | None:
            if "index" in fields:
                return _element(fields["index"], frame.ui).center
            point = json_action.read_point(fields)
            return None if point is None else frame.to_screen(*point)

        thought, fields = json_action.read_answer(text)
        return thought, json_action.read_action(fields, locate, frame.screen)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would; points outside all elements in pixels."""
        fields = json_action.write_action(action, _place(action, frame), "input_text", "complete")
        return f"Reason: {thought}\nAction: {json.dumps(fields, ensure_ascii=False)}"


def _element(number: object, ui: str) -> Element:
    elements = marked_elements(ui)
    if not isinstance(number, int) or not 0 <= number < len(elements):
        raise ActionError(f"there is no element {str(number)[:40]!r}; the marks go from 0 to {len(elements) - 1}")
    return elements[number]


def _place(action: Action, frame: Frame) -> json_action.Fields:
    if action.start is None:
        return {}
    number = element_at(frame.ui, *action.start)
    return dict(zip("xy", frame.to_model(*action.start), strict=True)) if number is None else {"index": number}


def _describe(number: int, element: Element) -> str:
    """A line about an element; what is empty or false is left out."""
    known = {
        "text": element.value or element.label, "description": element.desc, "hint": element.hint,
        "class": element.cls, "id": element.id,
    }  # fmt: skip
    flags = ("clickable", "long_clickable", "editable", "scrollable", "focused", "selected")
    facts: dict[str, object] = {"index": number} | {key: value for key, value in known.items() if value}
    facts |= {f"is_{flag}": True for flag in flags if getattr(element, flag)}
    facts |= {"is_checked": element.checked} if element.checkable else {}
    facts |= {} if element.enabled else {"is_enabled": False}
    return f"UI element {number}: {json.dumps(facts, ensure_ascii=False)}"
