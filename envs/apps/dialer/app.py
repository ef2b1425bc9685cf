"""Phone: the keypad, past calls, contacts, and the screen of a call."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import partial

from coach_gym.envs.phone.app import App, Menu, Screen
from coach_gym.envs.phone.intents import CALL, DIAL, VIEW, Intent
from coach_gym.envs.phone.providers import call_log, contacts, telephony
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Action,
    Avatar,
    BottomNavigation,
    Button,
    Column,
    Empty,
    Fab,
    Grid,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    Text,
    TextField,
)

PACKAGE = "com.google.android.dialer"
PLACES = (("star_outline", "Favorites"), ("history", "Recents"), ("account_multiple_outline", "Contacts"))
KEYS = {
    "1": "", "2": "ABC", "3": "DEF", "4": "GHI", "5": "JKL", "6": "MNO", "7": "PQRS", "8": "TUV", "9": "WXYZ", "*": "",
    "0": "+", "#": "",
}  # fmt: skip
ICONS = {
    call_log.INCOMING: "phone_incoming", call_log.OUTGOING: "phone_outgoing", call_log.MISSED: "phone_missed",
    call_log.REJECTED: "phone_cancel",
}  # fmt: skip
GREEN, RED = "#188038", "#d93025"


class Dialer(App):
    """The Phone app."""

    package = PACKAGE
    activity = "com.google.android.dialer.extensions.GoogleDialtactsActivity"
    label = "Phone"
    icon = "phone"
    color = "#1a73e8"

    def install(self) -> None:
        """Makes the database of past calls."""
        call_log.opened(self.phone.storage)

    def main(self) -> Screen:
        """Opens the past calls."""
        return Calls()

    def open(self, intent: Intent) -> bool:
        """Shows the keypad with a number, or calls it."""
        if intent.action not in (CALL, DIAL, VIEW) or not (intent.data.startswith("tel:") or intent.action == DIAL):
            return False
        number = intent.path if intent.data else ""
        if intent.action == CALL:
            self.call(number)
        else:
            self.phone.open_screen(PACKAGE, Keypad(number))
        return True

    def call(self, number: str) -> None:
        """Calls a number."""
        if number:
            self.phone.services.calls[number] = "active"
            call_log.add(self.log, number, call_log.OUTGOING, self.phone.now)
            self.phone.open_screen(PACKAGE, InCall(number))

    def name_of(self, number: str) -> str:
        """Returns the name of the contact with a number; the number itself if there is none."""
        wanted = telephony.line(number)
        book = contacts.numbers(contacts.opened(self.phone.storage))
        return next((name for name, known in book if telephony.line(known) == wanted), number)

    @property
    def log(self) -> sqlite3.Connection:
        """The database of past calls."""
        return call_log.opened(self.phone.storage)


class Calls(Screen):
    """Favorites, past calls and contacts."""

    app: Dialer

    def __init__(self) -> None:
        super().__init__()
        self.place, self.search = "Recents", TextInput()

    def build(self) -> View:
        """Lists the calls or people of the place that is chosen, or those that the search finds."""
        field = TextField(self.search, "Search contacts", "open_search_bar", radius=24)
        rows = [*self._running(), *(self._people() if self.search.text else self._rows())]
        nothing = {"Favorites": "No favorites yet", "Recents": "Your call history is empty", "Contacts": "No contacts"}
        body = ListView([*rows, Space(80)], self.place) if rows else Empty(nothing[self.place], "phone_outline")
        keypad = Fab("dialpad", "key pad", lambda: self.push(Keypad()), "dialpad_fab")
        return Scaffold(field, body, fab=keypad, bottom=BottomNavigation(PLACES, self.place, self._go))

    def _running(self) -> list[View]:
        """Returns the rows of the current calls."""
        states = self.phone.services.calls
        words = {"incoming": "Incoming call", "active": "Ongoing call", "held": "On hold"}
        return [self._call(number, words.get(state, state)) for number, state in states.items()]

    def _call(self, number: str, state: str) -> View:
        icon, name = Icon("phone_in_talk", 24, GREEN), self.app.name_of(number)
        return ListItem(name, state, lambda: self.push(InCall(number)), leading=icon, bg="#e6f4ea")

    def _rows(self) -> Sequence[View]:
        return self._history() if self.place == "Recents" else self._people(self.place == "Favorites")

    def _people(self, starred: bool = False) -> list[View]:
        book = contacts.opened(self.phone.storage)
        rows = []
        for id, name in contacts.listing(book, self.search.text, starred):
            person = contacts.get(book, id)
            number = person.phones[0][0] if person and person.phones else ""
            rows.append(ListItem(name, number, partial(self.app.call, number), leading=Avatar(name)))
        return rows

    def _history(self) -> list[View]:
        return [self._past(call) for call in call_log.calls(self.app.log)]

    def _past(self, call: call_log.Call) -> View:
        icon = Icon(ICONS.get(call.kind, "phone"), color=RED if call.kind == call_log.MISSED else theme.SECONDARY)
        when = f"{self.phone.local(call.date):%b %-d %H:%M}"
        again = IconButton("phone_outline", f"Call {call.number}", partial(self.app.call, call.number))
        forget = Menu([("Delete", lambda: call_log.delete(self.app.log, call.id))])
        return ListItem(
            self.app.name_of(call.number), when, lambda: self.push(Keypad(call.number)), lambda: self.push(forget),
            icon, again,
        )  # fmt: skip

    def _go(self, place: str) -> None:
        self.place = place
        self.search.set("")


class Keypad(Screen):
    """The keypad: a number is typed and called."""

    app: Dialer

    def __init__(self, number: str = "") -> None:
        super().__init__()
        self.number = number

    def build(self) -> View:
        """Shows the number, the keys and the button that calls."""
        name = self.app.name_of(self.number) if self.number else ""
        known = Text(name if name != self.number else "", 14, theme.SECONDARY, align="center")
        erase = IconButton("backspace_outline", "backspace", self._erase, "deleteButton")
        shown = Row(
            [Space(width=44), Text(self.number, 30, align="center", flex=1, id="digits"), erase], pad=(8, 4, 8, 4)
        )
        keys = Grid([self._key(key, letters) for key, letters in KEYS.items()], 3, 4, (28, 4, 28, 4))
        dial = _disc("phone", "dial", partial(self.app.call, self.number), "dialpad_floating_action_button", GREEN)
        parts = [Space(flex=1), known, shown, keys, Row([dial], justify="center", pad=(0, 8, 0, 16))]
        return Scaffold("", Column(parts), self.pop)

    def _key(self, key: str, letters: str) -> View:
        parts = [
            Text(key, 26, align="center", important=False),
            Text(letters, 10, theme.SECONDARY, align="center", important=False),
        ]
        return View(
            "android.widget.FrameLayout", parts, desc=f"{key},{letters}" if letters else key, height=64, radius=12,
            on_tap=partial(self._type, key), justify="center", on_long=partial(self._type, "+") if key == "0" else None,
        )  # fmt: skip

    def _type(self, key: str) -> None:
        self.number += key

    def _erase(self) -> None:
        self.number = self.number[:-1]


def _disc(icon: str, desc: str, on_tap: Action, id: str, color: str) -> View:
    """Returns a large round button."""
    return View(
        "android.widget.ImageButton", icon=icon, desc=desc, on_tap=on_tap, id=id, color="#ffffff", size=28, bg=color,
        radius=32, width=64, height=64,
    )  # fmt: skip


class InCall(Screen):
    """One call. Nobody answers outgoing calls; incoming ones can be answered or declined."""

    app: Dialer

    def __init__(self, number: str) -> None:
        super().__init__()
        self.number = number
        self.muted = self.loud = False

    def build(self) -> View:
        """Shows who is called and what can be done."""
        state = self.phone.services.calls.get(self.number, "ended")
        words = {"incoming": "Incoming call", "active": "Calling…", "held": "On hold", "ended": "Call ended"}
        name = self.app.name_of(self.number)
        heading = [
            Text(words.get(state, state), 14, theme.SECONDARY, align="center", id="contactgrid_status_text"),
            Text(name, 28, align="center", max_lines=2, id="contactgrid_contact_name"),
            Text(self.number if name != self.number else "", 14, theme.SECONDARY, align="center"),
        ]
        buttons = self._answering() if state == "incoming" else self._talking(state)
        return Column([Space(80), *heading, Space(flex=1), *buttons, Space(40)], gap=8)

    def _answering(self) -> list[View]:
        decline = Button("Decline", self._decline, bg=RED)
        return [Row([decline, Button("Answer", self._answer, bg=GREEN)], gap=40, justify="center")]

    def _talking(self, state: str) -> list[View]:
        if state == "ended":
            return [Row([Button("Close", self.pop, kind="text")], justify="center")]
        mute = self._switch("microphone_off", "Mute", "muted")
        speaker = self._switch("volume_high", "Speaker", "loud")
        end = _disc("phone_hangup", "End call", self._end, "incall_end_call", RED)
        return [Row([mute, speaker], gap=40, justify="center"), Space(24), Row([end], justify="center")]

    def _switch(self, icon: str, label: str, name: str) -> View:
        on = getattr(self, name)
        parts = [
            Icon(icon, 26, theme.PRIMARY if on else theme.SECONDARY),
            Text(label, 12, align="center", important=False),
        ]
        return View(
            "android.widget.CompoundButton", parts, desc=label, checkable=True, checked=on, width=72, gap=4,
            on_tap=partial(setattr, self, name, not on),
        )  # fmt: skip

    def _answer(self) -> None:
        self.phone.services.calls[self.number] = "active"
        call_log.add(self.app.log, self.number, call_log.INCOMING, self.now)

    def _decline(self) -> None:
        call_log.add(self.app.log, self.number, call_log.REJECTED, self.now)
        self._end()

    def _end(self) -> None:
        self.phone.services.calls.pop(self.number, None)
        self.pop()


APP = Dialer
