"""Files that are written whole, and lines that stay lines."""

import csv
import json
import os

import pytest

from coach_gym.agents.training.logs.logger import CsvOutput, JsonOutput
from coach_gym.evaluation.records import RecordFile
from coach_gym.files import append_line, write_whole


def interrupted(*_):
    raise KeyboardInterrupt


def test_an_interruption_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new", durable=True)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.json"]
    write_whole(path, b"\xff")
    assert path.read_bytes() == b"\xff"


@pytest.mark.parametrize("before, between", [("", ""), ("old\n", ""), ("ol", "\n"), ("o", "\n")])
def test_a_line_follows_one_that_was_cut_off(tmp_path, before, between):
    path = tmp_path / "lines"
    path.write_text(before)
    append_line(path, "new")
    assert path.read_text() == f"{before}{between}new\n"


def test_a_log_goes_on_after_a_row_that_was_cut_off(tmp_path):
    excluded = {"a": (), "b": ()}
    for output in (CsvOutput(tmp_path), JsonOutput(tmp_path)):
        output.write({"a": 1, "b": "text"}, excluded, 0)
        with output.path.open("r+b") as file:
            file.truncate(output.path.stat().st_size - 3)
        type(output)(tmp_path).write({"a": 2, "b": 3.5}, excluded, 1)
    assert json.loads((tmp_path / "progress.json").read_text().splitlines()[-1]) == {"a": 2, "b": 3.5}
    assert list(csv.DictReader((tmp_path / "progress.csv").open(newline="")))[-1] == {"a": "2", "b": "3.5"}


def test_an_evaluation_that_is_opened_again_is_never_without_its_records(tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    RecordFile(path, {"of": "me"})
    path.write_text(path.read_text() + '{"cut o')
    before = path.read_text()
    monkeypatch.setattr(type(path), "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        RecordFile(path, {"of": "me"})
    assert path.read_text() == before
