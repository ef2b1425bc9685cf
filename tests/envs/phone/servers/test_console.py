"""The emulator's console, spoken to as telnet and adb do."""

import io
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coach_gym.envs.phone.providers.telephony import IDLE, OFFHOOK, PATH, RINGING, line_state, messages
from coach_gym.envs.phone.servers.console import Console, auth_token
from coach_gym.envs.phone.servers.hardware import Hardware
from coach_gym.envs.profiles import world_phone
from tests.envs.hands import Hands

TOKEN = "s3cret"
MESSENGER = "com.simplemobiletools.smsmessenger"


class Wire(io.BytesIO):
    """What one side sent, and what the other answered."""

    def __init__(self, sent):
        super().__init__(sent)
        self.answer = b""

    recv = io.BytesIO.read

    def sendall(self, data):
        self.answer += data


@pytest.fixture
def hardware():
    return Hardware(world_phone(270, 600), threading.RLock(), "Pixel_6")


def talk(hardware, *lines, token=""):
    wire = Wire("".join(f"{line}\r\n" for line in lines).encode())
    Console(hardware, token).serve(wire)
    return wire.answer.decode()


def ask(hardware, *lines):
    """What adb prints: all after the greeting's and the authentication's OK."""
    said = talk(hardware, f"auth {TOKEN}", *lines, token=TOKEN)
    return said.split("OK\r\n", 2)[2]


def test_it_greets_and_asks_for_the_token(hardware):
    said = talk(hardware, token=TOKEN)
    assert said.startswith("Android Console: Authentication required\r\n") and said.endswith("\r\nOK\r\n")
    assert ".emulator_console_auth_token" in said


def test_nothing_works_before_the_token(hardware):
    said = talk(hardware, "avd name", "kill", "auth wrong", "auth", "sms send 1 x", token=TOKEN)
    assert said.count("KO: ") == 5 and "Pixel_6" not in said
    assert not hardware.killed.is_set()


def test_the_token_opens_it(hardware):
    assert ask(hardware, "avd name") == "Pixel_6\r\nOK\r\n"


def test_an_empty_token_lets_everybody_in(hardware):
    assert talk(hardware, "avd name").endswith("Pixel_6\r\nOK\r\n")


def test_the_token_is_made_once_and_only_for_its_user(tmp_path):
    path = tmp_path / "token"
    token = auth_token(path)
    assert len(token) >= 12 and auth_token(path) == token
    assert path.stat().st_mode & 0o777 == 0o600


