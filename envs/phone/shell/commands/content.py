"""`content`: reads, adds, changes and deletes rows of Android's content providers."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest

from coach_gym.envs.phone.epoch import from_seconds
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.providers import calendar, call_log, contacts, telephony
from coach_gym.envs.phone.settings import require_valid
from coach_gym.envs.phone.shell.commands import media, people, state, users
from coach_gym.envs.phone.shell.commands.database import guarded
from coach_gym.envs.phone.shell.commands.users import BadUser
from coach_gym.envs.phone.shell.language.process import Command, Process
from coach_gym.envs.phone.sql import is_corrupt

_PEOPLE = (
    "SELECT c._id AS _id, r.display_name AS display_name, r.display_name AS name, p.data1 AS number, p.data2 AS type, "
    "r.starred AS starred, r.contact_id AS person FROM data p JOIN raw_contacts r ON p.raw_contact_id = r._id "
    f"JOIN contacts c ON r.contact_id = c._id WHERE p.mimetype_id = {contacts.PHONE} AND r.deleted = 0"
)


class NoProvider(Exception):
    """The URI belongs to no provider of this phone."""


class UnknownUri(ValueError):
    """The provider has nothing of this URI; without this, all that it has would be read, changed or deleted."""


class BadArgument(Exception):
    """The arguments are not those of `content`; the message is Android's."""


@dataclass
class Table:
    """What a URI stands for: a table of a database, or a read-only query.

    Attributes:
        source: The table's name, or a SELECT in brackets.
        condition: Which of its rows are meant.
        order: The order of the rows if none is requested.
        target: The table that writes go to, if the source is a query.
        unless: A query; if it has a row, the table cannot be shown.
    """

    source: str
    condition: str = "1"
    order: str = "1"
    target: str = ""
    unless: str = ""


_SMS = {"inbox": telephony.INBOX, "sent": telephony.SENT, "draft": 3, "outbox": 4, "failed": telephony.FAILED}


@contextmanager
def _opened(phone: Phone, uri: str) -> Iterator[tuple[sqlite3.Connection, Table]]:
    """Returns the database and the table behind a URI.

    Raises:
        NoProvider: There is none.
        UnknownUri: The provider does not know the rest of the URI.
    """
    authority, _, path = uri.removeprefix("content://").partition("?")[0].partition("/")
    path = re.sub("/+", "/", path).strip("/")
    if authority == "media":
        with closing(phone.storage.connect()) as db:
            rows = media.fill(db, phone.storage)
            yield db, _table(uri, path, _media_table)
            media.keep(phone.storage, db, rows)
    elif authority == "settings":
        with closing(_settings(phone)) as db:
            yield db, _table(uri, path, _settings_table)
            _keep_settings(phone, db)
    elif authority in _PROVIDERS:
        place, schema, table_of = _PROVIDERS[authority]
        table = _table(uri, path, table_of)
        yield phone.storage.create_database(place, schema), table
    else:
        raise NoProvider(authority)


def _table(uri: str, path: str, table_of: Callable[[str], Table | None]) -> Table:
    """Returns the table behind a path, or the row of it that the number at the end of the path names."""
    if table := table_of(path):
        return table
    above, _, id = path.rpartition("/")
    if re.fullmatch(r"\d{1,18}", id) and (table := table_of(above)):
        return replace(table, condition=f"({table.condition}) AND _id = {int(id)}")
    raise UnknownUri(f"Unknown URL {uri}")


def _messages_table(path: str) -> Table | None:
    if path in ("conversations", "threads"):
        return Table("threads", order="date DESC")
    kind = "1" if path == "" else f"type = {_SMS[path]}" if path in _SMS else None
    return Table("sms", kind, "date DESC, _id DESC") if kind else None


def _people_table(path: str) -> Table | None:
    view = people.view(path)
    return Table(f"({view.query})", view.condition, view.order, view.table) if view else None


def _old_people_table(path: str) -> Table | None:
    """Returns a table of the provider of Android 1."""
    rows = {"people": people.CONTACTS, "phones": _PEOPLE}.get(path)
    return Table(f"({rows})", order="display_name COLLATE NOCASE, _id", target="contacts") if rows else None


def _calendar_table(path: str) -> Table | None:
    if path == "events":
        return Table(f"({calendar.EVENTS})", target=calendar.TABLES[path])
    if condition := calendar.instances(path):
        return Table(f"({calendar.INSTANCES})", condition, "begin, _id", unless=calendar.REPEATED)
    return Table(calendar.TABLES[path]) if path in calendar.TABLES else None


def _calls_table(path: str) -> Table | None:
    return Table("calls", order="date DESC") if path == "calls" else None


