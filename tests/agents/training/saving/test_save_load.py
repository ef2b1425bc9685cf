"""An agent as a directory: a saved agent continues as if nothing had happened."""

import json

import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from transformers import Qwen2_5_VLForConditionalGeneration

from coach_gym.agents import (
    CheckpointCallback,
    CoachAgent,
    FilteredCloningAgent,
    GRPOAgent,
    PPOAgent,
    RLOOAgent,
)
from coach_gym.agents.training.saving import checkpoint
from coach_gym.dialects import UITars
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import warm_policy


def buttons() -> SyncVectorEnv:
    return SyncVectorEnv([lambda: ButtonEnv(steps=2)] * 4)


def make(method=CoachAgent, **arguments):
    settings = {"batch_size": 8, "mini_batch_size": 4, "max_new_tokens": 3, "seed": 0, **arguments}
    return method(settings.pop("policy", None) or warm_policy(), buttons(), 1e-3, **settings)


def assert_equal(one, other, atol=0.0):
    """Compares every weight and optimizer state, bit for bit or up to `atol`."""
    if isinstance(one, torch.Tensor):
        torch.testing.assert_close(one, other, rtol=0, atol=atol)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_equal(one[key], other[key], atol)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_equal(a, b, atol)
    else:
        assert one == other


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        (CoachAgent, {}),
        (CoachAgent, {"self_imitation": 5}),
        (CoachAgent, {"revisit": 5, "max_revisited": 3}),
        (PPOAgent, {}),
        (GRPOAgent, {}),
        (RLOOAgent, {}),
        (FilteredCloningAgent, {}),
        (FilteredCloningAgent, {"replay": 5}),
    ],
)
def test_training_goes_on_exactly_where_a_checkpoint_was_taken(method, arguments, tmp_path):
    """N + M steps without a break equal N steps, a checkpoint, new objects as in a new process, and M steps."""
    whole = make(method, **arguments)
    whole.learn(40, callback=CheckpointCallback(1, tmp_path))
    checkpoints = sorted(tmp_path.iterdir(), key=lambda path: int(path.name.split("_")[2]))
    torch.manual_seed(12345)
    resumed = method.load(checkpoints[1], env=buttons())
    assert 0 < resumed.num_timesteps < 40 and resumed.n_updates == 2
    assert bool(resumed.successes or resumed.visited) == bool(arguments)
    resumed.learn(40 - resumed.num_timesteps, reset_num_timesteps=False)
    assert resumed.num_timesteps == whole.num_timesteps and resumed.n_updates == whole.n_updates > 2
    # Vectorized sums round differently where tensors lie differently in memory.
    assert_equal(resumed.get_parameters(), whole.get_parameters(), atol=1e-7)
    assert [info["r"] for info in resumed.ep_info_buffer] == [info["r"] for info in whole.ep_info_buffer]
    assert resumed.ep_success_buffer == whole.ep_success_buffer


def test_successes_are_shared_by_another_number_of_processes(tmp_path, monkeypatch):
    """As `processes.gather` returns what two processes remember."""
    agent = make(self_imitation=5)
    with monkeypatch.context() as patched:
        patched.setattr(checkpoint.processes, "gather", lambda mine: [[b"1", b"2"], [b"3"]] if mine == [] else [mine])
        agent.save(tmp_path / "agent")
    shares = {(0, 1): [b"1", b"2", b"3"], (0, 2): [b"1", b"2"], (1, 2): [b"3"], (2, 3): []}
    for (rank, size), share in shares.items():
        monkeypatch.setattr(checkpoint.processes, "rank", lambda rank=rank: rank)
        monkeypatch.setattr(checkpoint.processes, "size", lambda size=size: size)
        assert checkpoint.read_remembered(tmp_path / "agent" / "successes.npz") == share


@pytest.mark.parametrize("damaged", [b"", b"no archive", "first half"])
def test_damaged_successes_are_named(damaged, tmp_path):
    file = tmp_path / "successes.npz"
    np.savez(file, process_0_0=np.zeros(1000, np.uint8))
    assert len(checkpoint.read_remembered(file)) == 1
    file.write_bytes(file.read_bytes()[:600] if damaged == "first half" else damaged)
    with pytest.raises(ValueError, match=r"successes\.npz is damaged: .* load another checkpoint"):
        checkpoint.read_remembered(file)


