"""`coach-gym train` in one process, with an agent that records what it is asked for."""

import inspect
import json
import socket
from dataclasses import asdict
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec

import coach_gym.agents
from coach_gym.__main__ import main
from coach_gym.agents.coach import CoachAgent as TheAgent
from coach_gym.agents.training.arguments import _check_type
from coach_gym.agents.training.saving.state import TrainerState, sampling_state
from coach_gym.cli import train
from coach_gym.cli.runs import latest_checkpoint
from coach_gym.dialects import UITars


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

    def learn(self, steps, callbacks, reset_num_timesteps, progress_bar):
        self.in_learn(callbacks)
        self.learned, self.reset, (self.callback, *self.evaluations) = steps, reset_num_timesteps, callbacks

    def in_learn(self, callbacks): ...

    def save(self, path, exclude=()):
        self.saved = path


@pytest.fixture
def agent(monkeypatch):
    envs = SimpleNamespace(close=lambda: None)
    made = lambda id, **kwargs: setattr(envs, "id", id) or setattr(envs, "kwargs", kwargs) or envs  # noqa: E731
    monkeypatch.setattr(train.gym, "make_vec", made)
    for name in train.AGENTS.values():
        monkeypatch.setattr(coach_gym.agents, name, Agent)
    monkeypatch.setattr(train, "require_model", lambda name: None)  # nor is there a hub
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
    assert json.loads((tmp_path / "run.json").read_text())["train"]["steps"] == 100


def test_a_split_is_the_environments_own_and_overrides_the_files(agent, tmp_path):
    (tmp_path / "settings.toml").write_text("[env]\nsplit = 'validation'\n")
    words = ("--steps", "100", "--config", str(tmp_path / "settings.toml"), "--out")
    assert agent(*words, str(tmp_path / "a")).envs.kwargs["split"] == "validation"
    assert agent(*words, str(tmp_path / "b"), "--split", "train").envs.kwargs["split"] == "train"


def test_the_table_train_holds_options_of_the_command(agent, tmp_path):
    out = tmp_path / "out"
    text = (
        f'[train]\nenv = "AndroidLab-v0"\nsteps = 40\nsplit = "train"\nmax_steps = 4\nsave_every = 7\nkeep = 2\n'
        f'out = "{out}"\n[env]\nsplit = "test"\nmax_steps = 9\n'
    )
    (tmp_path / "settings.toml").write_text(text)
    made = agent("--config", str(tmp_path / "settings.toml"))
    assert (made.learned, made.saved, made.callback.save_steps, made.callback.keep) == (40, out / "agent", 7, 2)
    assert made.envs.id == "AndroidLab-v0"
    assert made.envs.kwargs == {"num_envs": 8, "split": "train", "max_steps": 4}
    noted = json.loads((out / "run.json").read_text())
    assert noted["train"]["steps"] == 40 and noted["env"] == {"split": "train", "max_steps": 4}
    words = ("--split", "validation", "--steps", "60", "--out", str(tmp_path / "other"))
    made = agent("--config", str(tmp_path / "settings.toml"), *words)
    assert made.learned == 60 and made.envs.kwargs["split"] == "validation"


def test_a_page_a_pool_and_a_run_to_resume_may_be_in_the_table_too(agent, tmp_path, monkeypatch):
    checkpoint(tmp_path / "first", 40)
    ports = []
    monkeypatch.setattr(train, "_port_to_watch", lambda port, rank: ports.append(port))
    text = f'[train]\nsteps = 100\npool = "p.jsonl"\nwatch = 8099\nresume = "{tmp_path / "first"}"\n[env]\nsplit="test"'
    (tmp_path / "settings.toml").write_text(text)
    made = agent("--config", str(tmp_path / "settings.toml"))
    assert made.learned == 60 and made.envs.kwargs["pool"] == "p.jsonl" and ports == [8099]
    assert "split" not in made.envs.kwargs


