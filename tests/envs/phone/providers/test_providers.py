"""Messages, calls and preferences in the formats in which Android keeps them."""

import xml.etree.ElementTree as ElementTree
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coach_gym.envs.phone import epoch, paths, preferences
from coach_gym.envs.phone.providers import call_log, telephony
from coach_gym.envs.phone.providers.telephony import FAILED, INBOX, SENT
from coach_gym.envs.phone.services import Services
from coach_gym.envs.phone.storage import Storage

START = datetime(2023, 10, 15, 12)
ANN, BOB = "+1 201 555 0123", "555-7777"


@pytest.fixture
def sms():
    return Storage().create_database(telephony.PATH, telephony.SCHEMA)


def at(minutes):
    return START + timedelta(minutes=minutes)


def summary(db):
    rows = db.execute("SELECT message_count, read, snippet, date FROM threads ORDER BY _id")
    first = telephony.millis(START)
    return [(count, bool(read), snippet, (date - first) // 60_000) for count, read, snippet, date in rows]


# messages


def test_messages_with_one_person_are_one_conversation_however_the_number_is_written(sms):
    telephony.insert(sms, ANN, "hi", INBOX, at(0), read=False)
    telephony.insert(sms, "(201) 555-0123", "hello", SENT, at(1))
    telephony.insert(sms, BOB, "yo", INBOX, at(2))
    assert [(c.address, c.snippet, c.read) for c in telephony.conversations(sms)] == [
        (BOB, "yo", True), (ANN, "hello", False),
    ]  # fmt: skip
    thread = telephony.thread(sms, "2015550123")
    assert [(m.body, m.kind, m.date) for m in telephony.messages(sms, thread)] == [
        ("hi", INBOX, at(0)), ("hello", SENT, at(1)),
    ]  # fmt: skip
    assert len(telephony.messages(sms)) == 3 and telephony.thread(sms, "911") is None


def test_threads_sum_up_what_is_in_them(sms):
    first = telephony.insert(sms, ANN, "one", INBOX, at(0), read=False)
    telephony.insert(sms, ANN, "two", FAILED, at(5))
    assert summary(sms) == [(2, False, "two", 5)]
    telephony.mark_read(sms, telephony.thread(sms, ANN))
    assert summary(sms) == [(2, True, "two", 5)]
    telephony.insert(sms, ANN, "before", INBOX, at(-9))
    assert summary(sms) == [(3, True, "two", 5)]
    telephony.delete_message(sms, first)
    assert summary(sms)[0][0] == 2


def test_a_conversation_goes_with_its_last_message(sms):
    id = telephony.insert(sms, ANN, "one", INBOX, at(0))
    telephony.insert(sms, BOB, "two", INBOX, at(1))
    telephony.delete_message(sms, id)
    assert [c.address for c in telephony.conversations(sms)] == [BOB]
    telephony.delete_thread(sms, telephony.thread(sms, BOB))
    assert telephony.conversations(sms) == [] == telephony.messages(sms)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (ANN, "2015550123", True),
        ("12345", "+12345", True),
        ("Bank", " bank ", True),
        ("1", "2", False),
        (ANN, BOB, False),
    ],
)
def test_what_makes_two_numbers_one(first, second, same):
    assert (telephony.line(first) == telephony.line(second)) == same


@pytest.mark.parametrize(
    ("calls", "state"),
    [({}, 0), ({"1": "incoming"}, 1), ({"1": "active"}, 2), ({"1": "held"}, 2), ({"1": "active", "2": "incoming"}, 1)],
)
def test_the_line_rings_before_it_is_busy(calls, state):
    assert telephony.line_state(Services(calls=calls)) == state


# calls


def test_calls_are_listed_latest_first():
    db = Storage().create_database(call_log.PATH, call_log.SCHEMA)
    call_log.add(db, ANN, call_log.MISSED, at(0))
    call_log.add(db, BOB, call_log.OUTGOING, at(3), 65)
    assert [(c.number, c.kind, c.date, c.seconds) for c in call_log.calls(db)] == [
        (BOB, call_log.OUTGOING, at(3), 65), (ANN, call_log.MISSED, at(0), 0),
    ]  # fmt: skip
    call_log.delete(db, call_log.calls(db)[0].id)
    assert [c.number for c in call_log.calls(db)] == [ANN]


# preferences


VALUES = {
    "text": "a < b & \"c\"\n", "yes": True, "no": False, "int": -5, "long": 1 << 40, "float": 2.5,
    "set": frozenset({"b", "a & c"}), "empty": "", "none": frozenset(),
}  # fmt: skip


def test_preferences_come_back_as_they_were():
    assert preferences.from_xml(preferences.to_xml(VALUES)) == VALUES
    kinds = {entry.attrib["name"]: entry.tag for entry in ElementTree.fromstring(preferences.to_xml(VALUES))}
    assert kinds == {
        "text": "string", "yes": "boolean", "no": "boolean", "int": "int", "long": "long", "float": "float",
        "set": "set", "empty": "string", "none": "set",
    }  # fmt: skip


VALUE = st.one_of(
    st.booleans(), st.integers(-(1 << 62), 1 << 62), st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)))
)  # fmt: skip


@given(st.dictionaries(st.text("abcXYZ._", min_size=1), VALUE))
def test_all_preferences_survive(values):
    assert preferences.from_xml(preferences.to_xml(values)) == values


def test_preferences_are_changed_one_by_one():
    storage, path = Storage(), "/data/data/app/shared_prefs/p.xml"
    assert preferences.load(storage, path) == {}
    preferences.update(storage, path, {"a": 1, "b": "x"})
    preferences.update(storage, path, {"a": 2, "b": None, "c": True})
    assert preferences.load(storage, path) == {"a": 2, "c": True}
    preferences.load(storage, path)["a"] = 3
    assert preferences.load(storage, path)["a"] == 2, "what is loaded is a copy"


# times and paths


@given(st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)).map(lambda at: at.replace(microsecond=0)))
def test_times_survive_seconds_and_milliseconds(moment):
    assert epoch.from_seconds(epoch.to_seconds(moment)) == moment
    assert epoch.to_millis(moment) == 1000 * epoch.to_seconds(moment) == telephony.millis(moment)
    assert epoch.midnight(moment.date()) <= moment


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("/sdcard/a", "/", "/storage/emulated/0/a"), ("/sdcard", "/", "/storage/emulated/0"), ("a/../b", "/x", "/x/b"),
        ("/sdcardx", "/", "/sdcardx"), ("../..", "/a", "/"), ("/data/user/0/org.app", "/", "/data/data/org.app"),
        ("x", "/sdcard", "/storage/emulated/0/x"), ("//etc//hosts", "/", "/system/etc/hosts"),
    ],
)  # fmt: skip
def test_paths_lead_to_one_place(path, folder, expected):
    assert paths.real(path, folder) == expected


def test_a_link_ends_in_no_slash():
    assert paths.link("/sdcard") == "/storage/emulated/0" and paths.link("sdcard", "/") == "/storage/emulated/0"
    assert paths.link("/sdcard/") is None and paths.link("/data") is None
