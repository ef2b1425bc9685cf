"""Moving the focus between the parts of a screen by keys: TAB, the arrows, and ENTER."""

from __future__ import annotations

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.system.system import STEP
from coach_gym.envs.phone.toolkit.view import Rect, View

_WAYS = {"DPAD_UP": (0, -1), "DPAD_DOWN": (0, 1), "DPAD_LEFT": (-1, 0), "DPAD_RIGHT": (1, 0)}
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
        at = _nearest(views, at, _WAYS[key])
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


def _nearest(views: list[View], at: int, way: tuple[int, int]) -> int:
    """Returns the view that lies in a direction and is nearest; the same one if there is none."""
    x, y = _centre(views[at].bounds)
    best, shortest = at, float("inf")
    for i, view in enumerate(views):
        dx, dy = _centre(view.bounds)[0] - x, _centre(view.bounds)[1] - y
        ahead, aside = dx * way[0] + dy * way[1], abs(dx * way[1]) + abs(dy * way[0])
        if ahead > 0 and ahead >= aside / 4 and ahead + 2 * aside < shortest:
            best, shortest = i, ahead + 2 * aside
    return best


def _centre(bounds: Rect) -> tuple[int, int]:
    return (bounds[0] + bounds[2]) // 2, (bounds[1] + bounds[3]) // 2


def _give(phone: Phone, views: list[View], at: int) -> None:
    """Moves the focus. The keyboard stays as it is when a field follows a field."""
    shown, input = phone.keyboard_shown, views[at].input
    phone.focus = input
    if input is None:
        phone.highlight = at
    else:
        phone.keyboard_shown = shown
