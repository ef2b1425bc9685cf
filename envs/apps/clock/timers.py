"""The Clock app's timers and its stopwatch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from coach_gym.envs.apps.clock import data as clock_data
from coach_gym.envs.apps.clock.data import PAUSED, RESET, RUNNING, Timer
from coach_gym.envs.apps.clock.tab import Tab
from coach_gym.envs.phone import preferences
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Button, Column, Fab, Grid, IconButton, ListView, Row, Space, Text

MINUTE = 60_000  # in milliseconds


class Timers(Tab):
    """The timers; or, if there are none or one is being added, a keypad for its length."""

    def __init__(self) -> None:
        super().__init__()
        self.digits = ""  # typed so far: hhmmss without leading zeros
        self.adding = False

    def build(self) -> View:
        """Lists the timers, or shows the keypad."""
        timers = self._timers()
        if self.adding or not timers:
            return self._keypad(bool(timers))
        return ListView([*(self._card(timer) for timer in timers), Space(80)], "timers")

    def fab(self) -> View | None:
        """Returns the button that starts the timer typed, or adds another."""
        if self.adding or not self._timers():
            return Fab("play", "Start", self._start_new) if self.digits else None
        return Fab("plus", "Add timer", partial(setattr, self, "adding", True))

    # a new timer

    def _keypad(self, others: bool) -> View:
        hours, minutes, seconds = self._typed()
        shown = Text(
            f"{hours:02d}h {minutes:02d}m {seconds:02d}s", 40, theme.PRIMARY if self.digits else theme.SECONDARY,
            desc=f"{hours} hours, {minutes} minutes, {seconds} seconds", align="center", pad=(0, 8, 0, 12),
            id="timer_setup_time",
        )  # fmt: skip
        cancel = [Row([Button("Cancel", self._cancel, kind="text")], pad=(16, 8, 16, 0))] if others else []
        if self.phone.height < theme.SHORT * self.phone.density:  # the keys beside the time
            keys = Grid(self._keys(36), 3, gap=4, pad=(24, 0, 24, 0), flex=1)
            return Row([keys, Column([shown, *cancel], flex=1)], align="start")
        return Column([shown, Grid(self._keys(64), 3, gap=8, pad=(40, 0, 40, 0)), *cancel])

    def _keys(self, height: float) -> list[View]:
        """Returns the keys, of a height in dp."""
        keys = [
            self._key(digits, height, text=digits)
            for digits in ("1", "2", "3", "4", "5", "6", "7", "8", "9", "00", "0")
        ]
        return [*keys, self._key("", height, icon="backspace_outline", desc="Delete")]

    def _key(self, digits: str, height: float, **look: Any) -> View:
        return View(
            "android.widget.Button", on_tap=partial(self._type, digits) if digits else self._erase, height=height,
            size=24, align="center", radius=height / 2, bg=theme.SURFACE_VARIANT, **look,
        )  # fmt: skip

    def _typed(self) -> tuple[int, int, int]:
        digits = self.digits.zfill(6)
        return int(digits[:2]), int(digits[2:4]), int(digits[4:])

    def _type(self, digits: str) -> None:
        if len(self.digits + digits) <= 6:
            self.digits = (self.digits + digits).lstrip("0")

    def _erase(self) -> None:
        self.digits = self.digits[:-1]

    def _cancel(self) -> None:
        self.digits, self.adding = "", False

    def _start_new(self) -> None:
        hours, minutes, seconds = self._typed()
        length = 1000 * (3600 * hours + 60 * minutes + seconds)
        self._save(Timer(length, length, RUNNING, clock_data.milliseconds(self.now)))
        self._cancel()

    # a card of the list

    def _card(self, timer: Timer) -> View:
        running = timer.state == RUNNING
        close = IconButton("close", "Delete timer", partial(clock_data.delete_timer, self.phone.storage, timer.id))
        heading = Row([Text(f"{_words(timer.length)} Timer", 14, flex=1), close], pad=(16, 0, 8, 0))
        left = Text(_countdown(timer.remaining(self.now)), 40, align="center", id="timer_time")
        buttons = [
            Button("+1:00", partial(self._extend, timer), kind="tonal", desc="Add 1 minute to timer"),
            IconButton("pause" if running else "play", "Pause" if running else "Start", partial(self._toggle, timer)),
            IconButton("restart", "Reset", partial(self._reset, timer)),
        ]
        bottom = Row(buttons, gap=16, justify="center", pad=(0, 6, 0, 10))
        return Column([heading, left, bottom], bg=theme.SURFACE_VARIANT)

    def _extend(self, timer: Timer) -> None:
        self._save(replace(timer, left=timer.left + MINUTE))

    def _toggle(self, timer: Timer) -> None:
        if timer.state == RUNNING:
            self._save(replace(timer, state=PAUSED, left=timer.remaining(self.now), started=0))
        else:
            self._save(replace(timer, state=RUNNING, started=clock_data.milliseconds(self.now)))

    def _reset(self, timer: Timer) -> None:
        self._save(Timer(timer.length, timer.length, RESET, id=timer.id))

    # data

    def _timers(self) -> list[Timer]:
        return clock_data.timers(self.preferences)

    def _save(self, timer: Timer) -> None:
        clock_data.save_timer(self.phone.storage, timer)


def _words(length: int) -> str:
    """Returns a timer's length as its card names it, such as 1h 5m."""
    seconds = length // 1000
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s"))
    return " ".join(f"{count}{unit}" for count, unit in parts if count)