@pytest.mark.parametrize(("text", "told"), [
    ("[train]\neval_evry = 2", "coach-gym train has no argument 'eval_evry'; did you mean 'eval_every'"),
    ("[train]\nagent = 'foo'", r"the table \[train\]: argument --agent: invalid choice: 'foo' \(choose from .*ppo"),
    ("[train]\nnum_envs = 'two'", r"the table \[train\]: argument --num-envs: invalid int value: 'two'"),
    ("policy = 'pocket'", r"policy is an option of the command: put it into the table \[train\]"),
    ("env = 'AndroidLab-v0'", r"env = 'AndroidLab-v0' in .* is no table; \[env\] .*; put its id into \[train\] env"),
    ("train = 5", r"train = 5 in .* is no table"),
    ("tasks = ['ClockTimerEntry']", r"tasks is a setting of the environment: put it into the table \[env\]"),
])  # fmt: skip
def test_what_a_file_has_in_the_wrong_place_is_refused(agent, tmp_path, text, told):
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(SystemExit, match=told):
        agent("--steps", "9", "--out", str(tmp_path / "out"), "--config", str(tmp_path / "settings.toml"))
    assert not Agent.made and not (tmp_path / "out").exists()


def test_settings_of_the_environment_are_named_at_once(agent, tmp_path):
    with pytest.raises(SystemExit, match=r"screen_size is a setting of the environment: .* \[env\] of a --config file"):
        agent("--steps", "9", "--out", str(tmp_path), "--screen_size", "[270, 600]")
    assert not Agent.made


def test_the_trained_agent_is_saved_and_checkpointed(agent, tmp_path):
    made = agent("--steps", "100", "--out", str(tmp_path), "--save-every", "7", "--keep", "2")
    assert (made.learned, made.reset, made.saved) == (100, True, tmp_path / "agent")
    assert (made.callback.save_steps, made.callback.save_minutes, made.callback.keep) == (7, None, 2)
    assert made.callback.save_path == tmp_path / "checkpoints"
    assert made.callback.keep_best and not made.evaluations


def test_evaluations_are_on_validation_and_keep_the_best(agent, tmp_path):
    pool = tmp_path / "pool.jsonl"
    words = ("--steps", "100", "--pool", str(pool), "--max-steps", "4", "--eval-every", "50", "--eval-episodes", "3")
    made = agent(*words, "--out", str(tmp_path / "run"))
    (evaluation,) = made.evaluations
    assert (evaluation.eval_steps, evaluation.n_eval_episodes) == (50, 3) and not made.callback.keep_best
    assert evaluation.best_model_save_path == tmp_path / "run"
    # the stand-in for gym.make_vec keeps the arguments of its latest call
    assert made.envs.kwargs == {"num_envs": 3, "max_steps": 4, "split": "validation"}


def test_checkpoints_are_counted_in_steps_or_minutes(agent, tmp_path):
    made = agent("--steps", "100", "--out", str(tmp_path), "--save-every", "30m")
    assert (made.callback.save_steps, made.callback.save_minutes, made.callback.keep) == (None, 30, 3)
    for wrong in ("0", "never", "3h", "-5"):
        with pytest.raises(SystemExit, match="neither a number of steps"):
            agent("--steps", "100", "--out", str(tmp_path / "new"), f"--save-every={wrong}")


def test_a_used_folder_is_refused_and_a_run_goes_on_with_its_own_settings(agent, tmp_path):
    first = tmp_path / "first"
    words = (
        "--steps",
        "100",
        "--out",
        str(first),
        "--agent",
        "grpo",
        "--num-envs",
        "2",
        "--split",
        "train",
        "--k",
        "4",
    )
    agent(*words)
    with pytest.raises(SystemExit, match="holds a run already; continue it by --resume"):
        agent(*words)
    checkpoint(first, 40)
    made = agent("--resume", str(first))
    assert made.envs.kwargs == {"num_envs": 2, "split": "train"} and made.arguments["k"] == 4
    assert (made.learned, made.saved) == (60, first / "agent")
    made = agent("--resume", str(first), "--steps", "200", "--k", "8")
    assert made.learned == 160 and made.arguments["k"] == 8