def test_an_update_that_fails_forgets_its_own_successes_only():
    agent = make(FilteredCloningAgent, replay=100)
    agent.learn(40)
    before = list(agent.successes)
    train = agent.train
    agent.train = lambda groups: train(groups) or 1 / 0
    with pytest.raises(ZeroDivisionError):
        agent.learn(40, reset_num_timesteps=False)
    assert list(agent.successes) == before != []


def test_the_directory(tmp_path):
    agent = make()
    agent.learn(8)
    agent.save(tmp_path / "agent")
    assert {path.name for path in (tmp_path / "agent").iterdir()} == {
        "config.json", "actor", "critic", "optimizer.pt", "trainer_state.json", "SHA256SUMS"
    }  # fmt: skip
    assert json.loads((tmp_path / "agent/config.json").read_text())["class"] == "CoachAgent"
    actor = Qwen2_5_VLForConditionalGeneration.from_pretrained(tmp_path / "agent/actor")
    assert_equal(dict(actor.state_dict()), dict(agent.policy.model.state_dict()))


def test_a_loaded_agent_acts_alike_and_keeps_its_arguments(tmp_path):
    agent = make(k=3, gamma=0.9, discount="paper", stats_window_size=7)
    agent.save(tmp_path / "agent")
    loaded = CoachAgent.load(tmp_path / "agent")
    assert (loaded.k, loaded.gamma, loaded.discount, loaded.stats_window_size) == (3, 0.9, "paper", 7)
    assert loaded.learning_rate == 1e-3 and loaded.get_env() is None
    observation, _ = ButtonEnv().reset(seed=0)
    assert loaded.predict(observation, deterministic=True)[0] == agent.predict(observation, deterministic=True)[0]
    assert CoachAgent.load(tmp_path / "agent", gamma=0.5).gamma == 0.5


