"""Records for tests of what an edit leaves alone: rows with something, or nothing, in every column."""


def add_record(db, table, full=True, **known):
    """Inserts a row with `known` values; the other columns hold something odd if `full`, else nothing if they may."""
    values = dict(known)
    for number, name, kind, required, default, key in db.execute(f"PRAGMA table_info({table})"):
        if name not in known and not key and full:
            values[name] = _something(number, name, kind)
        elif name not in known and not key and default is None and not required:
            values[name] = None
    columns, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
    return db.execute(f"INSERT INTO {table}({columns}) VALUES ({marks})", tuple(values.values())).lastrowid


def _something(number, name, kind):
    if kind.startswith(("INT", "LONG")):
        return 700 + number
    if kind in ("FLOAT", "REAL", "NUMERIC"):
        return number + 0.125
    return f"\0{name}".encode() if kind == "BLOB" else f" {name}, kept \n"


def records(db, table):
    """All rows of a table, each by column."""
    found = db.execute(f"SELECT * FROM {table} ORDER BY rowid")
    names = [column[0] for column in found.description]
    return [dict(zip(names, row, strict=True)) for row in found]


def changed(before, after):
    """What stands in `after`, record by record, where it is not as in `before`."""
    pairs = zip(before, after, strict=True)
    return [{name: new[name] for name in old if new[name] != old[name]} for old, new in pairs]
