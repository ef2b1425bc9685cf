"""The address book: Android's contacts provider, as functions on its database.

One person is a row of `raw_contacts` (and of `contacts`, which on a real phone joins raw contacts of several
accounts), and a row of `data` for each name, number, address or note, told apart by its MIME type.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from coach_gym.envs.phone.records import as_text
from coach_gym.envs.phone.storage import Storage

PATH = "/data/data/com.android.providers.contacts/databases/contacts2.db"

PHONE_TYPES = {"Home": 1, "Mobile": 2, "Work": 3, "Other": 7, "Main": 12}
"""Labels of phone numbers and their codes in `data2`."""
EMAIL_TYPES = {"Home": 1, "Work": 2, "Other": 3}
"""Labels of e-mail addresses and their codes in `data2`."""
_AT_WORK, _BIRTHDAY, _FRIEND, _AT_HOME, _USUAL = 1, 3, 6, 1, 1
"""Codes in `data2` of organizations, events, relations, addresses and nicknames."""
_SOURCE_NAME, _SOURCE_COMPANY, _SOURCE_PHONE, _SOURCE_EMAIL = 40, 30, 20, 10

_ITEM = "vnd.android.cursor.item/"
NAME, PHONE, EMAIL, ORGANIZATION, NOTE, GROUP, EVENT, WEBSITE, RELATION, ADDRESS, NICKNAME = range(1, 12)
"""Ids in `mimetypes` of the kinds of data that this module reads and writes."""
_LABELS = {
    kind: {str(code): label for label, code in types.items()}
    for kind, types in ((PHONE, PHONE_TYPES), (EMAIL, EMAIL_TYPES))
}
_MIMETYPES = (
    "name", "phone_v2", "email_v2", "organization", "note", "group_membership", "contact_event", "website", "relation",
    "postal-address_v2", "nickname",
)  # fmt: skip

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
    """One person. Two are equal if all their fields but the ids are.

    Attributes:
        title: Position at the company.
        phones: Pairs of a number and its label, a key of `PHONE_TYPES`.
        emails: Pairs of an address and its label, a key of `EMAIL_TYPES`.
        labels: Titles of the groups that the person is in.
        friend: Name of a friend.
        address: Where the person lives or works, in one line or several.
        id: Row in `raw_contacts`; 0 if there is none yet.
    """

    first: str = ""
    last: str = ""
    company: str = ""
    title: str = ""
    phones: list[tuple[str, str]] = field(default_factory=list)
    emails: list[tuple[str, str]] = field(default_factory=list)
    note: str = ""
    starred: bool = False
    labels: list[str] = field(default_factory=list)
    birthday: date | None = None
    website: str = ""
    friend: str = ""
    address: str = ""
    nickname: str = ""
    id: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """What the person is listed as: the name, else the company, number or e-mail address."""
        return self._named()[0]

    def _named(self) -> tuple[str, int]:
        """Returns the display name and the code of its source."""
        full = f"{self.first} {self.last}".strip()
        phone, email = self.phones[0][0] if self.phones else "", self.emails[0][0] if self.emails else ""
        sources = (_SOURCE_NAME, _SOURCE_COMPANY, _SOURCE_PHONE, _SOURCE_EMAIL)
        pairs = zip((full, self.company, phone, email), sources, strict=True)
        return next(((text, source) for text, source in pairs if text), ("", 0))


def opened(storage: Storage) -> sqlite3.Connection:
    """Returns the database's connection; it is made again if the file is missing."""
    return storage.create_database(PATH, SCHEMA)


def digits(number: str) -> str:
    """Returns the digits of a phone number, which is all that matters when numbers are compared."""
    return re.sub(r"\D", "", number)


def pretty(number: str) -> str:
    """Returns a number as it is shown in the United States, also a short one: 1 (234) 567-8, (876) 543-21."""
    plain = digits(number)
    country, rest = ("1 ", plain[1:]) if plain[:1] == "1" else ("", plain)
    if plain != number or rest[:1] in ("", "0", "1") or not 7 <= len(rest) <= 10:
        return number
    return f"{country}({rest[:3]}) {rest[3:6]}-{rest[6:]}"


