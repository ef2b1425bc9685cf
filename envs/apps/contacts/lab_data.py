"""What AndroidLab's phone knows of a person beyond `providers.contacts`: more kinds of data in the same tables."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from datetime import date

from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import Contact, digits

EMAIL_TYPES = {"Home": 1, "Work": 2, "Other": 3}
"""Labels of e-mail addresses and their codes in `data2`."""
EVENT, WEBSITE, RELATION = 7, 8, 9
"""Ids in `mimetypes`, after those of the provider."""
MIMETYPES = "\n".join(
    f"INSERT INTO mimetypes VALUES ({code}, 'vnd.android.cursor.item/{name}');"
    for code, name in ((EVENT, "contact_event"), (WEBSITE, "website"), (RELATION, "relation"))
)
_BIRTHDAY, _FRIEND = 3, 6  # codes in `data2` of events and relations


@dataclass
class Person:
    """A contact with labelled addresses, a birthday, a website and a friend."""

    contact: Contact
    email_labels: list[str] = field(default_factory=list)
    birthday: date | None = None
    website: str = ""
    friend: str = ""


def get(db: sqlite3.Connection, id: int) -> Person | None:
    """Everything about one person; None if there is no such row."""
    contact = contacts.get(db, id)
    if contact is None:
        return None
    person = Person(contact)
    labels = {code: label for label, code in EMAIL_TYPES.items()}
    rows = db.execute("SELECT mimetype_id, data1, data2 FROM data WHERE raw_contact_id = ? ORDER BY _id", (id,))
    for kind, value, code in rows:
        if kind == contacts.EMAIL:
            person.email_labels.append(labels[int(code)])
        elif kind == EVENT:
            person.birthday = date.fromisoformat(value)
        elif kind == WEBSITE:
            person.website = value
        elif kind == RELATION:
            person.friend = value
    return person


def save(db: sqlite3.Connection, person: Person) -> int:
    """Stores a person, as a new one if the contact's id is 0. Returns the id."""
    contact = person.contact
    if contact.id:
        contacts.update(db, contact)
    id = contact.id or contacts.insert(db, contact)
    for address, label in zip(contact.emails, person.email_labels, strict=True):
        db.execute(
            "UPDATE data SET data2 = ? WHERE raw_contact_id = ? AND mimetype_id = ? AND data1 = ?",
            (EMAIL_TYPES[label], id, contacts.EMAIL, address),
        )
    born = person.birthday.isoformat() if person.birthday else ""
    more = ((EVENT, born, _BIRTHDAY), (WEBSITE, person.website, None), (RELATION, person.friend, _FRIEND))
    db.executemany(
        "INSERT INTO data (raw_contact_id, mimetype_id, data1, data2) VALUES (?, ?, ?, ?)",
        [(id, kind, value, code) for kind, value, code in more if value],
    )
    return id


def members(db: sqlite3.Connection, label: str) -> list[tuple[int, str]]:
    """Id and name of the people with a label, by name."""
    people = contacts.everybody(db)
    return [(person.id, person.name) for person in people if label in person.labels]


def pretty(number: str) -> str:
    """A number as it is shown in the United States, also one that is too short: 1 (234) 567-8, (876) 543-21."""
    plain = digits(number)
    country, rest = ("1 ", plain[1:]) if plain[:1] == "1" else ("", plain)
    if plain != number or rest[:1] in ("", "0", "1") or not 7 <= len(rest) <= 10:
        return number
    return f"{country}({rest[:3]}) {rest[3:6]}-{rest[6:]}"
