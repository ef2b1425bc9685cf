"""A model that is not there is named at once, and nothing is printed on the way."""

import subprocess
import sys

import pytest

from coach_gym import hub


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={"PATH": "", "OMP_NUM_THREADS": "1", **environment}, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["nowhere", "./nowhere", "a/b/c"])
def test_a_name_that_no_hub_can_have(name, monkeypatch):
    monkeypatch.setattr(hub, "_missing", None)  # the hub is not asked
    with pytest.raises(ValueError, match="a hub id has the form owner/name"):
        hub.require_model(name)


def test_directories_and_the_pocket_are_there(tmp_path):
    hub.require_model("pocket")
    hub.require_model(str(tmp_path))


def test_a_hub_that_does_not_answer_is_asked_once(tmp_path):
    train = "from coach_gym.__main__ import main; main(['train', '--steps', '8', '--policy', 'some/model'])"
    ended = run(train, HF_ENDPOINT="http://127.0.0.1:1", HF_HOME=str(tmp_path))
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1, ended.stderr  # every further attempt would be a line
    assert "the model some/model cannot be loaded" in ended.stderr and "refused" in ended.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["train", "--steps", "8", "--out", "unused", "--policy"],
        ["evaluate", "--out", "unused", "--agent"],
        ["critic", "--out", "unused", "--policy"],
        ["critic", "--out", "unused", "--critic"],
        ["label", "folder", "--out", "unused", "--policy"],
        ["sft", "prm", "labels", "--out", "unused", "--model"],
        ["data", "rollouts", "--out", "unused", "--policy"],
        ["plan", "--json", "unused", "--model"],
    ],
    ids=" ".join,
)
def test_a_missing_model_is_named_before_torch_is_imported(command):
    code = "import sys; sys.modules['torch'] = None; from coach_gym.__main__ import main; main({})"
    ended = run(code.format([*command, "nowhere"]))
    assert "the model nowhere cannot be loaded" in ended.stderr and ended.returncode == 1, ended.stderr


def test_a_model_in_the_cache_needs_no_hub(tmp_path):
    commit = "a" * 40
    folder = tmp_path / "hub" / "models--some--model"
    for path, text in (("refs/main", commit), (f"snapshots/{commit}/config.json", "{}")):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text)
    check = "from coach_gym.hub import require_model; require_model('some/model')"
    ended = run(check, HF_ENDPOINT="http://127.0.0.1:1", HF_HOME=str(tmp_path))
    assert ended.returncode == 0, ended.stderr


def test_importing_the_agents_prints_nothing():
    assert run("import coach_gym.agents").stderr == ""
