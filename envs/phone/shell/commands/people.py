"""The contacts provider as `content` shows it: with the columns of Android's `ContactsContract`."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass, replace
from urllib.parse import unquote

from coach_gym.envs.phone.providers import contacts

_ACCOUNT = "a.account_name AS account_name, a.account_type AS account_type, a.data_set AS data_set"
_LISTED = (
    "r.display_name AS display_name, r.display_name_alt AS display_name_alt, "
    "r.display_name_source AS display_name_source, r.sort_key AS sort_key"
)
_JOINED = "JOIN contacts c ON r.contact_id = c._id LEFT JOIN accounts a ON r.account_id = a._id"
_PERSON = (
    f"coalesce(c.lookup, '0r' || r._id || '-' || hex(upper(r.display_name))) AS lookup, {_LISTED}, "
    "c.name_raw_contact_id AS name_raw_contact_id, c.photo_id AS photo_id, NULL AS photo_file_id, NULL AS photo_uri, "
    "NULL AS photo_thumb_uri, 1 AS in_visible_group, 0 AS is_user_profile, c.has_phone_number AS has_phone_number, "
    "c.starred AS starred, c.pinned AS pinned, 0 AS times_contacted, 0 AS last_time_contacted, "
    "c.send_to_voicemail AS send_to_voicemail, c.custom_ringtone AS custom_ringtone, "
    "c.contact_last_updated_timestamp AS contact_last_updated_timestamp"
)
CONTACTS = (
    f"SELECT c._id AS _id, {_PERSON} "
    f"FROM raw_contacts r {_JOINED} WHERE r.deleted = 0 AND r._id = c.name_raw_contact_id"
)
_RAW = (
    f"SELECT r._id AS _id, r.contact_id AS contact_id, {_ACCOUNT}, r.sourceid AS sourceid, r.version AS version, "
    f"r.dirty AS dirty, r.deleted AS deleted, {_LISTED}, r.starred AS starred, r.pinned AS pinned, "
    "r.aggregation_mode AS aggregation_mode, r.custom_ringtone AS custom_ringtone, "
    "r.send_to_voicemail AS send_to_voicemail, r.raw_contact_is_read_only AS raw_contact_is_read_only "
    f"FROM raw_contacts r {_JOINED}"
)
_VALUES = ", ".join(f"d.data{n} AS data{n}" for n in range(1, 16))
_DATA = (
    "SELECT d._id AS _id, d.raw_contact_id AS raw_contact_id, r.contact_id AS contact_id, m.mimetype AS mimetype, "
    f"{_VALUES}, d.is_primary AS is_primary, d.is_super_primary AS is_super_primary, d.data_version AS data_version, "
    f"{_PERSON}, {_ACCOUNT} "
    f"FROM data d JOIN mimetypes m ON d.mimetype_id = m._id JOIN raw_contacts r ON d.raw_contact_id = r._id {_JOINED}"
)
_ENTITIES = (
    f"SELECT r._id AS _id, r.contact_id AS contact_id, {_ACCOUNT}, r.sourceid AS sourceid, r.version AS version, "
    "r.dirty AS dirty, r.deleted AS deleted, r.starred AS starred, d._id AS data_id, m.mimetype AS mimetype, "
    f"{_VALUES}, d.is_primary AS is_primary, d.is_super_primary AS is_super_primary, d.data_version AS data_version "
    "FROM raw_contacts r LEFT JOIN accounts a ON r.account_id = a._id LEFT JOIN data d ON d.raw_contact_id = r._id "
    "LEFT JOIN mimetypes m ON d.mimetype_id = m._id"
)
_ITEM = "mimetype = 'vnd.android.cursor.item/"
_BY_NAME = "display_name COLLATE NOCASE, _id"


@dataclass(frozen=True)
class View:
    """What a path of the provider shows: a query, which of its rows, their order, and the table that writes go to."""

    query: str
    table: str
    condition: str = "1"
    order: str = "_id"


VIEWS = {
    "contacts": View(CONTACTS, "contacts", order=_BY_NAME),
    "raw_contacts": View(_RAW, "raw_contacts", "deleted = 0"),
    "raw_contact_entities": View(_ENTITIES, "", order="_id, data_id"),
    "data": View(_DATA, "data"),
    "data/phones": View(_DATA, "data", f"{_ITEM}phone_v2'", _BY_NAME),
    "data/postals": View(_DATA, "data", f"{_ITEM}postal-address_v2'", _BY_NAME),
    "data/emails": View(_DATA, "data", f"{_ITEM}email_v2'", _BY_NAME),
    "groups": View(f"SELECT g.*, {_ACCOUNT} FROM groups g LEFT JOIN accounts a ON g.account_id = a._id", "groups"),
}
"""The views by the paths of `content://com.android.contacts`."""

_NUMBERS = (
    "SELECT contact_id AS _id, contact_id, _id AS data_id, lookup, display_name, times_contacted, last_time_contacted, "
    "starred, in_visible_group, photo_id, photo_file_id, photo_uri, photo_thumb_uri, custom_ringtone, "
    "has_phone_number, send_to_voicemail, data1 AS number, data2 AS type, data3 AS label, data4 AS normalized_number "
    f"FROM ({_DATA}) WHERE {_ITEM}phone_v2'"
)
_SAME = 7  # last digits that two spellings of a number share


def view(path: str) -> View | None:
    """Returns the view behind a path such as `data`, `contacts/7/data`, `contacts/filter/Ann` or `phone_lookup/55`."""
    above, _, text = path.rpartition("/")
    text = unquote(text)
    if above == "phone_lookup":
        number = contacts.digits(text)[-_SAME:]
        return View(_NUMBERS, "", f"{_digits('number')} LIKE '%{number}'" if number else "0", _BY_NAME)
    if above in ("contacts/filter", "data/phones/filter"):
        found, begins = VIEWS[above.removesuffix("/filter")], text.translate(_LITERAL)
        named = " OR ".join(f"display_name LIKE {quoted(start + begins + '%')} ESCAPE '!'" for start in ("", "% "))
        number = contacts.digits(text) if found.table == "data" else ""
        numbered = f"{_digits('data1')} LIKE '{number}%'" if number else "0"
        return replace(found, condition=f"({found.condition}) AND ({named} OR {numbered})")
    if match := re.fullmatch(r"raw_contacts/(\d{1,18})/entity", path):
        return replace(VIEWS["raw_contact_entities"], condition=f"_id = {match[1]}")
    if match := re.fullmatch(r"(contact|raw_contact)s/(\d{1,18})/(?:data|entities)", path):
        return replace(VIEWS["data"], condition=f"{match[1]}_id = {match[2]}")
    return VIEWS.get(path)


_LITERAL = str.maketrans({"%": "!%", "_": "!_", "!": "!!"})


def _digits(column: str) -> str:
    """Returns an expression for a number without what people write between its digits."""
    for between in " -().+":
        column = f"replace({column}, '{between}', '')"
    return column


def quoted(text: str) -> str:
    """Returns a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def star(db: sqlite3.Connection, table: str) -> None:
    """Makes the stars of contacts and of their raw contacts agree after those of one table were changed."""
    if table == "contacts":
        db.execute(
            "UPDATE raw_contacts SET starred = (SELECT starred FROM contacts WHERE contacts._id = contact_id)"
            " WHERE contact_id IN (SELECT _id FROM contacts)"
        )
    elif table == "raw_contacts":
        db.execute(
            "UPDATE contacts SET starred ="
            " (SELECT max(starred) FROM raw_contacts WHERE contact_id = contacts._id AND deleted = 0)"
            " WHERE _id IN (SELECT contact_id FROM raw_contacts WHERE deleted = 0)"
        )


