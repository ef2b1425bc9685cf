"""OpenTracks: recorded sports activities, as a list and one by one."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from coach_gym.envs.apps.opentracks.data import (
    CATEGORIES,
    DATABASE,
    PACKAGE,
    SCHEMA,
    TABLE,
    Track,
    Units,
    clock_text,
    distance_text,
    save,
    tracks,
    units_of,
)
from coach_gym.envs.apps.opentracks.recording import Form, Recording
from coach_gym.envs.apps.opentracks.settings import Settings
from coach_gym.envs.apps.opentracks.statistics import Details, Totals
from coach_gym.envs.phone.app import Confirm, DatabaseApp, Menu, Screen
from coach_gym.envs.phone.screens.pages import SearchPage, SelectionPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Action,
    Column,
    Divider,
    Empty,
    Fab,
    Icon,
    IconButton,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

ORANGE = "#ef6c00"


class OpenTracks(DatabaseApp):
    """The OpenTracks app."""

    package = PACKAGE
    activity = "de.dennisguse.opentracks.TrackListActivity"
    label = "OpenTracks"
    icon = "map_marker_path"
    color = ORANGE
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the list of activities."""
        return Tracks()


class Tracks(SearchPage, SelectionPage[int]):
    """All activities, or those that the search finds, the latest first. A long touch selects one by its key."""

    app: OpenTracks

    def build(self) -> View:
        """Lists the activities."""
        rows: list[View] = []
        units = units_of(self.phone.storage)
        for found in self._found():
            on_tap, on_long = partial(self._tap, found.id), partial(self.toggle, found.id)
            start, selected = self.phone.local(found.start), found.id in self.selected
            rows += [_row(found, start, units, on_tap, on_long, selected), Divider()]
        body = ListView(rows, pad=(0, 0, 0, 76)) if rows else Empty("No recorded tracks yet", "map_marker_path")
        if self.selected:
            return self.selecting(body, self._for_selected())
        title: str | View = "OpenTracks"
        search = IconButton("magnify", "Search", self.search, "search")
        if self.searching:
            title = TextField(self.query, "Search name, type or description", "search_src_text")
            search = IconButton("close", "Clear query", self.search, "search_close_btn")
        menu = Menu([
            ("Aggregated stats", lambda: self.push(Totals())),
            ("Settings", lambda: self.push(Settings())),
        ])  # fmt: skip
        more = IconButton("dots_vertical", "More options", lambda: self.push(menu))
        record = Fab("record", "Record", self._record, "track_list_fab_action")
        return Scaffold(title, body, actions=[search, more], fab=record)

    def _found(self) -> list[Track]:
        return tracks(self.app.db, self.words.strip())

    def _tap(self, id: int) -> None:
        if self.selected:
            self.toggle(id)
        else:
            self.push(Details(id))

    def _record(self) -> None:
        id = save(self.app.db, f"{self.local_now:%Y-%m-%d %H:%M}", self.now, self.now)
        self.push(Recording(id, self.now))

    def on_back(self) -> bool:
        """Ends the selection, or else the search."""
        if self.selected:
            self.unselect()
            return True
        return super().on_back()

    # what can be done with the selected activities

    def _for_selected(self) -> list[View]:
        buttons = [
            IconButton("delete_outline", "Delete", self._ask_to_delete, "list_context_menu_delete"),
            IconButton("chart_bar", "Aggregated stats", self._sum_up, "list_context_menu_aggregated_stats"),
        ]
        if len(self.selected) == 1:
            buttons.insert(0, IconButton("pencil_outline", "Edit", self._edit, "list_context_menu_edit"))
        if len(self.selected) < len(self._found()):
            buttons.append(IconButton("select_all", "Select all", self._select_all, "list_context_menu_select_all"))
        return buttons

    def _edit(self) -> None:
        for one in self._found():
            if one.id in self.selected:
                self.push(Form(one.id, one.name, one.category, one.description))
        self.unselect()

    def _ask_to_delete(self) -> None:
        several = len(self.selected) > 1
        title = "Delete selected?" if several else "Delete track?"
        what = "The selected tracks" if several else "This track"
        self.push(Confirm(title, f"{what} will be deleted permanently.", "OK", self._delete))

    def _delete(self) -> None:
        for id in self.selected:
            TABLE.delete(self.app.db, id)
        self.unselect()

    def _sum_up(self) -> None:
        self.push(Totals(self.selected))
        self.unselect()

    def _select_all(self) -> None:
        self.selected = [one.id for one in self._found()]


def _row(shown: Track, start: datetime, units: Units, on_tap: Action, on_long: Action, selected: bool) -> View:
    notes = f"[{shown.category}] {shown.description}" if shown.category else shown.description
    left: list[View] = [
        Text(shown.name, 16, max_lines=1, id="track_list_item_name"),
        Row(
            [
                Text(f"{start:%b %-d %Y}", 13, theme.SECONDARY, id="track_list_item_date"),
                Text(f"{start:%H:%M}", 13, theme.SECONDARY, id="track_list_item_time"),
            ],
            gap=10,
        ),
    ]
    right = [
        Text(clock_text(shown.seconds), 13, theme.SECONDARY, id="track_list_item_total_time"),
        Text(distance_text(shown.meters, units), 13, theme.SECONDARY, id="track_list_item_distance"),
    ]
    if notes:
        left.append(Text(notes, 13, theme.SECONDARY, max_lines=1, id="track_list_item_category_description"))
    icon = CATEGORIES.get(shown.category, "account_question_outline")
    return View(
        "android.widget.RelativeLayout",
        [Icon(icon, 28, ORANGE), Column(left, gap=3, flex=1), Column(right, gap=3, align="end")],
        axis="h", gap=14, align="center", pad=(16, 10, 16, 10), on_tap=on_tap, on_long=on_long,
        selected=selected, bg="#d3e3fd" if selected else None,
    )  # fmt: skip


APP = OpenTracks