def test_a_run_that_is_over_is_left_as_it_is(agent, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    agent("--steps", "100", "--out", str(first), "--k", "4")
    checkpoint(first, 40)
    (first / "agent").mkdir()
    with pytest.raises(SystemExit, match="holds a run that is over"):
        agent("--resume", str(first), "--steps", "200")
    made = agent("--resume", str(first), "--steps", "200", "--out", str(second))
    assert made.saved == second / "agent" and made.arguments["k"] == 4
    with pytest.raises(SystemExit, match="holds a run already"):
        agent("--resume", str(first / "checkpoints/agent_40_steps"), "--steps", "200", "--out", str(second))


def test_turns_are_the_papers_unless_told_otherwise(agent, tmp_path, monkeypatch):
    monkeypatch.setitem(gym.registry, "Mine-v0", EnvSpec("Mine-v0", entry_point=lambda **settings: None))

    def turns(name, *words):
        return agent("--steps", "9", "--out", str(tmp_path / name), *words).envs.kwargs.get("max_steps")

    assert turns("a", "--policy", "tars") == 25 and turns("b") is None
    assert turns("c", "--policy", "tars", "--max-steps", "7") == 7
    assert turns("d", "--policy", "tars", "--env", "Mine-v0") is None


@pytest.mark.parametrize("name", ["paper", "one_gpu", "laptop"])
def test_the_shipped_settings_are_arguments_of_the_agent(agent, tmp_path, name):
    known = inspect.signature(TheAgent).parameters
    made = agent("--config", name, "--steps", "100", "--out", str(tmp_path))
    assert not made.arguments.keys() - known.keys()
    for key, value in made.arguments.items():
        _check_type(key, value, known[key])
    gym.make("AndroidWorld-v0", **{key: value for key, value in made.envs.kwargs.items() if key != "num_envs"})


def test_the_papers_settings_are_those_of_its_table_and_the_defaults(agent, tmp_path):
    made = agent("--config", "paper", "--steps", "100", "--out", str(tmp_path))
    table = {
        "max_prompt_length": 32_768, "max_new_tokens": 512, "batch_size": 8, "learning_rate": 1e-6,
        "max_grad_norm": 1.0, "clip_range": 0.2, "temperature": 1.0, "max_pixels": 1_270_180, "min_pixels": 256,
        "process_reward_weight": 0.2,
        "outcome_reward_weight": 1.0, "gamma": 0.95, "critic_learning_rate": 1e-5, "clip_range_vf": 0.5,
        "critic_warmup_ratio": 0.1,
    }  # fmt: skip
    assert {name: made.arguments[name] for name in table} == table and made.envs.kwargs["max_steps"] == 25
    defaults = {name: each.default for name, each in inspect.signature(TheAgent).parameters.items()}
    of_dialect = {"min_pixels": UITars().min_pixels, "max_pixels": UITars().max_pixels}
    assert {name: of_dialect.get(name, defaults[name]) for name in table} == table


def test_the_papers_tasks_are_of_both_benchmarks_and_may_be_a_pools(agent, tmp_path, monkeypatch):
    ids = []
    make_vec = train.gym.make_vec
    monkeypatch.setattr(train.gym, "make_vec", lambda id, **kwargs: ids.append(id) or make_vec(id, **kwargs))
    words = ("--config", "paper", "--steps", "100", "--out")
    assert agent(*words, str(tmp_path / "a")).envs.kwargs["split"] == "train"
    pooled = agent(*words, str(tmp_path / "b"), "--pool", "pool.jsonl")
    assert pooled.envs.kwargs["pool"] == "pool.jsonl" and "split" not in pooled.envs.kwargs
    assert ids == ["AndroidWorldAndLab-v0"] * 2


def test_an_unknown_file_is_named_with_those_that_exist(agent, tmp_path):
    with pytest.raises(SystemExit, match="no file papre, and shipped are only laptop, one_gpu, paper"):
        agent("--config", "papre", "--steps", "9", "--out", str(tmp_path))


def checkpoint(folder, steps, name="CoachAgent"):
    path = folder / "checkpoints" / f"agent_{steps}_steps"
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps({"class": name, "arguments": {}, "not_saved": []}))
    generator, device = np.random.default_rng(0), torch.device("cpu")
    state = TrainerState(steps, 0, 0, 0, [], [], generator.bit_generator.state, sampling_state(device))
    (path / "trainer_state.json").write_text(json.dumps(asdict(state) | {"sampling": [state.sampling]}))
    return path


