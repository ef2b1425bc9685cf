"""The clock of a served phone."""

import threading
import time
from datetime import timedelta

import pytest

from coach_gym.envs.phone.servers.lock import RunningPhone
from coach_gym.envs.profiles import world_phone


def test_seconds_pass_on_the_phone_as_they_pass_here():
    phone = world_phone(90, 200)
    lock, start = RunningPhone(phone), phone.now
    time.sleep(1.1)
    with lock:
        assert phone.now - start == timedelta(seconds=1)
    with lock:
        assert phone.now - start == timedelta(seconds=1)
    time.sleep(1.0)
    with lock:
        assert phone.now - start == timedelta(seconds=2)


def test_what_is_shown_for_a_while_goes():
    phone = world_phone(90, 200)
    lock = RunningPhone(phone)
    with lock:
        phone.message = ("saved", phone.now + timedelta(seconds=1))
    time.sleep(1.1)
    with lock:
        assert phone.message is None


def test_time_stands_still_for_whoever_has_the_phone():
    phone = world_phone(90, 200)
    lock = RunningPhone(phone)
    with lock:
        start = phone.now
        time.sleep(1.1)
        with lock:
            assert phone.now == start


def test_whoever_finds_a_failing_clock_leaves_the_phone_to_others(monkeypatch):
    phone = world_phone(90, 200)
    lock, got = RunningPhone(phone), threading.Event()
    monkeypatch.setattr(phone, "elapse", lambda time: 1 // 0)
    time.sleep(1.1)
    with pytest.raises(ZeroDivisionError):
        lock.acquire()

    def other():
        with lock:
            got.set()

    threading.Thread(target=other, daemon=True).start()
    assert got.wait(5)


def test_one_thread_at_a_time_has_the_phone():
    lock = RunningPhone(world_phone(90, 200))
    got = threading.Event()

    def other():
        with lock:
            got.set()

    with lock, lock:
        thread = threading.Thread(target=other)
        thread.start()
        assert not got.wait(0.2)
    assert got.wait(20)
    thread.join()
