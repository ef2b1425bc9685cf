"""Devices that fail once in a look are asked again, and no failure becomes a verdict."""

import json

from benchmarks.reliability import __main__ as reliability


def test_few_episodes_are_lost_at_five_percent():
    assert reliability.play(0.0, 2, 0) == (0, 0)
    lost, lies = reliability.play(0.05, 20, 0)
    assert lost <= 3 and lies == 0


def test_a_device_that_always_fails_loses_every_episode_and_earns_nothing():
    assert reliability.play(1.0, 3, 0) == (3, 0)


def test_the_report(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reliability, "RATES", (0.0, 0.5))
    path = tmp_path / "r.json"
    monkeypatch.setattr("sys.argv", ["reliability", "--seeds", "0", "--episodes", "2", "--json", str(path)])
    reliability.main()
    headline = json.loads(path.read_text())["headline"]
    assert headline["lost_at_0_percent"] == 0 and headline["faults_told_as_verdicts"] == 0
    assert "rerun: python -m benchmarks.reliability --seeds 0 --episodes 2" in capsys.readouterr().out
