"""Simple SMS Messenger by touch: what a user does is what stands in Android's telephony database."""

import sqlite3
from datetime import timedelta

import numpy as np
import pytest

from coach_gym.envs.apps.messages.app import APP
from coach_gym.envs.apps.messages.world_tasks import SimpleSmsSend
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.phone.providers import contacts, telephony
from coach_gym.envs.phone.providers.contacts import Contact
from coach_gym.envs.phone.providers.telephony import FAILED, INBOX, SENT, deliver
from coach_gym.envs.profiles import world_phone
from coach_gym.envs.tasks.words import ParamRng
from coach_gym.ui import compress, parse_ui
from tests.envs.hands import Hands
from tests.envs.records import add_record, changed, records

ANA, STRANGER = "+12015550123", "+13015550777"
FIELD = "Type a message…"


@pytest.fixture
def phone():
    return started(270, 600)


@pytest.fixture(params=[(270, 600), (540, 1200), (1080, 2400), (800, 1280)], ids=str)
def any_phone(request):
    return started(*request.param)


def started(width, height):
    """A phone with a contact, a conversation with her, and a message of a stranger."""
    phone = world_phone(width, height)
    book = phone.storage.database(contacts.PATH)
    contacts.insert_all(book, [Contact("Ana", "Berg", phones=[(ANA, "Mobile")]), Contact("No", "Number")])
    telephony.insert(sms(phone), ANA, "Lunch tomorrow?", INBOX, phone.now - timedelta(days=1))
    telephony.insert(sms(phone), ANA, "Yes, at noon", SENT, phone.now - timedelta(minutes=90))
    telephony.insert(sms(phone), STRANGER, "Your order is ready", INBOX, phone.now - timedelta(minutes=3), read=False)
    phone.launch(APP.package)
    return phone


def sms(phone) -> sqlite3.Connection:
    return phone.storage.database(telephony.PATH)


def stored(phone):
    return [(m.address, m.body, m.kind) for m in telephony.messages(sms(phone))]


def elements(phone):
    return parse_ui(compress(phone.ui()))


def find(phone, label):
    found = [e for e in elements(phone) if label in (e.label, e.desc, e.hint) or label in e.label.split(", ")]
    assert found, f"{label!r} is not among {[e.label for e in elements(phone)]}"
    return found[0]


def shows(phone, label):
    return any(label in (e.label, e.hint) or label in e.label.split(", ") for e in elements(phone))


def tap(phone, *labels):
    for label in labels:
        phone.tap(*find(phone, label).center)


def hold(phone, label):
    phone.long_press(*find(phone, label).center)


def rows(phone):
    return [element.label for element in elements(phone) if element.long_clickable]


def bubbles(phone):
    return [element for element in elements(phone) if element.id == "thread_message_body"]


def test_conversations_show_names_last_message_and_time_the_latest_first(any_phone):
    assert rows(any_phone) == [f"{STRANGER}, Your order is ready, 15:31", "Ana Berg, Yes, at noon, 14:04"]


def test_a_message_to_a_typed_number(any_phone):
    phone = any_phone
    tap(phone, "New conversation")
    phone.type("+1 (401) 555-0100")
    tap(phone, "OK")
    assert find(phone, FIELD).focused and not find(phone, "SMS").enabled
    phone.type("Hello there")
    before = phone.now
    tap(phone, "SMS")
    assert [b.label for b in bubbles(phone)] == ["Hello there"] and find(phone, FIELD).value == ""
    assert stored(phone)[-1] == ("+1 (401) 555-0100", "Hello there", SENT)
    date, read, thread = sms(phone).execute("SELECT date, read, thread_id FROM sms ORDER BY _id DESC").fetchone()
    assert (date, read) == (telephony.millis(before), 1)
    summary = sms(phone).execute("SELECT snippet, message_count FROM threads WHERE _id = ?", (thread,)).fetchone()
    assert summary == ("Hello there", 1)


def test_a_message_to_a_contact_found_by_name_joins_her_conversation(phone):
    tap(phone, "New conversation")
    assert not shows(phone, "No Number"), "nobody can be written to without a number"
    phone.type("berg")
    tap(phone, "Ana Berg")
    assert [b.label for b in bubbles(phone)] == ["Lunch tomorrow?", "Yes, at noon"]
    phone.type("Bring cake")
    tap(phone, "SMS")
    assert stored(phone)[-1] == (ANA, "Bring cake", SENT) and len(telephony.conversations(sms(phone))) == 2


def test_enter_in_the_number_field_goes_on_and_an_empty_one_does_not(phone):
    tap(phone, "New conversation", "OK")
    assert shows(phone, "New conversation")
    tap(phone, "Add Contact or Number…")
    phone.type("4015550100\n")
    assert find(phone, FIELD).focused and shows(phone, "4015550100")