_PROVIDERS = {
    "sms": (telephony.PATH, telephony.SCHEMA, _messages_table),
    "mms-sms": (telephony.PATH, telephony.SCHEMA, _messages_table),
    "com.android.contacts": (contacts.PATH, contacts.SCHEMA, _people_table),
    "contacts": (contacts.PATH, contacts.SCHEMA, _old_people_table),
    "com.android.calendar": (calendar.PATH, calendar.SCHEMA, _calendar_table),
    "call_log": (call_log.PATH, call_log.SCHEMA, _calls_table),
}
"""Path and schema of the database of each provider that has one, and what gives its tables by the URI's path."""


# the providers without a database file


def _media_table(path: str) -> Table | None:
    condition = media.condition(path)
    return Table("files", condition, "_id") if condition else None


_NAMESPACES = ("system", "secure", "global")


def _settings_table(path: str) -> Table | None:
    """Returns the settings of a namespace, or the one that the path names."""
    namespace, _, name = path.partition("/")
    condition = f"name = {people.quoted(name)}" if name else "1"
    return Table(namespace, condition) if namespace in _NAMESPACES else None


def _settings(phone: Phone) -> sqlite3.Connection:
    db = phone.storage.connect()
    columns = "_id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT REPLACE, value TEXT"
    for namespace in _NAMESPACES:
        db.execute(f'CREATE TABLE "{namespace}" ({columns})')
    for (namespace, name), value in sorted(state.settings(phone).items()):
        db.execute(f'INSERT INTO "{namespace}" (name, value) VALUES (?, ?)', (name, value))
    return db


def _keep_settings(phone: Phone, db: sqlite3.Connection) -> None:
    """Stores the rows as settings, without those that have no name, which Android drops, or no value."""
    table, before, settings = phone.storage.settings, state.settings(phone), {}
    for namespace in _NAMESPACES:
        rows = f"SELECT name, value FROM \"{namespace}\" WHERE name != '' AND value IS NOT NULL"
        for name, value in db.execute(rows):
            key, text = (namespace, name), str(value)
            if text != before.get(key):
                require_valid(namespace, name, text)
            if key in table or text != before.get(key):  # others only follow from what there is
                settings[key] = text
    table.clear()
    table.update(settings)


# the command


def content(p: Process) -> int:
    """`content query|insert|update|delete --uri URI [--projection a:b] [--where …] [--sort …] [--bind n:t:v]`."""
    verb, *rest = p.args or [""]
    uri = next((b for a, b in zip(rest, rest[1:], strict=False) if a == "--uri"), "")
    verbs = {"query": _query, "insert": _insert, "update": _update, "delete": _delete}
    if verb in ("call", "gettype", "read", "write"):
        return p.complain(f"[ERROR] Unsupported command: {verb}", 1)
    if verb not in verbs or not uri:
        return p.complain(f"[ERROR] Unsupported operation: {verb}" if verb not in verbs else "[ERROR] Missing --uri", 1)
    try:
        values, binds = _arguments(rest, _OPTIONS[verb])
        if users.read(values.get("user", "0")):
            raise NoProvider(uri.removeprefix("content://").partition("/")[0])
        with _opened(p.phone, uri) as (db, table), guarded(db, p.storage):
            verbs[verb](p, db, table, values, binds)
    except (BadArgument, BadUser) as fault:
        return p.complain(f"[ERROR] {fault}")
    except (UnknownUri, people.Refused) as fault:
        name = uri.removeprefix("content://").partition("/")[0]
        return p.complain(f"Error while accessing provider:{name}\njava.lang.IllegalArgumentException: {fault}")
    except NoProvider as fault:
        return p.complain(
            f"Error while accessing provider:{fault}\njava.lang.IllegalStateException: Could not find provider: {fault}"
        )
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as fault:
        name = uri.removeprefix("content://").partition("/")[0]
        if is_corrupt(fault):
            p.storage.remove_corrupt()
        return p.complain(f"Error while accessing provider:{name}\nandroid.database.sqlite.SQLiteException: {fault}")
    p.phone.changed()
    return 0


_ALWAYS = ("--uri", "--user", "--extra")
_OPTIONS = {
    "query": (*_ALWAYS, "--projection", "--where", "--sort"), "insert": (*_ALWAYS, "--bind"),
    "update": (*_ALWAYS, "--bind", "--where"), "delete": (*_ALWAYS, "--where"),
}  # fmt: skip


def _arguments(words: list[str], known: tuple[str, ...]) -> tuple[dict[str, str], dict[str, object]]:
    """Returns options with their values, and the values given by `--bind`.

    Raises:
        BadArgument: An option is unknown, or lacks its value; or the value is malformed.
    """
    values: dict[str, str] = {}
    binds: dict[str, object] = {}
    for option, value in zip_longest(words[::2], words[1::2]):
        if option not in known:
            raise BadArgument(f"Unsupported argument: {option}")
        if value is None:
            raise BadArgument(f"No value after argument: {option}")
        if option == "--bind":
            name, kind, text = [*value.split(":", 2), "", ""][:3]
            binds[name] = _bound(kind, text)
        else:
            values[option[2:]] = value
    return values, binds


