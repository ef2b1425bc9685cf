"""Text messages: Android's telephony provider, as functions on its database.

Messages are rows of `sms`; a row of `threads` sums up those with one person. Triggers keep its summary (last message,
count, unread) up to date, as on Android.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta

from coach_gym.envs.phone.app import Host
from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.records import as_integer, as_text
from coach_gym.envs.phone.services import Services
from coach_gym.envs.phone.storage import Storage

PATH = "/data/data/com.android.providers.telephony/databases/mmssms.db"

SMS_DELIVER = "android.provider.Telephony.SMS_DELIVER"
"""The broadcast that a text message has arrived; its extras are the sender's `address` and the `body`."""

INBOX, SENT, FAILED = 1, 2, 5
"""Values of `sms.type`."""

_EPOCH = datetime(1970, 1, 1)
_SAME_LINE = 10  # the last digits that identify a number: +1 201 555 0123 is (201) 555-0123
_SUMMARY = """
    UPDATE threads SET
        message_count = (SELECT count(*) FROM sms WHERE thread_id = {row}.thread_id),
        read = NOT EXISTS (SELECT 1 FROM sms WHERE thread_id = {row}.thread_id AND read = 0),
        (date, snippet) = (SELECT date, body FROM sms WHERE thread_id = {row}.thread_id ORDER BY date DESC, _id DESC)
    WHERE _id = {row}.thread_id;"""

SCHEMA = f"""
CREATE TABLE canonical_addresses (_id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT);
CREATE TABLE threads (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, date INTEGER DEFAULT 0, message_count INTEGER DEFAULT 0,
    recipient_ids TEXT, snippet TEXT, snippet_cs INTEGER DEFAULT 0, read INTEGER DEFAULT 1,
    archived INTEGER DEFAULT 0, type INTEGER DEFAULT 0, error INTEGER DEFAULT 0, has_attachment INTEGER DEFAULT 0);
CREATE TABLE sms (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id INTEGER, address TEXT, person INTEGER, date INTEGER,
    date_sent INTEGER DEFAULT 0, protocol INTEGER, read INTEGER DEFAULT 0, status INTEGER DEFAULT -1, type INTEGER,
    reply_path_present INTEGER, subject TEXT, body TEXT, service_center TEXT, locked INTEGER DEFAULT 0,
    sub_id INTEGER DEFAULT -1, error_code INTEGER DEFAULT -1, creator TEXT, seen INTEGER DEFAULT 0);
CREATE INDEX sms_thread_id ON sms (thread_id);
CREATE TRIGGER sms_update_thread_on_insert AFTER INSERT ON sms BEGIN {_SUMMARY.format(row="NEW")} END;
CREATE TRIGGER sms_update_thread_read_on_update AFTER UPDATE OF read ON sms BEGIN {_SUMMARY.format(row="NEW")} END;
CREATE TRIGGER sms_update_thread_on_delete AFTER DELETE ON sms BEGIN {_SUMMARY.format(row="OLD")}
    DELETE FROM threads WHERE _id = OLD.thread_id AND message_count = 0;
END;
"""


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        id: Row in `sms`.
        address: The other phone's number.
        body: The text.
        kind: INBOX, SENT or FAILED.
        date: When it was sent or received.
    """

    id: int
    address: str
    body: str
    kind: int
    date: datetime


@dataclass(frozen=True)
class Conversation:
    """All messages with one number, summed up by the last one.

    Attributes:
        id: Row in `threads`.
        address: The other phone's number.
        snippet: The text of the last message.
        date: When the last message was sent or received.
        read: Whether all messages have been read.
    """

    id: int
    address: str
    snippet: str
    date: datetime
    read: bool


def opened(storage: Storage) -> sqlite3.Connection:
    """Returns the database's connection; it is made again if the file is missing."""
    return storage.create_database(PATH, SCHEMA)


