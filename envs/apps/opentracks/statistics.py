"""What activities come to: one by itself, and all of a type together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

from coach_gym.envs.apps.opentracks import data
from coach_gym.envs.apps.opentracks.data import Filter, Sums, Track
from coach_gym.envs.apps.opentracks.recording import Form, Recording, ask_to_delete, figure
from coach_gym.envs.apps.opentracks.settings import Settings
from coach_gym.envs.phone.app import DatabaseApp, Dialog, Menu, Screen
from coach_gym.envs.phone.screens.pickers import DatePicker
from coach_gym.envs.phone.storage import Storage
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Chip,
    Column,
    Divider,
    Empty,
    Grid,
    Header,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
)


def _rate(storage: Storage, category: str, speed: float) -> str:
    """Returns a speed in meters a second as it is told for a type of activities."""
    tell = data.pace_text if data.is_paced(storage, category) else data.speed_text
    return tell(speed, data.units_of(storage))


def _speed(meters: float, seconds: int) -> float:
    return meters / seconds if seconds else 0.0


class Totals(Screen):
    """Sums for the activities of each type, of all or of some days.

    Args:
        ids: Keys of the activities; None for all.
    """

    app: DatabaseApp
    activity = f"{data.PACKAGE}.ui.aggregatedStatistics.AggregatedStatisticsActivity"

    def __init__(self, ids: Sequence[int] | None = None) -> None:
        super().__init__()
        self.ids = ids
        self.filter: Filter | None = None

    def build(self) -> View:
        """Shows number, distance, time and speeds for each type."""
        sums = data.totals(self._shown())
        rows = [view for category, each in sums.items() for view in self._row(category, each)]
        nothing = "No activities for this filter" if self.filter else "No recorded tracks yet"
        body = ListView(rows, id="aggregated_stats_list") if rows else Empty(nothing, "map_marker_path")
        button = IconButton("filter_outline", "Filter", self._ask, "aggregated_statistics_filter")
        if self.filter:
            clear = partial(self._set, None)
            button = IconButton("filter_off_outline", "Clear filter", clear, "aggregated_statistics_clear_filter")
        return Scaffold("Aggregated stats", body, self.pop, [button])

    def _shown(self) -> list[Track]:
        found = [one for one in data.tracks(self.app.db) if self.ids is None or one.id in self.ids]
        return [one for one in found if self.filter is None or self.filter.passes(one, self.phone.local)]

    def _row(self, category: str, sums: Sums) -> list[View]:
        storage = self.phone.storage
        pace = data.is_paced(storage, category)
        average = _rate(storage, category, _speed(sums.meters, sums.moving))
        above = [
            figure("Distance", data.distance_text(sums.meters, data.units_of(storage))),
            figure("Moving time", data.clock_text(sums.moving)),
        ]
        below = [
            figure("Avg moving pace" if pace else "Avg moving speed", average),
            figure("Fastest pace" if pace else "Max speed", _rate(storage, category, sums.fastest)),
        ]
        figures = [Row(pair, pad=(16, 0, 16, 10)) for pair in (above, below)]
        return [Header(f"{category or 'unknown'} ({sums.number})"), *figures, Divider()]

    def _ask(self) -> None:
        self.push(FilterDialog(list(data.totals(self._shown())), self.local_now.date(), self._set))

    def _set(self, chosen: Filter | None) -> None:
        self.filter = chosen


class FilterDialog(Dialog):
    """Asks for types of activities, all of them at first, and for two days, the first and last of this week at first.

    Args:
        categories: The types to choose from.
        today: A day of this week. Weeks start on Sunday.
        then: Called with what is chosen.
    """

    def __init__(self, categories: Sequence[str], today: date, then: Callable[[Filter], Any]) -> None:
        super().__init__("Filter")
        self.categories, self.chosen, self.then = categories, set(categories), then
        self.first = today - timedelta(days=today.isoweekday() % 7)
        self.last = self.first + timedelta(days=6)

    def content(self) -> Sequence[View]:
        """Returns the types and the two days."""
        chips = [
            Chip(name or "unknown", name in self.chosen, partial(self._toggle, name), "filter_dialog_check_button")
            for name in self.categories
        ]
        height = min(40 * ((len(chips) + 1) // 2), 160)
        types = Column([ListView([Grid(chips, 2, gap=8)], id="filter_items")], height=height, pad=(20, 0, 20, 0))
        return [
            types,
            self._day("From", self.first, self._set_first, "filter_date_edit_text_from"),
            self._day("To", self.last, self._set_last, "filter_date_edit_text_to"),
        ]

    def _day(self, name: str, day: date, then: Callable[[date], Any], id: str) -> View:
        return ListItem(name, f"{day:%b %-d, %Y}", lambda: self.push(DatePicker(day, then)), id=id, pad=(20, 4, 20, 4))

    def _toggle(self, name: str) -> None:
        self.chosen ^= {name}

    def _set_first(self, day: date) -> None:
        self.first, self.last = day, max(day, self.last)

    def _set_last(self, day: date) -> None:
        self.first, self.last = min(day, self.first), day

    def buttons(self) -> Sequence[View]:
        """Returns the buttons that cancel and accept."""
        return [self.button("Cancel"), self.button("OK", self._finish)]

    def _finish(self) -> None:
        self.then(Filter(frozenset(self.chosen), self.first, self.last))


class Details(Screen):
    """The statistics of one activity."""

    app: DatabaseApp
    activity = f"{data.PACKAGE}.TrackRecordedActivity"

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the statistics of the activity."""
        shown = data.track(self.app.db, self.id)
        if shown is None:
            return Scaffold("", Empty("This track was deleted", "map_marker_path"), self.pop)
        known = shown.id, shown.name, shown.category, shown.description
        menu = Menu([
            ("Delete", lambda: ask_to_delete(self, self._delete)),
            ("Resume track", lambda: self.replace(Recording(self.id, self.now))),
            ("Settings", lambda: self.push(Settings())),
        ])  # fmt: skip
        actions = [
            IconButton("pencil_outline", "Edit", lambda: self.push(Form(*known)), "track_detail_edit"),
            IconButton("dots_vertical", "More options", lambda: self.push(menu)),
        ]
        return Scaffold(shown.name, ListView(self._statistics(shown)), self.pop, actions)

    def _delete(self) -> None:
        data.TABLE.delete(self.app.db, self.id)
        self.pop()

    def _statistics(self, shown: Track) -> list[View]:
        storage, units = self.phone.storage, data.units_of(self.phone.storage)
        rate = "pace" if data.is_paced(storage, shown.category) else "speed"
        fastest = "Fastest pace" if rate == "pace" else "Max speed"
        average, moving, most = (
            _rate(storage, shown.category, speed)
            for speed in (_speed(shown.meters, shown.seconds), _speed(shown.meters, shown.moving), shown.fastest)
        )
        start, stop = self.phone.local(shown.start), self.phone.local(shown.stop)
        pairs = (
            (("Activity type", shown.category or "unknown"), ("Distance", data.distance_text(shown.meters, units))),
            (("Total time", data.clock_text(shown.seconds)), ("Moving time", data.clock_text(shown.moving))),
            ((f"Avg {rate}", average), (f"Avg moving {rate}", moving)),
            ((fastest, most), ("Gain", data.elevation_text(shown.gain, units))),
            (("Loss", data.elevation_text(shown.loss, units)), ("Start time", f"{start:%b %-d %Y %H:%M}")),
            (("End time", f"{stop:%b %-d %Y %H:%M}"),),
        )
        rows: list[View] = [Row([figure(*pair) for pair in two], pad=(20, 10, 20, 10)) for two in pairs]
        return [*rows, Divider(), Header("Description"), Text(shown.description or "–", 15, pad=(16, 0, 16, 16))]
