"""The emulator clients of android_env and adb, on a served phone that passes for an emulator."""

import time
from pathlib import Path

import adbutils
import numpy as np
import pytest
from android_env import loader
from android_env.components import config_classes
from android_env.components.action_type import ActionType
from android_env.proto import adb_pb2, state_pb2
from android_env.wrappers.a11y_grpc_wrapper import A11yGrpcWrapper

from coach_gym.envs.phone.input import fingers
from coach_gym.envs.phone.providers.telephony import RINGING, line_state
from coach_gym.envs.phone.servers.accessibility import forest
from coach_gym.envs.phone.servers.console import auth_token
from coach_gym.envs.phone.servers.server import PhoneServer
from coach_gym.envs.profiles import world_phone
from tests.envs.adb_server import adb_server
from tests.envs.hands import Hands
from tests.envs.ports import free_pair

CONTACTS = "com.google.android.contacts"
SIZE = (270, 600)


@pytest.fixture(scope="module")
def adb(tmp_path_factory):
    with adb_server(tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest.fixture(scope="module")
def emulator(adb):
    console_port, adb_port = free_pair()
    with PhoneServer(world_phone(*SIZE), adb_port, console_port) as server:
        server.serial = adb.announce(server)
        yield server


@pytest.fixture(scope="module")
def loaded(adb, emulator, tmp_path_factory):
    """All of android_env over its EmulatorSimulator."""
    task = tmp_path_factory.mktemp("task") / "task.textproto"
    task.write_text('id: "none"\nname: "none"\nmax_episode_sec: 3600\n')
    simulator = config_classes.EmulatorConfig(
        emulator_launcher=config_classes.EmulatorLauncherConfig(
            adb_port=emulator.adb_port, emulator_console_port=emulator.console_port, grpc_port=emulator.grpc_port
        ),
        adb_controller=config_classes.AdbControllerConfig(adb_path=adbutils.adb_path(), adb_server_port=adb.port),
    )
    config = config_classes.AndroidEnvConfig(
        task=config_classes.FilesystemTaskConfig(path=str(task)), simulator=simulator
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "ADB_LOCAL_TRANSPORT_MAX_PORT"):  # android_env's adb may restart the server
            patch.setenv(name, adb.environment[name])
        env = loader.load(config)
        yield env
        env.close()


@pytest.fixture
def env(loaded, emulator, monkeypatch):
    monkeypatch.setattr(fingers, "LONG_PRESS", 30.0)  # so that no tap becomes one on a busy machine
    loaded.reset()
    with emulator.lock:
        emulator.phone.go_home()
    return loaded


def act(env, kind, x=0.0, y=0.0):
    return env.step({
        "action_type": np.array(kind, np.int32), "touch_position": np.array([x / SIZE[0], y / SIZE[1]], np.float32),
    })  # fmt: skip


def tap(env, emulator, label):
    act(env, ActionType.TOUCH, *Hands(None, phone=emulator.phone).find(label).center)
    return act(env, ActionType.LIFT)


def test_observations_are_the_screen(env, emulator):
    step = env.reset()
    assert np.array_equal(step.observation["pixels"], emulator.phone.screenshot())
    assert list(step.observation["orientation"]) == [1, 0, 0, 0]


def test_touches_reach_the_phone(env, emulator):
    step = tap(env, emulator, "Contacts")
    assert emulator.phone.foreground == CONTACTS
    assert np.array_equal(step.observation["pixels"], emulator.phone.screenshot())


def test_a_touch_that_moves_is_a_swipe(env, emulator):
    for y in (500, 400, 300, 200):
        act(env, ActionType.TOUCH, 135, y)
    act(env, ActionType.LIFT)
    assert Hands(None, phone=emulator.phone).shows("Search apps") and len(emulator.phone.stack) == 2


def test_requests_to_adb_are_answered(env, emulator):
    def call(**request):
        response = env.execute_adb_call(adb_pb2.AdbRequest(**request))
        assert response.status == adb_pb2.AdbResponse.OK, response.error_message
        return response

    start = adb_pb2.AdbRequest.StartActivity(full_activity="com.android.settings/.Settings")
    call(start_activity=start)
    assert "com.android.settings" in call(
        get_current_activity=adb_pb2.AdbRequest.GetCurrentActivity()
    ).get_current_activity.full_activity  # fmt: skip
    call(press_button=adb_pb2.AdbRequest.PressButton(button=adb_pb2.AdbRequest.PressButton.HOME))
    assert emulator.phone.foreground == emulator.phone.launcher.package
    push = adb_pb2.AdbRequest.Push(content=b"\x00\xffdata", path="/sdcard/Download/x.bin")
    call(push=push)
    assert call(pull=adb_pb2.AdbRequest.Pull(path="/sdcard/Download/x.bin")).pull.content == b"\x00\xffdata"


def test_states_are_saved_and_loaded(env, emulator):
    tap(env, emulator, "Contacts")
    assert env.save_state(state_pb2.SaveStateRequest(args={"snapshot_name": "s"})).status == 1
    emulator.phone.go_home()
    assert env.load_state(state_pb2.LoadStateRequest(args={"snapshot_name": "s"})).status == 1
    assert emulator.phone.foreground == CONTACTS
    assert env.load_state(state_pb2.LoadStateRequest(args={"snapshot_name": "t"})).status == 2  # not found


def test_the_accessibility_wrapper_gets_forests(env, emulator):
    wrapped = A11yGrpcWrapper(env, enable_a11y_tree_info=True, latest_a11y_info_only=True)
    wrapped.reset()
    tap(wrapped, emulator, "Contacts")
    deadline = time.monotonic() + 60
    latest = None
    while latest != forest(emulator.phone.ui()) and time.monotonic() < deadline:
        time.sleep(0.05)
        wrapped.accumulate_new_extras()
        extras = wrapped.task_extras(latest_only=True)
        latest = extras["accessibility_tree"][-1] if "accessibility_tree" in extras else None
    assert latest == forest(emulator.phone.ui())
    assert "Create contact" in str(latest)


# adb emu


@pytest.mark.parametrize("text", ["hi there", "'; reboot; '", "naïve 中文 😀"])
def test_messages_are_sent_as_adb_does(adb, emulator, text):
    assert adb.run("-s", emulator.serial, "emu", "sms", "send", "+15551234", text).split() == ["OK"]
    assert emulator.phone.notifications[0].text == text


def test_calls_come_and_are_ended(adb, emulator):
    adb.run("-s", emulator.serial, "emu", "gsm", "call", "5551234")
    assert line_state(emulator.phone.services) == RINGING
    assert "mCallState=1" in adb.run("-s", emulator.serial, "shell", "dumpsys", "telephony.registry")
    adb.run("-s", emulator.serial, "shell", "input", "keyevent", "KEYCODE_ENDCALL")
    assert "mCallState=0" in adb.run("-s", emulator.serial, "shell", "dumpsys", "telephony.registry")


def test_the_name_is_told_with_and_without_a_token(adb, emulator):
    assert adb.run("-s", emulator.serial, "emu", "avd", "name").split() == ["embedded_phone", "OK"]
    token = auth_token(_token_path(adb))
    ports = free_pair()
    with PhoneServer(world_phone(90, 200), ports[1], ports[0], token=token) as locked:
        serial = adb.announce(locked)
        assert adb.run("-s", serial, "emu", "avd", "name").split() == ["embedded_phone", "OK"]
        _token_path(adb).write_text("wrong")
        assert "embedded_phone" not in adb.run("-s", serial, "emu", "avd", "name")
        _token_path(adb).unlink()


def _token_path(adb):
    return Path(adb.environment["HOME"]) / ".emulator_console_auth_token"


def test_snapshots_by_the_console(adb, emulator):
    emulator.phone.go_home()
    assert adb.run("-s", emulator.serial, "emu", "avd", "snapshot", "save", "clean").split() == ["OK"]
    emulator.phone.launch(CONTACTS)
    assert adb.run("-s", emulator.serial, "emu", "avd", "snapshot", "load", "clean").split() == ["OK"]
    assert emulator.phone.foreground == emulator.phone.launcher.package
