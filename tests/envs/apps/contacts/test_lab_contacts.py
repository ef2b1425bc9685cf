"""Contacts and messages of AndroidLab's phone."""

from datetime import date

import pytest

from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.phone.providers.contacts import Contact, pretty
from coach_gym.envs.profiles import lab_phone
from tests.envs.hands import Hands


@pytest.fixture
def book():
    return Hands("com.google.android.contacts", phone=lab_phone(360, 800))


def db(hands):
    return hands.storage.database(contacts.PATH)


def person(hands, name):
    return next(contact for contact in contacts.everybody(db(hands)) if contact.name == name)


def fill(hands, **fields):
    for field, text in fields.items():
        hands.tap(field.replace("_", " "))
        hands.type(text)
    hands.back()


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("12345678", "1 (234) 567-8"), ("87654321", "(876) 543-21"), ("22331144", "(223) 311-44"),
        ("00112233", "00112233"), ("2015550123", "(201) 555-0123"), ("12015550123", "1 (201) 555-0123"),
        ("911", "911"), ("+44 20 7946 0000", "+44 20 7946 0000"), ("", ""),
    ],
)  # fmt: skip
def test_numbers_are_shown_as_in_the_united_states(number, shown):
    assert pretty(number) == shown


def test_a_person_is_stored_and_read_whole(book):
    emails = [("a@x.org", "Work"), ("b@y.org", "Home")]
    whole = Contact(
        "Ada", phones=[("1", "Work")], emails=emails, birthday=date(1815, 12, 10), website="ada.example",
        friend="Charles",
    )  # fmt: skip
    whole.id = contacts.insert(db(book), whole)
    assert contacts.get(db(book), whole.id) == whole
    whole.website = ""
    contacts.update(db(book), whole)
    assert contacts.get(db(book), whole.id) == whole
    assert contacts.get(db(book), 999) is None


def test_a_new_contact_with_labels_website_and_birthday(book):
    book.tap("Create contact")
    fill(book, First_name="Ada", Phone="12345678")
    book.tap("Mobile Phone", "Work", "Email")
    book.type("ada@x.org")
    book.back()
    book.tap("Home Email", "Work", "More fields")
    fill(book, Website="ada.example")
    book.tap("Birthday")
    fill(book, Month="12", Day="10", Year="1815")
    book.tap("Set", "Save")
    ada = person(book, "Ada")
    assert ada.phones == [("12345678", "Work")]
    assert ada.emails == [("ada@x.org", "Work")]
    assert (ada.website, ada.birthday) == ("ada.example", date(1815, 12, 10))
    for shown in ("Call Work 1 (234) 567-8", "Email Work ada@x.org", "December 10, 1815", "ada.example"):
        assert book.shows(shown)


def test_what_is_no_date_is_told(book):
    book.tap("ABC", "Edit contact", "Birthday")
    fill(book, Month="13", Day="1", Year="2000")
    book.tap("Set")
    assert "This is not a date" in book.ui and book.shows("Month")


def test_editing_keeps_what_is_not_touched(book):
    book.tap("AAA", "Edit contact", "Save")
    aaa = person(book, "AAA")
    assert (aaa.friend, aaa.company) == ("ABC", "Tsinghua University")


def test_leaving_a_changed_birthday_asks_first(book):
    book.tap("ABC", "Edit contact", "Birthday")
    fill(book, Month="1", Day="2", Year="2000")
    book.tap("Set")
    book.back()
    book.tap("Discard")
    assert person(book, "ABC").birthday == date(1996, 10, 24)


def test_a_label_is_made_and_given_to_people(book):
    book.tap("Organize", "Create label", "Label name")
    book.type("work")
    book.tap("Save", "Add contacts", "AAA", "Li", "ABC", "ABC", "Add")
    assert [name for _, name in contacts.members(db(book), "work")] == ["AAA", "Li"]
    assert book.shows("work • label")
    book.tap("Add contacts")
    assert not book.shows("Li")


def test_a_call_is_shown_until_it_is_ended(book):
    book.tap("ABC", "Call")
    assert book.shows("End call") and book.shows("ABC") and book.phone.foreground == "com.google.android.dialer"
    book.tap("End call")
    assert not book.shows("End call")


def test_a_message_is_sent_only_by_the_button(book):
    book.tap("ABC", "Text", "Texting with ABC")
    book.type("Nice to meet you")
    messages = book.storage.database(telephony.PATH)
    assert telephony.messages(messages) == []
    book.tap("Send SMS")
    (message,) = telephony.messages(messages)
    assert (message.address, message.body, message.kind) == ("22331144", "Nice to meet you", telephony.SENT)
    book.back()
    book.phone.stop("com.google.android.apps.messaging")
    book.phone.launch("com.google.android.apps.messaging")
    assert book.shows("ABC") and "Nice to meet you" in book.ui


def test_a_snapshot_in_the_middle_of_a_dialog_belongs_to_its_form(book):
    book.tap("ABC", "Edit contact", "Birthday")
    fill(book, Month="1", Day="2", Year="2000")
    before = book.phone.snapshot()
    for _ in range(2):
        book.tap("Set")
        assert "January 2, 2000" in book.ui
        book.phone.restore(before)
        assert book.shows("Set")
    book.tap("Set", "Save")
    assert person(book, "ABC").birthday == date(2000, 1, 2)


def test_a_snapshot_with_the_list_of_labels_open_belongs_to_its_form(book):
    book.tap("Li", "Edit contact", "Work Email")
    before = book.phone.snapshot()
    book.tap("Other", "Save")
    assert person(book, "Li").emails == [("22334455@gmail.com", "Other")]
    book.phone.restore(before)
    book.tap("Home", "Save")
    assert person(book, "Li").emails == [("22334455@gmail.com", "Home")]
