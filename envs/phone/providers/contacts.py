"""The address book: Android's contacts provider, as functions on its database.

One person is a row of `raw_contacts` (and of `contacts`, which on a real phone joins raw contacts of several
accounts), and a row of `data` for each name, number, address or note, told apart by its MIME type.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field

PATH = "/data/data/com.android.providers.contacts/databases/contacts2.db"

PHONE_TYPES = {"Home": 1, "Mobile": 2, "Work": 3, "Other": 7, "Main": 12}
"""Labels of phone numbers and their codes in `data2`."""
_PHONE_LABELS = {code: label for label, code in PHONE_TYPES.items()}
_EMAIL_OTHER = 3
_SOURCE_NAME, _SOURCE_COMPANY, _SOURCE_PHONE, _SOURCE_EMAIL = 40, 30, 20, 10

_ITEM = "vnd.android.cursor.item/"
NAME, PHONE, EMAIL, ORGANIZATION, NOTE, GROUP = range(1, 7)
"""Ids in `mimetypes` of the kinds of data used here."""
_MIMETYPES = ("name", "phone_v2", "email_v2", "organization", "note", "group_membership")

SCHEMA = """
CREATE TABLE accounts (_id INTEGER PRIMARY KEY AUTOINCREMENT, account_name TEXT, account_type TEXT, data_set TEXT);
CREATE TABLE mimetypes (_id INTEGER PRIMARY KEY AUTOINCREMENT, mimetype TEXT NOT NULL);
CREATE TABLE contacts (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, name_raw_contact_id INTEGER REFERENCES raw_contacts(_id),
    photo_id INTEGER, custom_ringtone TEXT, send_to_voicemail INTEGER NOT NULL DEFAULT 0,
    starred INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 2147483647,
    has_phone_number INTEGER NOT NULL DEFAULT 0, lookup TEXT, contact_last_updated_timestamp INTEGER);
CREATE TABLE raw_contacts (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, account_id INTEGER REFERENCES accounts(_id), sourceid TEXT,
    raw_contact_is_read_only INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 1,
    dirty INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0,
    contact_id INTEGER REFERENCES contacts(_id), aggregation_mode INTEGER NOT NULL DEFAULT 0,
    custom_ringtone TEXT, send_to_voicemail INTEGER NOT NULL DEFAULT 0, starred INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 2147483647, display_name TEXT, display_name_alt TEXT,
    display_name_source INTEGER NOT NULL DEFAULT 0, sort_key TEXT COLLATE NOCASE);
CREATE TABLE data (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, package_id INTEGER, mimetype_id INTEGER REFERENCES mimetypes(_id) NOT NULL,
    raw_contact_id INTEGER REFERENCES raw_contacts(_id) NOT NULL, is_read_only INTEGER NOT NULL DEFAULT 0,
    is_primary INTEGER NOT NULL DEFAULT 0, is_super_primary INTEGER NOT NULL DEFAULT 0,
    data_version INTEGER NOT NULL DEFAULT 0, data1 TEXT, data2 TEXT, data3 TEXT, data4 TEXT, data5 TEXT, data6 TEXT,
    data7 TEXT, data8 TEXT, data9 TEXT, data10 TEXT, data11 TEXT, data12 TEXT, data13 TEXT, data14 TEXT, data15 BLOB);
CREATE TABLE groups (
    _id INTEGER PRIMARY KEY AUTOINCREMENT, package_id INTEGER, account_id INTEGER REFERENCES accounts(_id),
    sourceid TEXT, version INTEGER NOT NULL DEFAULT 1, dirty INTEGER NOT NULL DEFAULT 0, title TEXT, notes TEXT,
    deleted INTEGER NOT NULL DEFAULT 0, group_visible INTEGER NOT NULL DEFAULT 1,
    favorites INTEGER NOT NULL DEFAULT 0, group_is_read_only INTEGER NOT NULL DEFAULT 0);
CREATE INDEX data_raw_contact_id ON data (raw_contact_id);
CREATE TRIGGER raw_contacts_deleted BEFORE DELETE ON raw_contacts BEGIN
    DELETE FROM data WHERE raw_contact_id = OLD._id;
    DELETE FROM contacts WHERE _id = OLD.contact_id;
