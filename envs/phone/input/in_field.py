"""Keys that act on the text of the field with the focus."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.toolkit.caret import index_beside, line_ends
from coach_gym.envs.phone.toolkit.layout import Layout
from coach_gym.envs.phone.toolkit.view import TextInput, View

_PLACES: Mapping[str, Callable[[View, Layout, int], int]] = {  # where a key puts the cursor
    "MOVE_HOME": lambda field, layout, cursor: line_ends(field, cursor)[0],
    "MOVE_END": lambda field, layout, cursor: line_ends(field, cursor)[1],
    "DPAD_UP": lambda field, layout, cursor: index_beside(field, layout, cursor, -1),
    "DPAD_DOWN": lambda field, layout, cursor: index_beside(field, layout, cursor, 1),
    "DPAD_LEFT": lambda field, layout, cursor: cursor - 1,
    "DPAD_RIGHT": lambda field, layout, cursor: cursor + 1,
}


def press(phone: Phone, name: str) -> bool:
    """Lets a key act on the field with the focus. Returns False if the key is not for it.

    An arrow up at the start of the text leaves the field, as an arrow down at the end and TAB in a single line do.
    """
    field = phone.windows.focused_view()
    if field is None or field.input is None:
        return False
    input = field.input
    if name in _PLACES:
        place = _PLACES[name](field, phone.windows.measures, input.cursor)
        leaves = name in ("DPAD_UP", "DPAD_DOWN") and place == input.cursor and not input.selected
        input.move(place)
        return not leaves
    if name == "TAB" and field.multiline:
        input.insert("\t")
    elif name == "FORWARD_DEL":
        _delete_forward(input)
    elif name == "ALL":
        input.select_all()
    else:
        return False
    return True


def _delete_forward(input: TextInput) -> None:
    if not input.selected:
        input.anchor = min(input.cursor + 1, len(input.text))
    input.insert("")
