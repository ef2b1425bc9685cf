"""Every program of `examples/` runs, as it is started from a shell, in a folder of its own."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from coach_gym.dialects import DIALECTS
from tests.envs.served_phone import adb_server, served_phone

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ELSEWHERE = {"fleet", "several_processes", "ray_cluster"}  # have tests of their own, the last in make test-ray
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.fixture(autouse=True)
def as_from_a_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))  # where Python looks first when it runs a file
    known = dict(DIALECTS)
    yield
    DIALECTS.clear()
    DIALECTS.update(known)


def run(name, *arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [f"{name}.py", *arguments])
        return runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ELSEWHERE])
def test_it_runs(name, capsys):
    run(name)
    assert capsys.readouterr().out.strip()


def test_the_fleet_lends_served_phones(monkeypatch, capsys):
    with adb_server() as port, served_phone() as first, served_phone() as second:
        monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(port))
        run("fleet", first.address, second.address)
    assert "faults: []" in capsys.readouterr().out


def test_the_training_on_several_processes_runs_under_torchrun(tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, str(EXAMPLES / "several_processes.py")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "processes: 2" in done.stdout
    assert (tmp_path / "several_processes_agent" / "actor").is_dir()


def test_the_app_of_the_docs_is_that_of_the_examples():
    page = (ROOT / "docs" / "how_to" / "add_an_app.md").read_text()
    files = dict(re.findall(r"```python\n# (shopping_list/\w+\.py)\n(.*?)```", page, re.DOTALL))
    assert files == {path: (EXAMPLES / path).read_text() for path in files}
    assert len(files) == 3


def test_the_table_lists_every_program():
    listed = re.findall(r"`(\w+)\.py`", (EXAMPLES / "README.md").read_text())
    assert sorted(listed) == PROGRAMS