def test_a_run_resumes_from_its_latest_checkpoint_with_the_steps_that_are_left(agent, tmp_path):
    checkpoint(tmp_path, 9)
    latest = checkpoint(tmp_path, 40)
    (tmp_path / "checkpoints/agent_80_steps").mkdir()  # interrupted before it was complete
    made = agent("--steps", "100", "--resume", str(tmp_path), "--out", str(tmp_path))
    assert (made.path, made.learned, made.reset) == (latest, 60, False)
    assert latest_checkpoint(latest) == latest


def test_a_run_resumes_without_the_model_that_it_began_with(agent, tmp_path, monkeypatch):
    latest = checkpoint(tmp_path, 40)
    monkeypatch.setattr(train, "require_model", lambda name: pytest.fail(f"{name} was asked for"))
    assert agent("--policy", "gone", "--steps", "100", "--resume", str(tmp_path)).path == latest


def test_a_checkpoint_goes_on_with_the_settings_of_its_run(agent, tmp_path):
    first = tmp_path / "first"
    agent("--steps", "100", "--out", str(first), "--num-envs", "2", "--split", "train", "--k", "4")
    best = checkpoint(first, 40).rename(first / "best_model")
    for number, saved in enumerate((checkpoint(first, 40), best)):
        made = agent("--resume", str(saved), "--out", str(tmp_path / str(number)))
        assert made.envs.kwargs == {"num_envs": 2, "split": "train"} and made.arguments["k"] == 4
        assert (made.path, made.learned) == (saved, 60)


def test_what_a_checkpoint_cannot_go_on_with_is_refused_and_leaves_the_run_as_it_is(agent, tmp_path, monkeypatch):
    agent("--steps", "100", "--out", str(tmp_path), "--agent", "grpo")
    checkpoint(tmp_path, 68, "GRPOAgent")
    noted = (tmp_path / "run.json").read_text()
    monkeypatch.setattr(train.gym, "make_vec", lambda *args, **kwargs: pytest.fail("the environments were made"))
    for words, told in (
        (("--steps", "68"), "--steps 68 is the total, and .* stands at 68 steps; pass more than 68"),
        (("--agent", "ppo"), "--agent ppo differs from .*, which is of grpo; leave --agent out"),
        (("--policy", "tars"), "--policy tars differs from .*, which is of pocket; leave --policy out"),
    ):
        with pytest.raises(SystemExit, match=told):
            agent("--resume", str(tmp_path), *words)
    assert (tmp_path / "run.json").read_text() == noted


def test_a_checkpoint_without_its_run_tells_the_method(agent, tmp_path):
    agent("--resume", str(checkpoint(tmp_path, 40, "GRPOAgent")), "--steps", "60", "--out", str(tmp_path / "out"))
    assert json.loads((tmp_path / "out/run.json").read_text())["train"]["agent"] == "grpo"


def test_a_folder_that_is_not_there_is_named_before_what_else_is_missing(agent):
    with pytest.raises(SystemExit, match="there is no folder nosuch to resume"):
        agent("--resume", "nosuch")


def test_ctrl_c_saves_a_checkpoint_to_continue_from(agent, tmp_path, monkeypatch, capsys):
    def interrupted(self, callbacks):
        self.num_timesteps = 24
        raise KeyboardInterrupt

    monkeypatch.setattr(Agent, "in_learn", interrupted)
    with pytest.raises(SystemExit) as ended:
        agent("--steps", "100", "--out", str(tmp_path))
    assert ended.value.code == 130
    assert capsys.readouterr().err == f"stopped at step 24; continue with --resume {tmp_path}\n"
    assert Agent.made[-1].saved == tmp_path / "checkpoints/agent_24_steps"
    monkeypatch.setattr(train.Processes, "size", 2)
    monkeypatch.setattr(train.Processes, "first", lambda self: True)
    with pytest.raises(KeyboardInterrupt):
        agent("--steps", "100", "--out", str(tmp_path / "two"))


