"""AndroidWorld's official suite: what needs no checkout of it, and what does (COACH_ANDROID_WORLD names one)."""

import importlib.util
import os
import random
import sys
import threading
import time
from datetime import timedelta
from types import ModuleType

import gymnasium as gym
import pytest
from android_env.components.errors import AdbControllerError
from android_env.proto.adb_pb2 import AdbRequest

import coach_gym  # noqa: F401
from coach_gym.envs.devices.adb_device import AdbDevice
from coach_gym.envs.devices.phone import PhoneDevice
from coach_gym.envs.errors import UsageError
from coach_gym.envs.phone.providers import telephony
from coach_gym.envs.suites.load import load_suite
from coach_gym.envs.suites.official_world import upstream
from coach_gym.envs.suites.official_world.commands import Calls, HostAdb, PhoneAdb
from coach_gym.envs.suites.official_world.task import HOLD_AT_START, instance_seed
from coach_gym.envs.suites.play import play
from tests.envs.served_phone import adb_server, served_phone

SIZE = (270, 600)
needs_upstream = pytest.mark.skipif(
    upstream.VARIABLE not in os.environ and importlib.util.find_spec(upstream.NAME) is None,
    reason=f"needs AndroidWorld: set {upstream.VARIABLE} to a checkout of google-research/android_world",
)


# without upstream


def test_a_missing_upstream_is_an_error_with_its_remedy(monkeypatch):
    monkeypatch.delenv(upstream.VARIABLE, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=f"Clone google-research/android_world and set {upstream.VARIABLE}"):
        upstream._find(None)


def test_a_folder_that_is_no_checkout_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"is no checkout of AndroidWorld: it has no android_world/registry.py"):
        load_suite("android_world", "official", str(tmp_path))


def test_instance_seeds_follow_upstreams_rule():
    """The number was computed with upstream's own runner."""
    assert instance_seed("ContactsAddContact", 30) == 1155463587
    assert instance_seed("ContactsAddContact", 30, 1) != instance_seed("ContactsAddContact", 30, 0)