def line(number: str) -> str:
    """Returns what all spellings of a phone number share: its last digits, or the text if it has no digits."""
    return "".join(c for c in number if c.isdecimal())[-_SAME_LINE:] or number.strip().casefold()


def millis(time: datetime) -> int:
    """Returns a time of the phone's clock as the database stores it: milliseconds since 1970."""
    return (time - _EPOCH) // timedelta(milliseconds=1)


def _time(milliseconds: int) -> datetime:
    return from_seconds(milliseconds / 1000)


# calls


IDLE, RINGING, OFFHOOK = 0, 1, 2
"""States of the telephone line."""


def line_state(services: Services) -> int:
    """Returns what the telephone line does: IDLE, RINGING or OFFHOOK."""
    states = services.calls.values()
    return RINGING if "incoming" in states else OFFHOOK if states else IDLE


# reading


def conversations(db: sqlite3.Connection) -> list[Conversation]:
    """Returns all conversations, the one with the latest message first."""
    rows = db.execute(
        f"SELECT threads._id, {as_text('address')}, {as_text('snippet')}, {as_integer('date')}, read FROM threads"
        " JOIN canonical_addresses ON canonical_addresses._id = CAST(recipient_ids AS INTEGER)"
        " WHERE message_count > 0 ORDER BY date DESC, threads._id DESC"
    )
    return [Conversation(id, address, body, _time(date), bool(read)) for id, address, body, date, read in rows]


def thread(db: sqlite3.Connection, address: str) -> int | None:
    """Returns the id of the conversation with a number, or None."""
    rows = db.execute(
        f"SELECT threads._id, {as_text('address')} FROM threads"
        " JOIN canonical_addresses ON canonical_addresses._id = CAST(recipient_ids AS INTEGER)"
    )
    return next((id for id, known in rows if line(known) == line(address)), None)


def messages(db: sqlite3.Connection, thread: int | None = None) -> list[Message]:
    """Returns the messages of a conversation, or of all, the oldest first."""
    rows = db.execute(
        f"SELECT _id, {as_text('address')}, {as_text('body')}, {as_integer('type')}, {as_integer('date')} FROM sms"
        " WHERE ?1 IS NULL OR thread_id = ?1 ORDER BY date, _id",
        (thread,),
    )
    return [Message(id, address, body, kind, _time(date)) for id, address, body, kind, date in rows]


# writing


def insert(
    db: sqlite3.Connection, address: str, body: str, kind: int, date: datetime, read: bool = True
) -> int:
    """Adds a message to the conversation with a number, which is created if it is missing. Returns its id."""
    known = thread(db, address)
    at = millis(date)
    message = db.execute(
        "INSERT INTO sms (thread_id, address, body, type, date, date_sent, read, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (_create(db, address) if known is None else known, address, body, kind, at, at, int(read), int(read)),
    )
    return message.lastrowid or 0


def deliver(phone: Host, address: str, body: str) -> None:
    """Delivers a text message. The messaging app puts it into the inbox and tells the user."""
    phone.broadcast(Intent(SMS_DELIVER, extras={"address": address, "body": body}))


def mark_read(db: sqlite3.Connection, thread: int) -> None:
    """Marks all messages of a conversation as read."""
    db.execute("UPDATE sms SET read = 1, seen = 1 WHERE thread_id = ? AND read = 0", (thread,))


def delete_message(db: sqlite3.Connection, id: int) -> None:
    """Removes a message; a conversation goes with its last message."""
    db.execute("DELETE FROM sms WHERE _id = ?", (id,))


def delete_thread(db: sqlite3.Connection, id: int) -> None:
    """Removes a conversation with all its messages."""
    db.execute("DELETE FROM sms WHERE thread_id = ?", (id,))


def _create(db: sqlite3.Connection, address: str) -> int:
    recipient = db.execute("INSERT INTO canonical_addresses (address) VALUES (?)", (address,)).lastrowid
    return db.execute("INSERT INTO threads (recipient_ids) VALUES (?)", (str(recipient),)).lastrowid or 0
