"""Simple SMS Messenger: the conversations, the messages of one, and a new conversation."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from coach_gym.envs.phone.app import App, Confirm, Menu, Screen
from coach_gym.envs.phone.intents import CALL, CATEGORY, EXTRA_TEXT, SEND, Answer, Intent
from coach_gym.envs.phone.notifications import Notification
from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.phone.providers.telephony import Conversation, Message, line
from coach_gym.envs.phone.screens.pages import SelectionPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import Align, TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Avatar,
    Button,
    Column,
    Empty,
    Fab,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

GAP = timedelta(minutes=5)  # a longer silence between two messages is marked with the time
LOOK: dict[int, tuple[str, str, Align]] = {  # of a message by its type: background, colour of its text, side
    telephony.INBOX: (theme.SURFACE_VARIANT, theme.TEXT, "start"),
    telephony.SENT: (theme.PRIMARY, theme.ON_PRIMARY, "end"),
    telephony.FAILED: (theme.ERROR, theme.ON_PRIMARY, "end"),
}


class Messages(App):
    """The Simple SMS Messenger app."""

    package = "com.simplemobiletools.smsmessenger"
    activity = ".activities.MainActivity"
    role = f"{CATEGORY}APP_MESSAGING"
    label = "Simple SMS Messenger"
    icon = "message_text"
    color = "#f57c00"

    def install(self) -> None:
        """Makes the database of messages."""
        telephony.opened(self.phone.storage)

    def main(self) -> Screen:
        """Opens the list of conversations."""
        return Conversations()

    @property
    def sms(self) -> sqlite3.Connection:
        """The messages' database."""
        return telephony.opened(self.phone.storage)

    def names(self) -> dict[str, str]:
        """Returns the names of contacts by the `line` of their numbers."""
        book = contacts.opened(self.phone.storage)
        return {line(number): name for name, number in contacts.numbers(book)}

    def read(self, address: str) -> Thread:
        """Marks the messages of a number as read and returns the screen that shows them."""
        thread = telephony.thread(self.sms, address)
        if thread is not None:
            telephony.mark_read(self.sms, thread)
        return Thread(address)

    def show(self, address: str) -> None:
        """Opens the conversation with a number, whatever app is in front."""
        self.phone.open_screen(self.package, self.read(address))

    def open(self, intent: Intent) -> bool:
        """Writes a text message: `sms:` and `smsto:` links, and texts that are shared."""
        if intent.action == SEND and intent.type == "text/plain":
            recipient = NewConversation(intent.extra(EXTRA_TEXT))
            self.phone.open_screen(self.package, recipient)
            recipient.focus(recipient.input)
            return True
        if not intent.data.startswith(("sms:", "smsto:")):
            return False
        self.phone.launch(self.package)
        thread = self.read(intent.path)
        thread.input.set(intent.extra("sms_body"))
        self.phone.push(self, thread)
        return True

    def received(self, intent: Intent) -> Answer | None:
        """Puts a text message that arrives into the inbox and the notification shade."""
        address, body = intent.extra("address"), intent.extra("body")
        if intent.action == telephony.SMS_DELIVER and address:
            telephony.insert(self.sms, address, body, telephony.INBOX, self.phone.now, read=False)
            name = self.names().get(line(address), address)
            self.phone.post(Notification(self.package, name, body, self.phone.now, partial(self.show, address)))
        return None

    def send(self, address: str, body: str) -> None:
        """Sends a message, which fails in airplane mode."""
        offline = self.phone.storage.settings.get(("global", "airplane_mode_on")) == "1"
        kind = telephony.FAILED if offline else telephony.SENT
        telephony.insert(self.sms, address, body, kind, self.phone.now)


class MessagesScreen(Screen):
    """A screen from which conversations are opened."""

    app: Messages

    def open_thread(self, address: str, text: str = "", write: bool = False) -> None:
        """Opens a conversation, perhaps with a text that is ready to be sent or with the cursor to write one."""
        thread = self.app.read(address)
        thread.input.set(text)
        self.push(thread)
        if write:
            self.focus(thread.input)

    def ask_to_delete(self, what: str, count: int, then: Callable[[], None]) -> None:
        """Asks whether to delete so many conversations or messages."""
        these = f"{count} {what}{'s' if count > 1 else ''}"
        self.push(Confirm("", f"Are you sure you want to delete {these}?", "Yes", then, "No"))


