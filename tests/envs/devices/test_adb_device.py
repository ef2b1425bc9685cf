"""All kinds of devices behave alike: the embedded phone in process, and behind the real adb, uiautomator2 and gRPC.

The last tests check failures: a device that dies raises, and one that hangs does not block its user.
"""

import re
import socket
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import datetime, timedelta

import adbutils
import gymnasium as gym
import numpy as np
import pytest
import uiautomator2

from coach_gym.actions import Action, ActionError
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices import adb as adb_module
from coach_gym.envs.devices import gestures
from coach_gym.envs.devices.adb import Adb, failures, stop_server
from coach_gym.envs.devices.adb_device import AdbDevice
from coach_gym.envs.devices.android_env_device import AndroidEnvDevice
from coach_gym.envs.devices.console import TOKEN_FILE, Console
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import DeviceError
from coach_gym.envs.suites.play import play
from coach_gym.ui import compress, parse_ui
from tests.envs.ports import free_port
from tests.envs.served_phone import SIZE, adb_server, served_phone

KINDS = ("phone", "adb", "emulator", "android_env")
NOTE = "/sdcard/Documents/Markor/note.md"
LEDGER = "/data/data/com.arduia.expense/databases/accounting.db"
TEXTS = [
    "plain", "'; reboot; '", '"; reboot; "', "$(reboot) `reboot` $HOME %s %d", "a && reboot || reboot | sh > /x &",
    "back\\slash \\n \\", "  spaces  ", "!#*?[]{}()<>~^", "Ünïcödé ß", "مرحبا بالعالم",
    "עברית", "日本語 中文 한국어", "हिन्दी", "😀 👩‍🚀 🏳️‍🌈 👍🏽", "e\u0301 \u200b \u202e", "-n --help", "x" * 3000,
]  # fmt: skip


class Devices:
    """One device of each kind. Those behind adb share a served phone, so only one of them is used at a time."""

    def __init__(self, stack):
        self.server_port = stack.enter_context(adb_server())
        self.server = stack.enter_context(served_phone())
        self.fresh = self.server.phone.snapshot()
        serial, settings = f"emulator-{self.server.console_port}", {"server_port": self.server_port, "pause": 0.0}
        self.by_kind = {
            "phone": PhoneDevice(*SIZE),
            "adb": AdbDevice(self.server.address, **settings),
            "emulator": AdbDevice(serial, **settings),
            "android_env": AndroidEnvDevice(self.server.console_port, self.server.grpc_port, **settings),
        }
        for device in self.by_kind.values():
            stack.callback(device.close)

    def prepared(self, kind):
        """Returns the device of a kind, with its phone in the initial state."""
        with self.server.lock:
            self.server.phone.restore(self.fresh)
        self.by_kind["phone"].reset_state()
        return self.by_kind[kind]

    def phone(self, kind):
        """Returns the phone behind a device."""
        return self.by_kind["phone"].phone if kind == "phone" else self.server.phone


@pytest.fixture(scope="module")
def devices():
    with ExitStack() as stack:
        yield Devices(stack)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def device(devices, kind):
    return devices.prepared(kind)


@pytest.fixture
def remote(devices):
    return devices.prepared("adb")


def find(device, label):
    elements = parse_ui(compress(device.ui()))
    found = [e for e in elements if label in (e.label, e.hint, e.id) or e.label.startswith(f"{label},")]
    assert found, f"{label!r} is not among {[e.label for e in elements]}"
    return found[0].center


def tap(device, label):
    device.perform(Action("click", start=find(device, label)))


def open_note(device, text=""):
    device.write(NOTE, text.encode())
    device.perform(Action("open_app", content="Markor"))
    tap(device, "note.md")


# the screen and the actions

CONTACT = [
    Action("open_app", content="Contacts"), "Create contact", "First name", Action("type", content="Zoë"),
    Action("press_back"), "Last name", Action("type", content="O'Neil"), Action("press_enter"),
    Action("press_back"), Action("press_back"), "Discard", Action("press_home"),
]  # fmt: skip
SCROLLS = [
    Action("open_app", content=" settings "), Action("scroll", start=(130, 400), direction="down"),
    Action("scroll", start=(130, 300), direction="up"), Action("scroll", start=(130, 500), end=(130, 250)),
    Action("drag", start=(130, 500), end=(130, 400)), Action("press_back"),
    Action("scroll", start=(130, 560), direction="down"), Action("scroll", start=(200, 5), direction="up"),
]  # fmt: skip
FILES = [
    Action("open_app", content="Files"), Action("long_press", start=(60, 200)), Action("wait"), Action("press_back"),
    Action("open_app", content="Markor"), Action("open_app", content="Files"),
]  # fmt: skip