@pytest.mark.parametrize("spelling", ["2015550123", "(201) 555-0123", "+1 201 555 0123"])
def test_a_number_is_the_same_however_it_is_spelt(phone, spelling):
    tap(phone, "New conversation")
    phone.type(spelling)
    tap(phone, "OK")
    assert shows(phone, "Ana Berg") and len(bubbles(phone)) == 2


def test_blank_messages_are_not_sent(phone):
    tap(phone, "Ana Berg", FIELD)
    phone.type("   ")
    assert not find(phone, "SMS").enabled
    tap(phone, "SMS")
    assert len(stored(phone)) == 3


def test_ours_stand_right_theirs_left_and_silences_are_marked(any_phone):
    tap(any_phone, "Ana Berg")
    theirs, ours = bubbles(any_phone)
    assert theirs.bounds[0] < any_phone.width - theirs.bounds[2]
    assert ours.bounds[0] > any_phone.width - ours.bounds[2]
    assert shows(any_phone, "Oct 14") and shows(any_phone, "14:04")


def test_reading_marks_as_read(phone):
    unread = "SELECT count(*) FROM sms WHERE read = 0"
    assert sms(phone).execute(unread).fetchone() == (1,)
    assert [c.read for c in telephony.conversations(sms(phone))] == [False, True]
    tap(phone, STRANGER)
    assert sms(phone).execute(unread).fetchone() == (0,)
    assert all(c.read for c in telephony.conversations(sms(phone)))


def test_airplane_mode_fails_the_message(phone):
    phone.storage.settings["global", "airplane_mode_on"] = "1"
    tap(phone, "Ana Berg", FIELD)
    phone.type("On my way")
    tap(phone, "SMS")
    assert stored(phone)[-1] == (ANA, "On my way", FAILED) and shows(phone, "Message not sent")


def test_forwarding_carries_the_text_to_whoever_is_chosen(phone):
    tap(phone, STRANGER)
    hold(phone, "Your order is ready")
    tap(phone, "Forward message", "Ana Berg")
    assert find(phone, FIELD).value == "Your order is ready" and len(stored(phone)) == 3
    tap(phone, "SMS")
    assert stored(phone)[-1] == (ANA, "Your order is ready", SENT)


def test_copying_and_pasting(phone):
    tap(phone, STRANGER)
    hold(phone, "Your order is ready")
    tap(phone, "Copy to clipboard")
    assert phone.clipboard == "Your order is ready" and not shows(phone, "1 selected")
    hold(phone, FIELD)
    tap(phone, "Paste", "SMS")
    assert stored(phone)[-1] == (STRANGER, "Your order is ready", SENT)


def test_deleting_messages_asks_and_the_last_one_takes_the_conversation_along(phone):
    tap(phone, "Ana Berg")
    hold(phone, "Yes, at noon")
    tap(phone, "Delete", "No")
    assert len(stored(phone)) == 3
    tap(phone, "Delete", "Yes")
    assert [b.label for b in bubbles(phone)] == ["Lunch tomorrow?"]
    assert telephony.conversations(sms(phone))[1].snippet == "Lunch tomorrow?"
    hold(phone, "Lunch tomorrow?")
    tap(phone, "Delete", "Yes")
    assert rows(phone) == [f"{STRANGER}, Your order is ready, 15:31"]
    assert sms(phone).execute("SELECT count(*) FROM threads").fetchone() == (1,)


def test_several_messages_can_be_selected_and_back_lets_go_of_them(phone):
    tap(phone, "Ana Berg")
    hold(phone, "Yes, at noon")
    tap(phone, "Lunch tomorrow?")
    assert shows(phone, "2 selected") and not shows(phone, "Forward message")
    phone.key("BACK")
    assert shows(phone, "Ana Berg") and not shows(phone, "Delete")


def test_deleting_conversations_from_the_list_and_from_inside(phone):
    hold(phone, STRANGER)
    tap(phone, "Delete", "No")
    assert len(rows(phone)) == 2
    tap(phone, "Delete", "Yes")
    assert stored(phone) == [(ANA, "Lunch tomorrow?", INBOX), (ANA, "Yes, at noon", SENT)]
    tap(phone, "Ana Berg", "More options", "Delete", "Yes")
    assert stored(phone) == [] and shows(phone, "No stored conversations have been found")


def test_search_looks_at_names_and_messages(phone):
    tap(phone, "Search")
    phone.type("ANA")
    assert [row.split(",")[0] for row in rows(phone)] == ["Ana Berg"]
    phone.key("BACK")
    phone.key("BACK")
    tap(phone, "Search")
    phone.type("order")
    assert [row.split(",")[0] for row in rows(phone)] == [STRANGER]


