"""The `mobile_use` tool, which the Qwen family and its descendants call: its arguments as actions, and back.

A call is JSON between `<tool_call>` tags. The tool's only gesture is `swipe`, which is read as a scroll; drags are
written as swipes too.
"""

import json
import math
import re
from typing import Any

from coach_gym.actions import MAX_COORDINATE, MAX_LENGTH, Action, ActionError, Point
from coach_gym.dialects.frames import Frame

TAG, END_TAG = "<tool_call>", "</tool_call>"
Arguments = dict[str, Any]
"""The arguments of a call; `action` says which action it is."""

_TAG_LINE = re.compile(r"^[ \t]*<tool_call>", re.MULTILINE)
_KEYS = {"back": "press_back", "home": "press_home", "enter": "press_enter"}
_BUTTONS = {"press_back": "Back", "press_home": "Home", "press_enter": "Enter"}
# How far the finger moves for a scroll given by its direction, as a share of the screen, and which way.
_SCROLL_SHARE = 0.4
FINGER = {"up": (0, 1), "down": (0, -1), "left": (1, 0), "right": (-1, 0)}
OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}


def read_answer(text: str) -> tuple[str, Arguments, str]:
    """Splits an answer into what precedes its call, the call's arguments, and what follows it.

    Raises:
        ActionError: The answer holds no valid call of `mobile_use`.
    """
    if len(text) > MAX_LENGTH:
        raise ActionError(f"the answer has {len(text)} characters; at most {MAX_LENGTH} are read")
    before, call = _split(text)
    try:
        parsed, end = json.JSONDecoder().raw_decode(call)
    except (ValueError, RecursionError) as error:
        raise ActionError(f"the tool call is not valid JSON: {error}") from error
    if not isinstance(parsed, dict) or parsed.get("name") != "mobile_use":
        raise ActionError('the tool call must be {"name": "mobile_use", "arguments": {...}}')
    arguments = parsed.get("arguments")
    if not isinstance(arguments, dict):
        raise ActionError('the arguments of the tool call must be {"action": ..., ...}')
    return before, arguments, call[end:].strip().removeprefix(END_TAG).strip()


def _split(text: str) -> tuple[str, str]:
    """Splits an answer before its call. JSON strings span no line breaks, so a tag that begins a line is real."""
    lines = list(_TAG_LINE.finditer(text))
    if lines:
        before, call = text[: lines[-1].start()], text[lines[-1].end() :]
    else:
        before, found, call = text.partition(TAG)
        if not found:
            raise ActionError(f'the answer holds no {TAG}; write {TAG}{{"name": "mobile_use", ...}}{END_TAG}')
    return before.strip(), call.strip()


def write_call(arguments: Arguments) -> str:
    """Writes a call with its tags."""
    call = json.dumps({"name": "mobile_use", "arguments": arguments}, ensure_ascii=False)
    return f"{TAG}\n{call}\n{END_TAG}"


def read_action(arguments: Arguments, frame: Frame) -> Action:
    """Returns the action of a call's arguments, in screen pixels.

    Raises:
        ActionError: They are not an action.
    """
    match arguments.get("action"):
        case "click" | "tap":
            return Action("click", _point(arguments, "coordinate", frame))
        case "long_press":
            return Action("long_press", _point(arguments, "coordinate", frame))
        case "swipe":
            return _swipe(arguments, frame)
        case "type":
            return Action("type", content=_text(arguments, "text"))
        case "open" | "open_app":
            return Action("open_app", content=_text(arguments, "text"))
        case "system_button":
            return Action(_key(_text(arguments, "button")))
        case "key":
            return Action(_key(_text(arguments, "text")))
        case "wait":
            return Action("wait")
        case "answer":
            return Action("finished", content=_text(arguments, "text"))
        case "terminate":
            return Action("finished")
        case other:
            raise ActionError(
                f"mobile_use has no action {_quote(other)}; it has click, long_press, swipe, type, open, "
                "system_button, key, wait, answer and terminate"
            )


