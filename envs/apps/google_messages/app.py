"""Messages on AndroidLab's phone, after Google's: conversations over Android's telephony provider."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.phone.app import DatabaseApp, Host, Screen
from coach_gym.envs.phone.intents import CATEGORY
from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.phone.providers.contacts import pretty
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Empty,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Text,
    TextField,
)

PACKAGE = "com.google.android.apps.messaging"


class Messaging(DatabaseApp):
    """The Messages app."""

    package = PACKAGE
    activity = ".ui.ConversationListActivity"
    role = f"{CATEGORY}APP_MESSAGING"
    label = "Messages"
    icon = "message_text"
    color = "#1a73e8"
    path = telephony.PATH
    schema = telephony.SCHEMA

    def main(self) -> Screen:
        """Shows all conversations."""
        return Conversations()

    def name_of(self, number: str) -> str:
        """Returns whose number it is: the name in the address book, or the number itself."""
        book = contacts.numbers(contacts.opened(self.phone.storage))
        names = (name for name, known in book if telephony.line(known) == telephony.line(number))
        return next(names, pretty(number))


def write_to(phone: Host, number: str, name: str) -> None:
    """Opens the conversation with a number, as other apps ask for."""
    phone.open_screen(PACKAGE, Conversation(number, name))


class Conversations(Screen):
    """Everybody one has exchanged messages with, the latest first."""

    app: Messaging

    def build(self) -> View:
        """Lists the conversations."""
        rows = [
            ListItem(self.app.name_of(entry.address), entry.snippet, partial(self._open, entry.address))
            for entry in telephony.conversations(self.app.db)
        ]
        return Scaffold("Messages", ListView(rows) if rows else Empty("No conversations", "message_outline"))

    def _open(self, address: str) -> None:
        self.push(Conversation(address, self.app.name_of(address)))


class Conversation(Screen):
    """The messages with one number, and a field for the next."""

    app: Messaging

    def __init__(self, address: str, name: str) -> None:
        super().__init__()
        self.address, self.name, self.input = address, name, TextInput()

    def build(self) -> View:
        """Shows the messages, and the field for another."""
        thread = telephony.thread(self.app.db, self.address)
        said = telephony.messages(self.app.db, thread) if thread is not None else []
        hint = f"Texting with {self.name}"
        field = TextField(self.input, hint, "compose_message_text", desc=hint, flex=1, radius=22)
        send = IconButton("send", "Send SMS", self._send, color=theme.PRIMARY)
        bubbles = ListView([self._bubble(message) for message in said], from_end=True)
        return Scaffold(self.name, Column([bubbles, Row([field, send], 4, (12, 6, 6, 8))]), self.pop)

    def _bubble(self, message: telephony.Message) -> View:
        mine = message.kind != telephony.INBOX
        text = Text(message.body, 15, pad=(12, 8, 12, 8), bg="#d3e3fd" if mine else theme.SURFACE_VARIANT, radius=14)
        return Row([text], pad=(16, 3, 16, 3), justify="end" if mine else "start")

    def _send(self) -> None:
        if self.input.text.strip():
            telephony.insert(self.app.db, self.address, self.input.text, telephony.SENT, self.now)
            self.input.set("")


APP = Messaging