class Conversations(SelectionPage[int], MessagesScreen):
    """All conversations, the latest first; long presses select some to delete."""

    def __init__(self) -> None:
        super().__init__()
        self.search = TextInput()

    def build(self) -> View:
        """Lists the conversations, or those that the search finds."""
        names = self.app.names()
        words = self.search.text.strip().casefold()
        rows = []
        for conversation in telephony.conversations(self.app.sms):
            name = names.get(line(conversation.address), conversation.address)
            if words in f"{name} {conversation.snippet}".casefold():
                rows.append(self._row(conversation, name))
        body = ListView(rows) if rows else Empty("No stored conversations have been found", "message_outline")
        if self.selected:
            ask = partial(self.ask_to_delete, "conversation", len(self.selected), self._delete)
            return self.selecting(body, [IconButton("delete_outline", "Delete", ask, "cab_delete")])
        fab = Fab("plus", "New conversation", self._new, "conversations_fab")
        return Scaffold(TextField(self.search, "Search", radius=24), body, fab=fab)

    def _row(self, conversation: Conversation, name: str) -> View:
        toggle = partial(self.toggle, conversation.id)
        opened = partial(self.open_thread, conversation.address)
        when = _stamp(self.phone.local(conversation.date), self.local_now)
        stamp = Text(when, 12, theme.SECONDARY, bold=not conversation.read)
        return ListItem(
            name, conversation.snippet, toggle if self.selected else opened, toggle, Avatar(name), stamp,
            selected=conversation.id in self.selected,
        )  # fmt: skip

    def _new(self) -> None:
        screen = NewConversation()
        self.push(screen)
        self.focus(screen.input)

    def toggle(self, item: int) -> None:
        """Selects a conversation, or no longer, and puts the keyboard away."""
        super().toggle(item)
        self.phone.focus = None

    def _delete(self) -> None:
        for id in self.selected:
            telephony.delete_thread(self.app.sms, id)
        self.unselect()

    def on_back(self) -> bool:
        """Ends the selection and the search."""
        searching = bool(self.search.text)
        self.search.set("")
        return super().on_back() or searching


