"""`sqlite3`: SQL on the phone's databases."""

from __future__ import annotations

import csv
import io
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from coach_gym.envs.phone.shell.language.process import MOST_PARTS, Command, Process, few
from coach_gym.envs.phone.sql import DAMAGED, limit
from coach_gym.envs.phone.storage import Storage


@contextmanager
def guarded(connection: sqlite3.Connection, storage: Storage) -> Iterator[sqlite3.Connection]:
    """Returns a connection on which no statement reaches a file of the host, or stores more than there is room for.

    The databases are in memory; only ATTACH and VACUUM INTO would open files. What the `with` block has not committed
    is rolled back.
    """
    storage.budget.refresh()
    limit(connection, storage.room())
    connection.set_authorizer(_allowed)
    try:
        yield connection
    finally:
        connection.set_authorizer(None)
        connection.rollback()


_PRAGMAS = frozenset((
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "user_version", "schema_version",
    "integrity_check", "quick_check", "foreign_keys", "foreign_key_list", "foreign_key_check", "database_list",
    "encoding", "page_count", "journal_mode", "case_sensitive_like", "application_id",
    "recursive_triggers", "compile_options", "collation_list", "freelist_count",
))  # fmt: skip
_READ = frozenset(["page_size"])  # set, it would make pages larger than they were when they were limited


def _allowed(action: int, first: str | None, second: str | None, database: str | None, trigger: str | None) -> int:
    if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() not in (_PRAGMAS if second else _PRAGMAS | _READ):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


_MODES = ("csv", "column", "line", "list", "tabs")
_OPTIONS = (*_MODES, "header", "noheader", "batch", "bail", "readonly")


def sqlite3_(p: Process) -> int:
    """`sqlite3 [options] FILE [SQL]`; without SQL it reads standard input."""
    style = _Style()
    words, first = [], []
    rest = list(p.args)
    while rest:
        word = rest.pop(0)
        option = re.sub("^--?", "", word)
        if option == word:
            words.append(word)
        elif option in ("separator", "nullvalue", "cmd"):
            if not rest:
                return p.complain(f"sqlite3: Error: missing argument to {word}")
            value = rest.pop(0)
            first += [value] if option == "cmd" else []
            style.set(option, value)
        elif option in _OPTIONS:
            style.set(option, "")
        else:
            return p.complain(f"sqlite3: Error: unknown option: {word}\nUse -help for a list of options.")
    text = "" if words[1:] else p.streams.stdin.read().decode("utf-8", "surrogateescape")
    given = [*first, *words[1:]]
    if given != words[1:2]:  # each is complete in itself
        given = [each if each.startswith(".") else f"{each}\n;" for each in given]
    style.bail = style.bail or bool(words[1:])
    scripts = given if words[1:] else [*given, *few(text.split("\n", MOST_PARTS))]
    path = p.path(words[0]) if words and words[0] != ":memory:" else ""
    if path and not _opens(p.storage, path, style.readonly):
        return p.complain(f'Error: unable to open database "{words[0]}": unable to open database file')
    if not path or not p.storage.exists(path):
        return _run_on_new(p, path, scripts, style)
    connection = p.storage.database(path)
    version = _schema_version(connection)
    code = _run_all(p, connection, scripts, style)
    if version != _schema_version(connection):
        p.storage.mark_changed(path)
    p.storage.close(path)
    p.phone.changed()
    return code


def _opens(storage: Storage, path: str, readonly: bool) -> bool:
    """Returns whether a path is that of a file, or of one that may be made."""
    if storage.exists(path) or readonly:
        return storage.exists(path) and not storage.is_dir(path)
    return storage.is_dir(path.rpartition("/")[0] or "/")


def _run_on_new(p: Process, path: str, scripts: list[str], style: _Style) -> int:
    """Works on a database that does not exist; it is stored if something is in it afterwards."""
    with closing(p.storage.connect()) as connection:
        code = _run_all(p, connection, scripts, style)
        if path and _schema_version(connection):
            p.storage.write(path, connection.serialize())
    return code


def _schema_version(connection: sqlite3.Connection) -> int:
    """Returns a number that changes with every table; -1 if the file is no database."""
    try:
        return connection.execute("PRAGMA schema_version").fetchone()[0]
    except DAMAGED:
        return -1


_FAULTS = (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError, MemoryError)


def _run_all(p: Process, connection: sqlite3.Connection, scripts: list[str], style: _Style) -> int:
    """Runs statements and dot commands. After a fault, what follows is only run if it comes from standard input."""
    if style.readonly:
        connection.execute("PRAGMA query_only = 1")  # until the connection is closed
    code = 0
    with guarded(connection, p.storage) as db, _read_in_zone(p):
        for piece in _pieces(p, scripts):
            if piece in (".quit", ".exit"):
                break
            try:
                if piece.startswith("."):
                    code = _dot_command(p, db, piece, style) or code
                else:
                    _run(p, db, piece, style)
            except _FAULTS as fault:
                code = p.complain(f"Error: {fault}")
            if code and style.bail:
                break
    return code


