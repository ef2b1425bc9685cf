"""AndroidWorld's actions in JSON, which agents of its family (M3A, OS-Genesis) answer with.

`{"action_type": "click", "x": 540, "y": 1200}`; typing touches its field first and presses Enter afterwards, as
AndroidWorld's own controller does.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from coach_gym.actions import MAX_COORDINATE, MAX_LENGTH, Action, ActionError, Point

Fields = dict[str, Any]
Locate = Callable[[Fields], Point | None]
"""Returns where an action touches the screen, in screen pixels; None if its fields do not say."""

TYPE = ("input_text", "type")
_PLAIN = {
    "navigate_back": "press_back", "navigate_home": "press_home", "keyboard_enter": "press_enter", "wait": "wait",
}  # fmt: skip
_ACTION = re.compile(r"^[ \t]*action:", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"\A\s*(?:reason|low-level thought|thought):", re.IGNORECASE)


def read_answer(text: str) -> tuple[str, Fields]:
    """Splits an answer such as `Reason: ...` and `Action: {...}` into thought and the action's fields.

    Raises:
        ActionError: The answer holds no JSON object.
    """
    if len(text) > MAX_LENGTH:
        raise ActionError(f"the answer has {len(text)} characters; at most {MAX_LENGTH} are read")
    lines = list(_ACTION.finditer(text))
    thought, rest = (text[: lines[-1].start()], text[lines[-1].end() :]) if lines else ("", text)
    before, brace, body = rest.partition("{")
    try:
        fields, _ = json.JSONDecoder().raw_decode(brace + body)
    except (ValueError, RecursionError) as error:
        raise ActionError(f"the action is not valid JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ActionError('the action must be a JSON object such as {"action_type": "navigate_back"}')
    return _THOUGHT.sub("", thought if lines else before).strip(), fields


def read_action(fields: Fields, locate: Locate, screen: tuple[int, int]) -> Action:
    """Returns the action of some fields, in screen pixels.

    Args:
        fields: The JSON object.
        locate: Finds the point that the fields name.
        screen: Width and height of the screen; scrolls without a point start in its middle.

    Raises:
        ActionError: The fields are not an action.
    """
    kind, point = fields.get("action_type"), locate(fields)
    match kind:
        case "click" | "long_press":
            return Action(kind, point)
        case "input_text" | "type":
            return Action("type", point, content=_text(fields, "text").removesuffix("\n") + "\n")
        case "scroll":
            direction = _text(fields, "direction").lower()
            return Action("scroll", point or (screen[0] // 2, screen[1] // 2), direction=direction)
        case "open_app":
            return Action("open_app", content=_text(fields, "app_name"))
        case "answer":
            return Action("finished", content=_text(fields, "text"))
        case "status":
            return Action("finished")
        case str() if kind in _PLAIN:
            return Action(_PLAIN[kind])
        case other:
            raise ActionError(
                f"there is no action_type {str(other)[:40]!r}; there are click, long_press, input_text, scroll, "
                f"open_app, {', '.join(_PLAIN)}, answer and status"
            )


def write_action(action: Action, place: Fields, type_as: str, complete: str) -> Fields:
    """Returns the fields of an action.

    Args:
        action: The action.
        place: The fields that name its point.
        type_as: The action type for typing, one of `TYPE`.
        complete: The goal status of a task that is done.
    """
    match action.kind:
        case "click" | "long_press":
            return {"action_type": action.kind, **place}
        case "type":
            touched = place if action.start is not None else {}
            return {"action_type": type_as, "text": action.content.removesuffix("\n"), **touched}
        case "scroll" | "drag":
            return {"action_type": "scroll", "direction": action.direction or _revealed(action)}
        case "open_app":
            return {"action_type": "open_app", "app_name": action.content}
        case "finished" if action.content:
            return {"action_type": "answer", "text": action.content}
        case "finished":
            return {"action_type": "status", "goal_status": complete}
        case _:
            return {"action_type": next(name for name, kind in _PLAIN.items() if kind == action.kind)}


def _revealed(action: Action) -> str:
    """The direction of a scroll that is given by two points: which part of the content it reveals."""
    assert action.start is not None and action.end is not None  # Action has checked it
    right, down = action.end[0] - action.start[0], action.end[1] - action.start[1]
    if abs(right) > abs(down):
        return "left" if right > 0 else "right"
    return "up" if down > 0 else "down"


def read_point(fields: Fields) -> tuple[float, float] | None:
    """Returns the numbers `x` and `y`; None if there are none.

    Raises:
        ActionError: They are no numbers, or far off any screen.
    """
    match fields.get("x"), fields.get("y"):
        case None, None:
            return None
        case int() | float() as x, int() | float() as y if abs(x) < MAX_COORDINATE and abs(y) < MAX_COORDINATE:
            return x, y
    raise ActionError(f"x is {str(fields.get('x'))[:40]!r} and y is {str(fields.get('y'))[:40]!r}; write two numbers")


def _text(fields: Fields, key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str):
        raise ActionError(f"{fields['action_type']} needs {key}, a string; it is {str(value)[:40]!r}")
    return value