def test_many_phones_that_start_at_once_make_one_token(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        tokens = set(pool.map(auth_token, [tmp_path / "token"] * 64))
    assert len(tokens) == 1 and [file.name for file in tmp_path.iterdir()] == ["token"]


def test_where_no_token_can_be_kept_nobody_knows_it(tmp_path):
    nowhere = tmp_path / "missing" / "token"
    assert len(auth_token(nowhere)) >= 12 and auth_token(nowhere) != auth_token(nowhere)


def test_help_lists_the_commands_and_unknown_ones_are_refused(hardware):
    assert all(f"    {name}\r\n" in ask(hardware, "help") for name in ("sms", "gsm", "avd", "geo", "power", "kill"))
    assert ask(hardware, "frobnicate") == "KO: unknown command, try 'help'\r\n"


def test_a_message_arrives_whatever_it_says(hardware):
    text = "naïve  '; reboot; ' 中文 😀 $(id)"
    assert ask(hardware, f"sms send +1555-0199 {text}").startswith("KO: bad phone number")
    assert ask(hardware, f"sms send +15550199 {text}") == "OK\r\n"
    assert hardware.phone.notifications[0].text == text
    assert ask(hardware, "sms send 123").startswith("KO: missing argument")
    assert Hands(MESSENGER, phone=hardware.phone).shows("+15550199")


def test_calls_ring_are_taken_held_and_ended(hardware):
    ask(hardware, "gsm call 5551234")
    assert line_state(hardware.phone.services) == RINGING
    assert ask(hardware, "gsm list") == "inbound from 5551234    : incoming\r\nOK\r\n"
    ask(hardware, "gsm accept 5551234")
    assert line_state(hardware.phone.services) == OFFHOOK
    assert "hold" in ask(hardware, "gsm hold 5551234", "gsm list")
    assert ask(hardware, "gsm cancel 5551234") == "OK\r\n"
    assert line_state(hardware.phone.services) == IDLE
    assert ask(hardware, "gsm cancel 5551234").startswith("KO: no current call")
    assert ask(hardware, "gsm call").startswith("KO: missing argument")
    assert ask(hardware, "gsm call a;b").startswith("KO: bad phone number")


def test_the_place_is_fixed(hardware):
    assert ask(hardware, "geo fix 8.55 47.37 408") == "OK\r\n"
    assert hardware.position == (8.55, 47.37, 408.0)
    for wrong in ("geo fix 8.55", "geo fix a b", "geo fix 200 0", "geo fix nan 0", "geo"):
        assert ask(hardware, wrong).startswith("KO: ")
    assert hardware.position == (8.55, 47.37, 408.0)


def test_the_battery_drains(hardware):
    ask(hardware, "power capacity 7", "power ac off")
    said = ask(hardware, "power display")
    assert "AC: offline" in said and "capacity: 7\r\n" in said
    assert any("7 percent" in node.desc for node in hardware.phone.ui().walk())
    for wrong in ("power capacity 101", "power capacity -1", "power capacity " + "9" * 5000, "power up"):
        assert ask(hardware, wrong).startswith("KO: ")


def test_snapshots_are_saved_loaded_listed_and_deleted(hardware):
    assert ask(hardware, "avd snapshot list").startswith("There is no snapshot available.")
    ask(hardware, "avd snapshot save clean")
    hardware.phone.launch(MESSENGER)
    ask(hardware, "sms send 1 later")
    assert "clean" in ask(hardware, "avd snapshot list")
    assert ask(hardware, "avd snapshot load clean") == "OK\r\n"
    assert hardware.phone.foreground == hardware.phone.launcher.package and not hardware.phone.notifications
    assert ask(hardware, "avd snapshot delete clean") == "OK\r\n"
    assert ask(hardware, "avd snapshot load clean") == "KO: Snapshot 'clean' does not exist\r\n"
    assert ask(hardware, "avd snapshot save ../../etc/x").startswith("KO: ")


def test_memory_for_snapshots_is_bounded(hardware):
    said = ask(hardware, *(f"avd snapshot save s{i}" for i in range(103)))
    assert said.count("KO: ") == 3


def test_events_press_keys_type_and_touch(hardware):
    phone = hardware.phone
    hands = Hands("com.google.android.contacts", phone=phone)
    hands.tap("Create contact", "First name")
    ask(hardware, "event text Zoë x", "event send EV_KEY:KEY_A:1 EV_KEY:KEY_A:0", "event send 1:48:1")
    assert phone.focus.text == "Zoë xab"
    ask(hardware, "event send EV_KEY:KEY_BACK:1 EV_KEY:KEY_BACK:0")
    assert not phone.keyboard_shown
    ask(hardware, "event send EV_KEY:KEY_HOMEPAGE:1")
    x, y = hands.find("Settings").center
    ask(hardware, f"event mouse {x} {y} 0 1", f"event mouse {x} {y} 0 0")
    assert phone.foreground == "com.android.settings"
    assert ask(hardware, "event mouse 1 2").startswith("KO: ")


def test_a_rotated_phone_turns_its_screen_if_that_is_allowed(hardware):
    ask(hardware, "rotate")
    assert hardware.phone.screenshot().shape == (600, 270, 3)
    hardware.phone.turn(None)
    assert hardware.phone.rotation == 3 and hardware.phone.screenshot().shape == (270, 600, 3)


def test_kill_asks_for_the_end(hardware):
    assert ask(hardware, "kill") == "OK: killing emulator, bye bye\r\n"
    assert hardware.killed.is_set()


def test_quit_ends_the_connection(hardware):
    assert ask(hardware, "ping", "quit", "ping") == "I am alive!\r\nOK\r\n"


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_answered_or_end_the_connection(sent):
    wire = Wire(b"auth s3cret\n" + sent + b"\navd snapshot " + sent + b"\nevent " + sent)
    Console(_HARDWARE, TOKEN).serve(wire)
    assert wire.answer.startswith(b"Android Console")


_HARDWARE = Hardware(world_phone(90, 200), threading.RLock())


def test_a_line_without_end_ends_the_connection(hardware):
    wire = Wire(b"x" * 1_000_000)
    Console(hardware, "").serve(wire)
    assert wire.tell() < 200_000


SAID = {
    "gsm status": "gsm voice state: home",
    "gsm signal 20": "OK",
    "power status full": "OK",
    "power health good": "OK",
    "avd name": "Pixel_6",
    "avd status": "virtual device is running",
    "avd stop": "OK",
    "event types": "EV_KEY",
    "help": "sms",
}


@pytest.mark.parametrize(("command", "words"), SAID.items())
def test_commands_that_tell(hardware, command, words):
    assert words in ask(hardware, command) and not ask(hardware, command).startswith("KO")


WRONG = {
    "sms": "missing sub-command",
    "sms send": "missing argument",
    "sms send 123": "missing argument",
    "sms send x! hello": "bad phone number",
    "gsm": "bad sub-command",
    "gsm frobnicate 1": "bad sub-command",
    "gsm call": "missing argument",
    "gsm call x!": "bad phone number",
    "gsm accept 123": "no current call with number '123'",
    "avd frobnicate": "bad sub-command",
    "avd snapshot": "argument required",
    "avd snapshot save": "argument required",
    "avd snapshot save a/b": "name",
    "avd snapshot load missing": "Snapshot 'missing' does not exist",
    "avd snapshot delete missing": "Snapshot 'missing' does not exist",
    "event": "bad sub-command",
    "event mouse 1 2": "Usage: event mouse",
    "power status sleepy": "Usage",
    "geo nofix": "not enough arguments",
    "frobnicate": "unknown command",
}


@pytest.mark.parametrize(("command", "words"), WRONG.items())
def test_wrong_commands_are_refused_with_a_reason(hardware, command, words):
    before = hardware.phone.storage.snapshot()
    answer = ask(hardware, command)
    assert answer.startswith("KO: ") and words in answer
    assert hardware.phone.storage.snapshot() == before


def test_a_battery_status_tells_whether_it_charges(hardware):
    for status, charging in (("discharging", False), ("charging", True), ("unknown", False), ("full", True)):
        ask(hardware, f"power status {status}")
        assert hardware.charging == charging


def test_rebooting_keeps_data_and_loses_what_is_on_the_screen(hardware):
    phone = hardware.phone
    phone.launch(MESSENGER)
    hardware.receive_message("123", "hi")
    hardware.call("5551234")
    phone.clipboard = "x"
    hardware.reboot()
    assert list(phone.stacks) == [phone.launcher.package] and not phone.notifications and not hardware.calls
    assert phone.clipboard == "" and len(messages(phone.storage.database(PATH))) == 1
