"""Only what a training has saved is removed to make room for its newer checkpoints."""

import json
import shutil

import pytest

from coach_gym.agents import CheckpointCallback, GRPOAgent
from coach_gym.agents.training.saving.checkpoints import checkpoints_in
from tests.agents.training.saving.test_directories import contents
from tests.agents.training.test_callbacks import buttons, make


def saving(folder, **settings):
    return CheckpointCallback(None, folder, save_steps=1, **settings)


def names(folder):
    return [path.name for path in checkpoints_in(folder, "rl_model")]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """Checkpoints of a training of 24 steps, and which one was best; tests copy them."""
    folder = tmp_path_factory.mktemp("earlier")
    make().learn(24, saving(folder, keep=9))
    assert names(folder) == ["rl_model_8_steps", "rl_model_16_steps", "rl_model_24_steps"]
    note = {"checkpoint": "rl_model_24_steps", "success_rate": 1.0}
    (folder / "rl_model_best.json").write_text(json.dumps(note))
    return folder


@pytest.fixture
def folder(earlier, tmp_path):
    return shutil.copytree(earlier, tmp_path / "checkpoints")


def best(folder):
    return json.loads((folder / "rl_model_best.json").read_text())


def test_a_training_that_goes_on_from_an_earlier_checkpoint_keeps_its_own(folder):
    later = contents(folder / "rl_model_24_steps")
    agent = GRPOAgent.load(folder / "rl_model_8_steps", buttons())
    agent.learn(8, saving(folder, keep=1), reset_num_timesteps=False)
    assert names(folder) == ["rl_model_16_steps", "rl_model_24_steps"]
    assert contents(folder / "rl_model_24_steps") == later
    assert best(folder)["checkpoint"] == "rl_model_16_steps", "that of the other training says nothing about this one"


def test_a_new_training_keeps_its_own(folder):
    shutil.rmtree(folder / "rl_model_8_steps")
    make(seed=9).learn(8, saving(folder, keep=1, keep_best=False))
    assert names(folder) == ["rl_model_8_steps", "rl_model_16_steps", "rl_model_24_steps"]
    assert GRPOAgent.load(folder / "rl_model_8_steps").seed == 9


def test_a_training_that_goes_on_removes_what_it_continues(folder):
    agent = GRPOAgent.load(folder / "rl_model_24_steps", buttons())
    agent.learn(8, saving(folder, keep=1), reset_num_timesteps=False)
    assert names(folder) == ["rl_model_24_steps", "rl_model_32_steps"], "the best of before, and the latest"


def test_what_is_no_saved_agent_is_not_removed(folder):
    (folder / "rl_model_best.json").unlink()
    (folder / "rl_model_8_steps/notes.txt").write_text("years of work")
    (folder / "rl_model_8_steps/actor/loss.png").write_bytes(b"png")
    mine = folder / "rl_model_1_steps"
    mine.mkdir()
    (mine / "config.json").write_text('{"mine": 1}')
    (mine / "thesis.txt").write_text("years of work")
    agent = GRPOAgent.load(folder / "rl_model_24_steps", buttons())
    agent.learn(8, saving(folder, keep=1, keep_best=False), reset_num_timesteps=False)
    assert names(folder) == ["rl_model_32_steps"]
    assert contents(mine).keys() == {"config.json", "thesis.txt"}
    assert contents(folder / "rl_model_8_steps").keys() == {"notes.txt", "actor/loss.png"}
    assert not (folder / "rl_model_16_steps").exists()


@pytest.mark.parametrize("prefix", ["run[1]", "a*", "phones/agent"])
def test_older_checkpoints_are_found_whatever_their_prefix(tmp_path, prefix):
    make().learn(16, saving(tmp_path, name_prefix=prefix, keep=1, keep_best=False))
    assert checkpoints_in(tmp_path, prefix) == [tmp_path / f"{prefix}_16_steps"]
    assert [path.name for path in tmp_path.glob("**/*_steps")] == [f"{prefix}_16_steps".rpartition("/")[2]]
