"""Moving the focus between the parts of a screen by keys: TAB and the arrows; ENTER touches what has it."""

from __future__ import annotations

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system.system import STEP
from coach_gym.envs.phone.toolkit.directions import DOWN, LEFT, RIGHT, UP, nearest
from coach_gym.envs.phone.toolkit.view import View

_WAYS = {"DPAD_UP": UP, "DPAD_DOWN": DOWN, "DPAD_LEFT": LEFT, "DPAD_RIGHT": RIGHT}
NEXT, PREVIOUS = "TAB", "SHIFT_TAB"
KEYS = (NEXT, PREVIOUS, *_WAYS)
"""The keys that move the focus."""


def move(phone: Phone, key: str) -> None:
    """Gives the focus to the next part of the screen, or to the nearest one in the direction of an arrow."""
    views = phone.windows.focusable()
    if not views:
        return
    at = _current(phone, views)
    if key in (NEXT, PREVIOUS):
        at = (at + (1 if key == NEXT else -1)) % len(views) if at is not None else 0 if key == NEXT else -1
    elif at is not None:
        at = views.index(nearest(views, views[at], _WAYS[key]))
    else:
        at = 0
    _give(phone, views, at % len(views))


def to_field(phone: Phone, step: int) -> None:
    """Gives the focus to the next text field (1), or the one before (-1); from the last one to the first."""
    views = phone.windows.focusable()
    fields = [i for i, view in enumerate(views) if view.input is not None]
    at = _current(phone, views)
    if at in fields:
        _give(phone, views, fields[(fields.index(at) + step) % len(fields)])
        phone.changed()
    phone.elapse(STEP)


def touch(phone: Phone) -> bool:
    """Touches the part of the screen that has the focus by a key. Returns whether there is one."""
    views = phone.windows.focusable()
    if phone.highlight is None or phone.highlight >= len(views):
        return False
    left, top, right, bottom = views[phone.highlight].bounds
    phone.tap((left + right) // 2, (top + bottom) // 2)
    return True


def _current(phone: Phone, views: list[View]) -> int | None:
    if phone.highlight is not None and phone.highlight < len(views):
        return phone.highlight
    return next((i for i, view in enumerate(views) if view.input is not None and view.input is phone.focus), None)


def _give(phone: Phone, views: list[View], at: int) -> None:
    """Moves the focus. The keyboard stays as it is when a field follows a field."""
    shown, input = phone.keyboard_shown, views[at].input
    phone.focus = input
    if input is None:
        phone.highlight = at
    else:
        phone.keyboard_shown = shown
