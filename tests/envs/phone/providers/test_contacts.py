"""The address book: whatever a contact holds is stored, and an update touches what it changes and nothing else."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import EMAIL_TYPES, PHONE_TYPES, Contact, digits, pretty
from coach_gym.envs.phone.storage import Storage
from tests.envs.records import records

WORDS = st.text("abcÄß '%_+", max_size=6).map(str.strip)
SOME = WORDS.filter(bool)
NUMBERS = st.tuples(st.text("+0123456789", min_size=1, max_size=5), st.sampled_from(list(PHONE_TYPES)))
ADDRESSES = st.tuples(SOME, st.sampled_from(list(EMAIL_TYPES)))
CONTACTS = st.builds(
    Contact,
    first=WORDS, last=WORDS, company=WORDS, title=WORDS, note=WORDS, website=WORDS, friend=WORDS,
    address=WORDS, nickname=WORDS, starred=st.booleans(),
    phones=st.lists(NUMBERS, max_size=3), emails=st.lists(ADDRESSES, max_size=3),
    labels=st.lists(SOME, max_size=3, unique=True),
    birthday=st.none() | st.dates(),
)  # fmt: skip


def new_book():
    return Storage().create_database(contacts.PATH, contacts.SCHEMA)


@pytest.fixture
def book():
    return new_book()


def sorted_lists(contact):
    """A contact with its lists in order: an entry that changes keeps its row, and with it its place."""
    return replace(contact, phones=sorted(contact.phones), emails=sorted(contact.emails), labels=sorted(contact.labels))


@given(CONTACTS)
def test_a_contact_is_read_as_it_was_stored(contact):
    book = new_book()
    id = contacts.insert(book, contact)
    assert contacts.get(book, id) == contact
    assert contacts.everybody(book) == [contact]
    assert contacts.listing(book) == [(id, contact.name)]


@given(CONTACTS, CONTACTS, CONTACTS)
def test_an_update_replaces_one_contact(before, after, other):
    book = new_book()
    id, other_id = contacts.insert(book, before), contacts.insert(book, other)
    contacts.update(book, replace(after, id=id))
    assert sorted_lists(contacts.get(book, id)) == sorted_lists(after)
    assert contacts.get(book, id).name == dict(contacts.listing(book))[id]
    assert contacts.get(book, other_id) == other


@given(CONTACTS)
def test_an_update_without_a_change_touches_no_row_of_data(contact):
    book = new_book()
    id = contacts.insert(book, contact)
    before = records(book, "data")
    contacts.update(book, replace(contact, id=id))
    assert records(book, "data") == before


@given(CONTACTS, CONTACTS)
def test_rows_of_other_kinds_stay(before, after):
    book = new_book()
    id = contacts.insert(book, before)
    book.execute("INSERT INTO mimetypes VALUES (20, 'vnd.android.cursor.item/photo')")
    anniversary, assistant = (contacts.EVENT, "1999-01-02", "1", None), (contacts.RELATION, "Bo", "2", None)
    others = [(20, None, None, b"\x89PNG"), anniversary, assistant]
    insert = "INSERT INTO data (raw_contact_id, mimetype_id, data1, data2, data15) VALUES (?, ?, ?, ?, ?)"
    ids = [book.execute(insert, (id, *values)).lastrowid for values in others]
    kept = [row for row in records(book, "data") if row["_id"] in ids]
    contacts.update(book, replace(after, id=id))
    assert [row for row in records(book, "data") if row["_id"] in ids] == kept
    assert sorted_lists(contacts.get(book, id)) == sorted_lists(after)


def test_an_update_of_nobody_does_nothing(book):
    contacts.update(book, Contact("Ada", id=7))
    assert contacts.everybody(book) == [] and records(book, "data") == []


def test_deleting_takes_everything_of_one_person(book):
    first, second = (contacts.insert(book, Contact(name, phones=[("1", "Home")])) for name in ("Ada", "Bo"))
    contacts.delete(book, first)
    assert [contact.name for contact in contacts.everybody(book)] == ["Bo"]
    assert {row["raw_contact_id"] for row in records(book, "data")} == {second} and len(records(book, "contacts")) == 1


def test_these_become_the_only_people(book):
    contacts.insert(book, Contact("Ada"))
    contacts.replace_all(book, [Contact("Bo"), Contact("Cy")])
    assert [contact.name for contact in contacts.everybody(book)] == ["Bo", "Cy"]


@pytest.mark.parametrize(
    ("contact", "name"),
    [
        (Contact("Ada", "King", "Engines"), "Ada King"), (Contact("", "King"), "King"),
        (Contact(company="Engines"), "Engines"), (Contact(phones=[("5", "Home")], emails=[("a@b.c", "Home")]), "5"),
        (Contact(emails=[("a@b.c", "Home")]), "a@b.c"), (Contact(note="x"), ""),
    ],
)  # fmt: skip
def test_what_a_person_is_listed_as(contact, name):
    assert contact.name == name


def test_a_birthday_without_a_year_is_no_birthday_that_we_know(book):
    id = contacts.insert(book, Contact("Ada"))
    insert = "INSERT INTO data (raw_contact_id, mimetype_id, data1, data2) VALUES (?, ?, '--12-10', '3')"
    book.execute(insert, (id, contacts.EVENT))
    assert contacts.get(book, id).birthday is None
    contacts.update(book, Contact("Ada", birthday=date(1815, 12, 10), id=id))
    days = [row["data1"] for row in records(book, "data") if row["mimetype_id"] == contacts.EVENT]
    assert days == ["--12-10", "1815-12-10"]


def test_labels_are_groups_that_people_share(book):
    contacts.insert_all(book, [Contact("Ada", labels=["Work"]), Contact("Bo", labels=["Work", "Chess"]), Contact("Cy")])
    assert contacts.groups(book) == ["Chess", "Work"] and len(records(book, "groups")) == 2
    assert [name for _, name in contacts.members(book, "Work")] == ["Ada", "Bo"]
    assert contacts.members(book, "Nobody") == []


@given(st.text("+0123456789 -()", max_size=20))
def test_a_pretty_number_has_the_same_digits(number):
    assert digits(pretty(number)) == digits(number)