def test_a_mistake_found_before_the_first_step_is_a_sentence_and_later_ones_keep_their_traceback(
    agent, tmp_path, monkeypatch
):
    def learn(self, callbacks):
        if self.arguments["k"] == 2:
            callbacks[0].model = self
            callbacks[0].on_training_start({"self": self}, {})
        raise ValueError("none of its 0 episodes is solved")

    monkeypatch.setattr(Agent, "in_learn", learn)
    with pytest.raises(SystemExit, match="none of its 0 episodes is solved"):
        agent("--steps", "100", "--out", str(tmp_path / "a"), "--k", "1")
    with pytest.raises(ValueError, match="none of its 0 episodes is solved"):
        agent("--steps", "100", "--out", str(tmp_path / "b"), "--k", "2")


def test_a_run_without_a_checkpoint_begins_anew(agent, tmp_path, capsys):
    agent("--steps", "100", "--out", str(tmp_path), "--k", "4", "--agent", "grpo")  # whose stand-in saves nothing
    made = agent("--resume", str(tmp_path), "--agent", "ppo", "--batch_size", "6")
    assert (made.policy, made.learned, made.reset) == ("pocket", 100, True)
    assert (made.arguments["k"], made.arguments["batch_size"]) == (4, 6)
    assert "stopped before its first checkpoint; it begins anew" in capsys.readouterr().out
    (tmp_path / "agent").mkdir()
    with pytest.raises(SystemExit, match="neither a checkpoint nor the folder of a run that has any"):
        agent("--resume", str(tmp_path), "--out", str(tmp_path / "other"))


def test_a_checkpoint_of_something_else_is_refused(agent, tmp_path):
    path = checkpoint(tmp_path, 9, "Stranger")
    with pytest.raises(SystemExit, match="Stranger"):
        agent("--steps", "100", "--resume", str(path), "--out", str(tmp_path / "new"))


def test_a_folder_without_checkpoints_is_refused(agent, tmp_path):
    with pytest.raises(SystemExit, match="checkpoints/"):
        agent("--steps", "100", "--resume", str(tmp_path))


def test_environments_are_divided_among_processes(monkeypatch, agent, tmp_path):
    monkeypatch.setattr(train.Processes, "size", 3)
    monkeypatch.setattr(train.Processes, "first", lambda self: True)
    assert agent("--steps", "100", "--num-envs", "8", "--out", str(tmp_path / "a")).envs.kwargs["num_envs"] == 3
    monkeypatch.setattr(train.Processes, "rank", 2)
    assert agent("--steps", "100", "--num-envs", "8", "--out", str(tmp_path / "b")).envs.kwargs["num_envs"] == 2
    with pytest.raises(SystemExit, match="too few for 3 processes; pass at least 3"):
        agent("--steps", "100", "--num-envs", "2", "--out", str(tmp_path / "c"))


def test_a_page_that_cannot_be_opened_is_told_before_anything_is_loaded(agent, monkeypatch, tmp_path):
    monkeypatch.setattr(train.gym, "make_vec", lambda *args, **kwargs: pytest.fail("the environments were made"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit, match=rf"Cannot open the port {port}: .*in use.*Choose another: --watch PORT"):
            agent("--steps", "100", "--out", str(tmp_path / "run"), "--watch", str(port))
    assert not Agent.made and not (tmp_path / "run").exists()


def test_each_process_has_a_page_of_its_own(monkeypatch):
    monkeypatch.setattr(train, "require_free", lambda port, option: None)
    assert [train._port_to_watch(8072, rank) for rank in (0, 1)] == [8072, 8073]
    assert train._port_to_watch(0, 1) == 0, "any free port"


def test_the_number_of_steps_is_required(tmp_path):
    with pytest.raises(SystemExit, match="pass --steps"):
        main(["train", "--out", str(tmp_path)])
