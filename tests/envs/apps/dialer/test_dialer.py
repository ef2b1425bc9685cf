"""Phone by touch: who is called, what the log keeps, and what other apps hand over."""

from datetime import timedelta

import pytest

from coach_gym.envs.apps.dialer.app import PACKAGE
from coach_gym.envs.phone.epoch import to_millis
from coach_gym.envs.phone.intents import CALL, DIAL, Intent
from coach_gym.envs.phone.providers import call_log, contacts
from coach_gym.envs.phone.providers.contacts import Contact
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, records


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    hands = Hands(PACKAGE, request.param)
    book = hands.storage.database(contacts.PATH)
    contacts.insert(book, Contact("Ann", "Lee", phones=[("+12015550123", "Mobile")], starred=True))
    contacts.insert(book, Contact("Bob", "Ray", phones=[("+13015550199", "Work")]))
    hands.phone.changed()
    return hands


def logged(hands):
    return [(call.number, call.kind, call.seconds) for call in call_log.calls(hands.storage.database(call_log.PATH))]


def running(hands):
    return dict(hands.phone.services.calls)


def test_a_number_is_typed_corrected_and_called(hands):
    hands.tap("key pad", "5,JKL", "5,JKL", "6,MNO", "backspace", "0,+")
    assert hands.shows("550")
    hands.tap("dial")
    assert running(hands) == {"550": "active"} and hands.shows("Calling…")
    hands.tap("End call")
    assert running(hands) == {} and logged(hands) == [("550", call_log.OUTGOING, 0)]


def test_holding_zero_types_a_plus_and_a_known_number_shows_its_name(hands):
    hands.tap("key pad")
    hands.hold("0,+")
    for digit in ("1", "2,ABC", "0,+", "1", "5,JKL", "5,JKL", "5,JKL", "0,+", "1", "2,ABC", "3,DEF"):
        hands.tap(digit)
    assert hands.shows("+12015550123") and hands.shows("Ann Lee")


def test_an_empty_number_is_not_called(hands):
    hands.tap("key pad", "dial")
    assert running(hands) == {} and hands.shows("key pad") is False and hands.shows("dial")


def test_contacts_favourites_and_search(hands):
    hands.tap("Contacts")
    assert hands.shows("Ann Lee") and hands.shows("Bob Ray")
    hands.tap("Favorites")
    assert hands.shows("Ann Lee") and not hands.shows("Bob Ray")
    hands.tap("Search contacts")
    hands.type("ray")
    hands.back()
    hands.tap("Bob Ray")
    assert running(hands) == {"+13015550199": "active"} and hands.shows("Bob Ray")


def test_the_history_names_people_calls_again_and_forgets(hands):
    call_log.add(hands.storage.database(call_log.PATH), "(201) 555-0123", call_log.MISSED, hands.phone.now)
    hands.phone.changed()
    assert hands.shows("Ann Lee")
    hands.tap("Call (201) 555-0123", "End call")
    assert len(logged(hands)) == 2
    for _ in range(2):
        hands.hold("Ann Lee")
        hands.tap("Delete")
    assert logged(hands) == [] and hands.shows("Your call history is empty")


@pytest.mark.parametrize(("touched", "kind"), [("Answer", call_log.INCOMING), ("Decline", call_log.REJECTED)])
def test_a_call_that_comes_in_is_answered_or_declined(hands, touched, kind):
    hands.phone.services.calls["+12015550123"] = "incoming"
    hands.phone.changed()
    hands.tap("Ann Lee", touched)
    assert running(hands) == ({"+12015550123": "active"} if touched == "Answer" else {})
    if touched == "Answer":
        hands.phone.elapse(timedelta(seconds=30))
        hands.tap("End call")
    assert logged(hands) == [("+12015550123", kind, 0)] and running(hands) == {}


def test_a_call_that_the_other_side_ended_says_so(hands):
    hands.tap("key pad", "1", "dial")
    hands.phone.services.calls.clear()
    hands.phone.changed()
    assert hands.shows("Call ended")
    hands.tap("Close")
    assert hands.shows("dial")


def test_intents_dial_and_call():
    hands = Hands("com.google.android.deskclock")
    assert hands.phone.start(Intent(DIAL, "tel:911")) == PACKAGE
    assert hands.shows("911") and running(hands) == {}
    assert hands.phone.start(Intent(CALL, "tel:911")) == PACKAGE
    assert running(hands) == {"911": "active"}
    assert not hands.phone.apps[PACKAGE].open(Intent(CALL, "mailto:ann"))


def test_contacts_calls_with_this_app():
    hands = Hands("com.google.android.contacts")
    contacts.insert(hands.storage.database(contacts.PATH), Contact("Ann", phones=[("123", "Mobile")]))
    hands.phone.changed()
    hands.tap("Ann", "Call")
    assert hands.phone.foreground == PACKAGE and running(hands) == {"123": "active"}


def test_forgetting_a_call_and_calling_again_leave_the_other_calls_alone():
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(call_log.PATH)
    for number, days in (("5550100", 1), ("5550199", 2)):
        date = to_millis(hands.phone.now - timedelta(days=days))
        add_record(db, "calls", number=number, type=call_log.MISSED, date=date, duration=0)
    hands.phone.changed()
    before = records(db, "calls")
    hands.tap("Call 5550100", "End call")
    assert records(db, "calls")[:2] == before and len(records(db, "calls")) == 3
    hands.hold("5550199")
    hands.tap("Delete")
    assert [row["number"] for row in records(db, "calls")] == ["5550100", "5550100"]
    assert records(db, "calls")[0] == before[0]
