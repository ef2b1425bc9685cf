"""Fleets: lending, spares, restarts and back-off, first with fake members, then with emulators."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import gymnasium as gym
import pytest

from coach_gym.actions import Action, ActionError
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices import adb
from coach_gym.envs.devices import emulator as emulator_module
from coach_gym.envs.devices.adb import Adb
from coach_gym.envs.devices.emulator import Emulator, Ports, emulators
from coach_gym.envs.devices.fleet import Attached, Fleet
from coach_gym.envs.errors import DeviceError
from tests.envs.fake_device import SIZE, SUITE, DeviceLost, FakeDevice
from tests.envs.ports import free_port
from tests.envs.served_phone import adb_server, served_phone

FAKE_EMULATOR = Path(__file__).parents[1] / "fake_emulator.py"


class Member:
    """A member with a fake device. `broken` makes starts fail, `sick` makes checks fail."""

    def __init__(self, name, boot_seconds=0.0):
        self.name, self.boot_seconds = name, boot_seconds
        self.broken = self.sick = self.running = False
        self.started_at, self.devices = [], []

    def start(self):
        self.started_at.append(time.monotonic())
        time.sleep(self.boot_seconds)
        if self.broken:
            raise DeviceError(f"{self.name} ended while it booted\nsecond line")
        self.running, self.sick = True, False

    def check(self):
        if self.sick:
            raise DeviceError(f"{self.name} is offline")

    def device(self):
        self.devices.append(FakeDevice())
        self.devices[-1].name = self.name
        return self.devices[-1]

    def stop(self):
        self.running = False


@contextmanager
def fleet_of(*members, **settings):
    quick = {"stagger": 0.0, "first_delay": 0.02, "longest_delay": 0.3, "patience": 5.0, "check_every": 60.0}
    fleet = Fleet(members, **(quick | settings))
    try:
        yield fleet
    finally:
        fleet.close()


def wait_until(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.005)


def test_nothing_starts_before_the_first_environment_asks():
    member = Member("a")
    with fleet_of(member) as fleet:
        assert fleet.states == {"a": "not started"} and not member.started_at
        assert fleet().name == "a"
        assert fleet.states == {"a": "lent"}


def test_every_environment_gets_a_device_of_its_own():
    with fleet_of(*map(Member, "abc")) as fleet:
        assert {fleet().name for _ in range(3)} == {"a", "b", "c"}
        assert fleet.faults == [] and fleet.starts == 3


def test_a_device_that_is_given_back_in_order_is_lent_again_without_a_restart():
    with fleet_of(Member("a")) as fleet:
        fleet().close()
        device = fleet()
        device.close()
        device.close()  # the second call does nothing
        assert fleet().name == "a" and fleet.starts == 1
        assert list(fleet.states.values()) == ["lent"]


def test_the_spare_that_has_waited_longest_is_next():
    with fleet_of(*map(Member, "abc")) as fleet:
        first = fleet()
        wait_until(lambda: list(fleet.states.values()).count("ready") == 2)
        waiting = {name for name, state in fleet.states.items() if state == "ready"}
        first.close()
        assert {fleet().name, fleet().name} == waiting


def test_a_device_that_failed_is_replaced_by_a_spare_at_once_and_restarted():
    a, b = Member("a"), Member("b", boot_seconds=0.1)
    with fleet_of(a, b) as fleet:
        broken = fleet()
        wait_until(lambda: list(fleet.states.values()).count("ready") == 1)
        member = {"a": a, "b": b}[broken.name]
        member.devices[-1].breaks.add("screenshot")
        with pytest.raises(DeviceLost):
            broken.screenshot()
        broken.close()
        assert fleet().name != broken.name
        assert fleet().name == broken.name and len(member.started_at) == 2
        (fault,) = fleet.faults
        assert fault.member == broken.name
        assert fault.reason == "DeviceLost: screenshot got no answer"


def test_an_action_that_cannot_be_carried_out_is_no_fault():
    with fleet_of(Member("a")) as fleet:
        device = fleet()
        with pytest.raises(ActionError):
            device.perform(Action("open_app", content="Nothing"))
        device.close()
        assert fleet.faults == [] and fleet.starts == 1


@pytest.mark.parametrize("where", ["method", "property", "database", "close"])
def test_a_failure_is_noticed_wherever_the_device_raises(where, monkeypatch):
    member = Member("a")
    with fleet_of(member) as fleet:
        loan = fleet()
        with pytest.raises(DeviceLost):
            if where == "method":
                member.devices[-1].breaks.add("read")
                loan.read("/sdcard/x")
            elif where == "property":
                monkeypatch.setattr(FakeDevice, "now", property(lambda _: (_ for _ in ()).throw(DeviceLost("gone"))))
                print(loan.now)
            elif where == "database":
                with loan.database("/data/data/a/b.db"):
                    raise DeviceLost("gone while its database was open")
            else:
                member.devices[-1].breaks.add("close")
                loan.close()
        loan.close()
        wait_until(lambda: len(member.started_at) == 2)
        assert len(fleet.faults) == 1


@pytest.mark.parametrize("kind", ["hangs", "lies"])
def test_a_member_whose_screen_hangs_or_lies_is_restarted_though_it_raised_nothing(kind):
    member, over = Member("a"), threading.Event()
    with fleet_of(member) as fleet:
        env = AndroidEnv(device=fleet, screen_size=SIZE, suite=SUITE, look_timeout=0.2)
        env.reset(seed=0)
        member.devices[0].screenshot = over.wait if kind == "hangs" else lambda: "a picture"
        assert "screen" in env.step("wait()")[4]["fault"]
        over.set()
        assert "fault" not in env.reset()[1] and len(member.started_at) == 2 and len(fleet.faults) == 1
        env.close()


def test_an_attribute_that_the_device_lacks_is_no_fault():
    with fleet_of(Member("a")) as fleet:
        device = fleet()
        assert getattr(device, "android_env", None) is None
        device.close()
        assert fleet.faults == []


def test_a_spare_that_died_is_not_lent():
    a, b = Member("a"), Member("b")
    with fleet_of(a, b, first_delay=0.2) as fleet:
        fleet().close()
        wait_until(lambda: set(fleet.states.values()) == {"ready"})
        a.sick = True
        assert fleet().name == "b"
        assert [fault.member for fault in fleet.faults] in ([], ["a"])
        assert fleet().name == "a"  # restarted
        assert [fault.reason for fault in fleet.faults] == ["DeviceError: a is offline"]


def test_spares_are_looked_after_while_nobody_asks():
    member = Member("a")
    with fleet_of(member, check_every=0.02) as fleet:
        fleet().close()
        member.sick = True
        wait_until(lambda: len(member.started_at) == 2)
        wait_until(lambda: fleet.states == {"a": "ready"})
        assert len(fleet.faults) == 1


def test_the_pause_before_a_restart_doubles_up_to_a_limit():
    member = Member("a")
    member.broken = True
    with fleet_of(member, first_delay=0.05, longest_delay=0.2, patience=0.1) as fleet:
        with pytest.raises(DeviceError):
            fleet()
        wait_until(lambda: len(member.started_at) == 6)
        pauses = [later - earlier for earlier, later in zip(member.started_at, member.started_at[1:], strict=False)]
        assert all(pause >= least for pause, least in zip(pauses, [0.05, 0.1, 0.2, 0.2, 0.2], strict=True))
        assert sum(pauses) < 0.05 * (1 + 2 + 4 + 8 + 16)  # the sum without the limit
        assert len(fleet.faults) >= 5
        member.broken, fleet.patience = False, 5.0
        assert fleet().name == "a"


def test_a_member_that_worked_for_long_starts_again_quickly():
    member = Member("a")
    with fleet_of(member, first_delay=0.1, longest_delay=0.4) as fleet:
        for _ in range(4):
            device = fleet()
            time.sleep(0.45)  # longer than the longest delay
            member.devices[-1].breaks.add("read")
            with pytest.raises(DeviceLost):
                device.read("/sdcard/x")
            device.close()
            given_back = time.monotonic()
        fleet()
        assert time.monotonic() - given_back < 0.4


def test_a_loan_without_a_failure_ends_a_row_of_failures():
    member = Member("a")
    with fleet_of(member, first_delay=0.05, longest_delay=60.0) as fleet:
        for _ in range(6):
            fleet().close()
            device = fleet()
            member.devices[-1].breaks.add("read")
            with pytest.raises(DeviceLost):
                device.read("/sdcard/x")
            device.close()
            given_back = time.monotonic()
        fleet()
        assert time.monotonic() - given_back < 1.0


def test_starts_are_staggered_and_few_at_a_time():
    members = [Member(name, boot_seconds=0.15) for name in "abcd"]
    with fleet_of(*members, boots=2, stagger=0.05) as fleet:
        for _ in members:
            fleet()
        starts = sorted(member.started_at[0] for member in members)
        assert all(later - earlier >= 0.045 for earlier, later in zip(starts, starts[1:], strict=False))
        assert starts[2] - starts[0] >= 0.15  # the third waited for one of the first two


def test_an_environment_does_not_wait_for_ever_and_is_told_why():
    member = Member("a")
    member.broken = True
    with fleet_of(member, patience=0.2) as fleet, pytest.raises(DeviceError) as raised:
        fleet()
    assert "no device became ready within 0.2 s: a " in str(raised.value)
    assert "ended while it booted" in str(raised.value) or "starting" in str(raised.value)


def test_closing_stops_everything_and_wakes_who_waits():
    member = Member("a")
    waiting = []
    with fleet_of(member) as fleet:
        device = fleet()

        def wait():
            with pytest.raises(DeviceError, match="closed"):
                fleet()
            waiting.append("told")

        thread = threading.Thread(target=wait)
        thread.start()
        fleet.close()
        thread.join(5.0)
        assert waiting == ["told"] and not member.running
        device.close()  # returns it to a closed fleet
        with pytest.raises(DeviceError, match="closed"):
            fleet()


def test_closing_during_a_start_leaves_nothing_running():
    member = Member("a", boot_seconds=0.2)
    with fleet_of(member, patience=0.05) as fleet:
        with pytest.raises(DeviceError):
            fleet()
    assert not member.running


def test_a_fleet_needs_members():
    with pytest.raises(ValueError, match="at least one"):
        Fleet([])


@pytest.mark.parametrize("name", ["boots", "stagger", "patience", "first_delay", "longest_delay", "check_every"])
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, True, "5", None])
def test_a_fleet_refuses_numbers_that_are_none(name, wrong):
    with pytest.raises((TypeError, ValueError), match=f"{name}=.*pass"):
        Fleet([Member("a")], **{name: wrong})


def test_environments_do_not_share_a_real_device():
    with pytest.raises(ValueError, match="2 environments cannot share the device 'emulator-5554'"):
        gym.make_vec("AndroidWorld-v0", 2, vectorization_mode="vector_entry_point", device="emulator-5554")


def test_gymnasium_hands_the_same_fleet_to_every_environment():
    members = [Member(name) for name in "abc"]
    with fleet_of(*members) as fleet:
        envs = gym.make_vec(
            "AndroidWorld-v0", 2, vectorization_mode="vector_entry_point", device=fleet, screen_size=SIZE, suite=SUITE
        )
        _, infos = envs.reset(seed=0)
        assert len(set(infos["device"])) == 2
        lent = next(member for member in members if member.name == infos["device"][0])
        lent.devices[-1].breaks.add("perform")
        *_, truncated, infos = envs.step(["press_home()"] * 2)
        assert list(truncated) == [True, False]
        assert "DeviceLost" in infos["fault"][0]
        *_, infos = envs.step(["press_home()"] * 2)  # resets the first one, on another device
        assert infos["device"][0] not in (lent.name, None)
        assert [fault.member for fault in fleet.faults] == [lent.name]
        envs.close()
        wait_until(lambda: list(fleet.states.values()) == ["ready"] * 3)


# emulators: real processes, the real adb


class Emulators:
    """A folder with a virtual device, and a program that takes the emulator's options."""

    def __init__(self, folder):
        self.folder = folder
        self.binary = folder / "emulator"
        self.binary.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE_EMULATOR}" "$@"\n')
        self.binary.chmod(0o755)
        (folder / "World.avd").mkdir()
        (folder / "World.avd/config.ini").write_text("AvdId=World\n")
        (folder / "World.ini").write_text(f"path={folder}/World.avd\n")
        self.behave()

    def behave(self, **behaviour):
        (self.folder / "behaviour.json").write_text(json.dumps(behaviour))

    def made(self, count, **settings):
        consoles = sorted(free_port() for _ in range(count))
        ports = [Ports(console, console + 1, free_port(), free_port()) for console in consoles]
        return [Emulator("World", each, binary=self.binary, boot_timeout=60.0, **settings) for each in ports]


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setenv("ANDROID_AVD_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return Emulators(tmp_path)


def running(emulator):
    return emulator._process is not None and emulator._process.poll() is None


@pytest.mark.slow
def test_emulators_run_on_clones_with_ports_of_their_own(world):
    emulators = world.made(2, snapshot="begin", grpc=True)
    with fleet_of(*emulators, patience=60.0) as fleet:
        devices = [fleet(), fleet()]
        assert {device.name for device in devices} == {
            f"android_env:{emulator.ports.console} (embedded phone)" for emulator in emulators
        }
        devices[0].write("/sdcard/Download/x", b"1")
        assert devices[1].read("/sdcard/Download/x") is None
        devices[0].reset_state()  # loads the snapshot through the console
        assert devices[0].read("/sdcard/Download/x") is None
        assert {file.stem for file in world.folder.glob("World_*.ini")} == {
            f"World_{emulator.ports.console}" for emulator in emulators
        }
        # each has its own adb server, which knows no other device
        assert [[info.serial for info in emulator.adb.client.list()] for emulator in emulators] == [
            [emulator.name] for emulator in emulators
        ]
        assert fleet.faults == []
    assert not any(map(running, emulators))
    for emulator in emulators:
        with pytest.raises(DeviceError):
            emulator.adb.state()  # its server is gone too


@pytest.mark.slow
def test_an_emulator_that_dies_is_replaced_and_comes_back(world):
    emulators = world.made(3)
    with fleet_of(*emulators, boots=3, patience=60.0) as fleet:
        envs = gym.make_vec(
            "AndroidWorld-v0", 2, vectorization_mode="vector_entry_point", device=fleet, screen_size=(270, 600),
            tasks=["ContactsAddContact"],
        )  # fmt: skip
        _, infos = envs.reset(seed=0)
        wait_until(lambda: set(fleet.states.values()) == {"lent", "ready"}, 60.0)
        killed = next(emulator for emulator in emulators if infos["device"][0].startswith(emulator.name))
        os.kill(killed._process.pid, signal.SIGKILL)
        _, rewards, terminations, truncations, infos = envs.step(["press_home()"] * 2)
        assert list(truncations) == [True, False] and list(rewards) == [0.0, 0.0]
        assert infos["fault"][0].startswith("DeviceError: ")
        *_, infos = envs.step(["press_home()"] * 2)
        assert [fault.member for fault in fleet.faults] == [killed.name], fleet.faults
        assert infos["device"][0] and not infos["device"][0].startswith(killed.name)
        wait_until(lambda: fleet.states[killed.name] == "ready", 60.0)
        assert running(killed) and [fault.member for fault in fleet.faults] == [killed.name]
        envs.close()


@pytest.mark.slow
def test_an_emulator_that_hangs_is_found_out_and_restarted(world, monkeypatch):
    monkeypatch.setattr(emulator_module, "_STOP_TIMEOUT", 0.5)
    (emulator,) = world.made(1)
    with fleet_of(emulator, patience=60.0, check_every=0.2) as fleet:
        device = fleet()
        hung = emulator._process
        os.kill(hung.pid, signal.SIGSTOP)
        with monkeypatch.context() as impatient, pytest.raises(DeviceError, match="no answer in time"):
            impatient.setattr(adb, "TIMEOUT", 0.5)
            device.screenshot()
        device.close()
        assert fleet().screenshot().shape == (600, 270, 3)
        assert hung.poll() is not None and emulator._process is not hung
        assert fleet.starts == 2 and len(fleet.faults) == 1


@pytest.mark.slow
def test_an_emulator_that_ends_while_it_boots_is_tried_again_until_it_boots(world):
    world.behave(last_words="PANIC: no memory")
    (emulator,) = world.made(1)
    with fleet_of(emulator, patience=60.0, first_delay=0.05) as fleet:
        with ThreadPoolExecutor(1) as environment:
            lent = environment.submit(fleet)
            wait_until(lambda: fleet.faults, 60.0)
            world.behave(boot_seconds=0.3)
            assert lent.result().name.startswith(emulator.name)
        assert all("with code 1 while booting: PANIC: no memory" in fault.reason for fault in fleet.faults)


@pytest.mark.slow
def test_an_emulator_that_never_boots_is_given_up_in_time(world):
    world.behave(boot_seconds=60.0)
    (emulator,) = world.made(1)
    emulator.boot_timeout = 1.5
    with pytest.raises(DeviceError, match="did not boot within 1.5 s"):
        emulator.start()
    process = emulator._process
    emulator.stop()
    emulator.stop()
    assert process.poll() is not None


def test_an_emulator_tells_what_it_lacks(world, monkeypatch):
    (emulator,) = world.made(1)
    with pytest.raises(DeviceError, match="has ended"):
        emulator.check()
    emulator.binary = world.folder / "none"
    with pytest.raises(DeviceError, match="cannot be launched"):
        emulator.start()
    emulator.binary = None
    monkeypatch.setattr(emulator_module, "emulator_binary", lambda: None)
    with pytest.raises(DeviceError, match="coach-gym doctor --for emulator"):
        emulator.start()
    emulator.stop()
    with closing(socket.create_server(("127.0.0.1", emulator.ports.adb))):
        with pytest.raises(DeviceError, match=f"port {emulator.ports.adb} is taken"):
            emulator.start()


def test_the_command_line_is_the_emulators(world, monkeypatch):
    commands = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **settings: commands.append((command, settings)))
    emulator = Emulator(
        "World", Ports.numbered(1), snapshot="begin", binary=world.binary, options=("-gpu", "swiftshader_indirect")
    )
    emulator._launch()
    command, settings = commands[0]
    assert command[1:7] == ["-avd", "World_5556", "-ports", "5556,5557", "-grpc", "8556"]
    assert command[-4:] == ["-gpu", "swiftshader_indirect", "-snapshot", "begin"]
    assert "-no-snapshot-save" in command and settings["env"]["ANDROID_ADB_SERVER_PORT"] == "5039"


def test_emulators_have_neighbouring_ports():
    ports = [emulator.ports for emulator in emulators("World", 3, first_port=5560, first_server_port=6000)]
    assert [port.console for port in ports] == [5560, 5562, 5564]
    assert [port.adb for port in ports] == [5561, 5563, 5565]
    assert [port.grpc for port in ports] == [8560, 8562, 8564]
    assert [port.server for port in ports] == [6000, 6001, 6002]


def test_attached_devices_are_lent_but_not_stopped():
    with adb_server() as port, served_phone() as first, served_phone() as second:
        with fleet_of(Attached(first.address, port), Attached(second.address, port), patience=30.0) as fleet:
            names = {fleet().name, fleet().name}
        assert names == {f"{server.address} (embedded phone)" for server in (first, second)}
        assert Adb(first.address, port).shell("getprop", "sys.boot_completed").text == "1\n"
        second.close()
        with pytest.raises(DeviceError):
            for _ in range(100):  # adb takes a moment to notice that a device has gone
                Attached(second.address, port).check()
                time.sleep(0.1)