END;
INSERT INTO accounts (_id) VALUES (1);
""" + "\n".join(
    f"INSERT INTO mimetypes VALUES ({code}, '{_ITEM}{name}');" for code, name in enumerate(_MIMETYPES, start=1)
)


@dataclass
class Contact:
    """One person. Two are equal if all that is known of them is, whatever their ids.

    Attributes:
        phones: (number, label) pairs; labels are the keys of `PHONE_TYPES`.
        title: the position at the company.
        labels: titles of the groups that the person is in.
        id: of the row in `raw_contacts`, 0 if there is none yet.
    """

    first: str = ""
    last: str = ""
    company: str = ""
    title: str = ""
    phones: list[tuple[str, str]] = field(default_factory=list)
    emails: list[str] = field(default_factory=list)
    note: str = ""
    starred: bool = False
    labels: list[str] = field(default_factory=list)
    id: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """What the person is listed as: the name, else the company, number or e-mail address."""
        return self._named()[0]

    def _named(self) -> tuple[str, int]:
        """The display name and the code of where it comes from."""
        full = f"{self.first} {self.last}".strip()
        phone, email = self.phones[0][0] if self.phones else "", self.emails[0] if self.emails else ""
        sources = (_SOURCE_NAME, _SOURCE_COMPANY, _SOURCE_PHONE, _SOURCE_EMAIL)
        pairs = zip((full, self.company, phone, email), sources, strict=True)
        return next(((text, source) for text, source in pairs if text), ("", 0))


def digits(number: str) -> str:
    """The digits of a phone number, which is all that tells two numbers apart."""
    return re.sub(r"\D", "", number)


# reading


def listing(db: sqlite3.Connection, words: str = "", starred: bool = False) -> list[tuple[int, str]]:
    """Id and name of everybody, or of those about whom something holds `words`, by name."""
    return db.execute(
        "SELECT _id, display_name FROM raw_contacts WHERE deleted = 0 AND starred >= ?1 AND (?2 = '' OR EXISTS ("
        "  SELECT 1 FROM data WHERE raw_contact_id = raw_contacts._id"
        "  AND mimetype_id <= ?3 AND instr(lower(data1), ?2)))"
        " ORDER BY sort_key, _id",
        (int(starred), words.strip().lower(), NOTE),
    ).fetchall()


def get(db: sqlite3.Connection, id: int) -> Contact | None:
    """Everything about one person; None if there is no such row (any more)."""
    return next(iter(_read(db, "AND raw_contacts._id = ?", (id,))), None)


def everybody(db: sqlite3.Connection) -> list[Contact]:
    """The whole address book, by name."""
    return _read(db, "", ())


def numbers(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """(name, number) of every phone number, by name."""
    return db.execute(
        "SELECT display_name, data1 FROM data JOIN raw_contacts ON raw_contact_id = raw_contacts._id"
        " WHERE mimetype_id = ? AND deleted = 0 ORDER BY sort_key, data._id",
        (PHONE,),
    ).fetchall()


def groups(db: sqlite3.Connection) -> list[str]:
    """Titles of the labels that people can be given."""
    return [title for (title,) in db.execute("SELECT title FROM groups WHERE deleted = 0 ORDER BY title")]


def _read(db: sqlite3.Connection, where: str, values: tuple) -> list[Contact]:
    rows = db.execute(
        "SELECT raw_contacts._id, starred, mimetype_id, data1, data2, data3, data4, title FROM raw_contacts"
        " LEFT JOIN data ON raw_contact_id = raw_contacts._id"
        f" LEFT JOIN groups ON mimetype_id = {GROUP} AND groups._id = CAST(data1 AS INTEGER)"
        f" WHERE raw_contacts.deleted = 0 {where} ORDER BY sort_key, raw_contacts._id, data._id",
        values,
    )
    people: dict[int, Contact] = {}
    for id, starred, mimetype, *data in rows:
        contact = people.setdefault(id, Contact(starred=bool(starred), id=id))
        _take(contact, mimetype, *(text or "" for text in data))
    return list(people.values())


def _take(contact: Contact, mimetype: int | None, *data: str) -> None:
    """Adds what one row of `data` says: its columns `data1` to `data4`, and the title of its group."""
    first, second, third, fourth, group = data
    if mimetype == NAME:
        contact.first, contact.last = second, third
    elif mimetype == PHONE:
        contact.phones.append((first, _PHONE_LABELS.get(int(second or 0), "Other")))
    elif mimetype == EMAIL:
        contact.emails.append(first)
    elif mimetype == ORGANIZATION:
        contact.company, contact.title = first, fourth
    elif mimetype == NOTE:
        contact.note = first
    elif mimetype == GROUP:
        contact.labels.append(group)


# writing


def insert(db: sqlite3.Connection, contact: Contact) -> int:
    """Adds a person. Returns the id of the new row in `raw_contacts`."""
    name, source = contact._named()
    joined = db.execute("INSERT INTO contacts (starred, has_phone_number) VALUES (?, ?)", _flags(contact)).lastrowid
    raw = db.execute(
        "INSERT INTO raw_contacts (account_id, contact_id, starred, display_name, display_name_alt,"
        " display_name_source, sort_key) VALUES (1, ?, ?, ?, ?, ?, ?)",
        (joined, int(contact.starred), name, _alternative(contact), source, name),
    ).lastrowid
    db.execute("UPDATE contacts SET name_raw_contact_id = ? WHERE _id = ?", (raw, joined))
    _insert_data(db, raw or 0, contact)
    return raw or 0


def insert_all(db: sqlite3.Connection, people: Iterable[Contact]) -> None:
    """Adds several people in one transaction."""
    db.execute("BEGIN")
    for contact in people:
        insert(db, contact)
    db.execute("COMMIT")


def update(db: sqlite3.Connection, contact: Contact) -> None:
    """Replaces all that is known of the person with `contact.id`."""
    name, source = contact._named()
    db.execute("DELETE FROM data WHERE raw_contact_id = ?", (contact.id,))
    db.execute(
        "UPDATE raw_contacts SET starred = ?, display_name = ?, display_name_alt = ?, display_name_source = ?,"
        " sort_key = ?, version = version + 1, dirty = 1 WHERE _id = ?",
        (int(contact.starred), name, _alternative(contact), source, name, contact.id),
    )
    db.execute(
        "UPDATE contacts SET starred = ?, has_phone_number = ? WHERE name_raw_contact_id = ?",
        (*_flags(contact), contact.id),
    )
    _insert_data(db, contact.id, contact)


def delete(db: sqlite3.Connection, id: int) -> None:
    """Removes a person and all data about them."""
    db.execute("DELETE FROM raw_contacts WHERE _id = ?", (id,))


def create_group(db: sqlite3.Connection, title: str) -> int:
    """The id of the label with a title, which is made if there is none."""
    found = db.execute("SELECT _id FROM groups WHERE deleted = 0 AND title = ?", (title,)).fetchone()
    if found:
        return found[0]
    return db.execute("INSERT INTO groups (account_id, title) VALUES (1, ?)", (title,)).lastrowid or 0


def _flags(contact: Contact) -> tuple[int, int]:
    return int(contact.starred), int(bool(contact.phones))


def _alternative(contact: Contact) -> str:
    return f"{contact.last}, {contact.first}" if contact.first and contact.last else contact.name


def _insert_data(db: sqlite3.Connection, raw: int, contact: Contact) -> None:
    rows: list[tuple] = []
    if contact.first or contact.last:
        rows.append((NAME, f"{contact.first} {contact.last}".strip(), contact.first, contact.last, None))
    for number, label in contact.phones:
        rows.append((PHONE, number, PHONE_TYPES[label], None, f"+{digits(number)}" if number[:1] == "+" else None))
    rows += [(EMAIL, address, _EMAIL_OTHER, None, None) for address in contact.emails]
    if contact.company or contact.title:
        rows.append((ORGANIZATION, contact.company, 1, None, contact.title or None))
    rows += [(NOTE, contact.note, None, None, None)] if contact.note else []
    rows += [(GROUP, create_group(db, title), None, None, None) for title in contact.labels]
    db.executemany(
        f"INSERT INTO data (raw_contact_id, mimetype_id, data1, data2, data3, data4) VALUES ({raw:d}, ?, ?, ?, ?, ?)",
        rows,
    )
