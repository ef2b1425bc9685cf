"""The Clock on AndroidLab's phone: a later version of Google's, on a 12-hour clock and with a bedtime.

AndroidLab's judges read elements in a certain order and nesting: within an alarm the label, time, days, switch and
what is unfolded below them lie flat in the list, and the switch with its time is an element of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, time
from functools import partial

from coach_gym.envs.apps.clock import app as clock
from coach_gym.envs.apps.clock.alarms import Alarms, Look
from coach_gym.envs.apps.clock.app import Edition, Setting
from coach_gym.envs.apps.clock.bedtime import Bedtime
from coach_gym.envs.apps.clock.cities import WorldClock
from coach_gym.envs.apps.clock.data import WEEKDAYS, WEEKEND, Alarm, half_day
from coach_gym.envs.phone.screens.pickers import HalfDayPicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Column, Icon, IconButton, Row, Space, Switch, Text

TODAY = datetime(2024, 5, 10, 12)  # when AndroidLab's tasks begin
HOURS_AHEAD = 8  # of UTC: the phone's zone is Shanghai's
ALARMS = (
    Alarm(7, 30, WEEKDAYS), Alarm(9, 0, enabled=False), Alarm(11, 15, WEEKEND, enabled=False),
    Alarm(16, 0, 0b0010101, label="gym"),
)  # fmt: skip
ZONES = (
    "(GMT-8:00) Pacific Time", "(GMT-5:00) Eastern Time", "(GMT+0:00) London", "(GMT+2:00) Barcelona, Paris",
    "(GMT+3:00) Moscow", "(GMT+5:30) Mumbai", "(GMT+8:00) Shanghai", "(GMT+9:00) Osaka, Tokyo",
    "(GMT+10:00) Sydney",
)  # fmt: skip


def _bar(entries: Sequence[tuple[str, str]], current: str, select: Callable[[str], None]) -> View:
    return Row([_tab(icon, label, label == current, select) for icon, label in entries], bg=theme.SURFACE_VARIANT)


def _tab(icon: str, label: str, chosen: bool, select: Callable[[str], None]) -> View:
    color = theme.PRIMARY if chosen else theme.SECONDARY
    parts = [Icon(icon, 22, color), Text(label, 11, color, align="center", max_lines=1, important=False)]
    return View(
        "android.widget.FrameLayout", parts, desc=label, selected=chosen, focusable=True, flex=1, height=56,
        on_tap=None if chosen else partial(select, label), justify="center", gap=2,
    )  # fmt: skip


def _row(page: Alarms, alarm: Alarm) -> View:
    texts = [Text(alarm.label, 13, theme.SECONDARY, max_lines=1, desc="Label")] if alarm.label else []
    texts.append(_time(page, alarm, 30))
    texts.append(Text(page.when(alarm), 13, theme.SECONDARY, max_lines=1))
    unfold = IconButton("chevron_down", "Expand alarm", partial(page.unfold, alarm.id))
    return Row([Column(texts, flex=1), unfold, _switch(page, alarm)], 6, (16, 8, 16, 8))


def _card(page: Alarms, alarm: Alarm) -> View:
    label = Text(
        alarm.label or "Add label", 15, flex=1, desc="Label" if alarm.label else "",
        on_tap=partial(page.ask_label, alarm),
    )  # fmt: skip
    fold = IconButton("chevron_up", "Collapse alarm", partial(page.unfold, 0))
    sound = Text(alarm.sound, 15, desc="Ringtone", on_tap=partial(page.pick_sound, alarm), flex=1)
    vibrate = _mark("Vibrate", alarm.vibrate, partial(page.change, alarm, vibrate=not alarm.vibrate))
    delete = Text("Delete", 15, on_tap=partial(page.delete, alarm.id), flex=1)
    rows = [
        Row([Icon("label_outline"), label, fold], 14),
        Row([_time(page, alarm, 40), Space(flex=1), _switch(page, alarm)]),
        Text(page.when(alarm), 13, theme.SECONDARY),
        Row(page.days(alarm), 4, (0, 6, 0, 6), justify="center"),
        Row([Icon("bell_ring_outline"), sound], 14, (0, 8, 0, 8)),
        vibrate,
        Row([Icon("delete_outline"), delete], 14, (0, 10, 0, 10)),
    ]
    return Column(rows, 2, (16, 8, 16, 8), bg=theme.SURFACE_VARIANT)


def _time(page: Alarms, alarm: Alarm, size: float) -> View:
    color = theme.TEXT if alarm.enabled else theme.SECONDARY
    text = half_day(time(alarm.hour, alarm.minute))
    return Text(text, size, color, id="digital_clock", on_tap=partial(page.pick_time, alarm))


def _switch(page: Alarms, alarm: Alarm) -> View:
    """Makes the switch an element of its own, which tells the time that it is for and its state."""
    then = partial(page.switched, alarm)
    color = theme.PRIMARY if alarm.enabled else theme.SECONDARY
    mark = Icon("alarm", 18, color, desc=half_day(time(alarm.hour, alarm.minute)))
    return View(
        "com.google.android.deskclock.widget.TimedSwitch", [mark, Switch(alarm.enabled, then)], axis="h",
        gap=6, align="center", checkable=True, checked=alarm.enabled, desc="Alarm", on_tap=then, id="onoff",
    )  # fmt: skip


def _mark(text: str, on: bool, then: partial) -> View:
    box = Icon("checkbox_marked" if on else "checkbox_blank_outline", color=theme.PRIMARY)
    return View(
        "android.widget.CheckBox", [box, Text(text, 15, important=False)], axis="h", gap=14, align="center",
        text=text, checkable=True, checked=on, on_tap=then, min_height=theme.TOUCH,
    )  # fmt: skip


FLAT = Look(_row, _card, HalfDayPicker)

EDITION = Edition(
    tabs=(
        ("alarm", "Alarm", partial(Alarms, FLAT)),
        ("clock_outline", "Clock", partial(WorldClock, HOURS_AHEAD, half_days=True, flat=True)),
        *clock.ANDROID_WORLD.tabs[2:],
        ("bed", "Bedtime", Bedtime),
    ),
    bar=_bar,
    alarms=ALARMS,
    settings=(
        Setting("Style", "clock_style", {"Digital": "digital", "Analog": "analog"}, "digital"),
        Setting("Home time zone", "home_time_zone", {zone: zone for zone in ZONES}, ZONES[6]),
    ),
    since=TODAY,
)

APP = partial(clock.Clock, edition=EDITION)