# reading


def listing(db: sqlite3.Connection, words: str = "", starred: bool = False) -> list[tuple[int, str]]:
    """Returns id and name of all people, or of those about whom anything contains `words`, by name."""
    return db.execute(
        f"SELECT _id, {as_text('display_name')} FROM raw_contacts"
        " WHERE deleted = 0 AND starred >= ?1 AND (?2 = '' OR EXISTS ("
        "  SELECT 1 FROM data WHERE raw_contact_id = raw_contacts._id"
        "  AND mimetype_id <= ?3 AND instr(lower(data1), ?2)))"
        " ORDER BY sort_key, _id",
        (int(starred), words.strip().lower(), NOTE),
    ).fetchall()


def get(db: sqlite3.Connection, id: int) -> Contact | None:
    """Returns everything about one person, or None if the row is missing."""
    return next(iter(_read(db, "AND raw_contacts._id = ?", (id,))), None)


def everybody(db: sqlite3.Connection) -> list[Contact]:
    """Returns the whole address book, by name."""
    return _read(db, "", ())


def numbers(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Returns (name, number) of every phone number, by name."""
    return db.execute(
        f"SELECT {as_text('display_name')}, {as_text('data1')} FROM data"
        " JOIN raw_contacts ON raw_contact_id = raw_contacts._id"
        " WHERE mimetype_id = ? AND deleted = 0 ORDER BY sort_key, data._id",
        (PHONE,),
    ).fetchall()


def members(db: sqlite3.Connection, label: str) -> list[tuple[int, str]]:
    """Returns id and name of the people with a label, by name."""
    return [(person.id, person.name) for person in everybody(db) if label in person.labels]


def groups(db: sqlite3.Connection) -> list[str]:
    """Titles of the labels that people can be given."""
    titles = db.execute(f"SELECT {as_text('title')} FROM groups WHERE deleted = 0 ORDER BY title")
    return [title for (title,) in titles]


def _read(db: sqlite3.Connection, where: str, values: tuple) -> list[Contact]:
    rows = db.execute(
        f"SELECT raw_contacts._id, starred, mimetype_id, {_TEXTS}, {as_text('title')} FROM raw_contacts"
        " LEFT JOIN data ON raw_contact_id = raw_contacts._id"
        f" LEFT JOIN groups ON mimetype_id = {GROUP} AND groups._id = CAST(data1 AS INTEGER)"
        f" WHERE raw_contacts.deleted = 0 {where} ORDER BY sort_key, raw_contacts._id, data._id",
        values,
    )
    people: dict[int, Contact] = {}
    for id, starred, kind, *data, group in rows:
        contact = people.setdefault(id, Contact(starred=bool(starred), id=id))
        entry = _entry(kind, *data)
        if entry is not None:
            _take(contact, kind, (group,) if kind == GROUP else entry)
    return list(people.values())


_TEXTS = ", ".join(as_text(f"data{number}") for number in range(1, 5))
Entry = tuple[str, ...]
"""What one row of `data` says, in the words of `Contact`."""


def _entry(kind: int | None, first: str, second: str, third: str, fourth: str) -> Entry | None:
    """Decodes the columns `data1` to `data4` of a row; None if the row is of a kind that `Contact` does not have."""
    if kind == NAME:
        return second, third
    if kind in (PHONE, EMAIL):
        return first, _LABELS[kind].get(second, "Other")
    if kind == ORGANIZATION:
        return first, fourth
    if kind in (NOTE, GROUP, WEBSITE, ADDRESS, NICKNAME):
        return (first,)
    known = (kind == EVENT and second == str(_BIRTHDAY) and _is_day(first)) or (
        kind == RELATION and second == str(_FRIEND)
    )
    return (first,) if known else None


def _is_day(text: str) -> bool:
    """Returns whether a text is a day with its year; Android also stores birthdays without one, such as `--12-10`."""
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _take(contact: Contact, kind: int, entry: Entry) -> None:
    """Adds an entry to a contact. Of what a contact has only one of, the first row counts."""
    if kind == NAME and not (contact.first or contact.last):
        contact.first, contact.last = entry
    elif kind == PHONE:
        contact.phones.append((entry[0], entry[1]))
    elif kind == EMAIL:
        contact.emails.append((entry[0], entry[1]))
    elif kind == ORGANIZATION and not (contact.company or contact.title):
        contact.company, contact.title = entry
    elif kind == NOTE:
        contact.note = contact.note or entry[0]
    elif kind == GROUP:
        contact.labels.append(entry[0])
    elif kind == EVENT:
        contact.birthday = contact.birthday or date.fromisoformat(entry[0])
    elif kind == WEBSITE:
        contact.website = contact.website or entry[0]
    elif kind == RELATION:
        contact.friend = contact.friend or entry[0]
    elif kind == ADDRESS:
        contact.address = contact.address or entry[0]
    elif kind == NICKNAME:
        contact.nickname = contact.nickname or entry[0]


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
    for kind, entries in _entries(db, contact).items():
        for entry in entries:
            _insert(db, raw or 0, kind, entry)
    return raw or 0


def insert_all(db: sqlite3.Connection, people: Iterable[Contact]) -> None:
    """Adds several people in one transaction."""
    db.execute("BEGIN")
    for contact in people:
        insert(db, contact)
    db.execute("COMMIT")


def replace_all(db: sqlite3.Connection, people: Iterable[Contact]) -> None:
    """Makes these the only people."""
    db.execute("DELETE FROM raw_contacts")
    insert_all(db, people)


def update(db: sqlite3.Connection, contact: Contact) -> None:
    """Stores what has changed about the person with `contact.id`.

    Rows of `data` that say something else than `Contact` can (a photo, an anniversary) stay as they are,
    and so do the other columns of a row that changes.
    """
    before = get(db, contact.id)
    if before is None:
        return
    db.execute(
        "UPDATE raw_contacts SET starred = ?, version = version + 1, dirty = 1 WHERE _id = ?",
        (int(contact.starred), contact.id),
    )
    db.execute(
        "UPDATE contacts SET starred = ?, has_phone_number = ? WHERE name_raw_contact_id = ?",
        (*_flags(contact), contact.id),
    )
    for kind, entries in _entries(db, contact).items():
        _merge(db, contact.id, kind, entries)
    after = get(db, contact.id) or contact  # a number that was there already keeps its place
    if after._named() != before._named() or _alternative(after) != _alternative(before):
        refresh(db, contact.id)


def refresh(db: sqlite3.Connection, id: int) -> None:
    """Brings the name and the flags that a person is listed with in line with the rows of `data`."""
    contact = get(db, id)
    if contact is None:
        return
    name, source = contact._named()
    db.execute(
        "UPDATE raw_contacts SET display_name = ?, display_name_alt = ?, display_name_source = ?, sort_key = ?"
        " WHERE _id = ?",
        (name, _alternative(contact), source, name, id),
    )
    db.execute(
        "UPDATE contacts SET has_phone_number = ? WHERE name_raw_contact_id = ?", (int(bool(contact.phones)), id)
    )


def delete(db: sqlite3.Connection, id: int) -> None:
    """Removes a person and all data about them."""
    db.execute("DELETE FROM raw_contacts WHERE _id = ?", (id,))


def create_group(db: sqlite3.Connection, title: str) -> int:
    """Returns the id of the label with a title; creates the label if it is missing."""
    found = db.execute("SELECT _id FROM groups WHERE deleted = 0 AND title = ?", (title,)).fetchone()
    if found:
        return found[0]
    return db.execute("INSERT INTO groups (account_id, title) VALUES (1, ?)", (title,)).lastrowid or 0


def _flags(contact: Contact) -> tuple[int, int]:
    return int(contact.starred), int(bool(contact.phones))


def _alternative(contact: Contact) -> str:
    return f"{contact.last}, {contact.first}" if contact.first and contact.last else contact.name


_SINGLE = (NAME, ORGANIZATION, NOTE, EVENT, WEBSITE, RELATION, ADDRESS, NICKNAME)
"""The kinds of which a contact has one at most."""


def _entries(db: sqlite3.Connection, contact: Contact) -> dict[int, list[Entry]]:
    """Returns the entries of a contact by kind; creates missing labels."""
    born = contact.birthday.isoformat() if contact.birthday else ""
    by_kind: dict[int, list[Entry]] = {
        NAME: [(contact.first, contact.last)],
        PHONE: list(contact.phones),
        EMAIL: list(contact.emails),
        ORGANIZATION: [(contact.company, contact.title)],
        NOTE: [(contact.note,)],
        GROUP: [(str(create_group(db, title)),) for title in contact.labels],
        EVENT: [(born,)],
        WEBSITE: [(contact.website,)],
        RELATION: [(contact.friend,)],
        ADDRESS: [(contact.address,)],
        NICKNAME: [(contact.nickname,)],
    }
    return {kind: [entry for entry in entries if any(entry)] for kind, entries in by_kind.items()}


def _merge(db: sqlite3.Connection, raw: int, kind: int, entries: list[Entry]) -> None:
    """Makes the rows of one kind say `entries`. Rows that say so already are not touched, the others change first."""
    rows = db.execute(
        f"SELECT _id, {_TEXTS} FROM data WHERE raw_contact_id = ? AND mimetype_id = ? ORDER BY _id",
        (raw, kind),
    ).fetchall()
    known = [(id, entry) for id, *data in rows if (entry := _entry(kind, *data)) is not None]
    if kind in _SINGLE:
        known = known[:1]
    changed = list(entries)
    for row in list(known):
        if row[1] in changed:
            changed.remove(row[1])
            known.remove(row)
    for (id, old), new in zip(known, changed, strict=False):
        _change(db, id, kind, old, new)
    for id, _ in known[len(changed) :]:
        db.execute("DELETE FROM data WHERE _id = ?", (id,))
    for entry in changed[len(known) :]:
        _insert(db, raw, kind, entry)


def _insert(db: sqlite3.Connection, raw: int, kind: int, entry: Entry) -> None:
    columns = _columns(kind, entry)
    db.execute(
        f"INSERT INTO data (raw_contact_id, mimetype_id, {', '.join(columns)}) VALUES (?, ?{', ?' * len(columns)})",
        (raw, kind, *columns.values()),
    )


def _change(db: sqlite3.Connection, id: int, kind: int, old: Entry, new: Entry) -> None:
    before = _columns(kind, old)
    changes = {column: value for column, value in _columns(kind, new).items() if value != before[column]}
    assignments = ", ".join(f"{column} = ?" for column in changes)
    db.execute(f"UPDATE data SET {assignments} WHERE _id = ?", (*changes.values(), id))


def _columns(kind: int, entry: Entry) -> dict[str, str | int | None]:
    """Returns the columns of `data` that hold an entry."""
    first, second = entry[0], entry[-1]
    if kind == NAME:
        return {"data1": f"{first} {second}".strip(), "data2": first, "data3": second}
    if kind == PHONE:
        international = f"+{digits(first)}" if first[:1] == "+" else None
        return {"data1": first, "data2": PHONE_TYPES[second], "data4": international}
    if kind == EMAIL:
        return {"data1": first, "data2": EMAIL_TYPES[second]}
    if kind == ORGANIZATION:
        return {"data1": first, "data2": _AT_WORK, "data4": second or None}
    if kind == ADDRESS:
        return {"data1": first, "data2": _AT_HOME, "data4": first}
    code = {EVENT: _BIRTHDAY, RELATION: _FRIEND, NICKNAME: _USUAL}.get(kind)
    return {"data1": first} if code is None else {"data1": first, "data2": code}