@pytest.mark.parametrize("script", [CONTACT, SCROLLS, FILES], ids=["contact", "scrolls", "files"])
@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_same_actions_lead_to_the_same_screens(devices, kind, script, monkeypatch):
    monkeypatch.setattr(gestures, "WAIT", 0.1)
    device, oracle = devices.prepared(kind), PhoneDevice(*SIZE)
    for step in script:
        action = Action("click", start=find(oracle, step)) if isinstance(step, str) else step
        oracle.perform(action)
        device.perform(action)
        assert compress(device.ui()) == compress(oracle.ui()), action
        assert device.foreground == oracle.foreground
        assert_alike(device.screenshot(), oracle.screenshot(), exact=kind == "android_env")


def assert_alike(shown, expected, exact):
    """Screens are equal below the status bar, whose clock keeps running; JPEG changes a few shades."""
    assert shown.shape == expected.shape == (600, 270, 3) and shown.dtype == np.uint8
    difference = np.abs(shown[24:].astype(int) - expected[24:])
    assert difference.max() == 0 if exact else (difference.mean() < 3 and np.percentile(difference, 99) < 40)


@pytest.mark.parametrize("text", TEXTS)
def test_text_of_any_script_arrives_as_it_is(devices, device, kind, text):
    open_note(device)
    tap(device, "Note text")
    device.perform(Action("type", content=text))
    assert devices.phone(kind).focus.text == text
    device.perform(Action("press_back"))
    device.perform(Action("press_back"))
    assert device.read(NOTE).decode() == text


@pytest.mark.parametrize("text", ["one\ntwo", "\n\nafter two", "ends\n", "a\r\nb", "😀\n'; reboot; '\nمرحبا"])
def test_the_end_of_a_line_is_enter(device, text):
    open_note(device, "")
    tap(device, "Note text")
    device.perform(Action("type", content=text))
    device.perform(Action("press_back"))
    device.perform(Action("press_back"))
    assert device.read(NOTE).decode() == text.replace("\r\n", "\n")


def test_typing_goes_on_at_the_cursor_and_leaves_the_clipboard_alone(device):
    open_note(device, "")
    tap(device, "Note text")
    device.put_clipboard("kept")
    device.perform(Action("type", content="one "))
    device.perform(Action("type", content="two"))
    assert device.get_clipboard() == "kept"
    device.perform(Action("press_back"))
    device.perform(Action("press_back"))
    assert device.read(NOTE) == b"one two"


def test_typing_without_a_field_does_nothing(device):
    before = compress(device.ui())
    device.perform(Action("type", content="lost"))
    assert compress(device.ui()) == before


@pytest.mark.parametrize("label", ["Nothing", "", "'; reboot; '", "$(reboot)", "😀", "com.android", "x" * 5000])
def test_an_app_that_is_not_there_is_the_agents_mistake(device, label):
    with pytest.raises(ActionError) as raised:
        device.perform(Action("open_app", content=label))
    message = str(raised.value)
    assert "There is no app named" in message and "Settings" in message and len(message) < 2200
    assert device.foreground == "com.google.android.apps.nexuslauncher"


# state

NAMES = ["a.txt", "with space.txt", "'; reboot; '.txt", "$(reboot).txt", "-rf", "*", "😀 مرحبا.txt", 'quo"te', "b\\c"]


@pytest.mark.parametrize("name", NAMES)
def test_files_keep_their_names_and_bytes(device, name):
    path, data = f"/sdcard/Download/folder/{name}", bytes(range(256)) * 600
    assert device.read(path) is None
    device.write(path, data)
    assert device.read(path) == data
    assert device.listdir("/sdcard/Download/folder") == [name]
    device.write(path, b"")
    assert device.read(path) == b""
    device.remove(path)
    assert device.read(path) is None
    assert device.listdir("/sdcard/Download/folder") == []


def test_folders_are_listed_sorted_and_removed_with_all_they_hold(device):
    for name in ("b", "a/c", "a/d/e"):
        device.write(f"/sdcard/Download/{name}", b"x")
    assert device.listdir("/sdcard/Download") == ["a", "b"]
    assert device.listdir("/sdcard/Download/") == device.listdir("/sdcard/Download")
    assert device.read("/sdcard/Download/a") is None
    device.remove("/sdcard/Download/a")
    assert device.listdir("/sdcard/Download") == ["b"]
    device.remove("/sdcard/Download/none")
    assert device.listdir("/sdcard/none") == []


