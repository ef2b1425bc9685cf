"""Devices that fail once in a look are asked again, nothing hangs, and no failure becomes a verdict."""

import json
import threading
import time

import pytest

from benchmarks.reliability import __main__ as reliability
from benchmarks.reliability import devices, fleets


@pytest.mark.parametrize("fault", devices.FAULTS)
def test_few_episodes_are_lost_at_five_percent(fault, monkeypatch):
    monkeypatch.setitem(devices.LIMITS, "hang", {"step_timeout": 2.0, "reset_timeout": 20.0})
    played = devices.play(fault, 0.05, 20, 0)
    assert played.faults >= 5 and played.lost <= 3 and played.lies == 0 and played.threads == 0


def test_without_faults_nothing_is_lost():
    assert devices.play("raise", 0.0, 2, 0) == devices.Played(2)


def test_a_thread_of_others_that_ends_meanwhile_does_not_count():
    threading.Thread(target=time.sleep, args=(0.05,)).start()
    assert devices.play("raise", 0.0, 2, 0) == devices.Played(2)


@pytest.mark.parametrize("fault", ["raise", "lie"])
def test_a_device_that_always_fails_loses_every_episode_and_earns_nothing(fault):
    played = devices.play(fault, 1.0, 3, 0)
    assert (played.lost, played.lies, played.threads) == (3, 0, 0)


def test_devices_that_always_hang_cost_their_episodes_and_leave_no_threads(monkeypatch):
    monkeypatch.setitem(devices.LIMITS, "hang", {"step_timeout": 1.0, "reset_timeout": 20.0})
    assert devices.play("hang", 1.0, 2, 1) == devices.Played(2, lost=2, faults=4)


def test_of_a_fleet_nothing_is_lost_but_the_episodes_of_emulators_that_died(monkeypatch):
    monkeypatch.setattr(fleets, "LIFE", 120.0)
    monkeypatch.setattr(fleets, "FAILED_STARTS", 0.3)
    lived = fleets.live(0.25, 200.0, 0)
    assert lived.episodes > fleets.ENVS and lived.deaths > 3 and lived.failed_starts > 0
    assert (lived.unexplained, lived.verdicts, lived.missing, lived.threads) == (0, 0, 0, 0), lived


def test_the_report(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(devices, "RATES", (0.5,))
    monkeypatch.setattr(devices, "FAULTS", ("raise", "lie"))
    path = tmp_path / "r.json"
    words = ["--seeds", "0", "--parts", "devices", "--episodes", "2"]
    monkeypatch.setattr("sys.argv", ["reliability", *words, "--json", str(path)])
    reliability.main()
    headline = json.loads(path.read_text())["headline"]
    assert 0 <= headline["lost_raise_50_percent"] <= 1 and headline["faults_told_as_verdicts"] == 0
    assert f"rerun: python -m benchmarks.reliability {' '.join(words)}" in capsys.readouterr().out
