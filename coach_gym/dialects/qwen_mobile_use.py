"""The dialect of Qwen2.5-VL and Qwen3-VL with their `mobile_use` tool.

An answer is a tool call in JSON between `<tool_call>` tags. Coordinates refer to the screen size that the tool's
description states: the size of the resized image for Qwen2.5-VL, 999x999 for Qwen3-VL. Every user turn repeats the task
and the steps so far, so a history cut down to one turn is the published single-turn prompt.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

from coach_gym.actions import MAX_COORDINATE, MAX_LENGTH, Action, ActionError, Point
from coach_gym.dialects.dialect import IMAGE, Part, Turn, fill, load_template
from coach_gym.dialects.frames import Frame, frame_of
from coach_gym.episode import Observation

_TAG = "<tool_call>"
_TAG_LINE = re.compile(r"^[ \t]*<tool_call>", re.MULTILINE)
_KEYS = {"back": "press_back", "home": "press_home", "enter": "press_enter"}
_BUTTONS = {"press_back": "Back", "press_home": "Home", "press_enter": "Enter"}
# How far the finger moves for a scroll given by its direction, as a share of the screen, and which way.
_SCROLL_SHARE = 0.4
_FINGER = {"up": (0, 1), "down": (0, -1), "left": (1, 0), "right": (-1, 0)}


class QwenMobileUse:
    """The dialect of the `mobile_use` tool of Qwen2.5-VL and Qwen3-VL.

    The tool's only gesture is `swipe`, which is read as a scroll. Drags are written as swipes too.

    Args:
        min_pixels: Lower bound of the resized image's area; the published processor's by default.
        max_pixels: Upper bound of the resized image's area; the published processor's by default.
        template: Text file that replaces the prompt. `{width}` and `{height}` become the screen size in the model's
            coordinates, `{goal}` or `{instruction}` the goal, `{progress}` the steps so far.
        scale: Upper end of the model's coordinates on both axes, 999 for Qwen3-VL; None if they are pixels of the
            resized image.
    """

    def __init__(
        self,
        min_pixels: int = 4 * 28 * 28,
        max_pixels: int = 16384 * 28 * 28,
        template: Path | None = None,
        scale: int | None = None,
    ) -> None:
        self.min_pixels = min_pixels
        self.max_pixels = max_pixels
        self.template = template
        self.scale = scale
        self._texts = load_template("qwen_mobile_use", template)

    def frame(self, width: int, height: int, factor: int = 28) -> Frame:
        """Returns the coordinate frame of a screen. See `Dialect.frame`."""
        return frame_of(width, height, factor, self.min_pixels, self.max_pixels, self.scale)

    def opening(self, goal: str, frame: Frame) -> list[Turn]:
        """Returns the system turn, which describes the tool."""
        return [("system", [self._fill("system", goal, frame)])]

    def observation(
        self, goal: str, observation: Observation, step_index: int, frame: Frame, previous: list[str]
    ) -> list[Part]:
        """Returns the task, the steps so far, the last error if there was one, and the screenshot."""
        progress = "".join(f"Step {i}: {_summary(text)}; " for i, text in enumerate(previous, 1))
        text = self._fill("user", goal, frame, progress)
        if observation.last_action_error:
            text += f"\nThe last step was not carried out: {observation.last_action_error}"
        return [text, IMAGE]

    def _fill(self, role: str, goal: str, frame: Frame, progress: str = "") -> str:
        width, height = map(str, frame.model)
        values = {"goal": goal, "instruction": goal, "progress": progress, "width": width, "height": height}
        return fill(self._texts[role], **values)

    def parse(self, text: str, frame: Frame) -> tuple[str, Action]:
        """Reads the thought before the tool call, and the call.

        Raises:
            ActionError: The answer is not a valid tool call.
        """
        if len(text) > MAX_LENGTH:
            raise ActionError(f"the answer has {len(text)} characters; at most {MAX_LENGTH} are read")
        thought, call = _split(text)
        return thought, _action(_arguments(call), frame)

    def format(self, action: Action, thought: str, frame: Frame) -> str:
        """Writes an answer as the model would."""
        call = json.dumps({"name": "mobile_use", "arguments": _write(action, frame)}, ensure_ascii=False)
        return f"{thought}\n{_TAG}\n{call}\n</tool_call>".lstrip("\n")


def _split(text: str) -> tuple[str, str]:
    """Splits an answer into thought and JSON. JSON strings span no line breaks, so a tag that begins a line is real."""
    lines = list(_TAG_LINE.finditer(text))
    if lines:
        thought, call = text[: lines[-1].start()], text[lines[-1].end() :]
    else:
        thought, found, call = text.partition(_TAG)
        if not found:
            raise ActionError(f'the answer holds no {_TAG}; write {_TAG}{{"name": "mobile_use", ...}}</tool_call>')
    return thought.strip(), call.strip()


def _arguments(call: str) -> dict[str, Any]:
    try:
        parsed, _ = json.JSONDecoder().raw_decode(call)
    except (ValueError, RecursionError) as error:
        raise ActionError(f"the tool call is not valid JSON: {error}") from error
    if not isinstance(parsed, dict) or parsed.get("name") != "mobile_use":
        raise ActionError('the tool call must be {"name": "mobile_use", "arguments": {...}}')
    arguments = parsed.get("arguments")
    if not isinstance(arguments, dict):
        raise ActionError('the arguments of the tool call must be {"action": ..., ...}')
    return arguments


def _action(arguments: dict[str, Any], frame: Frame) -> Action:
    match arguments.get("action"):
        case "click":
            return Action("click", _point(arguments, "coordinate", frame))
        case "long_press":
            return Action("long_press", _point(arguments, "coordinate", frame))
        case "swipe":
            start = _point(arguments, "coordinate", frame)
            return Action("scroll", start, _point(arguments, "coordinate2", frame))
        case "type":
            return Action("type", content=_text(arguments, "text"))
        case "open":
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


def _key(name: str) -> str:
    kind = _KEYS.get(name.lower().removeprefix("keycode_"))
    if kind is None:
        raise ActionError(f"there is no key {_quote(name)} here; press Back, Home or Enter")
    return kind


def _text(arguments: dict[str, Any], key: str) -> str:
    value = arguments.get(key)
    if not isinstance(value, str):
        raise ActionError(f"{arguments['action']} needs {key}, a string; it is {_quote(value)}")
    return value


def _point(arguments: dict[str, Any], key: str, frame: Frame) -> Point:
    value = arguments.get(key)
    match value:
        case [int() | float() as x, int() | float() as y] if abs(x) < MAX_COORDINATE and abs(y) < MAX_COORDINATE:
            return frame.to_screen(x, y)
    raise ActionError(f"{key} is {_quote(value)}, not the [x, y] of a pixel in the image")


def _write(action: Action, frame: Frame) -> dict[str, Any]:
    match action.kind:
        case "click" | "long_press":
            return {"action": action.kind, "coordinate": _written(action.start, frame)}
        case "scroll" | "drag":
            end = action.end or _scroll_end(action, frame)
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


def _scroll_end(action: Action, frame: Frame) -> Point:
    assert action.start is not None and action.direction is not None  # Action has checked it
    (x, y), (width, height) = action.start, frame.screen
    right, down = _FINGER[action.direction]
    return x + math.floor(right * _SCROLL_SHARE * width), y + math.floor(down * _SCROLL_SHARE * height)


def _summary(answer: str) -> str:
    """Summarises an answer for the list of steps: its thought if there is one, else its call."""
    thought, _, call = answer.partition(_TAG)
    return " ".join((thought.strip() or call.removesuffix("</tool_call>")).split())[:200]


def _quote(value: object) -> str:
    """Quotes the beginning of an untrusted value for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
