"""The action language: what an agent can do, and the text that says so.

The canonical text is one call, optionally after a thought:

    Thought: The contact is not there yet.
    Action: click(start_box='(540,1200)')

Coordinates are pixels of the observed screenshot. `parse_action` reads this text and `format_action` writes it;
`parse_action(format_action(a, t)) == (t, a)` for every action and every thought without surrounding white space.
Anything else raises `ActionError`, whose message the agent reads in its next observation.

The grammar is UI-TARS's, which the Android Coach paper uses.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from coach_gym.ui.markup import ILLEGAL_IN_XML

MAX_LENGTH = 32_768
"""Length of the longest text that is read, in characters."""

MAX_COORDINATE = 1_000_000
"""Coordinates at least this large are errors on any screen."""

DIRECTIONS = ("up", "down", "left", "right")

Point = tuple[int, int]
Locate = Callable[[float, float], Point]
"""Maps coordinates in a text to a pixel of the screenshot."""

# The arguments that each action requires, and those that it accepts.
_NEEDS: dict[str, tuple[str, ...]] = {
    "click": ("start_box",),
    "long_press": ("start_box",),
    "scroll": ("start_box",),
    "drag": ("start_box", "end_box"),
    "type": ("content",),
    "open_app": ("app_name",),
    "press_back": (),
    "press_home": (),
    "press_enter": (),
    "wait": (),
    "finished": (),
}
_MAY_HAVE: dict[str, tuple[str, ...]] = {
    "scroll": ("direction", "end_box"), "finished": ("content",), "type": ("start_box",),
}  # fmt: skip
KINDS = tuple(_NEEDS)

_POINTS = ("start_box", "end_box")
_ARGUMENTS = (*_POINTS, "direction", "content", "app_name")
_ALIASES = {"point": "start_box", "start_point": "start_box", "end_point": "end_box"}

_ACTION_LINE = re.compile(r"^[ \t]*Action:", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]{1,32}")
_HEAD = re.compile(r"([A-Za-z_]{1,32})\s*\(")
_SPACE = re.compile(r"\s*")
# The loops are unrolled: a missing closing quote then costs one pass, without backtracking.
_QUOTED = re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'|" r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_BARE = re.compile(r"\([^()'\"]{0,80}\)|\[[^\[\]'\"]{0,80}\]|[A-Za-z]{1,16}")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "'": "'", '"': '"', "\\": "\\"}
_BOX_TAGS = re.compile(r"<\|box_(?:start|end)\|>|</?point>|</?bbox>")
_NUMBER = r"([-+]?[0-9]+(?:\.[0-9]*)?)"
_COMMA = r"(?:\s*,\s*|\s+)"
_POINT = re.compile(rf"[(\[]?\s*{_NUMBER}{_COMMA}{_NUMBER}(?:{_COMMA}{_NUMBER}{_COMMA}{_NUMBER})?\s*[)\]]?")
_MAX_POINT = 120  # characters; longer texts never reach the pattern above


class ActionError(ValueError):
    """A text is not an action. The message tells the agent what is wrong and what would be right."""


@dataclass(frozen=True)
class Action:
    """An action on the device.

    Attributes:
        kind: One of `KINDS`.
        start: Where click, long_press, scroll and drag touch the screen, in pixels of the screenshot. Where type
            touches its field first; without it, text goes to the focused field.
        end: Where the finger of a drag, or of a scroll without direction, leaves the screen.
        direction: Which part of the content a scroll reveals, one of `DIRECTIONS`. `"down"` reveals what is below, so
            the finger moves up.
        content: Text of type, app name of open_app, or answer of finished. Characters that XML cannot hold are refused.

    Raises:
        ActionError: The fields do not make up an action of this kind.
    """

    kind: str
    start: Point | None = None
    end: Point | None = None
    direction: str | None = None
    content: str = ""

    def __post_init__(self) -> None:
        points = {"start_box": self.start, "end_box": self.end, "direction": self.direction}
        _check_arguments(self.kind, {name for name, value in points.items() if value is not None}, set(points))
        if self.kind == "scroll" and (self.direction is None) == (self.end is None):
            raise ActionError("scroll needs either a direction (up, down, left, right) or an end_box")
        if self.direction is not None and self.direction not in DIRECTIONS:
            raise ActionError(f"direction {_quote(self.direction)} is none of {', '.join(DIRECTIONS)}")
        if self.content and self.kind not in ("type", "open_app", "finished"):
            raise ActionError(f"{self.kind} takes no content; write {_signature(self.kind)}")
        if ILLEGAL_IN_XML.search(self.content):
            raise ActionError(f"no keyboard types the control character in {_quote(self.content)}; leave it out")


def _check_arguments(kind: str, given: set[str], among: set[str]) -> None:
    """Checks that of the arguments `among`, exactly those that the kind requires or accepts are `given`."""
    if kind not in _NEEDS:
        raise ActionError(f"there is no action {_quote(kind)}; the actions are {', '.join(KINDS)}")
    needed = set(_NEEDS[kind]) & among
    for name in sorted(needed - given):
        raise ActionError(f"{kind} needs {name}; write {_signature(kind)}")
    for name in sorted(given - needed - set(_MAY_HAVE.get(kind, ()))):
        raise ActionError(f"{kind} takes no {_quote(name)}; write {_signature(kind)}")


def parse_action(text: str, locate: Locate | None = None) -> tuple[str, Action]:
    """Reads an action from an agent's answer.

    The call follows the last `Action:` that begins a line. If no line begins so, it is the whole text if that is a
    call, else what follows the last `Action:`. A point is written `(x,y)`, `[x1, y1, x2, y2]` (a box, whose centre
    counts), `<|box_start|>(x,y)<|box_end|>` or `<point>x y</point>`.

    Args:
        text: A call, or a thought and a call.
        locate: Maps coordinates in the text to pixels of the screenshot; by default it rounds them.

    Returns:
        The thought (`""` if there is none) and the action.

    Raises:
        ActionError: The text contains no action, several actions, or one with wrong arguments.
    """
    if len(text) > MAX_LENGTH:
        raise ActionError(f"the answer has {len(text)} characters; at most {MAX_LENGTH} are read")
    thought, call = _split(text)
    name, arguments = _read_call(call)
    return thought, _build(name, arguments, locate or _round)


def require_on_screen(action: Action, size: tuple[int, int]) -> None:
    """Checks that an action touches the screen.

    Raises:
        ActionError: One of its points lies outside a screen of this width and height.
    """
    width, height = size
    for point in (action.start, action.end):
        if point is not None and not (0 <= point[0] < width and 0 <= point[1] < height):
            raise ActionError(f"{point} lies outside the screen, which is {width} wide and {height} high")


def format_action(action: Action, thought: str = "", write_point: Callable[[Point], str] | None = None) -> str:
    """Writes an action as text.

    Args:
        action: The action.
        thought: Thought to put before the call; omitted if empty.
        write_point: Writes a point, by default as `(x,y)`.

    Returns:
        The call, or `Thought: ...` and `Action: ...` on two lines.
    """
    point = write_point or (lambda xy: f"({xy[0]},{xy[1]})")
    arguments = []
    if action.start is not None:
        arguments.append(f"start_box='{point(action.start)}'")
    if action.end is not None:
        arguments.append(f"end_box='{point(action.end)}'")
    if action.direction is not None:
        arguments.append(f"direction='{action.direction}'")
    if action.kind in ("type", "open_app") or action.content:
        key = "app_name" if action.kind == "open_app" else "content"
        arguments.append(f"{key}='{_escape(action.content)}'")
    call = f"{action.kind}({', '.join(arguments)})"
    return f"Thought: {thought}\nAction: {call}" if thought else call


def _split(text: str) -> tuple[str, str]:
    """Splits an answer into thought and call. A call spans one line, so a real `Action:` begins a line."""
    lines = list(_ACTION_LINE.finditer(text))
    if lines:
        thought, call = text[: lines[-1].start()], text[lines[-1].end() :]
    else:
        whole = text.strip()
        head = _HEAD.match(whole)
        thought, found, call = text.rpartition("Action:")
        if (head and head[1] in _NEEDS) or (head and not found):
            thought, call = "", whole
        elif not found:
            raise ActionError("the answer holds no action; end it with a line such as Action: press_back()")
    return thought.strip().removeprefix("Thought:").strip(), call.strip()


def _read_call(call: str) -> tuple[str, dict[str, str]]:
    """Reads name and arguments of `name(key='value', ...)`."""
    name, at = _expect(_NAME, call, 0, "the name of an action")
    at = _literal("(", call, at)
    arguments: dict[str, str] = {}
    while not call.startswith(")", at):
        key, at = _expect(_NAME, call, at, "an argument's name or )")
        key = _ALIASES.get(key, key)
        if key in arguments:
            raise ActionError(f"{name} has {key} twice")
        at = _literal("=", call, at)
        value, after = _read_value(call, at)
        if not call.startswith((",", ")"), after):
            value, after = _unescaped_value(name, call, at)
        arguments[key], at = value, after
        if call.startswith(",", at):
            at = _skip(call, at + 1)
    if rest := call[at + 1 :].strip():
        raise ActionError(f"one action a step: {_quote(rest)} follows the call of {name}")
    return name, arguments


def _skip(call: str, at: int) -> int:
    """Returns the position after any white space."""
    found = _SPACE.match(call, at)
    assert found is not None  # it matches the empty string
    return found.end()


def _expect(pattern: re.Pattern[str], call: str, at: int, what: str) -> tuple[str, int]:
    found = pattern.match(call, at)
    if found is None:
        raise ActionError(f"expected {what} at {_quote(call[at:])}; write name(key='value')")
    return found[0], _skip(call, found.end())


def _literal(mark: str, call: str, at: int) -> int:
    if not call.startswith(mark, at):
        raise ActionError(f"expected {mark} at {_quote(call[at:])}; write name(key='value')")
    return _skip(call, at + 1)


def _read_value(call: str, at: int) -> tuple[str, int]:
    """Reads a quoted value, without quotes and escapes, or a bare point or word."""
    if found := _QUOTED.match(call, at):
        value = _unescape(found[1] if found[1] is not None else found[2])
    elif found := _BARE.match(call, at):
        value = found[0]
    else:
        raise ActionError(f"expected a value in quotes at {_quote(call[at:])}")
    return value, _skip(call, found.end())


def _unescaped_value(name: str, call: str, at: int) -> tuple[str, int]:
    """Reads the value of a call such as `type(content='I'm here')`: models forget to escape apostrophes."""
    quote, end = call[at], len(call) - 1
    body = call[at + 1 : end].rstrip()
    if quote in "'\"" and call.endswith(")") and body.endswith(quote) and f"{quote})" not in body:
        return _unescape(body[:-1]), end
    raise ActionError(f"expected , or ) after the value {_quote(call[at:])}; write \\' inside quotes")


def _escape(content: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ("'", "\\'"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        content = content.replace(plain, escaped)
    return content


def _unescape(body: str) -> str:
    """Resolves known escapes and keeps unknown ones, as Python does."""
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), body) if "\\" in body else body


def _build(name: str, arguments: dict[str, str], locate: Locate) -> Action:
    _check_arguments(name, set(arguments), {*_ARGUMENTS, *arguments})
    points = {key: locate(*_read_point(key, arguments[key])) for key in _POINTS if key in arguments}
    content = arguments.get("content", arguments.get("app_name", ""))
    return Action(name, points.get("start_box"), points.get("end_box"), arguments.get("direction"), content)


def _read_point(key: str, value: str) -> tuple[float, float]:
    """Reads a point, or the centre of a box."""
    found = _POINT.fullmatch(_BOX_TAGS.sub("", value).strip()) if len(value) <= _MAX_POINT else None
    if found is None:
        raise ActionError(f"{key} is {_quote(value)}; write a point (x,y) or a box [x1,y1,x2,y2]")
    numbers = [float(number) for number in found.groups() if number is not None]
    if max(map(abs, numbers)) >= MAX_COORDINATE:
        raise ActionError(f"{key} is {_quote(value)}, far outside any screen")
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    return (numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2


def _round(x: float, y: float) -> Point:
    return round(x), round(y)


def _signature(kind: str) -> str:
    examples = {"start_box": "'(x,y)'", "end_box": "'(x,y)'", "direction": "'down'"}
    names = [*_NEEDS[kind], *([] if kind == "type" else _MAY_HAVE.get(kind, ())[:1])]
    return f"{kind}({', '.join(f'{name}={examples.get(name, chr(39) * 2)}' for name in names)})"


def _quote(text: str) -> str:
    """Quotes the beginning of an untrusted text for a message."""
    return repr(text[:40] + "…" if len(text) > 40 else text)
