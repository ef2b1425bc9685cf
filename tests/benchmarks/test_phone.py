"""The benchmark of the embedded phone runs and writes what it promises."""

import json

from benchmarks import phone


def test_the_table_is_printed_and_the_headline_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(phone.os, "sched_setaffinity", lambda pid, cores: None)
    monkeypatch.setattr(phone, "SCREENS", ((180, 400), (270, 600)))
    monkeypatch.setattr(phone, "SUITES", ("AndroidWorld/ContactsAddContact-v0",))
    phone.main(["--seeds", "0", "1", "--json", str(tmp_path / "phone.json")])
    result = json.loads((tmp_path / "phone.json").read_text())
    assert set(result["headline"]) == {
        "steps_per_s", "reset_ms", "steps_per_s_1080x2400", "reset_ms_1080x2400",
    }  # fmt: skip
    assert all(value > 0 for value in result["headline"].values())
    out = capsys.readouterr().out
    assert "180x400" in out and "270x600" in out and "python -m benchmarks.phone --seeds 0 1" in out


def test_only_steps_count_as_steps(monkeypatch):
    monkeypatch.setattr(phone, "SUITES", ("AndroidWorld/ContactsAddContact-v0",))
    timing = phone.measure((180, 400), seed=0)
    assert len(timing.resets) == 1 and len(timing.steps) > 3
