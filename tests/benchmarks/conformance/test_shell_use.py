"""What is recorded of the phone's shell."""

import json
from pathlib import Path

import pytest

from benchmarks.conformance.shell_recorder import Record
from benchmarks.conformance.shell_use import TABLES, report, table
from coach_gym.envs.phone.shell import COMMANDS, run
from coach_gym.envs.profiles import world_phone

ROOT = Path(__file__).parents[3]


@pytest.fixture
def phone():
    return world_phone(270, 600)


def recorded(phone, *scripts):
    record = Record()
    with record.listening("someone"):
        for script in scripts:
            run(phone, script)
    run(phone, "uptime")  # nobody listens any more
    return record


def test_commands_are_recorded_as_they_ran_with_their_options(phone):
    loop = 'tool=ls; for n in 1 2; do $tool -la "/sdcard"; done'
    record = recorded(phone, loop, "am start -n a/.b", "am force-stop a")
    assert record.commands == {"ls": {"someone": 2}, "am start": {"someone": 1}, "am force-stop": {"someone": 1}}
    assert record.options["ls"] == {"-la"} and record.options["am start"] == {"-n"}


def test_constructs_count_once_a_script(phone):
    syntax = recorded(phone, "echo $HOME | cat | cat && x=$(( 1 + 2 )); if ! true; then ls /*; fi 2>&1").syntax
    assert set(syntax) == {"|", "&&", "$name", "name=value", "$(( ))", "; or newline", "if", "!", "* ? [", "2>&"}
    assert set(map(len, syntax.values())) == {1} and syntax["|"] == {"someone": 1}
    assert set(recorded(phone, "if").syntax) == {"not parsed"}


def test_commands_that_the_phone_lacks_are_reported(phone):
    result = report(recorded(phone, "frobnicate; f() { return 127; }; f", "cat /sdcard/none"))
    assert result["missing"] == ["frobnicate"] and "(not found)" in table(result)
    assert "ls" in result["unused"] and "cat" not in result["unused"]


def test_the_page_shows_the_committed_record_and_the_phone_has_what_was_used():
    result = json.loads((ROOT / "benchmarks/results/shell_use.json").read_text())
    assert (ROOT / "docs/reference/shell.md").read_text().endswith(f"{TABLES}\n{table(result)}\n")
    used = {row["command"].partition(" ")[0] for row in result["commands"]}
    assert used | set(result["unused"]) == set(COMMANDS) | set(result["missing"]), "record it anew"