def test_one_file_is_seen_under_both_names_of_shared_storage(device):
    device.write("/sdcard/Download/x", b"1")
    assert device.read("/storage/emulated/0/Download/x") == b"1"


def test_a_file_has_the_time_that_it_is_given(devices, device, kind):
    moment = datetime(2023, 3, 4, 5, 6, 7)
    device.write("/sdcard/Download/old", b"x", moment)
    device.write("/sdcard/Download/new", b"x")
    storage = devices.phone(kind).storage
    assert storage.modified("/storage/emulated/0/Download/old") == moment
    assert abs(storage.modified("/storage/emulated/0/Download/new") - device.now) < timedelta(seconds=60)


def test_a_database_is_changed_in_place(device):
    with device.database(LEDGER) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        db.execute("CREATE TABLE IF NOT EXISTS probe (text TEXT)")
        db.executemany("INSERT INTO probe VALUES (?)", [(text,) for text in TEXTS])
    with device.database(LEDGER) as db:
        assert [text for (text,) in db.execute("SELECT text FROM probe")] == TEXTS
        assert tables < {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_a_new_database_can_be_made(device):
    path = "/data/data/com.arduia.expense/databases/new.db"
    with device.database(path) as db:
        db.execute("CREATE TABLE t (x)")
        db.execute("INSERT INTO t VALUES (1)")
    assert device.read(path).startswith(b"SQLite format 3")


@pytest.mark.parametrize("value", ["1", "", "two words", "'; reboot; '", "$(reboot)", "😀 مرحبا", "a\nb", "-1"])
def test_settings_keep_their_values(device, value):
    assert device.get_setting("system", "probe") is None
    device.put_setting("system", "probe", value)
    assert device.get_setting("system", "probe") == value
    assert device.get_setting("secure", "probe") is None


@pytest.mark.parametrize(
    ("namespace", "key", "values"),
    [
        ("global", "wifi_on", "010"), ("global", "bluetooth_on", "101"), ("global", "airplane_mode_on", "10"),
        ("global", "mobile_data", "01"), ("secure", "ui_night_mode", "21"),
    ],
)  # fmt: skip
def test_radios_and_the_theme_are_switched(device, namespace, key, values):
    for value in values:
        device.put_setting(namespace, key, value)
        assert device.get_setting(namespace, key) == value


@pytest.mark.parametrize("text", ["", *TEXTS, "two\nlines"])
def test_the_clipboard_keeps_any_text(device, text):
    device.put_clipboard(text)
    assert device.get_clipboard() == text


def test_the_clock_is_the_devices_own(devices, device, kind):
    devices.phone(kind).now = datetime(2024, 2, 29, 23, 59, 58)
    assert abs(device.now - datetime(2024, 2, 29, 23, 59, 58)) < timedelta(seconds=60)


def test_a_reset_shows_the_home_screen(device):
    for name in ("Settings", "Contacts"):
        device.perform(Action("open_app", content=name))
    device.reset_state()
    assert device.foreground == "com.google.android.apps.nexuslauncher"
    device.perform(Action("open_app", content="Settings"))
    tap(device, "Display")
    device.reset_state()
    device.perform(Action("open_app", content="Settings"))
    assert find(device, "Network & internet")  # the app was stopped, so it starts at its first page


# features of devices behind adb


def test_an_app_is_stopped_before_its_database_is_replaced_and_only_then(devices, remote):
    remote.perform(Action("open_app", content="Pro Expense"))
    with remote.database(LEDGER) as db:
        db.execute("SELECT 1")
    assert "com.arduia.expense" in devices.server.phone.stacks
    with remote.database(LEDGER) as db:
        db.execute("CREATE TABLE probe (x)")
    assert "com.arduia.expense" not in devices.server.phone.stacks


def test_a_replaced_file_keeps_owner_and_mode_and_a_new_one_gets_the_apps(remote):
    was = remote.shell(f"stat -c '%u:%g %a' {LEDGER}")
    owner = was.split()[0]
    assert owner not in ("", "0:0")
    remote.adb.run("chmod", "600", LEDGER)
    with remote.database(LEDGER) as db:
        db.execute("CREATE TABLE probe (x)")
    assert remote.shell(f"stat -c '%u:%g %a' {LEDGER}").split() == [owner, "600"]
    remote.write("/data/data/com.arduia.expense/files/deep/new", b"x")
    assert remote.shell("stat -c '%u:%g %a' /data/data/com.arduia.expense/files/deep/new").split() == [owner, "660"]
    assert remote.shell("stat -c '%u:%g' /data/data/com.arduia.expense/files/deep").strip() == owner


def test_what_an_app_has_not_yet_moved_out_of_its_journal_is_read(devices, remote, tmp_path):
    """The app has an open connection and has only written to the journal, as apps on Android do."""
    file = tmp_path / "app.db"
    app = sqlite3.connect(file)
    app.execute("PRAGMA journal_mode = WAL")
    app.execute("PRAGMA wal_autocheckpoint = 0")
    app.execute("CREATE TABLE t (x)")
    app.execute("INSERT INTO t VALUES ('in the journal')")
    app.commit()
    folder = "/data/data/com.arduia.expense/databases"
    for suffix in ("", "-wal", "-shm"):
        remote.write(f"{folder}/app.db{suffix}", (tmp_path / f"app.db{suffix}").read_bytes())
    app.close()
    with remote.database(f"{folder}/app.db") as db:
        assert db.execute("SELECT x FROM t").fetchall() == [("in the journal",)]
        db.execute("INSERT INTO t VALUES ('ours')")
    assert [name for name in remote.listdir(folder) if name.startswith("app.db")] == ["app.db"]
    with remote.database(f"{folder}/app.db") as db:
        assert db.execute("SELECT x FROM t").fetchall() == [("in the journal",), ("ours",)]


def test_a_change_that_fails_leaves_the_database_as_it_was(remote):
    before = remote.read(LEDGER)
    with pytest.raises(sqlite3.OperationalError), remote.database(LEDGER) as db:
        db.execute("CREATE TABLE probe (text TEXT)")
        db.execute("no such statement")
    assert remote.read(LEDGER) == before


def test_private_files_need_root_and_shared_ones_do_not(remote, monkeypatch):
    monkeypatch.setattr(remote.adb, "is_root", lambda: False)
    for use in (remote.read, remote.listdir, remote.remove):
        with pytest.raises(DeviceError, match="adb is not root"):
            use(LEDGER)
    with pytest.raises(DeviceError, match="adb is not root"), remote.database(LEDGER):
        pass
    remote.write("/sdcard/Download/x", b"1")
    assert remote.read("/sdcard/Download/x") == b"1"


@pytest.mark.parametrize(("allowed", "asked"), [(True, 3), (False, 1)])
def test_adb_becomes_root_where_it_may_though_the_device_goes_away_for_that(remote, monkeypatch, allowed, asked):
    answers = iter([False, DeviceError("offline"), True])

    def is_root():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(remote.adb, "is_root", is_root)
    reply = "restarting adbd as root" if allowed else "adbd cannot run as root in production builds"
    monkeypatch.setattr(remote.adb.device, "root", lambda: reply)
    remote.adb.become_root()
    assert len(list(answers)) == 3 - asked


def test_an_embedded_phone_behind_adb_says_that_it_is_one(devices):
    assert devices.by_kind["adb"].name == f"{devices.server.address} (embedded phone)"
    port = devices.server.console_port
    assert devices.by_kind["emulator"].name == f"emulator-{port} (embedded phone)"
    assert devices.by_kind["android_env"].name == f"android_env:{port} (embedded phone)"


@pytest.mark.parametrize("text", ["'; reboot; '", "$(reboot)", "😀 مرحبا", "one\ntwo"])
def test_where_the_clipboard_cannot_be_read_a_keyboard_types(devices, remote, monkeypatch, text):
    open_note(remote)
    tap(remote, "Note text")
    monkeypatch.setattr(uiautomator2.Device, "clipboard", property(lambda _: None, lambda *_: None))
    remote.perform(Action("type", content=text))
    assert devices.server.phone.focus.text == text


def test_small_writes_to_the_device_are_sent_at_once(remote):
    connection = remote.adb.device.create_connection(adbutils.Network.TCP, 9008)
    with connection:
        assert connection.getsockopt(6, 1) != 0  # IPPROTO_TCP, TCP_NODELAY
        assert 0 < connection.gettimeout() <= adb_module.TIMEOUT


def test_a_turned_screen_is_a_failure_and_not_a_picture_of_another_shape(remote, monkeypatch):
    monkeypatch.setattr(remote, "_size", (600, 270))
    with pytest.raises(DeviceError, match="the screen is rotated: it has 270 x 600 pixels"):
        remote.screenshot()


def test_a_screen_without_nodes_is_one_empty_node(remote, monkeypatch):
    monkeypatch.setattr(remote, "_dump", lambda: '<?xml version="1.0"?><hierarchy rotation="0" />')
    assert compress(remote.ui()) == ""


def test_after_an_action_the_screen_comes_to_rest(remote, monkeypatch):
    """Two equal dumps end the wait; a screen that never rests ends it after `settle` seconds."""
    shown = iter(["a", "b", "c", "c", "d"])
    monkeypatch.setattr(remote, "_dump", lambda: next(shown))
    remote._settle()
    assert next(shown) == "d"
    count = iter(range(10**6))
    monkeypatch.setattr(remote, "_dump", lambda: str(next(count)))
    monkeypatch.setattr(remote, "_settle_time", 0.1)
    started = time.monotonic()
    remote._settle()
    assert 0.1 <= time.monotonic() - started < 5.0


def test_a_dump_that_fails_once_while_the_screen_comes_to_rest_does_not_cost_the_action(remote, monkeypatch):
    shown = iter([DeviceError("reset"), "a", DeviceError("reset"), "a"])

    def dump():
        if isinstance(told := next(shown), DeviceError):
            raise told
        return told

    monkeypatch.setattr(remote, "_dump", dump)
    remote._settle()
    assert next(shown, None) is None


def test_a_task_is_solved_over_adb_through_the_environment(devices):
    devices.prepared("adb")
    make = lambda: AdbDevice(devices.server.address, server_port=devices.server_port, pause=0.0)  # noqa: E731
    env = AndroidEnv("android_world", device=make, screen_size=SIZE, tasks=["ContactsAddContact", "ExpenseAddSingle"])
    for task in env.suite.families:
        observation, info = env.reset(seed=3, options={"task": task})
        assert info["device"].endswith("(embedded phone)") and "fault" not in info
        assert play(env, observation, info).reward == 1.0
    env.close()


def test_an_environment_is_made_with_a_serial_number(devices, monkeypatch):
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(devices.server_port))
    devices.prepared("adb")
    with gym.make("AndroidWorld-v0", device=devices.server.address, screen_size=SIZE) as env:
        _, info = env.reset(seed=0)
        assert info["device"] == f"{devices.server.address} (embedded phone)"
    with gym.make("AndroidWorld-v0", device=f"android_env:{devices.server.console_port}:{devices.server.grpc_port}",
                  screen_size=SIZE) as env:  # fmt: skip
        assert env.reset(seed=0)[1]["device"].startswith("android_env:")


