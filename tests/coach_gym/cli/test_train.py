"""`coach-gym train` in one process, with an agent that records what it is asked for."""

import json
from types import SimpleNamespace

import pytest

import coach_gym.agents
from coach_gym.__main__ import main
from coach_gym.cli import train


class Agent:
    """Stands for all agents."""

    made: list = []

    def __init__(self, policy, envs, **arguments):
        self.policy, self.envs, self.arguments = policy, envs, arguments
        self.num_timesteps = 0
        Agent.made.append(self)

    @classmethod
    def load(cls, path, envs, **arguments):
        agent = cls("loaded", envs, **arguments)
        agent.path, agent.num_timesteps = path, 40
        return agent

    def learn(self, steps, callback, reset_num_timesteps):
        self.learned, self.callback, self.reset = steps, callback, reset_num_timesteps

    def save(self, path, exclude):
        self.saved = path


@pytest.fixture
def agent(monkeypatch):
    envs = SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(train.gym, "make_vec", lambda *args, **kwargs: setattr(envs, "kwargs", kwargs) or envs)
    for name in train.AGENTS.values():
        monkeypatch.setattr(coach_gym.agents, name, Agent)
    monkeypatch.setattr(Agent, "made", [])
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)

    def trained(*words):
        main(["train", *words])
        return Agent.made[-1]

    return trained


def test_settings_come_from_the_file_and_then_from_the_command_line(agent, tmp_path):
    (tmp_path / "settings.toml").write_text("k = 2\nbatch_size = 8\n[env]\nscreen_size = [270, 600]\n")
    made = agent("--steps", "100", "--config", str(tmp_path / "settings.toml"), "--out", str(tmp_path), "--k", "4")
    assert (made.arguments["k"], made.arguments["batch_size"]) == (4, 8)
    assert made.envs.kwargs == {"num_envs": 8, "screen_size": [270, 600]}
    assert made.arguments["tensorboard_log"] == str(tmp_path)


def test_a_split_is_the_environments_own_and_overrides_the_files(agent, tmp_path):
    (tmp_path / "settings.toml").write_text("[env]\nsplit = 'validation'\n")
    words = ("--steps", "100", "--config", str(tmp_path / "settings.toml"), "--out", str(tmp_path))
    assert agent(*words).envs.kwargs["split"] == "validation"
    assert agent(*words, "--split", "train").envs.kwargs["split"] == "train"


def test_the_trained_agent_is_saved_and_checkpointed(agent, tmp_path):
    made = agent("--steps", "100", "--out", str(tmp_path), "--save-every", "7")
    assert (made.learned, made.reset, made.saved) == (100, True, tmp_path / "agent")
    assert made.callback.save_freq == 7 and made.callback.save_path == tmp_path / "checkpoints"


def checkpoint(folder, steps, name="CoachAgent"):
    path = folder / "checkpoints" / f"agent_{steps}_steps"
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({"class": name}))
    return path


def test_a_run_resumes_from_its_latest_checkpoint_with_the_steps_that_are_left(agent, tmp_path):
    checkpoint(tmp_path, 9)
    latest = checkpoint(tmp_path, 40)
    (tmp_path / "checkpoints/agent_80_steps").mkdir()  # interrupted before it was complete
    made = agent("--steps", "100", "--resume", str(tmp_path), "--out", str(tmp_path))
    assert (made.path, made.learned, made.reset) == (latest, 60, False)
    assert train.latest_checkpoint(latest) == latest


def test_a_checkpoint_of_something_else_is_refused(agent, tmp_path):
    path = checkpoint(tmp_path, 9, "Stranger")
    with pytest.raises(SystemExit, match="Stranger"):
        agent("--steps", "100", "--resume", str(path))


def test_a_folder_without_checkpoints_is_refused(agent, tmp_path):
    with pytest.raises(SystemExit, match="checkpoints/"):
        agent("--steps", "100", "--resume", str(tmp_path))


def test_environments_are_divided_among_processes(monkeypatch, agent):
    monkeypatch.setattr(train.Processes, "size", 3)
    with pytest.raises(SystemExit, match="not a multiple of the 3 processes"):
        agent("--steps", "100", "--num-envs", "8")


def test_the_number_of_steps_is_required(capsys):
    with pytest.raises(SystemExit):
        main(["train"])
    assert "--steps" in capsys.readouterr().err