def test_each_thread_draws_from_its_own_generator():
    draws: dict[str, list[float]] = {}
    both = threading.Barrier(2)

    def draw(name, seed):
        upstream.seed(seed)
        both.wait()
        draws[name] = [upstream._Random().random() for _ in range(100)]

    threads = [threading.Thread(target=draw, args=args) for args in (("a", 1), ("b", 2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {name: random.Random(seed) for name, seed in (("a", 1), ("b", 2))}
    assert draws == {name: [rng.random() for _ in range(100)] for name, rng in expected.items()}


def test_sleep_passes_by_in_the_thread_that_runs_upstream_and_nowhere_else():
    slept: list[float] = []
    other: list[float] = []

    def sleep_really():
        started = time.perf_counter()
        upstream._Time().sleep(0.05)
        other.append(time.perf_counter() - started)

    with upstream.sleeping(slept.append):
        upstream._Time().sleep(5.0)
        thread = threading.Thread(target=sleep_really)
        thread.start()
        thread.join()
    assert slept == [5.0]
    assert other[0] >= 0.05


@pytest.fixture
def device() -> PhoneDevice:
    return PhoneDevice(*SIZE)


def test_requests_reach_the_phones_files_and_shell(device):
    calls, path = Calls(PhoneAdb(device.phone)), "/sdcard/Download/there.txt"
    calls.parse(AdbRequest(push=AdbRequest.Push(path=path, content=b"hello")))
    assert device.read("/storage/emulated/0/Download/there.txt") == b"hello"
    shown = calls.parse(AdbRequest(generic=AdbRequest.GenericRequest(args=["shell", "cat", path, "|", "cat"])))
    assert shown.generic.output == b"hello"
    assert calls.parse(AdbRequest(pull=AdbRequest.Pull(path=path))).pull.content == b"hello"
    with pytest.raises(AdbControllerError, match="failed to stat remote object '/sdcard/nothing'"):
        calls.parse(AdbRequest(pull=AdbRequest.Pull(path="/sdcard/nothing")))


@pytest.mark.parametrize("args", [["shell", "cat", "/sdcard/nothing"], ["reboot"], ["emu", "kill"]])
def test_what_adb_cannot_do_raises_as_android_env_does(device, args):
    with pytest.raises(AdbControllerError):
        PhoneAdb(device.phone).execute_command(args)


def test_the_consoles_text_message_arrives(device):
    PhoneAdb(device.phone).execute_command(["emu", "sms", "send", "+15551234", "Are", "you 'there'?"])
    with device.database(telephony.PATH) as db:
        assert [(m.address, m.body) for m in telephony.messages(db)] == [("+15551234", "Are you 'there'?")]


@pytest.fixture(scope="module")
def served():
    """A phone behind the real adb, as an emulator."""
    with adb_server() as port, served_phone() as server:
        yield server, AdbDevice(f"emulator-{server.console_port}", server_port=port, pause=0.0)


def test_requests_reach_a_device_behind_adb(served):
    server, device = served
    calls, path = Calls(HostAdb(device.adb)), "/sdcard/Download/a b's.txt"
    calls.parse(AdbRequest(push=AdbRequest.Push(path=path, content=b"hello")))
    assert server.phone.storage.read("/storage/emulated/0/Download/a b's.txt") == b"hello"
    assert calls.parse(AdbRequest(pull=AdbRequest.Pull(path=path))).pull.content == b"hello"
    words = ["shell", "ls", "/sdcard/Download", "|", "grep", "-c", "b"]
    assert calls.parse(AdbRequest(generic=AdbRequest.GenericRequest(args=words))).generic.output == b"1\n"
    calls.parse(AdbRequest(generic=AdbRequest.GenericRequest(args=["emu", "sms", "send", "+15551234", "Hi there"])))
    inbox = telephony.messages(server.phone.storage.database(telephony.PATH))
    assert [message.body for message in inbox] == ["Hi there"]


@pytest.mark.parametrize("args", [["shell", "cat", "/sdcard/nothing"], ["nonsense"]])
def test_what_a_device_behind_adb_cannot_do_raises_as_android_env_does(served, args):
    with pytest.raises(AdbControllerError):
        HostAdb(served[1].adb).execute_command(args)


# with upstream


@pytest.fixture(scope="module")
def suite():
    return load_suite("android_world", "official")


@pytest.fixture
def env(suite):
    env = gym.make("AndroidWorld-v0", suite=suite, screen_size=SIZE)
    yield env
    env.close()


@needs_upstream
def test_there_are_all_116_tasks_with_upstreams_budgets_and_difficulties(suite):
    assert len(suite.families) == 116
    counts = [family.difficulty for family in suite.families.values()]
    assert (counts.count("easy"), counts.count("medium"), counts.count("hard")) == (61, 36, 19)
    assert {name: suite.instance(name).budget for name in ("ContactsAddContact", "OsmAndTrack")} == {
        "ContactsAddContact": 12,
        "OsmAndTrack": 120,
    }
    assert sum(suite.instance(name).budget for name in suite.families) == 2349


@needs_upstream
def test_instances_are_those_of_upstreams_runner(suite, monkeypatch):
    reports = [name for name in ("pandas", "fuzzywuzzy", "termcolor") if importlib.util.find_spec(name) is None]
    for name in reports:
        monkeypatch.setitem(sys.modules, name, _stub(name))
    suite_utils = upstream.module("suite_utils")
    monkeypatch.setattr(suite_utils, "random", upstream._Random())
    theirs = suite_utils.create_suite(upstream.load(), n_task_combinations=2, seed=30)
    for name in suite.families:
        for i in range(2):
            task = suite.instance(name, {"seed": 30, "instance": i})
            assert task._task.params["seed"] == theirs[name][i].params["seed"]
            if name != "MarkorCreateFolder":  # whose name is the time of the day
                assert task.goal == theirs[name][i].goal


def _stub(name):
    module = ModuleType(name)
    module.__getattr__ = lambda attribute: object  # type: ignore[method-assign]
    return module


@needs_upstream
@pytest.mark.slow
def test_every_task_initialises_judges_and_tears_down(suite, device):
    verdicts = {}
    for name in suite.families:
        task = suite.instance(name, params_seed=1)
        device.reset_state()
        task.setup(device)
        assert task.goal and "{" not in task.goal
        if name == "RetroPlayingQueue":  # upstream reads a database that the app makes when it is opened
            device.phone.launch("code.name.monkey.retromusic")
        verdicts[name] = task.evaluate(device, None)
        task.teardown(device)
    assert {name for name, verdict in verdicts.items() if verdict == 1.0} == HOLD_AT_START
    assert set(verdicts.values()) <= {0.0, 0.5, 1.0}


@needs_upstream
def test_an_expert_succeeds_by_touch_and_only_if_it_says_so(env):
    start = {"task": "ContactsAddContact", "params_seed": 30}
    observation, info = env.reset(options=start)
    assert info["suite"] == "official"
    shown = play(env, observation, info)
    assert (shown.reward, shown.info["is_success"]) == (1.0, True)
    env.reset(options=start)
    for action in [*shown.actions[:-1], *["wait()"] * 12]:
        _, reward, _, truncated, info = env.step(action)
        if truncated:
            break
    assert (reward, info["is_success"]) == (0.0, False)


@needs_upstream
def test_what_holds_from_the_start_is_said_so_and_succeeds_at_once(env):
    _, info = env.reset(options={"task": "SystemWifiTurnOffVerify"})
    assert info["holds_at_start"]
    assert env.step("finished()")[1] == 1.0
    assert "holds_at_start" not in env.reset(options={"task": "SystemWifiTurnOff"})[1]


@needs_upstream
@pytest.mark.parametrize("name", ["ContactsAddContact", "MarkorEditNote", "TasksDueOnDate"])
def test_it_runs_on_a_device_behind_adb(suite, served, name):
    env = gym.make("AndroidWorld-v0", suite=suite, device=lambda: served[1], screen_size=SIZE)
    shown = play(env, *env.reset(options={"task": name, "params_seed": 30}))
    assert (shown.reward, shown.info.get("fault")) == (1.0, None)


@needs_upstream
def test_an_answer_reaches_upstreams_checker(env):
    start = {"task": "SimpleCalendarLocationOfEvent", "params_seed": 3}
    for answer, verdict in (("Mars", 0.0), (None, 0.0), ("right", 1.0)):
        _, info = env.reset(options=start)
        content = info["params"]["location"] if answer == "right" else answer or ""
        assert env.step(f"finished(content='{content}')")[1] == verdict


@needs_upstream
@pytest.mark.parametrize("name", ["SimpleSmsReply", pytest.param("MarkorTranscribeVideo", marks=pytest.mark.slow)])
def test_the_same_instance_can_be_played_again(env, name):
    goals = []
    for _ in range(2):
        observation, info = env.reset(options={"task": name, "params_seed": 5})
        assert "fault" not in info
        goals.append(observation["goal"])
    assert goals[0] == goals[1]


@needs_upstream
def test_upstream_leaves_the_process_as_it_was(suite, device):
    before, sleep, now = random.getstate(), time.sleep, device.now
    assert os.environ.get(upstream.VARIABLE, "nothing") not in sys.path
    started = time.perf_counter()
    task = suite.instance("SimpleSmsResend", params_seed=1)  # sleeps 20 seconds
    task.setup(device)
    task.teardown(device)
    assert random.getstate() == before
    assert time.sleep is sleep
    assert time.perf_counter() - started < 5
    assert device.now - now > timedelta(seconds=10) or device.now.year == 2023


@needs_upstream
def test_environments_in_threads_prepare_the_same_phones_as_one_alone(suite):
    names = ("MarkorDeleteAllNotes", "ExpenseDeleteDuplicates2", "SimpleCalendarEventsOnDate", "FilesDeleteFile")
    alone = {name: _prepared(suite, name) for name in names}
    together: dict[str, object] = {}
    threads = [
        threading.Thread(target=lambda name=name: together.update({name: _prepared(suite, name)})) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def _prepared(suite, name):
    device = PhoneDevice(*SIZE)
    suite.instance(name, params_seed=4).setup(device)
    return device.ui(), {path: device.read(path) for path in device.phone.storage.files_below("/storage/emulated/0")}


@needs_upstream
def test_a_task_that_raises_is_torn_down(suite, device, monkeypatch):
    task = suite.instance("MarkorEditNote", params_seed=2)
    task.setup(device)
    torn_down = []
    tear_down = task._task.tear_down
    monkeypatch.setattr(task._task, "tear_down", lambda env: (torn_down.append(1), tear_down(env)))
    device.remove(f"/storage/emulated/0/Documents/Markor/{task.params['file_name']}")
    with pytest.raises(AdbControllerError):  # upstream reads the note without asking whether it is there
        task.evaluate(device, None)
    assert torn_down == [1]
    with pytest.raises(AdbControllerError):  # also to whoever asks again
        task.evaluate(device, None)
    task.teardown(device)
    assert torn_down == [1]
