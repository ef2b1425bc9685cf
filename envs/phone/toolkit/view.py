"""The one kind of node that screens are made of.

A screen is a function of state that returns a tree of `View`s. The same tree gives the layout (`layout.py`), the
pixels (`paint.py`), the accessibility nodes (`accessibility.py`) and the targets of touches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypedDict, Unpack

Rect = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels."""

Sides = tuple[float, float, float, float]
"""Left, top, right and bottom, in dp."""

Share = tuple[float, float]
"""A place in a box: 0 to 1 of its width, and of its height."""

Align = Literal["stretch", "start", "center", "end"]
Justify = Literal["start", "center", "end"]


DIGITS = "0123456789"
DECIMAL = f"{DIGITS}."
PHONE = f"{DIGITS}#*+-(),/N. ;"
"""What Android's fields for numbers, for amounts and for phone numbers take; the second takes a single point."""


class TextInput:
    """The text in a text field. It belongs to the screen; the field shows it.

    Attributes:
        allowed: The characters that the field takes, such as `DIGITS`; empty for all. It takes no others, however they
            come.
        text: The text.
        cursor: The index at which text is inserted.
        anchor: The other end of the selection, which what is typed next replaces; the cursor if nothing is selected.
    """

    def __init__(self, text: str = "", selected: bool = False, allowed: str = "") -> None:
        self.allowed, self.text = allowed, text
        self.cursor = len(text)
        self.anchor = 0 if selected else self.cursor

    @property
    def selection(self) -> tuple[int, int]:
        """Start and end of what is selected."""
        return min(self.anchor, self.cursor), max(self.anchor, self.cursor)

    @property
    def selected(self) -> str:
        """The part of the text that is selected."""
        start, end = self.selection
        return self.text[start:end]

    def set(self, text: str) -> None:
        """Replaces the text and puts the cursor at its end."""
        self.text = self._taken(text, "")
        self.move(len(self.text))

    def move(self, cursor: int) -> None:
        """Puts the cursor at an index, or at the nearest end of the text. Nothing is selected then."""
        self.cursor = self.anchor = min(max(0, cursor), len(self.text))

    def select(self, start: int, end: int) -> None:
        """Selects a part of the text and puts the cursor at its end."""
        self.anchor, self.cursor = start, end

    def select_all(self) -> None:
        """Selects all of the text."""
        self.select(0, len(self.text))

    def insert(self, text: str) -> None:
        """Inserts text at the cursor, or in place of the selection."""
        start, end = self.selection
        before, after = self.text[:start], self.text[end:]
        text = self._taken(text, before + after)
        self.text = before + text + after
        self.move(start + len(text))

    def _taken(self, text: str, other: str) -> str:
        """Returns what the field takes of a text beside another one."""
        taken = "".join(filter(self.allowed.__contains__, text)) if self.allowed else text
        if self.allowed == DECIMAL:
            whole, point, rest = taken.rpartition(".")
            taken = whole.replace(".", "") + point * ("." not in other) + rest
        return taken

    def delete(self) -> None:
        """Removes the selection, or else the character before the cursor."""
        if not self.selected:
            self.anchor = max(0, self.cursor - 1)
        self.insert("")


class ScrollState:
    """How far a scrolling view is scrolled, and how far it can be, in pixels."""

    def __init__(self) -> None:
        self.offset = 0
        self.limit = 0

    def by(self, pixels: int) -> bool:
        """Scrolls, within limits. Returns whether anything moved."""
        before = self.offset
        self.offset = min(max(0, self.offset + pixels), self.limit)
        return self.offset != before


# the attributes of views, in parts: a widget takes those that are not its own parameters


class Common(TypedDict, total=False):
    """What every widget can be given besides its own parameters. See `View` for what they mean."""

    flex: float
    justify: Justify
    bg: str | None
    important: bool
    selected: bool
    checkable: bool
    checked: bool
    focusable: bool
    on_slide: Callable[[float], Any] | None
    on_swipe: Callable[[str], Any] | None
    on_hold: Callable[[Share], Any] | None
    on_drag: Callable[[Share, Share], Any] | None


class Named(TypedDict, total=False):
    """What programs and screen readers call a view."""

    id: str
    desc: str


class Size(TypedDict, total=False):
    """A fixed size."""

    width: float | None
    height: float | None