def test_snapshots_are_loaded_by_the_console(devices, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / TOKEN_FILE).write_text("secret\n")
    with served_phone(token="secret") as server:
        serial = f"emulator-{server.console_port}"
        device = AdbDevice(serial, server_port=devices.server_port, snapshot="begin", pause=0.0)
        device.write("/sdcard/Download/kept", b"1")
        server.hardware.save("begin")
        device.remove("/sdcard/Download/kept")
        device.perform(Action("open_app", content="Settings"))
        device.reset_state()
        assert device.read("/sdcard/Download/kept") == b"1"
        assert device.foreground == "com.google.android.apps.nexuslauncher"
        assert device.screenshot().shape == (600, 270, 3)
        monkeypatch.setattr(device, "_snapshot", "none")
        with pytest.raises(DeviceError, match="avd: KO"):
            device.reset_state()
        device.close()
        (tmp_path / TOKEN_FILE).write_text("wrong")
        with pytest.raises(DeviceError, match="auth: KO"):
            Console(server.console_port)


def test_only_emulators_of_this_computer_have_a_console():
    with pytest.raises(DeviceError, match="10.0.0.1:5555 has no console"):
        Console.of("10.0.0.1:5555")
    with pytest.raises(DeviceError, match="console of emulator-[0-9]+: connect: ConnectionRefusedError"):
        Console(free_port())


