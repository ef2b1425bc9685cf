"""Moments of 8 bits: an update like AdamW's, and checkpoints that both optimizers read.

torchao compiles its step for every shape, which takes a CPU seconds each; all tests but one run it uncompiled.
"""

import pytest
import torch
from torch._dynamo.utils import counters
from torchao.optim.subclass_8bit import OptimState8bit

from coach_gym.agents import CoachAgent
from coach_gym.agents.distributed import processes
from coach_gym.agents.training.optimizers import make_optimizer
from coach_gym.agents.training.saving.transaction import Backup
from coach_gym.agents.training.schedules import set_learning_rate
from tests.agents import tiny
from tests.agents.distributed.test_parallel import assert_close, buttons, together

SETTINGS = dict(batch_size=4, max_new_tokens=3, seed=0, critic_learning_rate=1e-3, critic_warmup_ratio=0.0)


@pytest.fixture(autouse=True)
def uncompiled():
    with torch.compiler.set_stance("force_eager"):
        yield


def fitted(name, steps=60):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 64))
    seen = torch.randn(256, 64)
    optimizer = make_optimizer(model, 1.0, name)
    set_learning_rate(optimizer, 1e-2)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(seen) - torch.sin(2 * seen)) ** 2).mean()
        loss.backward()
        optimizer.step()
    return loss.item(), model, optimizer


def test_it_learns_as_adamw_does():
    exact, eight = fitted("adamw"), fitted("adamw8bit")
    assert exact[0] < 0.06, "of 0.5 at the start"
    assert eight[0] == pytest.approx(exact[0], rel=0.05)
    for one, other in zip(exact[1].parameters(), eight[1].parameters(), strict=True):
        assert torch.nn.functional.cosine_similarity(one.flatten(), other.flatten(), 0) > 0.99


def test_the_compiled_step_is_the_same_step():
    weights = []
    for stance in ("force_eager", "default"):
        torch.manual_seed(0)
        with torch.compiler.set_stance(stance):
            model = torch.nn.Linear(64, 64, bias=False)  # one shape, one compilation
            optimizer = make_optimizer(model, 1e-2, "adamw8bit")
            for _ in range(3):
                model(torch.randn(8, 64)).square().mean().backward()
                optimizer.step()
        assert isinstance(optimizer.state[model.weight]["exp_avg"], OptimState8bit)
        weights.append(model.weight.detach())
    assert counters["stats"]["unique_graphs"], "something was compiled"
    torch.testing.assert_close(weights[0], weights[1], rtol=0, atol=1e-6)


def bits(optimizer):
    return [
        (value.codes.clone(), value.scale.clone()) if isinstance(value, OptimState8bit) else (value.clone(),)
        for state in optimizer.state.values()
        for value in state.values()
    ]


def test_a_state_dict_is_adamws_and_brings_every_bit_back():
    _, model, optimizer = fitted("adamw8bit")
    state = optimizer.state_dict()
    assert sum(isinstance(v, OptimState8bit) for s in optimizer.state.values() for v in s.values()) == 4
    assert {type(value) for moments in state["state"].values() for value in moments.values()} == {torch.Tensor}
    again = make_optimizer(model, 1e-2, "adamw8bit")
    for _ in range(3):  # a block must not shrink each time
        again.load_state_dict(state)
        state = again.state_dict()
    for one, other in zip(bits(optimizer), bits(again), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=0)
    plain = make_optimizer(model, 1e-2)
    plain.load_state_dict(state)
    plain.step()
    again.load_state_dict(plain.state_dict())
    again.step()


def test_a_failed_update_leaves_every_bit():
    agent = agent_of()
    agent.learn(4)
    before = bits(agent.learner.optimizer("policy"))
    backup = Backup()
    for _ in range(2):  # the second copy is written over the first one
        backup.keep(agent.learner)
    for parameter in agent.policy.model.parameters():
        parameter.grad = torch.ones_like(parameter)
    agent.learner.optimizer("policy").step()
    assert str(bits(agent.learner.optimizer("policy"))) != str(before)
    backup.restore(agent.learner)
    torch.testing.assert_close(bits(agent.learner.optimizer("policy")), before, rtol=0, atol=0)


def agent_of(optimizer="adamw8bit"):
    policy = tiny.policy(hidden=64, intermediate_size=256)
    arguments = SETTINGS | {"malformed_is_worthless": False}
    return CoachAgent(policy, buttons(), 1e-3, optimizer=optimizer, **arguments)


def quantized(agent):
    """Returns the number of this process's moments that have 8 bits."""
    optimizers = agent.optimizers.values()
    values = [value for each in optimizers for state in each.state.values() for value in state.values()]
    return sum(isinstance(local(value), OptimState8bit) for value in values)


def local(value):
    return value.to_local() if isinstance(value, torch.distributed.tensor.DTensor) else value


def test_a_saved_agent_continues_as_if_it_had_never_stopped(tmp_path):
    agent = agent_of()
    agent.learn(8)
    agent.save(tmp_path / "agent")
    agent.learn(8, reset_num_timesteps=False)
    again = CoachAgent.load(tmp_path / "agent", env=buttons())
    assert quantized(again) == quantized(agent) > 20
    again.learn(8, reset_num_timesteps=False)
    for part in ("policy", "critic"):
        one, other = agent.get_parameters()[part], again.get_parameters()[part]
        torch.testing.assert_close(dict(one), dict(other), rtol=0, atol=1e-6)
    plain = CoachAgent.load(tmp_path / "agent", env=buttons(), optimizer="adamw")
    assert not quantized(plain)
    plain.learn(8, reset_num_timesteps=False)


def learn(folder, source, save_as):
    with torch.compiler.set_stance("force_eager"):
        agent = agent_of() if source is None else CoachAgent.load(folder / source, env=buttons())
        agent.learn(4, reset_num_timesteps=source is None)
        if processes.size() > 1:
            agent.save_shards(folder / f"{save_as}_shards")
        agent.save(folder / save_as)
        return quantized(agent), processes.size() > 1 and agent.get_parameters()


def test_processes_share_the_moments_and_any_number_continues(tmp_path):
    two = together(2, tmp_path, learn, tmp_path, None, "two")
    assert min(number for number, _ in two) >= 10, "of the shards of 4096 numbers or more"
    for folder in ("two", "two_shards"):
        assert_close(CoachAgent.load(tmp_path / folder).get_parameters(), two[0][1])
    again = together(2, tmp_path, learn, tmp_path, "two", "again")
    assert min(number for number, _ in again) >= 10


def learn_on(folder, source):
    with torch.compiler.set_stance("force_eager"):
        agent = agent_of() if source is None else CoachAgent.load(folder / source, env=buttons())
        agent.learn(4, reset_num_timesteps=source is None)
        if source is None:
            agent.save_shards(folder / "half")
            agent.learn(4, reset_num_timesteps=False)
        return quantized(agent), agent.get_parameters()


def test_processes_continue_from_shards_as_if_they_had_never_stopped(tmp_path):
    uninterrupted = together(2, tmp_path, learn_on, tmp_path, None)
    resumed = together(2, tmp_path, learn_on, tmp_path, "half")
    assert [number for number, _ in resumed] == [number for number, _ in uninterrupted]
    assert_close(resumed[0][1], uninterrupted[0][1])


def test_a_missing_library_is_named_before_anything_is_loaded(monkeypatch):
    monkeypatch.setattr("coach_gym.agents.training.optimizers.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'coach-gym\[torchao\]'"):
        CoachAgent("no/such/model", None, optimizer="adamw8bit")

