"""The accessibility forwarder, heard by android_env's own servicer."""

import socket
import threading
import time
from concurrent import futures

import grpc
import pytest
from android_env.proto.a11y import a11y_pb2_grpc
from android_env.wrappers.a11y.a11y_servicer import A11yServicer

from coach_gym.envs.phone.intents import Intent
from coach_gym.envs.phone.servers.accessibility import forest
from coach_gym.envs.phone.servers.forwarder import Forwarder
from coach_gym.envs.profiles import world_phone

SERVICE = "com.google.androidenv.accessibilityforwarder/.AccessibilityForwarder"
ACTION = "accessibility_forwarder.intent.action."


@pytest.fixture
def forwarder():
    phone = world_phone(270, 600)
    phone.storage.settings["secure", "enabled_accessibility_services"] = SERVICE
    forwarder = Forwarder(phone, threading.RLock())
    forwarder.phone = phone
    yield forwarder
    forwarder.stop()


@pytest.fixture
def listener():
    servicer = A11yServicer()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    a11y_pb2_grpc.add_A11yServiceServicer_to_server(servicer, server)
    servicer.port = server.add_secure_port("[::]:0", grpc.local_server_credentials())
    server.start()
    servicer.resume()
    yield servicer
    server.stop(None)


def aim(forwarder, port, host="10.0.2.2"):
    forwarder.broadcast(Intent(ACTION + "ENABLE_ACCESSIBILITY_TREE_LOGS"))
    forwarder.broadcast(Intent(ACTION + "SET_GRPC", extras={"host": host, "port": port}))


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def quiet(listener):
    """Whether the forests have come to an end, once those on the way have arrived."""

    def silent():
        listener.gather_forests()
        time.sleep(0.5)
        return not listener.gather_forests()

    return until(silent)


def test_the_screen_is_sent_again_and_again(forwarder, listener):
    aim(forwarder, listener.port)
    expected = forest(forwarder.phone.ui())
    assert until(listener.gather_forests)[-1] == expected
    assert until(listener.gather_forests)[-1] == expected


def test_a_change_is_sent_with_its_event(forwarder, listener):
    aim(forwarder, listener.port)
    until(listener.gather_forests)
    listener.gather_events()
    with forwarder._lock:
        forwarder.phone.launch("com.android.settings")
    (event,) = until(listener.gather_events)
    assert event.event["event_type"] == "TYPE_WINDOW_STATE_CHANGED"
    assert event.event["event_package_name"] == "com.android.settings"
    until(lambda: any("Network" in str(f) for f in listener.gather_forests()))


def test_nothing_is_sent_before_it_is_enabled(forwarder, listener):
    forwarder.broadcast(Intent(ACTION + "SET_GRPC", extras={"port": listener.port}))
    until(listener.gather_events)
    assert quiet(listener)


def test_it_can_be_switched_off(forwarder, listener):
    aim(forwarder, listener.port)
    until(listener.gather_forests)
    forwarder.broadcast(Intent(ACTION + "DISABLE_ACCESSIBILITY_TREE_LOGS"))
    assert quiet(listener)


@pytest.mark.parametrize(
    ("key", "value"), [(("secure", "enabled_accessibility_services"), ""), (("global", "airplane_mode_on"), "1")]
)
def test_it_needs_its_service_and_the_network(forwarder, listener, key, value):
    aim(forwarder, listener.port)
    until(listener.gather_forests)
    forwarder.phone.storage.settings[key] = value
    assert quiet(listener)


def test_a_listener_that_comes_later_or_elsewhere_is_found(forwarder, listener):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        aim(forwarder, free.getsockname()[1])
    time.sleep(0.3)
    aim(forwarder, listener.port)
    assert until(listener.gather_forests)


@pytest.mark.parametrize(
    ("host", "port"), [("192.0.2.1", 80), ("example.org", 80), ("10.0.2.2", 0), ("10.0.2.2", 10**6)]
)
def test_nothing_is_sent_to_other_machines(forwarder, host, port):
    aim(forwarder, port, host)
    assert forwarder._target is None and forwarder._thread is None


def test_other_broadcasts_are_for_others(forwarder):
    forwarder.broadcast(Intent("android.intent.action.VIEW", extras={"host": "10.0.2.2", "port": 80}))
    assert forwarder._target is None and not forwarder._trees