@contextmanager
def _read_in_zone(p: Process) -> Iterator[None]:
    """Has statements of a `with` block take the process's time zone for the local one."""
    storage = p.storage
    before = storage.local, storage.on_clock
    storage.local, storage.on_clock = lambda clock: p.local(clock).replace(tzinfo=None), p.on_clock
    try:
        yield
    finally:
        storage.local, storage.on_clock = before


def _pieces(p: Process, scripts: list[str]) -> Iterator[str]:
    """Returns what runs by itself: dot commands, and texts of whole statements, which may go over several scripts."""
    pending = ""
    for script in scripts:
        if script.startswith(".") and not pending.strip():
            yield script.rstrip()
            continue
        pending += script + "\n"
        if len(scripts) == 1 or (_ENDS.search(script) and _is_complete(p, pending)):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


def _run(p: Process, db: sqlite3.Connection, script: str, style: _Style) -> None:
    """Runs statements one after the other and prints their rows."""
    for statement in statements(script, partial(_is_complete, p)):
        cursor = db.cursor()
        cursor.row_factory = None
        before, db.text_factory = db.text_factory, _text
        try:
            cursor.execute(statement)
            names = [column[0] for column in cursor.description or ()]
            style.show(p, names, cursor)
        finally:
            db.text_factory = before


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


_ENDS = re.compile(r";|\*/")  # without one of them, a line completes no statement


def _is_complete(p: Process, text: str) -> bool:
    """Returns whether a text ends with a statement, which takes a step of the shell for every 4 KB that are read."""
    for _ in range(0, len(text), 4096):
        p.shell.spend()
    return sqlite3.complete_statement(text)


def statements(script: str, is_complete: Callable[[str], bool] = sqlite3.complete_statement) -> list[str]:
    """Returns the statements of a script; triggers with semicolons inside stay whole.

    Args:
        script: Statements, each but the last one with its semicolon.
        is_complete: Tells whether a text ends with a statement.
    """
    result, start = [], 0
    for match in re.finditer(";", script):
        if is_complete(script[start : match.end()]):
            result.append(script[start : match.end()])
            start = match.end()
    rest = script[start:]
    return [each for each in [*result, rest] if re.sub(r"--[^\n]*", "", each).strip(" \t\r\n;")]


class _Style:
    """How statements are run, and how rows are printed."""

    def __init__(self) -> None:
        self.readonly = self.bail = False
        self.mode, self.separator, self.null, self.header = "list", "|", "", False

    def set(self, option: str, value: str) -> None:
        if option in _MODES:
            self.mode = option
            self.separator = {"csv": ",", "tabs": "\t"}.get(option, self.separator)
        elif option == "separator":
            self.separator = value.replace("\\t", "\t")
        elif option == "nullvalue":
            self.null = value
        elif option in ("header", "headers"):
            self.header = value != "off"
        elif option == "noheader":
            self.header = False
        elif option == "readonly":
            self.readonly = True
        elif option == "bail":
            self.bail = True

    def show(self, p: Process, names: list[str], rows: sqlite3.Cursor) -> None:
        if self.header and names and self.mode != "line":
            p.print(self._line(names))
        for row in rows:
            cells = [self.null if value is None else _shown(value) for value in row]
            if self.mode == "line":
                width = max(map(len, names))
                p.print("".join(f"{n:>{width}} = {cell}\n" for n, cell in zip(names, cells, strict=True)))
            else:
                p.print(self._line(cells))

    def _line(self, cells: list[str]) -> str:
        if self.mode == "csv":
            text = io.StringIO()
            csv.writer(text, lineterminator="").writerow(cells)
            return text.getvalue()
        if self.mode == "column":
            return "  ".join(f"{cell:10}" for cell in cells).rstrip()
        return self.separator.join(cells)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return re.sub(r"^(-?\d+)(?=e|$)", r"\1.0", f"{value:.15g}")
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return str(value)


def _dot_command(p: Process, db: sqlite3.Connection, line: str, style: _Style) -> int:
    """Runs a dot command. Returns 1, after a message, if it cannot."""
    name, *words = line.split()
    master = "SELECT {} FROM sqlite_master WHERE {} AND name NOT LIKE 'sqlite_%' ORDER BY {}"
    if name == ".tables":
        names = [row[0] for row in db.execute(master.format("name", "type IN ('table', 'view')", "name"))]
        p.print("  ".join(names))
    elif name == ".schema":
        condition = "tbl_name = ?" if words else "sql IS NOT NULL AND ? = ''"
        for (sql,) in db.execute(master.format("sql", condition, "rowid"), (words or [""])[:1]):
            p.print(f"{sql};")
    elif name == ".mode" and (words or [""])[0] not in _MODES:
        return p.complain(f"Error: mode should be one of: {' '.join(_MODES)}")
    elif name in (".mode", ".headers", ".header", ".separator", ".nullvalue") and words:
        style.set(words[0] if name == ".mode" else name[1:], words[0])
    elif name != ".timeout":
        return p.complain(f'Error: unknown command or invalid arguments:  "{name[1:]}". Enter ".help" for help')
    return 0


COMMANDS: dict[str, Command] = {"sqlite3": sqlite3_}