def test_a_received_message_is_announced_and_its_notification_opens_it(phone):
    phone.key("HOME")
    deliver(phone, "201-555-0123", "Can you call me?")
    assert [(n.title, n.text) for n in phone.notifications] == [("Ana Berg", "Can you call me?")]
    phone.swipe((phone.width // 2, 1), (phone.width // 2, phone.height // 2))
    tap(phone, "Can you call me?")
    assert phone.foreground == APP.package
    assert [b.label for b in bubbles(phone)] == ["Lunch tomorrow?", "Yes, at noon", "Can you call me?"]


def test_long_conversations_open_at_the_end_and_scroll(any_phone):
    phone = any_phone
    for i in range(60):
        telephony.insert(sms(phone), STRANGER, f"Line {i}", INBOX, phone.now - timedelta(seconds=120 - i))
    phone.changed()
    tap(phone, STRANGER)
    assert bubbles(phone)[-1].label == "Line 59"
    phone.swipe((phone.width // 2, phone.height // 3), (phone.width // 2, phone.height * 2 // 3))
    assert not shows(phone, "Line 59")
    phone.swipe((phone.width // 2, phone.height * 2 // 3), (phone.width // 2, phone.height // 3))
    tap(phone, FIELD)
    assert shows(phone, "Line 59"), "the keyboard covers the last message"
    phone.swipe((phone.width // 2, phone.height // 4), (phone.width // 2, phone.height // 2))
    phone.type("enough")
    tap(phone, "SMS")
    assert bubbles(phone)[-1].label == "enough"


def test_a_snapshot_brings_back_a_half_written_message_and_the_selection(phone):
    tap(phone, "Ana Berg", FIELD)
    phone.type("See you")
    hold(phone, "Yes, at noon")
    before, screen, text = phone.snapshot(), phone.screenshot(), compress(phone.ui())
    for _ in range(2):
        tap(phone, "Delete", "Yes")
        tap(phone, "SMS")
        assert ("Yes, at noon" not in compress(phone.ui())) and stored(phone)[-1][1] == "See you"
        phone.restore(before)
        assert compress(phone.ui()) == text and np.array_equal(phone.screenshot(), screen)
        assert len(stored(phone)) == 3


def test_hostile_messages_are_text(phone):
    text = "'); DROP TABLE sms;-- <b>\"&"
    tap(phone, "Ana Berg", FIELD)
    phone.type(text)
    tap(phone, "SMS")
    assert stored(phone)[-1] == (ANA, text, SENT) and bubbles(phone)[-1].label == text


@pytest.fixture
def send():
    """A task to send a message, on its phone."""
    task, device = SimpleSmsSend(SimpleSmsSend.sample(ParamRng(3))), PhoneDevice(270, 600)
    task.setup(device)
    return task, device


@pytest.mark.parametrize(
    ("spoilt", "score"), [("nothing", 1.0), ("twice", 0.0), ("deleted", 0.0), ("received", 0.0), ("failed", 0.0)]
)
def test_a_task_counts_what_was_sent_and_what_else_happened(send, spoilt, score):
    task, device = send
    number, body = task.params["number"], task.params["message"]
    with device.database(telephony.PATH) as db:
        kind = {"received": INBOX, "failed": FAILED}.get(spoilt, SENT)
        telephony.insert(db, number, f" {body} ", kind, device.now)
        if spoilt == "twice":
            telephony.insert(db, number, body, SENT, device.now)
        if spoilt == "deleted":
            telephony.delete_message(db, telephony.messages(db)[0].id)
    assert task.evaluate(device, None) == score


def test_reading_and_answering_change_nothing_else_in_a_full_message():
    hands = Hands(APP.package)
    db = hands.storage.database(telephony.PATH)
    for number in ("5550100", "5550199"):
        telephony.insert(db, number, "first", telephony.INBOX, hands.phone.now, read=False)
        thread = telephony.thread(db, number)
        add_record(db, "sms", address=number, thread_id=thread, type=telephony.INBOX, body=f" to {number}\n", read=0)
    hands.phone.changed()
    before = records(db, "sms")
    hands.tap("5550199", "Type a message…")
    hands.type("Yes")
    hands.tap("SMS")
    *after, ours = records(db, "sms")
    assert changed(before, after) == [{}, {}, {"read": 1, "seen": 1}, {"read": 1, "seen": 1}]
    assert (ours["address"], ours["body"], ours["type"]) == ("5550199", "Yes", telephony.SENT)


def test_deleting_a_message_leaves_the_others_alone():
    hands = Hands(APP.package)
    db = hands.storage.database(telephony.PATH)
    for body in ("first", "second"):
        telephony.insert(db, "5550100", body, telephony.INBOX, hands.phone.now)
    add_record(db, "sms", address="5550100", thread_id=1, type=telephony.SENT, body="third")
    hands.phone.changed()
    before = records(db, "sms")
    hands.tap("5550100")
    hands.hold("second")
    hands.tap("Delete", "Yes")
    assert records(db, "sms") == [before[0], before[2]]