@pytest.mark.parametrize("name", ["runs", "model", "notes.txt"])
def test_what_is_no_agent_is_not_replaced(name, tmp_path):
    (tmp_path / "runs").mkdir()
    tiny.policy().save(tmp_path / "model")  # has a config.json too
    (tmp_path / "runs/notes.txt").write_text("years of work")
    (tmp_path / "notes.txt").write_text("years of work")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileExistsError, match=f"{name} exists and is not a saved agent.*another path"):
        make(GRPOAgent, policy=tiny.policy()).save(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_directory_and_a_link_are_filled(tmp_path):
    agent = make(GRPOAgent, policy=tiny.policy())
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    agent.save(tmp_path / "empty")
    agent.num_timesteps = 7
    agent.save(tmp_path / "link")
    assert GRPOAgent.load(tmp_path / "empty").num_timesteps == 7


@pytest.mark.parametrize(("method", "other"), [
    (CoachAgent, {"batch_size": 4}), (CoachAgent, {"batch_size": 12}), (GRPOAgent, {"group_size": 8}),
    (GRPOAgent, {"group_size": 2, "batch_size": 6}),
])  # fmt: skip
def test_a_batch_of_another_size_has_new_task_instances(method, other, tmp_path):
    agent = make(method, policy=tiny.policy())
    for _ in range(3):
        agent.collect_rollouts()
    agent.save(tmp_path / "agent")
    loaded = method.load(tmp_path / "agent", env=buttons(), **other)
    loaded.collect_rollouts()
    played, following = (
        {seed for env in trained.env.envs for seed in env.resets if seed is not None} for trained in (agent, loaded)
    )
    assert len(played) == 24 // agent.group_size and len(following) == loaded.batch_size // loaded.group_size
    assert not played & following


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.filterwarnings("ignore:the policy's weights are")
def test_shards_of_any_precision_are_read(dtype, tmp_path):
    policy = tiny.policy()
    policy.model.to(dtype)
    agent = make(GRPOAgent, policy=policy)
    agent.save_shards(tmp_path / "agent")
    loaded = GRPOAgent.load(tmp_path / "agent").policy.model.state_dict()
    assert_equal(dict(loaded), {name: weight.float() for name, weight in policy.model.state_dict().items()})


def test_a_dialect_of_ones_own_is_given_again(tmp_path):
    class Own(UITars): ...

    make(GRPOAgent, policy=tiny.policy()).save_shards(tmp_path / "shards")
    assert isinstance(GRPOAgent.load(tmp_path / "shards", dialect=Own()).policy.dialect, Own)


def test_optimizers_can_be_left_out(tmp_path):
    agent = make(policy=tiny.policy())
    agent.learn(8)
    agent.save(tmp_path / "small", exclude=["optimizer"])
    assert not (tmp_path / "small/optimizer.pt").exists()
    CoachAgent.load(tmp_path / "small", env=buttons()).learn(8)
    agent.save(tmp_path / "whole", exclude=["optimizer"], include=["optimizer"])
    assert (tmp_path / "whole/optimizer.pt").exists()


class Judge:
    def score(self, goal, steps):
        return [1.0] * len(steps)


def test_what_json_cannot_hold_has_to_be_given_again(tmp_path):
    agent = make(policy=tiny.policy(), reward_model=Judge())
    agent.save(tmp_path / "agent")
    with pytest.raises(ValueError, match="reward_model could not be saved"):
        CoachAgent.load(tmp_path / "agent")
    judge = Judge()
    assert CoachAgent.load(tmp_path / "agent", reward_model=judge).prm is judge
    assert CoachAgent.load(tmp_path / "agent", custom_objects={"reward_model": judge}).prm is judge


def test_mistakes_in_loading(tmp_path):
    make(GRPOAgent, policy=tiny.policy()).save(tmp_path / "agent")
    with pytest.raises(ValueError, match="holds a GRPOAgent, not a CoachAgent"):
        CoachAgent.load(tmp_path / "agent")
    with pytest.raises(FileNotFoundError, match="no saved agent"):
        CoachAgent.load(tmp_path / "elsewhere")


def as_the_previous_version_wrote_it(folder, **changes):
    """Writes an agent as it was saved before constructors kept their arguments."""
    make(GRPOAgent, policy=tiny.policy()).save(folder, exclude=["optimizer"])
    arguments = {
        "batch_size": 4, "bfloat16": False, "checkpoint_activations": False, "clip_range": 0.3, "collection": "events",
        "generation": "transformers", "group_size": 2, "learning_rate": 1e-05, "max_branch_tokens": 8192,
        "max_grad_norm": 1.0, "max_new_tokens": 3, "max_prompt_length": 32768, "max_staleness": 0,
        "mini_batch_size": None, "n_epochs": 1, "recompute_log_probs": False, "seed": 5, "stats_window_size": 100,
        "temperature": 1.0, "tensorboard_log": None, "trajectory_trees": True, "verbose": 0, **changes,
    }  # fmt: skip
    config = {"class": "GRPOAgent", "arguments": arguments, "not_saved": []}
    (folder / "config.json").write_text(json.dumps(config))
    state = json.loads((folder / "trainer_state.json").read_text())
    (folder / "SHA256SUMS").unlink()
    state |= {
        "num_timesteps": 12, "n_updates": 3, "num_instances": 6, "task_entropy": 1 << 61,
        "ep_info": [{"r": 1.0, "l": 2, "t": 0.5}], "ep_success": [1.0],
    }  # fmt: skip
    (folder / "trainer_state.json").write_text(json.dumps(state))


def test_an_agent_of_the_previous_version_is_loaded(tmp_path):
    as_the_previous_version_wrote_it(tmp_path / "agent")
    agent = GRPOAgent.load(tmp_path / "agent", env=buttons())
    assert (agent.batch_size, agent.group_size, agent.clip_range, agent.seed) == (4, 2, 0.3, 5)
    assert (agent.num_timesteps, agent.n_updates, agent.num_instances) == (12, 3, 6)
    assert [*agent.ep_success_buffer] == [1.0]
    agent.learn(4, reset_num_timesteps=False)
    assert agent.num_timesteps >= 16
    agent.save(tmp_path / "again")
    assert GRPOAgent.load(tmp_path / "again").arguments["clip_range"] == 0.3


def test_arguments_that_this_version_does_not_know_are_named(tmp_path):
    as_the_previous_version_wrote_it(tmp_path / "agent", entropy_bonus=0.1)
    with pytest.raises(TypeError, match="no argument 'entropy_bonus'.*config.json.*remove"):
        GRPOAgent.load(tmp_path / "agent")


def test_attributes_are_not_arguments(tmp_path):
    """The constructor's arguments are saved, even if attributes of the same name have changed."""
    agent = make(GRPOAgent, policy=tiny.policy(), tensorboard_log=tmp_path / "runs", clip_range=0.3)
    agent.clip_range, agent.learning_rate = 0.1, lambda remaining: remaining
    agent.save(tmp_path / "agent")
    loaded = GRPOAgent.load(tmp_path / "agent")
    assert loaded.clip_range == 0.3 and loaded.learning_rate == 1e-3
    assert loaded.tensorboard_log == str(tmp_path / "runs")


def test_nothing_is_pickled(tmp_path):
    """A hostile optimizer file runs no code."""
    make(GRPOAgent, policy=tiny.policy()).save(tmp_path / "agent")

    class Hostile:
        def __reduce__(self):
            return (open, (str(tmp_path / "owned"), "w"))

    torch.save({"policy.optimizer": Hostile()}, tmp_path / "agent/optimizer.pt")
    sums = (tmp_path / "agent/SHA256SUMS").read_text().splitlines(keepends=True)
    (tmp_path / "agent/SHA256SUMS").write_text("".join(line for line in sums if "optimizer.pt" not in line))
    with pytest.raises(Exception, match="[Ww]eights.only"):
        GRPOAgent.load(tmp_path / "agent")
    assert not (tmp_path / "owned").exists()


def test_parameters_travel(tmp_path):
    trained = make()
    trained.learn(16)
    assert trained.get_parameters().keys() == {"policy", "policy.optimizer", "critic", "critic.optimizer"}
    fresh = make()
    fresh.set_parameters(trained.get_parameters())
    assert_equal(fresh.get_parameters(), trained.get_parameters())
    trained.save(tmp_path / "agent")
    another = make()
    another.set_parameters(tmp_path / "agent")
    assert_equal(another.get_parameters(), trained.get_parameters())


def test_parameters_have_to_fit():
    agent = make(PPOAgent, policy=tiny.policy())
    parameters = agent.get_parameters()
    with pytest.raises(ValueError, match="'critic', 'critic.optimizer'.*are missing"):
        agent.set_parameters({"policy": parameters["policy"], "policy.optimizer": parameters["policy.optimizer"]})
    with pytest.raises(ValueError, match="unknown"):
        make(GRPOAgent, policy=tiny.policy()).set_parameters(parameters, exact_match=False)
    agent.set_parameters({"policy": parameters["policy"]}, exact_match=False)


WRONG = {
    "config.json": [
        {"class": 5}, {"arguments": [1]}, {"arguments": None}, {"not_saved": 5}, {"not_saved": [{"a": 1}]}, [1],
    ],
    "trainer_state.json": [{"num_timesteps": "9"}, {"sampling": 5}, "x"],
    "actor/coach_gym.json": [{"dialect": 5}, {"dialect": None}, {"surprise": 1}, {"scale": "x"}, [1]],
    "actor/config.json": [
        [1], "x", {"image_token_id": "x"}, {"dtype": "x"}, {"dtype": []}, {"model_type": 5}, {"text_config": 5},
    ],
    "critic/config.json": [[1], {"vision_config": "x"}],
}  # fmt: skip


@pytest.mark.parametrize(("file", "wrong"), [(file, each) for file, wrong in WRONG.items() for each in wrong])
def test_a_file_with_wrong_types_is_named(tmp_path, file, wrong):
    make(CoachAgent, policy=tiny.policy()).save(tmp_path / "agent")
    (tmp_path / "agent/SHA256SUMS").unlink()
    config = tmp_path / "agent/config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"checksums": False}))
    path = tmp_path / "agent" / file
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong if isinstance(wrong, dict) else wrong))
    with pytest.raises(ValueError, match="damaged|cannot be made|config.json|could not be saved"):
        CoachAgent.load(tmp_path / "agent")