class NewConversation(MessagesScreen):
    """Asks for a number, or lets a contact be chosen.

    Args:
        text: Message to be sent to whoever is chosen.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.input = TextInput()
        self.text = text

    def build(self) -> View:
        """Shows the field and the contacts that match it."""
        book = contacts.opened(self.phone.storage)
        words = self.input.text.strip().casefold()
        rows = [self._row(*entry) for entry in contacts.numbers(book) if any(words in e.casefold() for e in entry)]
        field = TextField(self.input, "Add Contact or Number…", "new_conversation_address", self._confirm, flex=1)
        confirm = IconButton("check", "OK", self._confirm, "new_conversation_confirm")
        body = Column([Row([field, confirm], 4, (16, 4, 8, 8)), ListView(rows)])
        return Scaffold("New conversation", body, self.pop)

    def _row(self, name: str, number: str) -> View:
        return ListItem(name, number, partial(self._start, number), leading=Avatar(name))

    def _confirm(self) -> None:
        if self.input.text.strip():
            self._start(self.input.text.strip())

    def _start(self, number: str) -> None:
        self.pop()
        self.open_thread(number, self.text, write=True)


class Thread(SelectionPage[int], MessagesScreen):
    """The messages with one number and the field for the next one.

    Args:
        address: Phone number of the other side.
    """

    activity = "com.simplemobiletools.smsmessenger.activities.ThreadActivity"

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.input = TextInput()

    def build(self) -> View:
        """Shows the messages with the times between them."""
        rows: list[View] = []
        before: datetime | None = None
        for message in self._messages():
            if before is None or message.date - before > GAP:
                rows.append(_time_mark(self.phone.local(message.date), self.local_now))
            rows.append(self._bubble(message))
            before = message.date
        body = ListView(rows, pad=(12, 4, 12, 4), from_end=True)
        return Scaffold(self._title(), body, self.leave, self._actions(), bottom=self._writing())

    def _messages(self) -> list[Message]:
        thread = telephony.thread(self.app.sms, self.address)
        return [] if thread is None else telephony.messages(self.app.sms, thread)

    def _title(self) -> str:
        if self.selected:
            return f"{len(self.selected)} selected"
        return self.app.names().get(line(self.address), self.address)

    def _actions(self) -> list[View]:
        if not self.selected:
            delete_all = partial(self.ask_to_delete, "conversation", 1, self._delete_all)
            return [
                IconButton("phone", "Dial number", lambda: self.phone.start(Intent(CALL, f"tel:{self.address}"))),
                IconButton("dots_vertical", "More options", lambda: self.push(Menu([("Delete", delete_all)]))),
            ]
        ask = partial(self.ask_to_delete, "message", len(self.selected), self._delete)
        delete = IconButton("delete_outline", "Delete", ask, "cab_delete")
        if len(self.selected) > 1:
            return [delete]
        return [
            IconButton("content_copy", "Copy to clipboard", self._copy, "cab_copy_to_clipboard"),
            IconButton("share_outline", "Forward message", self._forward, "cab_forward_message"),
            delete,
        ]

    def _bubble(self, message: Message) -> View:
        background, color, side = LOOK.get(message.kind, LOOK[telephony.SENT])  # drafts, too
        toggle = partial(self.toggle, message.id)
        bubble = Text(
            message.body, 15, color, id="thread_message_body", bg=background, radius=16, pad=(14, 8, 14, 8),
            on_long=toggle, on_tap=toggle if self.selected else None, selected=message.id in self.selected,
            border=theme.TEXT if message.id in self.selected else None,
        )  # fmt: skip
        state = [Text("Message not sent", 12, theme.ERROR)] if message.kind == telephony.FAILED else []
        return Column([bubble, *state], align=side, pad=(0, 3, 48, 3) if side == "start" else (48, 3, 0, 3))

    def _writing(self) -> View:
        field = TextField(self.input, "Type a message…", "thread_type_message", flex=1, radius=22)
        send = Button("SMS", self._send, "thread_send_message", "text", bool(self.input.text.strip()))
        return Row([field, send], 4, (12, 4, 4, 6))

    def _send(self) -> None:
        self.app.send(self.address, self.input.text.strip())
        self.input.set("")
        self.scrolls["list"].offset = self.scrolls["list"].limit  # to the end, where it stays

    def _delete_all(self) -> None:
        thread = telephony.thread(self.app.sms, self.address)
        if thread is not None:
            telephony.delete_thread(self.app.sms, thread)
        self.pop()

    # selected messages

    def _chosen_text(self) -> str:
        return next(message.body for message in self._messages() if message.id in self.selected)

    def _copy(self) -> None:
        self.phone.clipboard = self._chosen_text()
        self.notify("Value copied to clipboard")
        self.unselect()

    def _forward(self) -> None:
        screen = NewConversation(self._chosen_text())
        self.unselect()
        self.push(screen)

    def _delete(self) -> None:
        for id in self.selected:
            telephony.delete_message(self.app.sms, id)
        self.unselect()
        if not self._messages():
            self.pop()


def _stamp(date: datetime, now: datetime) -> str:
    """Returns the time of a message if it is of today, else its day."""
    if date.date() == now.date():
        return date.strftime("%H:%M")
    return date.strftime("%b %-d" if date.year == now.year else "%b %-d, %Y")


def _time_mark(date: datetime, now: datetime) -> View:
    day = "" if date.date() == now.date() else f"{_stamp(date, now)}, "
    return Text(f"{day}{date:%H:%M}", 12, theme.SECONDARY, align="center", pad=(0, 8, 0, 4), id="thread_date_time")


APP = Messages
