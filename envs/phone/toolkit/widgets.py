"""The widgets that apps are written with. Each is a function that returns a `View`.

    Scaffold("Contacts", ListView([ListItem(name, on_tap=partial(self.open, name)) for name in names]),
             fab=Fab("plus", "Create contact", on_tap=self.create))

Besides its own parameters a widget takes attributes of `View` by name, such as `flex=1` or `bg="#ffffff"`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Unpack

from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import Align, Common, Frame, Named, Sides, Size, Taps, TextInput, View

Action = Callable[[], Any]
"""What a touch does; its result is not used."""


class BoxMore(Common, Named, Size, Frame, Taps, total=False):
    """Further attributes of boxes."""

    min_height: float
    align: Align


class ListMore(BoxMore, total=False):
    """Further attributes of lists."""

    cls: str
    pad: Sides
    gap: float
    text: str
    from_end: bool


class TextMore(BoxMore, total=False):
    """Further attributes of texts."""

    pad: Sides
    max_lines: int | None


class IconMore(Common, Size, Taps, total=False):
    """Further attributes of icons."""

    id: str


class PictureMore(Common, Taps, total=False):
    """Further attributes of pictures."""

    id: str
    width: float | None
    whole: bool


class ButtonMore(Common, Size, total=False):
    """Further attributes of buttons."""

    desc: str


class IconButtonMore(Common, Frame, total=False):
    """Further attributes of icons to touch."""

    enabled: bool


class FieldMore(Common, Frame, Taps, total=False):
    """Further attributes of text fields."""

    desc: str
    color: str
    bold: bool
    max_lines: int | None
    password: bool
    multiline: bool


class ItemMore(Common, Named, Size, Frame, total=False):
    """Further attributes of rows of lists."""

    pad: Sides
    min_height: float
    enabled: bool


class CardMore(Common, Named, Size, Frame, total=False):
    """Further attributes of cards."""

    pad: Sides


# boxes


def Column(children: Sequence[View], gap: float = 0, pad: float | Sides = 0, **more: Unpack[BoxMore]) -> View:
    """Children one below the other."""
    more.setdefault("important", False)
    return View("android.widget.LinearLayout", children, gap=gap, pad=_sides(pad), **more)


def Row(children: Sequence[View], gap: float = 0, pad: float | Sides = 0, **more: Unpack[BoxMore]) -> View:
    """Children side by side, centred across. A child with `flex` takes the rest of the width."""
    more.setdefault("important", False)
    more.setdefault("align", "center")
    return View("android.widget.LinearLayout", children, axis="h", gap=gap, pad=_sides(pad), **more)


def Pile(children: Sequence[View], **more: Unpack[BoxMore]) -> View:
    """Children on top of each other, all of the same size, the last in front."""
    more.setdefault("important", False)
    return View("android.widget.FrameLayout", children, axis="z", **more)


def Grid(
    children: Sequence[View], columns: int, gap: float = 0, pad: float | Sides = 0, **more: Unpack[BoxMore]
) -> View:
    """Children in rows of `columns` cells of equal width."""
    more.setdefault("important", False)
    return View("android.widget.GridLayout", children, columns=columns, gap=gap, pad=_sides(pad), **more)


def Space(height: float = 0, width: float = 0, flex: float = 0) -> View:
    """Empty space of a size in dp, or with `flex` a share of the rest."""
    return View("android.view.View", width=width or None, height=height, flex=flex, important=False)


def Divider() -> View:
    """A thin line across."""
    return View("android.view.View", height=1, bg=theme.DIVIDER, important=False)


def ListView(children: Sequence[View], key: str = "list", **more: Unpack[ListMore]) -> View:
    """A column that scrolls and takes the rest of the height. `key` tells the lists of a screen apart."""
    more.setdefault("flex", 1)
    more.setdefault("cls", "androidx.recyclerview.widget.RecyclerView")
    return View(children=children or [Space(1)], scroll_key=key, **more)


def _sides(pad: float | Sides) -> Sides:
    return pad if isinstance(pad, tuple) else (pad, pad, pad, pad)


# text and pictures


def Text(text: str, size: float = 14, color: str = theme.TEXT, bold: bool = False, **more: Unpack[TextMore]) -> View:
    """A text; `max_lines=1` cuts it with an ellipsis, `align="center"` centres it."""
    return View("android.widget.TextView", text=text, size=size, color=color, bold=bold, **more)


def Header(text: str, **more: Unpack[BoxMore]) -> View:
    """The title of a section of a list."""
    return Text(text, 13, theme.PRIMARY, bold=True, pad=(16, 14, 16, 6), **more)


def Icon(name: str, size: float = 24, color: str = theme.SECONDARY, desc: str = "", **more: Unpack[IconMore]) -> View:
    """A Material Design icon; part of the accessibility tree if it has a description."""
    more.setdefault("important", bool(desc))
    return View("android.widget.ImageView", icon=name, size=size, color=color, desc=desc, **more)


def Picture(pixels: Any, desc: str = "", height: float = 200, **more: Unpack[PictureMore]) -> View:
    """An H x W x 3 uint8 array, stretched to fill its box; with `whole=True` not stretched, in the middle of it."""
    return View("android.widget.ImageView", image=pixels, desc=desc, height=height, **more)


def Avatar(name: str) -> View:
    """A disc with the first letter of a name, in a colour that depends on the name."""
    color = theme.AVATARS[sum(map(ord, name)) % len(theme.AVATARS)]
    letter = Text(name[:1].upper(), 16, theme.ON_PRIMARY, important=False)
    return View(
        "android.widget.ImageView", [letter], bg=color, radius=20, width=40, height=40, align="center",
        justify="center", important=False,
    )  # fmt: skip


# buttons


def Button(
    label: str, on_tap: Action, id: str = "", kind: str = "filled", enabled: bool = True, **more: Unpack[ButtonMore]
) -> View:
    """A push button; `kind` is "filled", "tonal", "outlined" or "text"."""
    bg, color = {
        "filled": (theme.PRIMARY, theme.ON_PRIMARY),
        "tonal": ("#d3e3fd", "#0b57d0"),
        "outlined": (theme.SURFACE, theme.PRIMARY),
        "text": (None, theme.PRIMARY),
    }[kind]
    more.setdefault("bg", bg if enabled or bg is None else theme.DIVIDER)
    return View(
        "android.widget.Button", text=label, on_tap=on_tap, id=id, color=color, bold=True, radius=20, align="center",
        pad=(16, 10, 16, 10), min_height=40, enabled=enabled, border=theme.OUTLINE if kind == "outlined" else None,
        max_lines=1, **more,
    )  # fmt: skip


def IconButton(
    icon: str, desc: str, on_tap: Action, id: str = "", color: str = theme.SECONDARY, **more: Unpack[IconButtonMore]
) -> View:
    """An icon to touch; screen readers say `desc`."""
    return View(
        "android.widget.ImageButton", icon=icon, desc=desc, on_tap=on_tap, id=id, color=color, size=24,
        width=theme.TOUCH, height=theme.TOUCH, **more,
    )  # fmt: skip


def Fab(icon: str, desc: str, on_tap: Action, id: str = "fab") -> View:
    """The floating button at the lower right of a `Scaffold`."""
    return View(
        "android.widget.ImageButton", icon=icon, desc=desc, on_tap=on_tap, id=id, color=theme.ON_PRIMARY, size=24,
        bg=theme.PRIMARY, radius=16, width=56, height=56,
    )  # fmt: skip


def Chip(label: str, selected: bool, on_tap: Action, id: str = "") -> View:
    """A small choice that is on or off."""
    return View(
        "android.widget.Button", text=label, selected=selected, on_tap=on_tap, id=id, size=13, radius=8,
        pad=(12, 7, 12, 7), bg="#d3e3fd" if selected else theme.SURFACE, border=theme.OUTLINE, align="center",
        color="#0b57d0" if selected else theme.SECONDARY,
    )  # fmt: skip


# input


def TextField(
    input: TextInput,
    hint: str = "",
    id: str = "",
    on_submit: Action | None = None,
    lines: int = 1,
    **more: Unpack[FieldMore],
) -> View:
    """A text field. Touching it brings up the keyboard; its text is `input.text`.

    Args:
        input: The text, which belongs to the screen.
        hint: What the field shows while it is empty.
        id: The name by which programs find it.
        on_submit: Called on Enter. Without it, Enter goes to the field below, or puts the keyboard away.
        lines: The least number of lines shown. With more than 1, Enter starts a new line.
        more: Further attributes, such as `password=True`.
    """
    if lines > 1:
        more["multiline"] = True
    more.setdefault("border", theme.OUTLINE)
    more.setdefault("bg", theme.SURFACE)
    more.setdefault("radius", 6)
    return View(
        "android.widget.EditText", input=input, text=input.text, hint=hint, id=id, on_submit=on_submit, size=15,
        pad=(12, 11, 12, 11), min_height=max(46, 20 * lines + 22), **more,
    )  # fmt: skip


def Switch(checked: bool, on_tap: Action | None, desc: str = "", id: str = "", enabled: bool = True) -> View:
    """A switch. Without `on_tap` it only shows its state: the row around it is touched."""
    knob = View(bg="#ffffff" if checked else theme.SECONDARY, radius=9, width=18, height=18, important=False)
    return View(
        "android.widget.Switch", [knob], checkable=True, checked=checked, on_tap=on_tap, desc=desc, id=id, width=44,
        height=26, radius=13, bg=theme.PRIMARY if checked else theme.DIVIDER, pad=(4, 4, 4, 4), enabled=enabled,
        align="end" if checked else "start",
    )  # fmt: skip


def Checkbox(checked: bool, on_tap: Action | None, desc: str = "", id: str = "") -> View:
    """A check box. Without `on_tap` it only shows its state."""
    return View(
        "android.widget.CheckBox", icon="checkbox_marked" if checked else "checkbox_blank_outline", checkable=True,
        checked=checked, on_tap=on_tap, desc=desc, id=id, size=24, width=theme.TOUCH, height=theme.TOUCH,
        color=theme.PRIMARY if checked else theme.SECONDARY,
    )  # fmt: skip


def Radio(label: str, checked: bool, on_tap: Action) -> View:
    """One of several choices, with its label."""
    mark = Icon("radiobox_marked" if checked else "radiobox_blank", color=theme.PRIMARY if checked else theme.SECONDARY)
    row = [mark, Text(label, 15, flex=1, important=False)]
    return View(
        "android.widget.RadioButton", row, axis="h", gap=14, pad=(20, 10, 20, 10), align="center", text=label,
        checkable=True, checked=checked, on_tap=on_tap, min_height=theme.TOUCH,
    )  # fmt: skip


def Slider(value: float, on_slide: Callable[[float], Any], desc: str, id: str = "") -> View:
    """A slider of 0 to 1, which is touched or dragged. Screen readers read its position in per cent."""
    done = View(flex=max(value, 0.001), height=4, bg=theme.PRIMARY, radius=2, important=False)
    rest = View(flex=max(1 - value, 0.001), height=4, bg=theme.DIVIDER, radius=2, important=False)
    knob = View(width=18, height=18, bg=theme.PRIMARY, radius=9, important=False)
    return View(
        "android.widget.SeekBar", [done, knob, rest], axis="h", align="center", height=theme.TOUCH, desc=desc, id=id,
        text=f"{round(100 * value)}%", on_slide=on_slide,
    )  # fmt: skip


# rows of lists


def ListItem(
    title: str,
    subtitle: str = "",
    on_tap: Action | None = None,
    on_long: Action | None = None,
    leading: View | None = None,
    trailing: View | None = None,
    **more: Unpack[ItemMore],
) -> View:
    """A row with a title, a line below it, and something before and after."""
    texts = [Text(title, 15, max_lines=2, id="title")]
    if subtitle:
        texts.append(Text(subtitle, 13, theme.SECONDARY, max_lines=2, id="summary"))
    parts = [leading] if leading else []
    parts.append(Column(texts, gap=2, flex=1))
    parts += [trailing] if trailing else []
    more.setdefault("pad", (16, 8, 16, 8))
    more.setdefault("min_height", theme.ROW_HEIGHT)
    if more.get("selected"):
        more["bg"] = "#d3e3fd"
    return View(
        "android.widget.LinearLayout", parts, axis="h", gap=14, align="center", on_tap=on_tap, on_long=on_long, **more
    )


def SwitchItem(title: str, checked: bool, on_tap: Action, subtitle: str = "", enabled: bool = True) -> View:
    """A row with a switch at its end; touching anywhere on it calls `on_tap`."""
    return ListItem(title, subtitle, on_tap, trailing=Switch(checked, None, enabled=enabled), enabled=enabled)


def CheckItem(title: str, checked: bool, on_tap: Action, subtitle: str = "") -> View:
    """A row with a check box at its start; touching anywhere on it calls `on_tap`."""
    return ListItem(title, subtitle, on_tap, leading=Checkbox(checked, None))


# frames of screens


def Scaffold(
    title: str | View,
    body: View,
    on_back: Action | None = None,
    actions: Sequence[View] = (),
    fab: View | None = None,
    bottom: View | None = None,
    tabs: View | None = None,
    bg: str = theme.SURFACE,
) -> View:
    """A screen: a bar with title, "Navigate up" and actions; tabs; the body; a floating button; a bottom bar."""
    parts = [AppBar(title, on_back, actions)] if title or actions or on_back else []
    parts += [tabs] if tabs else []
    parts.append(_stretched(body))
    parts += [bottom] if bottom else []
    page = Column(parts, bg=bg)
    if fab is None:
        return page
    bottom_space = 16 + (theme.BAR_HEIGHT if bottom else 0)
    return Pile([page, Column([fab], pad=(0, 0, 16, bottom_space), justify="end", align="end")])


def AppBar(title: str | View, on_back: Action | None = None, actions: Sequence[View] = ()) -> View:
    """The bar at the top of a screen."""
    heading = Text(title, 19, max_lines=1, flex=1) if isinstance(title, str) else _stretched(title)
    if not actions:
        heading.inset = (0, 0, 14, 0)  # a search box ends as far from the edge as it would begin
    parts = [IconButton("arrow_left", "Navigate up", on_back)] if on_back else [Space(width=8)]
    return Row([*parts, heading, *actions], gap=4, pad=(6, 4, 4, 4), min_height=theme.BAR_HEIGHT)


def _stretched(view: View) -> View:
    view.flex = view.flex or 1
    return view


def Tabs(labels: Sequence[str], current: str, on_select: Callable[[str], Any]) -> View:
    """Tabs below the app bar."""
    return Row([_tab(label, label == current, partial(on_select, label)) for label in labels], bg=theme.SURFACE)


def _tab(label: str, selected: bool, on_tap: Action) -> View:
    color = theme.PRIMARY if selected else theme.SECONDARY
    word = Text(label, 13, color, bold=True, align="center", flex=1, max_lines=1, important=False)
    line = View(height=3, bg=theme.PRIMARY if selected else theme.SURFACE, important=False)
    return View(
        "android.widget.TextView", [word, line], text=label, selected=selected, on_tap=on_tap, flex=1, height=44
    )


def BottomNavigation(items: Sequence[tuple[str, str]], current: str, on_select: Callable[[str], Any]) -> View:
    """A bar of (icon, label) at the bottom of a screen."""
    return Row([_destination(i, n, n == current, partial(on_select, n)) for i, n in items], bg=theme.SURFACE_VARIANT)


def _destination(icon: str, label: str, selected: bool, on_tap: Action) -> View:
    color = theme.PRIMARY if selected else theme.SECONDARY
    parts = [Icon(icon, 22, color), Text(label, 11, color, align="center", max_lines=1, important=False)]
    return View(
        "android.widget.FrameLayout", parts, desc=label, selected=selected, on_tap=on_tap, flex=1, height=56,
        justify="center", gap=2,
    )  # fmt: skip


def Empty(text: str, icon: str = "inbox_outline") -> View:
    """What a list shows when it is empty."""
    parts = [Icon(icon, 48, theme.OUTLINE), Text(text, 15, theme.SECONDARY, align="center")]
    return Column(parts, gap=12, pad=24, flex=1, justify="center")


def Card(
    children: Sequence[View], on_tap: Action | None = None, on_long: Action | None = None, **more: Unpack[CardMore]
) -> View:
    """A framed group of views; one target if it has `on_tap`."""
    more.setdefault("bg", theme.SURFACE)
    more.setdefault("border", theme.DIVIDER)
    more.setdefault("radius", 10)
    more.setdefault("pad", (14, 12, 14, 12))
    more.setdefault("important", on_tap is not None or on_long is not None)
    return View("android.view.ViewGroup", children, on_tap=on_tap, on_long=on_long, gap=4, **more)
