"""The contacts provider as `content` shows it: with the columns of Android's `ContactsContract`."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from coach_gym.envs.phone.providers import contacts

_ACCOUNT = "a.account_name AS account_name, a.account_type AS account_type, a.data_set AS data_set"
_LISTED = (
    "r.display_name AS display_name, r.display_name_alt AS display_name_alt, "
    "r.display_name_source AS display_name_source, r.sort_key AS sort_key"
)
_JOINED = "JOIN contacts c ON r.contact_id = c._id LEFT JOIN accounts a ON r.account_id = a._id"
CONTACTS = (
    f"SELECT c._id AS _id, c.lookup AS lookup, {_LISTED}, r._id AS name_raw_contact_id, c.photo_id AS photo_id, "
    "1 AS in_visible_group, c.has_phone_number AS has_phone_number, c.starred AS starred, c.pinned AS pinned, "
    "c.send_to_voicemail AS send_to_voicemail, c.custom_ringtone AS custom_ringtone, "
    "c.contact_last_updated_timestamp AS contact_last_updated_timestamp "
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
    f"{_LISTED}, c.lookup AS lookup, c.starred AS starred, c.has_phone_number AS has_phone_number, {_ACCOUNT} "
    f"FROM data d JOIN mimetypes m ON d.mimetype_id = m._id JOIN raw_contacts r ON d.raw_contact_id = r._id {_JOINED}"
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
    "data": View(_DATA, "data"),
    "data/phones": View(_DATA, "data", f"{_ITEM}phone_v2'", _BY_NAME),
    "data/emails": View(_DATA, "data", f"{_ITEM}email_v2'", _BY_NAME),
    "groups": View(f"SELECT g.*, {_ACCOUNT} FROM groups g LEFT JOIN accounts a ON g.account_id = a._id", "groups"),
}
"""The views by the paths of `content://com.android.contacts`."""


def insert(db: sqlite3.Connection, table: str, values: dict[str, object]) -> None:
    """Adds a person without data to `raw_contacts`, or a row to `data` whose kind `mimetype` names.

    Raises:
        ValueError: The mimetype is missing.
    """
    if table == "raw_contacts":
        id = contacts.insert(db, contacts.Contact(starred=str(values.get("starred", "0")) == "1"))
        name, kind = values.get("account_name"), values.get("account_type")
        if name or kind:
            db.execute("INSERT INTO accounts (account_name, account_type) VALUES (?, ?)", (name, kind))
            db.execute("UPDATE raw_contacts SET account_id = last_insert_rowid() WHERE _id = ?", (id,))
        return
    kind = values.pop("mimetype", None)
    if not kind:
        raise ValueError("a mimetype is required")
    if not db.execute("SELECT 1 FROM mimetypes WHERE mimetype = ?", (kind,)).fetchone():
        db.execute("INSERT INTO mimetypes (mimetype) VALUES (?)", (kind,))
    (number,) = db.execute("SELECT _id FROM mimetypes WHERE mimetype = ?", (kind,)).fetchone()
    row = {"mimetype_id": number, **values}
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in row)
    db.execute(f"INSERT INTO data ({columns}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    contacts.refresh(db, int(str(values.get("raw_contact_id", 0))))
