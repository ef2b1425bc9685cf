"""`coach-gym envs`."""

import json
import re

import pytest

from coach_gym.__main__ import main
from coach_gym.registration import env_ids


def test_every_id_has_a_line_with_its_difficulty_budget_and_apps(capsys):
    main(["envs"])
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert list(lines) == env_ids()
    for id, text in lines.items():
        if "/" in id:
            assert re.fullmatch(r"(easy|medium|hard) +\d+ steps  \S.*", text), (id, text)
        else:
            assert re.fullmatch(r"draws from \d+ tasks", text), (id, text)


def test_a_suite_has_as_many_tasks_as_ids(capsys):
    main(["envs"])
    out = capsys.readouterr().out
    for count, suite in ((int(n), name) for name, n in re.findall(r"(\w+)-v0 +draws from (\d+) tasks", out)):
        of_suite = ("AndroidWorld/", "AndroidLab/") if suite == "AndroidWorldAndLab" else f"{suite}/"
        assert count == sum(id.startswith(of_suite) for id in env_ids())


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("contactsaddcontact", ["AndroidWorld/ContactsAddContact-v0"]),
        ("*Sight-v0", ["AndroidSight-v0"]),
    ],
)
def test_a_pattern_filters(pattern, found, capsys):
    main(["envs", pattern])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if line] == found


def test_json_has_the_same(capsys):
    main(["envs", "--json", "AndroidWorld*"])
    envs = json.loads(capsys.readouterr().out)
    assert [env["id"] for env in envs] == [id for id in env_ids() if id.startswith("AndroidWorld")]
    assert envs[1].keys() == {"id", "difficulty", "budget", "apps"} and isinstance(envs[1]["budget"], int)


def test_a_pattern_without_a_match_is_an_error():
    with pytest.raises(SystemExit, match="No id matches 'no such task'"):
        main(["envs", "no such task"])