# failures


def test_a_device_that_is_not_there_is_told_so_in_time(devices):
    started, address = time.monotonic(), f"127.0.0.1:{free_port()}"
    with pytest.raises(DeviceError, match=f"{address} did not appear within 0.5 s; adb lists"):
        Adb(address, devices.server_port).connect(timeout=0.5)
    with pytest.raises(DeviceError, match="no-such-phone-7 did not appear"):
        Adb("no-such-phone-7", devices.server_port).connect(timeout=0.1)
    assert time.monotonic() - started < 10.0


@pytest.mark.parametrize("make", ["adb", "android_env"])
def test_every_use_of_a_device_that_died_raises(devices, make):
    with served_phone() as server:
        settings = {"server_port": devices.server_port, "pause": 0.0}
        if make == "adb":
            device = AdbDevice(server.address, **settings)
        else:
            device = AndroidEnvDevice(server.console_port, server.grpc_port, **settings)
    uses = [
        device.screenshot, device.ui, lambda: device.perform(Action("click", start=(5, 5))),
        lambda: device.perform(Action("type", content="x")), lambda: device.perform(Action("open_app", content="x")),
        lambda: device.read("/sdcard/x"), lambda: device.write("/sdcard/x", b""), lambda: device.listdir("/sdcard"),
        lambda: device.remove("/sdcard/x"), lambda: device.database(LEDGER).__enter__(), lambda: device.now,
        lambda: device.foreground, lambda: device.get_setting("system", "x"), device.get_clipboard, device.reset_state,
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(DeviceError):
            use()
    device.close()
    device.close()
    for use in (device.ui, device.screenshot):
        with pytest.raises(DeviceError, match="is closed"):
            use()


def test_a_device_that_hangs_does_not_hang_its_user(devices, monkeypatch):
    monkeypatch.setattr(adb_module, "TIMEOUT", 0.5)
    with served_phone() as server:
        device = AdbDevice(server.address, server_port=devices.server_port, pause=0.0)
        with server.lock:  # nobody else can use the phone
            for use in (lambda: device.now, device.get_clipboard):
                with ThreadPoolExecutor(1) as somebody_else:
                    error = somebody_else.submit(use).exception(timeout=30.0)
                assert isinstance(error, DeviceError) and "no answer in time" in str(error)
        assert device.now  # the device has come back
        device.close()


def test_an_adb_server_that_died_is_a_failure_and_no_other_is_started(monkeypatch):
    ran = []
    with adb_server() as port, served_phone() as server:
        device = AdbDevice(server.address, server_port=port, pause=0.0)
        stop_server(port)
        monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: ran.append(args))
        with pytest.raises(DeviceError, match="connect to adb server failed"):
            device.screenshot()
        assert ran == []
        monkeypatch.undo()
        again = AdbDevice(server.address, server_port=port, pause=0.0)
        assert again.screenshot().shape == (600, 270, 3)
        again.close()


