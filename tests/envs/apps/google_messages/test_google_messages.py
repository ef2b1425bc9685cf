"""Messages on AndroidLab's phone."""

from datetime import timedelta

import pytest

from coach_gym.envs.apps.google_messages import app as messages
from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.profiles import lab_phone
from tests.envs.hands import SCREENS, Hands


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    phone = lab_phone(*request.param)
    return Hands(messages.PACKAGE, phone=phone)


def sent(hands):
    stored = telephony.messages(hands.storage.database(telephony.PATH))
    return [(message.address, message.body) for message in stored]


def write(hands, text):
    hands.tap(next(element.hint for element in hands.elements if element.hint.startswith("Texting with")))
    hands.type(text)


def test_a_new_phone_has_no_conversations(hands):
    assert hands.shows("No conversations") and sent(hands) == []


def test_a_message_is_listed_below_the_name_in_the_address_book(hands):
    messages.write_to(hands.phone, "22331144", "ABC")
    write(hands, "Hello")
    hands.tap("Send SMS")
    assert sent(hands) == [("22331144", "Hello")] and hands.shows("Hello")
    hands.phone.stop(messages.PACKAGE)
    hands.phone.launch(messages.PACKAGE)
    assert hands.shows("ABC") and hands.shows("ABC, Hello")


def test_a_number_that_nobody_has_is_shown_as_in_the_united_states(hands):
    messages.write_to(hands.phone, "2015550123", "(201) 555-0123")
    write(hands, "Hello")
    hands.tap("Send SMS")
    hands.phone.stop(messages.PACKAGE)
    hands.phone.launch(messages.PACKAGE)
    assert hands.shows("(201) 555-0123")


@pytest.mark.parametrize("text", ["", "   "])
def test_nothing_is_not_sent(text):
    hands = Hands(messages.PACKAGE, phone=lab_phone(270, 600))
    messages.write_to(hands.phone, "22331144", "ABC")
    write(hands, text)
    hands.tap("Send SMS")
    assert sent(hands) == []


def test_the_latest_conversation_comes_first():
    hands = Hands(messages.PACKAGE, phone=lab_phone(360, 800))
    for name, number in (("ABC", "22331144"), ("Li", "55667788"), ("AAA", "33445566")):
        messages.write_to(hands.phone, number, name)
        write(hands, f"Dear {name}")
        hands.tap("Send SMS")
        hands.phone.elapse(timedelta(minutes=5))
    hands.phone.stop(messages.PACKAGE)
    hands.phone.launch(messages.PACKAGE)
    names = [element.label.split(", ")[0] for element in hands.elements if ", Dear" in element.label]
    assert names == ["AAA", "Li", "ABC"]
    hands.tap("Li")
    assert hands.shows("Dear Li") and not hands.shows("Dear ABC")


def test_a_person_renamed_is_called_by_the_new_name():
    hands = Hands(messages.PACKAGE, phone=lab_phone(360, 800))
    messages.write_to(hands.phone, "22331144", "ABC")
    write(hands, "Hello")
    hands.tap("Send SMS")
    book = hands.storage.database(contacts.PATH)
    person = next(contact for contact in contacts.everybody(book) if contact.name == "ABC")
    person.first = "Abigail"
    contacts.update(book, person)
    hands.phone.stop(messages.PACKAGE)
    hands.phone.launch(messages.PACKAGE)
    assert hands.shows("Abigail")
