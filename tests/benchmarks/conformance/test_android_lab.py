"""The AndroidLab conformance benchmark, on a fake checkout."""

import json
import sys

import pytest

from benchmarks.conformance import android_lab as benchmark
from coach_gym.envs.tasks.screen import EXPERTS
from tests.envs.suites import toy_lab


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(EXPERTS, "toy_1", lambda s, p: iter([s.tap(s.find_all("onoff")[1]), s.finish()]))
    monkeypatch.setitem(EXPERTS, "toy_2", lambda s, p: iter([s.finish("2 alarms")]))
    monkeypatch.setitem(EXPERTS, "toy_4", lambda s, p: iter([s.tap("no such thing")]))
    return toy_lab.write(tmp_path)


def test_every_task_is_left_alone_and_solved(folder, capsys):
    result = benchmark.run(folder)
    assert result["headline"] == {"loaded": 4, "solved": 1, "solved_fixed": 1, "answerable": 1}
    assert (result["device"], result["no_op_passes"], result["upstream"]) == ("embedded phone", ["toy_3"], "unknown")
    rows = {row["task"]: row for row in result["tasks"]}
    assert (rows["toy_1"]["kind"], rows["toy_1"]["steps"], rows["toy_2"]["kind"]) == ("rule", 2, "answer")
    assert rows["toy_3"]["why_not"] == "no expert" and "no such thing" in rows["toy_4"]["why_not"]
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_the_command_line_writes_the_result(folder, tmp_path, monkeypatch, capsys):
    output = tmp_path / "result.json"
    command = ["x", "--upstream", str(folder), "--commit", "abc", "--tasks", "toy_2", "--json", str(output)]
    monkeypatch.setattr(sys, "argv", command)
    benchmark.main()
    result = json.loads(output.read_text())
    assert (result["headline"]["loaded"], result["upstream"]) == (1, "abc")
    assert "answerable: 1 (embedded phone)" in capsys.readouterr().out
