"""The look of alarms on AndroidWorld's phone: a row that unfolds into a card."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.apps.clock.alarms import Alarms, Look
from coach_gym.envs.apps.clock.data import Alarm
from coach_gym.envs.phone.screens.pickers import TimePicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import CheckItem, Column, Icon, IconButton, ListItem, Row, Switch, Text


def _row(page: Alarms, alarm: Alarm) -> View:
    texts = [Text(alarm.time, 30, _color(alarm))]
    texts += [Text(text, 13, theme.SECONDARY, max_lines=1) for text in (alarm.label, page.when(alarm)) if text]
    return Row(
        [Column(texts, flex=1), _switch(page, alarm)], pad=(16, 8, 16, 8), important=True,
        on_tap=partial(page.unfold, alarm.id),
    )  # fmt: skip


def _card(page: Alarms, alarm: Alarm) -> View:
    heading = Row(
        [
            Text(alarm.time, 40, _color(alarm), on_tap=partial(page.pick_time, alarm), id="digital_clock"),
            View(flex=1),
            IconButton("chevron_up", "Collapse alarm", partial(page.unfold, 0)),
            _switch(page, alarm),
        ],
        pad=(16, 4, 16, 0), gap=6,
    )  # fmt: skip
    label, sound = partial(page.ask_label, alarm), partial(page.pick_sound, alarm)
    rows = [
        heading,
        Text(page.when(alarm), 13, theme.SECONDARY, pad=(16, 0, 16, 6), important=False),
        ListItem(alarm.label or "Add label", on_tap=label, leading=Icon("label_outline")),
        Row(page.days(alarm), pad=(10, 6, 10, 6), gap=4, justify="center"),
        ListItem("Alarm sound", alarm.sound, sound, leading=Icon("bell_ring_outline")),
        CheckItem("Vibrate", alarm.vibrate, partial(page.change, alarm, vibrate=not alarm.vibrate)),
        ListItem("Delete", on_tap=partial(page.delete, alarm.id), leading=Icon("delete_outline")),
    ]
    return Column(rows, bg=theme.SURFACE_VARIANT)


def _switch(page: Alarms, alarm: Alarm) -> View:
    return Switch(alarm.enabled, partial(page.switched, alarm), alarm.time, "onoff")


def _color(alarm: Alarm) -> str:
    return theme.TEXT if alarm.enabled else theme.SECONDARY


CARDS = Look(_row, _card, TimePicker)