_BITS = {"i": 32, "l": 64}


def _bound(kind: str, text: str) -> object:
    try:
        if kind in _BITS and -1 << _BITS[kind] - 1 <= int(text) < 1 << _BITS[kind] - 1:
            return int(text)
        if kind in ("f", "d"):
            return float(text)
    except ValueError:
        pass
    if kind in (*_BITS, "f", "d"):
        raise BadArgument(f'For input string: "{text}"')
    if kind not in ("n", "b", "s"):
        raise BadArgument(f"Unsupported type: {kind}")
    return None if kind == "n" else int(text.lower() == "true") if kind == "b" else text


def _where(table: Table, values: dict[str, str]) -> str:
    return f"({table.condition}) AND ({values.get('where') or '1'})"


def _query(p: Process, db: sqlite3.Connection, table: Table, values: dict[str, str], binds: dict[str, object]) -> None:
    columns = ", ".join(_quoted(name) for name in values.get("projection", "").split(":") if name) or "*"
    order = values.get("sort") or table.order
    if table.unless and db.execute(table.unless).fetchone():
        raise ValueError("the embedded phone does not work out when events are repeated")
    cursor = db.execute(f"SELECT {columns} FROM {table.source} WHERE {_where(table, values)} ORDER BY {order}")
    names = [column[0] for column in cursor.description]
    empty = True
    for index, row in enumerate(cursor):
        cells = (f"{name}={_shown(value)}" for name, value in zip(names, row, strict=True))
        p.print(f"Row: {index} {', '.join(cells)}")
        empty = False
    if empty:
        p.print("No result found.")


def _quoted(name: str) -> str:
    if re.fullmatch(r"\w+", name):
        return f"[{name}]"  # in double quotes it would be a text where there is no such column
    return name if re.fullmatch(r"[\w.* ()]+", name) else '"' + name.replace('"', '""') + '"'


def _shown(value: object) -> str:
    return "NULL" if value is None else "BLOB" if isinstance(value, bytes) else str(value)


def _insert(p: Process, db: sqlite3.Connection, table: Table, values: dict[str, str], binds: dict[str, object]) -> None:
    if table.source == "sms":
        _insert_message(p, db, table, binds)
        return
    if table.target in ("raw_contacts", "data"):
        people.insert(db, table.target, binds)
        return
    names, marks = ", ".join(map(_quoted, binds)), ", ".join("?" * len(binds))
    db.execute(f"INSERT INTO {_quoted(table.target or table.source)} ({names}) VALUES ({marks})", tuple(binds.values()))


def _insert_message(p: Process, db: sqlite3.Connection, table: Table, binds: dict[str, object]) -> None:
    """Puts a message into the conversation with its number; the folder's type is the default."""
    folder = re.search(r"type = (\d)", table.condition)
    kind = binds.pop("type", int(folder[1]) if folder else telephony.INBOX)
    address, body = (str(binds.pop(name, None) or "") for name in ("address", "body"))
    date = binds.pop("date", None)
    at = p.phone.now if date is None else from_seconds(int(str(date)) / 1000)
    row = telephony.insert(db, address, body, int(str(kind)), at, read=True)
    for name, value in binds.items():
        db.execute(f"UPDATE sms SET {_quoted(name)} = ? WHERE _id = ?", (value, row))


def _update(p: Process, db: sqlite3.Connection, table: Table, values: dict[str, str], binds: dict[str, object]) -> None:
    if table.target == "data":  # a row keeps its person and its kind
        binds = {name: value for name, value in binds.items() if name not in ("_id", "raw_contact_id", "mimetype")}
    if not binds:
        return
    changes = ", ".join(f"{_quoted(name)} = ?" for name in binds)
    wanted = f"_id IN (SELECT _id FROM {table.source} WHERE {_where(table, values)})"
    if table.target == "data":
        raw = [id for (id,) in db.execute(f"SELECT DISTINCT raw_contact_id FROM data WHERE {wanted}")]
    db.execute(f"UPDATE {table.target or table.source} SET {changes} WHERE {wanted}", tuple(binds.values()))
    if table.target == "data":
        for id in raw:
            contacts.refresh(db, id)
    if "starred" in binds:
        people.star(db, table.target)


def _delete(p: Process, db: sqlite3.Connection, table: Table, values: dict[str, str], binds: dict[str, object]) -> None:
    wanted = f"SELECT _id FROM {table.source} WHERE {_where(table, values)}"
    if table.target == "contacts":
        db.execute(f"DELETE FROM raw_contacts WHERE contact_id IN ({wanted})")
    else:
        db.execute(f"DELETE FROM {table.target or table.source} WHERE _id IN ({wanted})")


COMMANDS: dict[str, Command] = {"content": content}