@pytest.mark.parametrize("answer", [b"DATA\xff\xff\xff\xffx", b"DATA\x08\0\0\0abc", b"JUNK\0\0\0\0", b"DA", b""])
def test_an_answer_that_breaks_the_protocol_is_a_failure(answer):
    """A device that announces too much data, stops in the middle, or sends something else."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        device = Adb("phone-1", listener.getsockname()[1])

        def serve():
            connection, _ = listener.accept()
            with connection:
                connection.recv(100)
                connection.sendall(b"OKAY" + bytes(8))  # the transport
                connection.recv(100)
                connection.sendall(b"OKAY")  # sync:
                connection.recv(100)
                connection.sendall(answer)

        with ThreadPoolExecutor(1) as server:
            served = server.submit(serve)
            with pytest.raises(DeviceError, match="phone-1: pull /sdcard/x: "):
                device.pull("/sdcard/x")
            served.result()


def test_whatever_a_broken_answer_causes_is_a_device_error():
    for error in (OSError("reset"), EOFError(), ValueError("no JSON"), adbutils.AdbError("offline"), AssertionError()):
        with pytest.raises(DeviceError, match="phone: screen: "), failures("phone", "screen"):
            raise error
    with pytest.raises(KeyError), failures("phone", "screen"):
        raise KeyError("a bug of ours")


def test_the_environment_turns_a_dead_device_into_a_fault(devices, monkeypatch):
    monkeypatch.setattr(adb_module, "CONNECT_TIMEOUT", 1.0)
    with served_phone() as server:
        make = lambda: AdbDevice(server.address, server_port=devices.server_port, pause=0.0)  # noqa: E731
        env = AndroidEnv(device=make, screen_size=SIZE, tasks=["ContactsAddContact"])
        env.reset(seed=0)
        env.step("press_home()")
        server.close()
        _, reward, terminated, truncated, info = env.step("press_home()")
        assert (reward, terminated, truncated, info["is_success"]) == (0.0, False, True, False)
        assert info["fault"].startswith("DeviceError: ")
        _, info = env.reset(seed=0)
        assert re.search("did not appear|offline|absent", info["fault"])
        env.close()