class Refused(ValueError):
    """The provider does not take the values; the message is Android's."""


def insert(db: sqlite3.Connection, table: str, values: dict[str, object]) -> None:
    """Adds a person without data to `raw_contacts`, or a row to `data` whose kind `mimetype` names.

    Raises:
        Refused: The mimetype or the person is missing.
        ValueError: A column is unknown, or the person.
    """
    if table == "raw_contacts":
        _insert_person(db, values)
        return
    if values.get("raw_contact_id") is None:
        raise Refused("raw_contact_id is required")
    kind = values.pop("mimetype", None)
    if not kind:
        raise Refused("mimetype is required")
    person = db.execute("SELECT _id FROM raw_contacts WHERE _id = ?", (values["raw_contact_id"],)).fetchone()
    if person is None:
        raise ValueError("FOREIGN KEY constraint failed")
    (values["raw_contact_id"],) = person
    if not db.execute("SELECT 1 FROM mimetypes WHERE mimetype = ?", (kind,)).fetchone():
        db.execute("INSERT INTO mimetypes (mimetype) VALUES (?)", (kind,))
    (number,) = db.execute("SELECT _id FROM mimetypes WHERE mimetype = ?", (kind,)).fetchone()
    row = {"mimetype_id": number, **(_with_parts_of_name(values) if number == contacts.NAME else values)}
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in row)
    db.execute(f"INSERT INTO data ({columns}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    contacts.refresh(db, person[0])


def _insert_person(db: sqlite3.Connection, values: dict[str, object]) -> None:
    name, kind = values.pop("account_name", None), values.pop("account_type", None)
    known = {column[1] for column in db.execute("PRAGMA table_info(raw_contacts)")} - {"_id", "contact_id"}
    if unknown := values.keys() - known:
        raise ValueError(f"table raw_contacts has no column named {min(unknown)}")
    id = contacts.insert(db, contacts.Contact())
    for column, value in values.items():
        db.execute(f"UPDATE raw_contacts SET {column} = ? WHERE _id = ?", (value, id))
    star(db, "raw_contacts")
    if name or kind:
        db.execute("INSERT INTO accounts (account_name, account_type) VALUES (?, ?)", (name, kind))
        db.execute("UPDATE raw_contacts SET account_id = last_insert_rowid() WHERE _id = ?", (id,))


def _with_parts_of_name(values: dict[str, object]) -> dict[str, object]:
    """Returns a row of a name of which only the whole or only the parts are given with both, as the provider does."""
    whole, first, last = (str(values.get(column) or "") for column in ("data1", "data2", "data3"))
    if whole and not first and not last:
        *given, last = whole.split() if len(whole.split()) > 1 else [*whole.split(), ""]
        return {**values, "data2": " ".join(given), "data3": last or None}
    return values if whole else {**values, "data1": f"{first} {last}".strip()}
