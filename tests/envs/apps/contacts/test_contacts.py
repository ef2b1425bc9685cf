"""Contacts by touch: what a user does is what stands in Android's contacts database."""

import sqlite3

import numpy as np
import pytest

from coach_gym.envs.apps.contacts.app import APP
from coach_gym.envs.phone.providers import contacts
from coach_gym.envs.phone.providers.contacts import Contact
from coach_gym.envs.profiles import world_phone
from coach_gym.ui import compress, parse_ui
from tests.envs.hands import Hands

SCREENS = [(270, 600), (540, 1200), (1080, 2400), (800, 1280)]
ANA = Contact(
    "Ana", "Berg", "Copper Books", "Editor", [("+12015550123", "Mobile"), ("+12015550124", "Work")],
    [("ana@lily.org", "Other")], "Likes tea", labels=["Friends"],
)  # fmt: skip


@pytest.fixture
def phone():
    return started(270, 600)


@pytest.fixture(params=SCREENS, ids=str)
def any_phone(request):
    return started(*request.param)


def started(width, height):
    phone = world_phone(width, height)
    people = [ANA, Contact("Zoe", "Ames", phones=[("+12015550199", "Home")]), Contact("ben", "Cole")]
    contacts.insert_all(book(phone), people)
    phone.launch(APP.package)
    return phone


def book(phone) -> sqlite3.Connection:
    return phone.storage.database(contacts.PATH)


def names(phone):
    return [contact.name for contact in contacts.everybody(book(phone))]


def elements(phone):
    return parse_ui(compress(phone.ui()))


def rows(phone):
    """The list as it is shown."""
    return [element.label for element in elements(phone) if element.long_clickable]


def find(phone, label):
    found = [e for e in elements(phone) if label in (e.label, e.desc, e.hint) or label in e.label.split(", ")]
    assert found, f"{label!r} is not among {[e.label for e in elements(phone)]}"
    return found[0]


def shows(phone, label):
    return any(label in (e.label, e.desc, e.hint) or label in e.label.split(", ") for e in elements(phone))


def tap(phone, *labels):
    for label in labels:
        phone.tap(*find(phone, label).center)


def fill(phone, field, text):
    tap(phone, field)
    phone.type(text)
    phone.key("BACK")  # the keyboard


