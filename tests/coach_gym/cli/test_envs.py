"""`coach-gym envs`."""

import re

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
        assert count == sum(id.startswith(f"{suite}/") for id in env_ids())
