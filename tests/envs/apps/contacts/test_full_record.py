"""Editing one field of a full record leaves everything else as it was, on both phones."""

import pytest

from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.profiles import lab_phone, world_phone
from tests.envs.hands import Hands

PHOTO, CALL = 20, 21
MORE_KINDS = ((PHOTO, "photo"), (CALL, "sip_address"))
FULL = (  # the columns of `data` that Android uses for each kind, those that the app never shows among them
    {"mimetype_id": contacts.NAME, "data1": "Dr Ada Mary King", "data2": "Ada", "data3": "King", "data4": "Dr",
     "data5": "Mary"},
    {"mimetype_id": contacts.PHONE, "data1": "+12015550123", "data2": "17", "data4": "+12015550123", "is_primary": 1},
    {"mimetype_id": contacts.PHONE, "data1": "+12015550124", "data2": "0", "data3": "Boat"},
    {"mimetype_id": contacts.EMAIL, "data1": "ada@lily.org", "data2": "4", "is_super_primary": 1},
    {"mimetype_id": contacts.ORGANIZATION, "data1": "Engines", "data2": "1", "data4": "Analyst", "data5": "Research"},
    {"mimetype_id": contacts.NOTE, "data1": "Likes numbers"},
    {"mimetype_id": contacts.EVENT, "data1": "1815-12-10", "data2": "3"},
    {"mimetype_id": contacts.EVENT, "data1": "1835-07-08", "data2": "1"},
    {"mimetype_id": contacts.EVENT, "data1": "--12-24", "data2": "3"},
    {"mimetype_id": contacts.WEBSITE, "data1": "ada.example"},
    {"mimetype_id": contacts.WEBSITE, "data1": "engines.example"},
    {"mimetype_id": contacts.RELATION, "data1": "Charles", "data2": "6"},
    {"mimetype_id": contacts.RELATION, "data1": "Annabella", "data2": "8"},
    {"mimetype_id": contacts.ADDRESS, "data1": "12 St James's Square, London", "data2": "2", "data7": "London"},
    {"mimetype_id": PHOTO, "data15": b"\x89PNG"},
    {"mimetype_id": contacts.NICKNAME, "data1": "Countess"},
    {"mimetype_id": CALL, "data1": "ada@sip.example"},
)  # fmt: skip


@pytest.fixture(params=[world_phone, lab_phone], ids=["AndroidWorld", "AndroidLab"])
def hands(request):
    phone = request.param(360, 2400)
    db = phone.storage.database(contacts.PATH)
    db.executemany("INSERT INTO mimetypes VALUES (?, 'vnd.android.cursor.item/' || ?)", MORE_KINDS)
    id = contacts.insert(db, contacts.Contact("Ada", "King"))
    db.execute("DELETE FROM data WHERE raw_contact_id = ?", (id,))
    group = contacts.create_group(db, "Friends")
    for row in (*FULL, {"mimetype_id": contacts.GROUP, "data1": str(group)}):
        names = ", ".join(row)
        marks = ", ?" * len(row)
        db.execute(f"INSERT INTO data (raw_contact_id, {names}) VALUES (?{marks})", (id, *row.values()))
    named = "UPDATE raw_contacts SET display_name = 'Dr Ada Mary King', custom_ringtone = 'Zen' WHERE _id = ?"
    db.execute(named, (id,))
    db.execute("UPDATE contacts SET photo_id = 7, pinned = 1 WHERE name_raw_contact_id = ?", (id,))
    hands = Hands("com.google.android.contacts", phone=phone)
    hands.tap("Dr Ada Mary King")
    return hands


def tables(hands):
    """Everything the address book holds, as {(table, row, column): value}."""
    db = hands.storage.database(contacts.PATH)
    cells = {}
    for table in ("raw_contacts", "contacts", "data", "groups", "mimetypes"):
        rows = db.execute(f"SELECT * FROM {table}")
        columns = [column for column, *_ in rows.description]
        for row in rows:
            cells |= {(table, row[0], column): value for column, value in zip(columns, row, strict=True)}
    return cells


def changed(before, after):
    """The cells that differ, without row numbers and Android's own marks of a change."""
    cells = [cell for cell in before.keys() | after.keys() if before.get(cell) != after.get(cell)]
    columns = {(table, column): after.get((table, row, column)) for table, row, column in cells}
    assert len(columns) == len(cells), "the same column of several rows changed"
    return columns


MARKS = {("raw_contacts", "version"): 2, ("raw_contacts", "dirty"): 1}


def test_a_star_is_all_that_changes(hands):
    before = tables(hands)
    hands.tap("Add to favorites")
    starred = {("raw_contacts", "starred"): 1, ("contacts", "starred"): 1, ("contacts", "has_phone_number"): 1}
    assert changed(before, tables(hands)) == MARKS | starred


def retype(hands, field, text):
    hands.select_text(field)
    hands.type(text)
    hands.back()


@pytest.mark.parametrize(
    ("field", "text", "cells"),
    [
        ("Company", "Mills", {("data", "data1"): "Mills"}),
        ("Phone", "+12015550999", {("data", "data1"): "+12015550999", ("data", "data4"): "+12015550999"}),
        ("Email", "ada@fern.org", {("data", "data1"): "ada@fern.org"}),
        ("Job title", "Poet", {("data", "data4"): "Poet"}),
        ("Notes", "Likes poems", {("data", "data1"): "Likes poems"}),
        ("Nickname", "Enchantress", {("data", "data1"): "Enchantress"}),
        ("Address", "Ockham", {("data", "data1"): "Ockham", ("data", "data4"): "Ockham"}),
        (
            "Last name", "Byron",
            {
                ("data", "data1"): "Ada Byron", ("data", "data3"): "Byron",
                ("raw_contacts", "display_name"): "Ada Byron", ("raw_contacts", "display_name_alt"): "Byron, Ada",
                ("raw_contacts", "sort_key"): "Ada Byron",
            },
        ),
    ],
)  # fmt: skip
def test_one_field_is_all_that_changes(hands, field, text, cells):
    before = tables(hands)
    hands.tap("Edit contact")
    retype(hands, field, text)
    hands.tap("Save")
    assert changed(before, tables(hands)) == MARKS | {("contacts", "has_phone_number"): 1} | cells


def test_a_form_saved_untouched_changes_nothing(hands):
    before = tables(hands)
    hands.tap("Edit contact", "Save")
    assert changed(before, tables(hands)) == MARKS | {("contacts", "has_phone_number"): 1}


def test_a_label_taken_away_is_one_row_less(hands):
    before = tables(hands)
    hands.tap("More options", "Change labels", "Friends", "Save")
    gone = {cell for cell in before if cell not in tables(hands)}
    assert {table for table, _, _ in gone} == {"data"} and len({row for _, row, _ in gone}) == 1
    kept = tables(hands)
    rest = {cell: value for cell, value in before.items() if cell not in gone}
    assert changed(rest, kept) == MARKS | {("contacts", "has_phone_number"): 1}


def test_a_number_taken_away_leaves_the_other(hands):
    hands.tap("Edit contact")
    hands.select_text("Phone")
    hands.tap("Cut")
    hands.tap("Save")
    rows = hands.storage.database(contacts.PATH).execute(
        "SELECT data1, data2, data3 FROM data JOIN raw_contacts ON raw_contacts._id = raw_contact_id"
        " WHERE mimetype_id = ? AND display_name LIKE '%Ada%'", (contacts.PHONE,),
    )  # fmt: skip
    assert rows.fetchall() == [("+12015550124", "0", "Boat")]
