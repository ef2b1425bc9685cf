"""The dialect of AgentCPM-GUI, which answers with one compact JSON object.

`{"thought":"...","POINT":[480,320]}`: coordinates go from 0 to 1000, a gesture is a point with a direction or a second
point, and `STATUS` ends a task. The prompt is in Chinese, the language that the model is trained with.
"""

import json
from pathlib import Path
from typing import Any

from coach_gym.actions import MAX_LENGTH, Action, ActionError, Point
from coach_gym.dialects.dialect import IMAGE, Part, Turn, fill, load_template
from coach_gym.dialects.frames import Frame, require_limits, smart_resize
from coach_gym.dialects.mobile_use import OPPOSITE, finger_direction
from coach_gym.episode import Observation

_SCALE = 1000
_LONG_PRESS = 1000  # milliseconds
_TOUCH = 200  # milliseconds; a point that is touched for longer is a long press
_KEYS = {"HOME": "press_home", "BACK": "press_back", "ENTER": "press_enter"}
_ENDS = ("finish", "satisfied", "impossible", "interrupt", "need_feedback")


class AgentCpmGui:
    """The dialect of AgentCPM-GUI-8B.

    The model has no memory of earlier steps and no way to answer a question: the content of an answer is lost when it
    is written. It is a MiniCPM-V, so it plays behind a server (`coach-gym evaluate --agent openai:...`).

    Args:
        max_side: Longer side of the image that the model sees, in pixels; the published one by default.
        template: Text file that replaces the prompt; `{goal}` or `{instruction}` becomes the goal.
        max_turns: Turns that a prompt shows; 1 is the published prompt, None shows the whole conversation.
    """

    def __init__(self, max_side: int = 1120, template: Path | None = None, max_turns: int | None = 1) -> None:
        require_limits(max_side=max_side, max_turns=max_turns)
        self.max_side = max_side
        self.template = template
        self.max_turns = max_turns
        self._texts = load_template("agent_cpm_gui", template)

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """Returns the coordinate frame of a screen. See `Dialect.frame`."""
        shrink = min(1.0, self.max_side / max(width, height))
        rows, columns = smart_resize(round(height * shrink), round(width * shrink), factor)
        return Frame(screen=(width, height), model=(_SCALE, _SCALE), resized=(columns, rows))

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """Returns the system turn, which describes the JSON."""
        return [("system", [self._texts["system"]])]

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Returns the task and the screenshot."""
        return [fill(self._texts["user"], goal=goal, instruction=goal), IMAGE]

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads thought and action. A status beside an action counts only when it comes alone.

        Raises:
            ActionError: The answer is not an action.
        """
        if len(text) > MAX_LENGTH:
            raise ActionError(f"the answer has {len(text)} characters; at most {MAX_LENGTH} are read")
        try:
            fields, _ = json.JSONDecoder().raw_decode(text.strip())
        except (ValueError, RecursionError) as error:
            raise ActionError(f"the answer is not valid JSON: {error}") from error
        if not isinstance(fields, dict):
            raise ActionError('the answer must be a JSON object such as {"thought":"...","POINT":[480,320]}')
        return str(fields.get("thought", "")), _action(fields, frame)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would."""
        fields = ({"thought": thought} if thought else {}) | _write(action, frame)
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _action(fields: dict[str, Any], frame: Frame) -> Action:
    if "POINT" in fields:
        return _gesture(fields, frame)
    if "PRESS" in fields:
        key = fields["PRESS"]
        if not isinstance(key, str) or key not in _KEYS:
            raise ActionError(f"there is no key {str(key)[:40]!r}; PRESS is one of {', '.join(_KEYS)}")
        return Action(_KEYS[key])
    if "TYPE" in fields:
        if not isinstance(fields["TYPE"], str):
            raise ActionError(f"TYPE is {str(fields['TYPE'])[:40]!r}; write a string")
        return Action("type", content=fields["TYPE"])
    if fields.get("STATUS") in _ENDS:
        return Action("finished")
    if "duration" in fields:
        return Action("wait")
    raise ActionError("the answer has none of POINT, PRESS, TYPE, duration, and no STATUS that ends the task")


def _gesture(fields: dict[str, Any], frame: Frame) -> Action:
    start = _point(fields["POINT"], "POINT", frame)
    if "to" not in fields:
        duration = fields.get("duration", _TOUCH)
        if not isinstance(duration, int | float):
            raise ActionError(f"duration is {str(duration)[:40]!r}; write milliseconds")
        return Action("long_press" if duration > _TOUCH else "click", start)
    to = fields["to"]
    if isinstance(to, str) and to in OPPOSITE:  # where the finger goes
        return Action("scroll", start, direction=OPPOSITE[to])
    return Action("scroll", start, _point(to, "to", frame))


def _point(value: object, name: str, frame: Frame) -> Point:
    match value:
        case [int() | float() as x, int() | float() as y] if 0 <= x <= _SCALE and 0 <= y <= _SCALE:
            return frame.to_screen(x, y)
    raise ActionError(f"{name} is {str(value)[:40]!r}; write [x,y] with numbers from 0 to {_SCALE}")


def _write(action: Action, frame: Frame) -> dict[str, Any]:
    point = [] if action.start is None else list(frame.to_model(*action.start))
    match action.kind:
        case "click":
            return {"POINT": point}
        case "long_press":
            return {"POINT": point, "duration": _LONG_PRESS}
        case "scroll" | "drag":
            return {"POINT": point, "to": list(frame.to_model(*action.end)) if action.end else finger_direction(action)}
        case "type":
            return {"TYPE": action.content}
        case "wait":
            return {"duration": _LONG_PRESS}
        case "finished":
            return {"STATUS": "finish"}
        case "open_app":
            raise ActionError("AgentCPM-GUI has no action that opens an app; it touches the icon")
        case _:
            return {"PRESS": next(name for name, kind in _KEYS.items() if kind == action.kind)}
