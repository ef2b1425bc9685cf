"""The Clock app's bedtime."""

from __future__ import annotations

from datetime import time
from functools import partial

from coach_gym.envs.apps.clock.data import half_day
from coach_gym.envs.apps.clock.tab import Tab
from coach_gym.envs.phone.app import Choice
from coach_gym.envs.phone.screens.pickers import HalfDayPicker
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Column, Icon, Row, Space, Switch, Text

SLEEP_SOUNDS = ("None", "Deep space", "Ocean waves", "Rainfall", "Windy leaves")


class Bedtime(Tab):
    """When to sleep and to wake up, and what to listen to meanwhile; kept in the app's preferences."""

    def build(self) -> View:
        """Shows the schedule and the sleep sound."""
        bed, wake = (self._moment(key) for key in ("bedtime", "wakeup"))
        on = bool(self.preferences.get("wakeup_alarm", False))
        switch = Switch(on, partial(self.prefer, "wakeup_alarm", not on), "Sunrise alarm", "wakeup_switch")
        caption = Text("Sunrise alarm", 12, theme.SECONDARY, important=False)
        schedule = [
            Text("BEDTIME", 12, theme.SECONDARY),
            self._shown(bed, "Bedtime", "bedtime"),
            Text("WAKE UP", 12, theme.SECONDARY),
            Row([self._shown(wake, "Wake-up", "wakeup"), Space(flex=1), caption, switch], 10),
        ]
        card = View(
            "android.view.ViewGroup", schedule, desc="Schedule", gap=6, pad=(16, 12, 16, 12), radius=12,
            bg=theme.SURFACE_VARIANT,
        )  # fmt: skip
        return Column([Column([card], pad=(16, 8, 16, 16)), self._sounds()])

    def _shown(self, at: time, name: str, key: str) -> View:
        text = half_day(at)
        return Text(text, 32, desc=f"{name} {text}", on_tap=partial(self._ask, key, at))

    def _sounds(self) -> View:
        sound = str(self.preferences.get("sleep_sound", SLEEP_SOUNDS[0]))
        name = Text(
            sound, 16, desc=f"sleep sound {sound}", on_tap=self._ask_sound, pad=(0, 10, 0, 10), flex=1,
        )  # fmt: skip
        heading = Text("Listen to sleep sounds", 13, theme.SECONDARY, pad=(16, 4, 16, 0))
        return Column([heading, Row([Icon("music_note"), name], 14, (16, 0, 16, 0))])

    def _moment(self, key: str) -> time:
        return time.fromisoformat(str(self.preferences.get(key, {"bedtime": "23:00", "wakeup": "07:00"}[key])))

    def _ask(self, key: str, at: time) -> None:
        self.push(HalfDayPicker(at, lambda at: self.prefer(key, f"{at:%H:%M}")))

    def _ask_sound(self) -> None:
        self.push(Choice("Sleep sounds", SLEEP_SOUNDS, partial(self.prefer, "sleep_sound")))