def _countdown(left: int) -> str:
    """Returns what is left, such as 4:59; with a minus sign once it has expired."""
    seconds = abs(-(-left // 1000))
    sign = "-" if left <= -1000 else ""
    if seconds >= 3600:
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{sign}{seconds // 60}:{seconds % 60:02d}" if seconds >= 60 else f"{sign}{seconds}"


class Stopwatch(Tab):
    """The stopwatch. Its state is three numbers in the app's preferences, and the laps."""

    def build(self) -> View:
        """Shows the time, the buttons and the laps."""
        parts: list[View] = [
            Space(24),
            Text(_reading(self._elapsed()), 56, align="center", id="stopwatch_time_text"),
            Space(24),
        ]
        return Column([*parts, self._buttons(), ListView(self._lap_rows(), "laps")])

    def _buttons(self) -> View:
        state, elapsed = self._get("sw_state"), self._elapsed()
        running = state == _RUNNING
        parts = [Fab("pause" if running else "play", "Pause" if running else "Start", self._toggle)]
        if running or elapsed:
            parts.insert(0, IconButton("restart", "Reset", self._reset, "left_button"))
        if running:
            parts.append(IconButton("timer_plus_outline", "Lap", self._lap, "right_button"))
        return Row(parts, gap=28, justify="center", pad=(0, 0, 0, 16))

    def _lap_rows(self) -> list[View]:
        laps = [self._get(f"sw_lap_time_{i}") for i in range(1, self._get("sw_lap_num") + 1)]
        rows = []
        for i, (start, end) in enumerate(zip([0, *laps], laps, strict=False), start=1):
            text = f"# {i}  {_reading(end - start)}  {_reading(end)}"
            rows.append(Text(text, 15, theme.SECONDARY, align="center", pad=(0, 6, 0, 6)))
        return rows[::-1]

    def _elapsed(self) -> int:
        """Returns what the stopwatch shows, in milliseconds."""
        running = self._get("sw_state") == _RUNNING
        since = clock_data.milliseconds(self.now) - self._get("sw_start_time") if running else 0
        return self._get("sw_accum_time") + since

    def _toggle(self) -> None:
        if self._get("sw_state") == _RUNNING:
            self._put(sw_accum_time=self._elapsed(), sw_state=_PAUSED)
        else:
            self._put(sw_start_time=clock_data.milliseconds(self.now), sw_state=_RUNNING)

    def _reset(self) -> None:
        self._put(sw_accum_time=0, sw_state=_RESET, sw_lap_num=0)

    def _lap(self) -> None:
        number = self._get("sw_lap_num") + 1
        self._put(**{f"sw_lap_time_{number}": self._elapsed(), "sw_lap_num": number})

    def _get(self, key: str) -> int:
        return int(str(self.preferences.get(key, 0)))

    def _put(self, **values: int) -> None:
        preferences.update(self.phone.storage, clock_data.PREFERENCES, values)


_RESET, _RUNNING, _PAUSED = range(3)


def _reading(elapsed: int) -> str:
    """Returns minutes, seconds and hundredths; hours if there are any."""
    hours, rest = divmod(elapsed // 10, 360_000)
    minutes, hundredths = divmod(rest, 6000)
    text = f"{minutes:02d}:{hundredths // 100:02d}.{hundredths % 100:02d}"
    return f"{hours}:{text}" if hours else text