def test_a_new_contact_is_stored_with_all_that_was_typed(any_phone):
    phone = any_phone
    tap(phone, "Create contact")
    assert find(phone, "First name").focused
    phone.type("Cara")
    phone.key("BACK")
    fill(phone, "Last name", "Stone")
    fill(phone, "Company", "Ember Travel")
    fill(phone, "Phone", "+1 202-555-0101")
    tap(phone, "Mobile Phone", "Work")
    while not shows(phone, "Email"):
        phone.swipe((phone.width // 2, phone.height * 2 // 3), (phone.width // 2, phone.height // 3), 2)
    fill(phone, "Email", "cara@ember.org")
    tap(phone, "Save")
    assert rows(phone) == ["Ana Berg", "ben Cole", "Cara Stone", "Zoe Ames"]
    stored = [contact for contact in contacts.everybody(book(phone)) if contact.first == "Cara"]
    assert stored == [
        Contact("Cara", "Stone", "Ember Travel", "", [("+1 202-555-0101", "Work")], [("cara@ember.org", "Other")])
    ]


def test_rows_are_in_androids_schema(phone):
    tap(phone, "Create contact")
    phone.type("Cara")
    fill(phone, "Phone", "+12025550101")
    tap(phone, "Save")
    query = (
        "SELECT mimetype, data1, data2, data4, raw_contacts.display_name, has_phone_number FROM data"
        " JOIN mimetypes ON mimetypes._id = mimetype_id JOIN raw_contacts ON raw_contacts._id = raw_contact_id"
        " JOIN contacts ON contacts._id = contact_id WHERE display_name = 'Cara' ORDER BY data._id"
    )
    pushed = sqlite3.connect(":memory:")
    pushed.deserialize(phone.storage.read(contacts.PATH))  # as somebody who pulls the file
    assert pushed.execute(query).fetchall() == [
        ("vnd.android.cursor.item/name", "Cara", "Cara", None, "Cara", 1),
        ("vnd.android.cursor.item/phone_v2", "+12025550101", "2", "+12025550101", "Cara", 1),
    ]


def test_an_empty_form_stores_nobody(phone):
    tap(phone, "Create contact", "Save")
    assert rows(phone) == ["Ana Berg", "ben Cole", "Zoe Ames"]


def test_a_contact_without_a_name_is_listed_by_what_there_is(phone):
    tap(phone, "Create contact")
    fill(phone, "Phone", "+12025550101")
    tap(phone, "Save")
    assert "+12025550101" in rows(phone)


def test_leaving_a_form_asks_only_if_something_was_typed(phone):
    tap(phone, "Create contact")
    phone.key("BACK")
    phone.key("BACK")
    assert rows(phone)
    tap(phone, "Create contact")
    phone.type("Cara")
    phone.key("BACK")
    phone.key("BACK")
    tap(phone, "Cancel")
    assert find(phone, "First name").value == "Cara"
    tap(phone, "Navigate up", "Discard")
    assert rows(phone) == ["Ana Berg", "ben Cole", "Zoe Ames"]


def test_a_persons_page_shows_everything(any_phone):
    tap(any_phone, "Ana Berg")
    for text in ("Ana Berg", "+12015550123", "+12015550124", "Work", "ana@lily.org", "Likes tea", "Friends", "Call"):
        assert shows(any_phone, text), text
    assert find(any_phone, "Copper Books").label == "Editor, Copper Books"


def test_editing_keeps_what_the_form_does_not_change(phone):
    tap(phone, "Ana Berg", "Add to favorites", "Edit contact")
    Hands(None, phone=phone).select_text("Last name")
    phone.type("Lund")
    tap(phone, "Save")
    changed = contacts.everybody(book(phone))[0]
    assert changed.name == "Ana Lund" and changed.starred
    changed.last, changed.starred = ANA.last, ANA.starred
    assert changed == ANA
    assert names(phone) == ["Ana Lund", "ben Cole", "Zoe Ames"]


def test_numbers_can_be_added_and_emptied(phone):
    tap(phone, "Zoe Ames", "Edit contact", "Add phone")
    phone.type("+12015550200")
    tap(phone, "Save")
    assert contacts.everybody(book(phone))[2].phones == [("+12015550199", "Home"), ("+12015550200", "Mobile")]
    tap(phone, "Edit contact")
    Hands(None, phone=phone).select_text("Phone")
    tap(phone, "Cut", "Save")
    assert contacts.everybody(book(phone))[2].phones == [("+12015550200", "Mobile")]


def test_deleting_asks_and_leaves_no_data_behind(phone):
    tap(phone, "Ana Berg", "More options", "Delete", "Cancel")
    assert names(phone) == ["Ana Berg", "ben Cole", "Zoe Ames"]
    tap(phone, "More options", "Delete", "Delete")
    assert rows(phone) == ["ben Cole", "Zoe Ames"]
    left = book(phone).execute("SELECT count(*) FROM data WHERE raw_contact_id NOT IN (SELECT _id FROM raw_contacts)")
    assert left.fetchone() == (0,)
    assert book(phone).execute("SELECT count(*) FROM contacts").fetchone() == (2,)


def test_long_press_selects_several_to_delete(phone):
    phone.long_press(*find(phone, "Ana Berg").center)
    tap(phone, "Zoe Ames")
    assert shows(phone, "2 selected") and find(phone, "Zoe Ames").selected
    phone.key("BACK")
    assert not shows(phone, "2 selected") and len(rows(phone)) == 3
    phone.long_press(*find(phone, "Ana Berg").center)
    tap(phone, "Zoe Ames", "Delete", "Delete")
    assert names(phone) == ["ben Cole"]


@pytest.mark.parametrize(
    ("words", "found"),
    [("BERG", ["Ana Berg"]), ("5550199", ["Zoe Ames"]), ("copper", ["Ana Berg"]), ("%", []), ("'", []), (" ", 3)],
)
def test_search_finds_names_numbers_and_companies(phone, words, found):
    tap(phone, "Search contacts")
    phone.type(words)
    assert rows(phone) == found or len(rows(phone)) == found
    phone.key("BACK")
    if words.strip():
        phone.key("BACK")
        assert len(rows(phone)) == 3


def test_favorites_are_on_a_page_of_their_own(phone):
    tap(phone, "Highlights")
    assert rows(phone) == [] and shows(phone, "No favorites")
    tap(phone, "Contacts", "Zoe Ames", "Add to favorites")
    assert shows(phone, "Remove from favorites")
    phone.key("BACK")
    tap(phone, "Highlights")
    assert rows(phone) == ["Zoe Ames"]
    starred = book(phone).execute("SELECT raw_contacts.starred, contacts.starred FROM raw_contacts JOIN contacts"
                                  " ON contacts._id = contact_id ORDER BY sort_key").fetchall()
    assert starred == [(0, 0), (0, 0), (1, 1)]


def test_labels_are_given_made_and_taken_away(phone):
    tap(phone, "Zoe Ames", "More options", "Change labels", "Friends", "Create new")
    tap(phone, "Label name")
    phone.type("Chess")
    tap(phone, "Save")
    assert find(phone, "Chess").checked and find(phone, "Friends").checked
    assert contacts.everybody(book(phone))[2].labels == [], "stored before Save"
    tap(phone, "Friends", "Save")
    assert contacts.everybody(book(phone))[2].labels == ["Chess"]
    assert contacts.everybody(book(phone))[0].labels == ["Friends"]
    assert contacts.groups(book(phone)) == ["Chess", "Friends"]


def test_text_opens_the_conversation_and_back_returns_to_contacts(phone):
    tap(phone, "Zoe Ames", "Text")
    assert phone.foreground == "com.simplemobiletools.smsmessenger" and shows(phone, "Zoe Ames")


def test_a_snapshot_brings_back_a_half_filled_form_and_the_book(phone):
    tap(phone, "Ana Berg", "Edit contact")
    fill(phone, "Company", " Ltd")
    tap(phone, "Mobile Phone")
    before, screen, text = phone.snapshot(), phone.screenshot(), compress(phone.ui())
    for _ in range(2):
        tap(phone, "Home", "Save")
        assert contacts.everybody(book(phone))[0].phones[0] == ("+12015550123", "Home")
        phone.restore(before)
        assert compress(phone.ui()) == text and np.array_equal(phone.screenshot(), screen)
        assert contacts.everybody(book(phone))[0] == ANA


def test_a_person_deleted_behind_the_apps_back_is_no_crash(phone):
    tap(phone, "Ana Berg")
    contacts.delete(book(phone), contacts.everybody(book(phone))[0].id)
    phone.changed()
    assert shows(phone, "This contact does not exist any more")
    tap(phone, "Navigate up")
    assert rows(phone) == ["ben Cole", "Zoe Ames"]


def test_hostile_names_are_names(phone):
    text = "Robert'); DROP TABLE data;-- <b>&\u202e"
    tap(phone, "Create contact")
    phone.type(text)
    tap(phone, "Save")
    assert text in rows(phone) and text in names(phone)


def test_equality_is_of_what_is_known(phone):
    assert contacts.get(book(phone), 1) == ANA and contacts.get(book(phone), 99) is None
    assert contacts.numbers(book(phone)) == [
        ("Ana Berg", "+12015550123"), ("Ana Berg", "+12015550124"), ("Zoe Ames", "+12015550199")
    ]  # fmt: skip


def test_the_form_asks_for_more_and_the_page_shows_it():
    hands = Hands(APP.package, (360, 2400))
    hands.tap("Create contact")
    hands.type("Ida")
    hands.tap("More fields")
    told = {"website": "ida.example", "note": "Likes tea", "address": "1 Hill Rd", "nickname": "Idy"}
    for field, text in zip(("Website", "Notes", "Address", "Nickname"), told.values(), strict=True):
        hands.tap(field)
        hands.type(text)
    hands.tap("Save", "Ida")
    assert contacts.everybody(book(hands.phone)) == [Contact("Ida", **told)]
    assert all(hands.shows(text) for text in told.values())