def _swipe(arguments: Arguments, frame: Frame) -> Action:
    """A swipe between two points, or in the direction of the finger, from the middle of the screen if not said."""
    direction = arguments.get("direction")
    if direction is None:
        start = _point(arguments, "coordinate", frame)
        return Action("scroll", start, _point(arguments, "coordinate2", frame))
    if not isinstance(direction, str) or direction not in OPPOSITE:
        raise ActionError(f"direction {_quote(direction)} is none of {', '.join(OPPOSITE)}")
    width, height = frame.screen
    start = _point(arguments, "coordinate", frame) if "coordinate" in arguments else (width // 2, height // 2)
    return Action("scroll", start, direction=OPPOSITE[direction])


def _key(name: str) -> str:
    kind = _KEYS.get(name.lower().removeprefix("keycode_"))
    if kind is None:
        raise ActionError(f"there is no key {_quote(name)} here; press Back, Home or Enter")
    return kind


def _text(arguments: Arguments, key: str) -> str:
    value = arguments.get(key)
    if not isinstance(value, str):
        raise ActionError(f"{arguments['action']} needs {key}, a string; it is {_quote(value)}")
    return value


def _point(arguments: Arguments, key: str, frame: Frame) -> Point:
    value = arguments.get(key)
    match value:
        case [int() | float() as x, int() | float() as y] if abs(x) < MAX_COORDINATE and abs(y) < MAX_COORDINATE:
            return frame.to_screen(x, y)
    raise ActionError(f"{key} is {_quote(value)}, not the [x, y] of a pixel in the image")


def write_action(action: Action, frame: Frame) -> Arguments:
    """Returns the arguments of an action that is given in screen pixels."""
    match action.kind:
        case "click" | "long_press":
            return {"action": action.kind, "coordinate": _written(action.start, frame)}
        case "scroll" | "drag":
            end = action.end or scroll_end(action, frame)
            return {
                "action": "swipe",
                "coordinate": _written(action.start, frame),
                "coordinate2": _written(end, frame),
            }
        case "type":
            return {"action": "type", "text": action.content}
        case "open_app":
            return {"action": "open", "text": action.content}
        case "wait":
            return {"action": "wait", "time": 2}
        case "finished" if action.content:
            return {"action": "answer", "text": action.content}
        case "finished":
            return {"action": "terminate", "status": "success"}
        case _:
            return {"action": "system_button", "button": _BUTTONS[action.kind]}


def _written(point: Point | None, frame: Frame) -> list[int]:
    assert point is not None  # Action has checked it
    return list(frame.to_model(*point))


def scroll_end(action: Action, frame: Frame) -> Point:
    """Returns where the finger ends a scroll that is given by its direction."""
    assert action.start is not None and action.direction is not None  # Action has checked it
    (x, y), (width, height) = action.start, frame.screen
    right, down = FINGER[action.direction]
    return x + math.floor(right * _SCROLL_SHARE * width), y + math.floor(down * _SCROLL_SHARE * height)


def finger_direction(action: Action) -> str:
    """Returns which way the finger of a scroll or drag moves, mostly: `up`, `down`, `left` or `right`."""
    if action.direction is not None:
        return OPPOSITE[action.direction]
    assert action.start is not None and action.end is not None  # Action has checked it
    right, down = action.end[0] - action.start[0], action.end[1] - action.start[1]
    if abs(right) > abs(down):
        return "right" if right > 0 else "left"
    return "down" if down > 0 else "up"


def describe(action: Action) -> str:
    """Says in a few words what an action does, for models that summarise what they do."""
    match action.kind:
        case "click" | "long_press":
            return "Long press the element" if action.kind == "long_press" else "Click the element"
        case "scroll" | "drag":
            return f"Swipe {finger_direction(action)}"
        case "type":
            return f"Type {' '.join(action.content.split())!r}"
        case "open_app":
            return f"Open {action.content}"
        case "wait":
            return "Wait"
        case "finished":
            return f"Answer {' '.join(action.content.split())!r}" if action.content else "End the task"
        case _:
            return f"Press {_BUTTONS[action.kind]}"


def _quote(value: object) -> str:
    """Quotes the beginning of an untrusted value for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