class Frame(TypedDict, total=False):
    """The edge of a box."""

    radius: float
    border: str | None
    inset: Sides


class Taps(TypedDict, total=False):
    """What touches do."""

    on_tap: Callable[[], Any] | None
    on_long: Callable[[], Any] | None


class Attributes(Common, Named, Size, Frame, Taps, total=False):
    """All that a `View` can be given."""

    axis: Literal["v", "h", "z"]
    pad: Sides
    gap: float
    min_height: float
    align: Align
    columns: int
    scroll_key: str | None
    from_end: bool
    color: str
    size: float
    bold: bool
    max_lines: int | None
    icon: str | None
    image: Any
    whole: bool
    text: str
    hint: str
    enabled: bool
    password: bool
    multiline: bool
    input: TextInput | None
    on_submit: Callable[[], Any] | None


_ATTRIBUTES = frozenset(Attributes.__annotations__)


class View:
    """A node of a screen: a box with children in a column, a row or a pile; or a text; or an icon.

    Lengths are in dp (`density` pixels each). Attributes not given keep the class's values below.

    Args:
        cls: The Android class that accessibility services see.
        children: The views inside, back to front.
        attributes: Any of the class attributes below, by name.

    Raises:
        TypeError: There is no attribute of that name.
    """

    cls = "android.view.View"
    children: Sequence[View] = ()
    # layout
    axis: Literal["v", "h", "z"] = "v"  # "v" column, "h" row, "z" pile (every child as large as the pile)
    pad: Sides = (0, 0, 0, 0)  # left, top, right, bottom
    gap: float = 0
    width: float | None = None  # None: as wide as the content, or as the parent makes it
    height: float | None = None
    min_height: float = 0
    flex: float = 0  # share of the rest along the parent's axis
    align: Align = "stretch"  # across the axis: "stretch", "start", "center", "end"
    justify: Justify = "start"  # along the axis: "start", "center", "end"
    columns = 0  # more than 0 makes a grid
    scroll_key: str | None = None  # makes the children scroll; the position is kept under this name
    from_end = False  # of a list: starts at its end, and stays there as it grows
    # looks
    bg: str | None = None
    radius: float = 0
    border: str | None = None
    inset: Sides = (0, 0, 0, 0)  # how far the box is drawn inside the view: what can be touched is larger
    color = "#1f1f1f"
    size: float = 14
    bold = False
    max_lines: int | None = None
    icon: str | None = None
    image: Any = None  # H x W x 3 uint8 array, scaled to the view's size
    whole = False  # of an image: not stretched, but as large as fits, in the middle
    caret = False
    focused = False
    # meaning
    text = ""
    desc = ""
    id = ""
    hint = ""
    enabled = True
    checkable = False
    checked = False
    selected = False
    password = False
    multiline = False  # of a text field: Enter starts a new line
    focusable = False  # views that can be touched are focusable anyway
    important = True  # False: not in the accessibility tree (its children are)
    # touch
    on_tap: Callable[[], Any] | None = None
    on_long: Callable[[], Any] | None = None
    on_slide: Callable[[float], Any] | None = None  # 0…1 along the width
    on_swipe: Callable[[str], Any] | None = None  # "left", "right", "up", "down": the finger's way
    on_hold: Callable[[Share], Any] | None = None  # a long touch, and where
    on_drag: Callable[[Share, Share], Any] | None = None  # a line that a finger draws, from where to where
    input: TextInput | None = None
    on_submit: Callable[[], Any] | None = None
    # laid out
    bounds: Rect = (0, 0, 0, 0)
    w = 0
    h = 0
    content_height = 0
    lines: Sequence[str] = ()
    scroll: ScrollState | None = None

    def __init__(
        self, cls: str = "android.view.View", children: Sequence[View] = (), **attributes: Unpack[Attributes]
    ) -> None:
        self.cls = cls
        self.children = children
        if not _ATTRIBUTES.issuperset(attributes):
            raise TypeError(_misspelt(next(name for name in attributes if name not in _ATTRIBUTES)))
        self.__dict__.update(attributes)

    def walk(self) -> Iterator[View]:
        """Yields this view and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


def _misspelt(name: str) -> str:
    nearest = get_close_matches(name, _ATTRIBUTES, 1)
    return f"a view has no attribute {name!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else "")
