"""Several processes compute what one does, and a job that is killed continues from its checkpoint.

Processes talk over gloo. They are forked from a server that has imported torch once.
"""

import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from multiprocessing import set_forkserver_preload
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from gymnasium.vector import SyncVectorEnv
from torch.distributed.tensor import DTensor
from transformers import Qwen2_5_VLForConditionalGeneration

from coach_gym.__main__ import main
from coach_gym.agents import CoachAgent, FilteredCloningAgent, GRPOAgent, PPOAgent, RLOOAgent
from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import (
    gather_state,
    whole_critic,
    whole_policy,
)
from coach_gym.agents.models.tree import build_tree, log_probs
from coach_gym.cli.runs import latest_checkpoint
from coach_gym.cli.settings import parse_settings, read_config
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv

# Where the fork server finds this module, which it imports once for all processes.
os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")])
set_forkserver_preload([__name__])

BUTTONS = ["--env", "tests.agents.trivial_env_id:Buttons-v0", "--num-envs", "6"]
CRITIC = {"critic_learning_rate": 0.1, "critic_warmup_ratio": 0.0, "critic_epochs": 2}
LETTERS = {"malformed_is_worthless": False}  # the environment reads letters, which are no actions
METHODS = {"coach": CoachAgent, "ppo": PPOAgent, "grpo": GRPOAgent, "rloo": RLOOAgent, "cloning": FilteredCloningAgent}


def buttons(number=2, **kwargs):
    return SyncVectorEnv([lambda: ButtonEnv(steps=2, **kwargs)] * number)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _main(rank, size, folder, work, arguments, timeout):
    torch.set_num_threads(1)
    store = dist.FileStore(str(folder / "store"), size)  # a port could be taken before it is bound
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timedelta(seconds=timeout))
    torch.save(work(*arguments), folder / f"{rank}.pt")
    dist.destroy_process_group()


def together(size, folder, work, *arguments, timeout=60):
    """Runs `work` on `size` processes and returns their results."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    mp.start_processes(_main, (size, folder, work, arguments, timeout), nprocs=size, start_method="forkserver")
    return [torch.load(folder / f"{rank}.pt", weights_only=False) for rank in range(size)]


def make(method, **arguments):
    settings = {"learning_rate": 1e-3, "batch_size": 12, "max_new_tokens": 3, "seed": 0}
    settings |= CRITIC if METHODS[method] in (CoachAgent, PPOAgent) else {}
    settings |= {"group_size": 2} if method in ("grpo", "rloo") else {}
    settings |= LETTERS if method == "coach" else {}
    of_policy = {"max_prompt_length": 32_768, "architecture": "qwen2_5_vl"}
    policy = tiny.policy(**{name: arguments.pop(name, value) for name, value in of_policy.items()})
    settings |= arguments
    return METHODS[method](policy, None, max_prompt_length=policy.max_prompt_length, **settings)


def episodes(agent):
    """Returns three tasks of two attempts each, of different lengths and outcomes, with made-up log-probabilities."""
    made = []
    for number, steps in enumerate([1, 4, 2, 3, 2, 1]):
        episode = tiny.episode(agent.policy, steps=steps, k=1 if agent.n_candidates == 1 else 3, seed=number)
        for step in episode.steps:
            step.executed = 0
        made.append(replace(episode, outcome=float(number % 2)))
    return [made[:2], made[2:4], made[4:]]


def train(method, share, updates=2, **arguments):
    """Returns weights and log entries after updates on this process's share of the episodes."""
    agent = make(method, learning_rate=5.0, **arguments)
    for name, model in agent.learner.models.items():  # AdamW would blow rounding errors up to steps of full size
        agent.optimizers[f"{name}.optimizer"] = torch.optim.SGD(model.parameters())
    if agent.critic is not None:
        agent.critic.value_head.weight.data.copy_(torch.linspace(-1, 1, 32))
    groups = episodes(agent)
    agent.distribute()
    mine = [groups[index] for index in (share[processes.rank()] if processes.size() > 1 else range(len(groups)))]
    for _ in range(updates):
        agent.train(mine)
        agent.refresh_sampler()
    logged = {key: value for key, value in agent.logger.name_to_value.items() if key.startswith("train/")}
    parameters = gather_state(agent.get_parameters())
    sampled = agent.generator.policy.model.state_dict()
    return logged, parameters, sampled


def weights(parameters):
    return {
        f"{part}.{name}": tensor
        for part in ("policy", "critic")
        if part in parameters
        for name, tensor in parameters[part].items()
    }


@pytest.mark.parametrize("method", METHODS)
def test_updates_are_those_of_one_process(method, tmp_path):
    logged, parameters, _ = train(method, None)
    before = weights(make(method).get_parameters())
    moved = max((after - before[name]).abs().max() for name, after in weights(parameters).items() if "policy" in name)
    assert moved > 5e-3, "a thousand times the tolerance"
    for share in ([[0], [1, 2]], [[2], [], [0, 1]]):
        results = together(len(share), tmp_path, train, method, share)
        for name, value in logged.items():
            for theirs, _, _ in results:
                assert theirs[name] == pytest.approx(value, rel=1e-4, abs=1e-6), name
        torch.testing.assert_close(weights(results[0][1]), weights(parameters), rtol=0, atol=5e-6)


def _looks(episode):
    return episode.steps[0].observation.screenshot.tobytes()


def visit(share, batch_size):
    """Returns weights, and those that are sampled, after visits of this process's share; what is drawn is fixed."""
    agent = make("coach", learning_rate=5.0, batch_size=batch_size, revisit=18)  # room for unequal shares
    agent.optimizers["policy.optimizer"] = torch.optim.SGD(agent.policy.model.parameters())
    agent.critic.value_head.weight.data.copy_(torch.linspace(-1, 1, 32))
    groups = episodes(agent)
    made = {_looks(episode): episode for group in groups for episode in group}
    agent.draw_candidates = lambda again, k: [made[_looks(episode)] for episode in again]
    agent.distribute()
    mine = [groups[index] for index in (share[processes.rank()] if processes.size() > 1 else range(len(groups)))]
    agent.visit_again([episode for group in mine for episode in group])
    agent.refresh_sampler()
    return weights(gather_state(agent.get_parameters())), agent.generator.policy.model.state_dict()


def test_visits_are_those_of_one_process(tmp_path):
    alone, _ = visit(None, 6)
    before = weights(make("coach").get_parameters())
    assert max((after - before[name]).abs().max() for name, after in alone.items() if "policy" in name) > 5e-3
    for share in ([[0], [1, 2]], [[2], [], [0, 1]]):
        shared, _ = together(len(share), tmp_path, visit, share, 6)[0]
        torch.testing.assert_close(shared, alone, rtol=0, atol=5e-6)


def test_every_process_makes_as_many_visits(tmp_path):
    results = together(3, tmp_path, visit, [[2], [], [0, 1]], 3)
    for _, sampled in results:
        torch.testing.assert_close(sampled, results[0][1])


def test_histories_that_were_cut_and_passes_that_are_made_again(tmp_path):
    """One process has more trunks than another; activations and log-probabilities are recomputed."""
    arguments = {"max_prompt_length": 150, "recompute_log_probs": True, "checkpoint_activations": True}
    logged, parameters, _ = train("coach", None, **arguments)
    results = together(2, tmp_path, partial(train, **arguments), "coach", [[0, 1], [2]])
    assert logged["train/token_ratio"] == pytest.approx(results[1][0]["train/token_ratio"])
    torch.testing.assert_close(weights(results[0][1]), weights(parameters), rtol=0, atol=5e-6)


def test_entropy_and_kl_are_those_of_one_process(tmp_path):
    """The reference is sharded too; one process has no part in some passes."""
    arguments = {"entropy_coef": 0.5, "kl_coef": 0.5}
    logged, parameters, _ = train("grpo", None, **arguments)
    assert logged["train/kl"] > 0 and logged["train/token_entropy"] > 0
    results = together(2, tmp_path, partial(train, **arguments), "grpo", [[2], [0, 1]])
    for name in ("train/kl", "train/token_entropy", "train/loss", "train/entropy"):
        assert results[1][0][name] == pytest.approx(logged[name], rel=1e-4), name
    torch.testing.assert_close(weights(results[0][1]), weights(parameters), rtol=0, atol=5e-6)


def test_adapters_are_those_of_one_process(tmp_path):
    """Activations are recomputed; the samplers, whole copies, have the adapters of after the updates."""
    arguments = {"lora_rank": 4, "checkpoint_activations": True}
    logged, parameters, _ = train("coach", None, **arguments)
    results = together(2, tmp_path, partial(train, **arguments), "coach", [[0, 1], [2]])
    trained = {name for name in weights(parameters) if "lora_B" in name}
    assert max(weights(parameters)[name].abs().max() for name in trained) > 5e-3, "they start at zero"
    torch.testing.assert_close(weights(results[0][1]), weights(parameters), rtol=0, atol=5e-6)
    for _, _, sampled in results:
        torch.testing.assert_close(dict(sampled), dict(parameters["policy"]), rtol=0, atol=5e-6)


def test_values_of_states_as_baseline_are_those_of_one_process(tmp_path):
    """One process has two episodes and the other four, and none waits for passes that the other does not make."""
    logged, parameters, _ = train("coach", None, baseline="value")
    results = together(2, tmp_path, partial(train, baseline="value"), "coach", [[0], [1, 2]])
    assert results[1][0]["train/value_loss"] == pytest.approx(logged["train/value_loss"], rel=1e-4)
    torch.testing.assert_close(weights(results[0][1]), weights(parameters), rtol=0, atol=5e-6)


@pytest.mark.parametrize("max_prompt_length", [32_768, 150])
def test_values_of_tokens_are_those_of_one_process(max_prompt_length, tmp_path):
    """Also with several trunks an episode; in the second case, one process has no episodes."""
    arguments = {"value_level": "token", "max_prompt_length": max_prompt_length}
    logged, parameters, _ = train("ppo", None, **arguments)
    of_states, _, _ = train("ppo", None, max_prompt_length=max_prompt_length)
    assert logged["train/value_loss"] != pytest.approx(of_states["train/value_loss"], rel=1e-2)
    share = [[0, 1], [2]] if max_prompt_length > 150 else [[2], [], [0, 1]]
    results = together(len(share), tmp_path, partial(train, **arguments), "ppo", share)
    for name in ("train/value_loss", "train/loss", "train/approx_kl"):
        assert results[1][0][name] == pytest.approx(logged[name], rel=1e-4, abs=1e-6), name
    torch.testing.assert_close(weights(results[0][1]), weights(parameters), rtol=0, atol=5e-6)


@pytest.mark.parametrize("level", ["sequence", "action"])
def test_ratios_of_whole_responses_are_those_of_one_process(level, tmp_path):
    arguments = {"importance_sampling_level": level}
    logged, parameters, _ = train("coach", None, **arguments)
    of_tokens, _, _ = train("coach", None)
    assert logged["train/loss"] != pytest.approx(of_tokens["train/loss"], rel=5e-4)
    results = together(2, tmp_path, partial(train, **arguments), "coach", [[0], [1, 2]])
    assert results[1][0]["train/loss"] == pytest.approx(logged["train/loss"], rel=1e-4)
    torch.testing.assert_close(weights(results[0][1]), weights(parameters), rtol=0, atol=5e-6)


def eight(folder):
    """One iteration of eight processes with one device each; returns what each knows of it, and saves shards."""
    sizes = {"batch_size": 8, "mini_batch_size": 8, "max_new_tokens": 3}
    agent = CoachAgent(tiny.policy(), SyncVectorEnv([ButtonEnv]), 1e-3, seed=0, **sizes, **CRITIC, **LETTERS)
    agent.critic.value_head.weight.data.normal_()
    agent.learn(8)
    agent.save_shards(folder / "shards")
    held = sum(parameter.to_local().numel() for parameter in agent.policy.model.parameters())
    return agent.num_timesteps, agent.n_updates, held, gather_state(agent.get_parameters())


def test_eight_processes_on_one_machine(tmp_path):
    results = together(8, tmp_path, eight, tmp_path, timeout=300)
    assert {(steps, updates) for steps, updates, _, _ in results} == {(8, 1)}, "all know of all"
    whole = sum(parameter.numel() for parameter in tiny.policy().model.parameters())
    assert max(held for _, _, held, _ in results) < whole / 4 and sum(held for _, _, held, _ in results) == whole
    loaded = CoachAgent.load(tmp_path / "shards")  # by one process
    torch.testing.assert_close(weights(loaded.get_parameters()), weights(results[0][3]))


def test_processes_may_play_different_numbers_of_episodes(tmp_path):
    results = together(3, tmp_path, partial(learn, batch_size=7), tmp_path, None, 7, "uneven")
    assert [len(set(seeds)) for _, _, seeds, _, _ in results] == [3, 2, 2]
    assert len({seed for _, _, seeds, _, _ in results for seed in seeds}) == 7
    assert_close(results[0][0], CoachAgent.load(tmp_path / "uneven").get_parameters())


def test_updates_with_shards_on_the_host_are_those_of_one_process(tmp_path):
    _, parameters, _ = train("coach", None)
    results = together(2, tmp_path, partial(train, cpu_offload=True), "coach", [[0, 1], [2]])
    torch.testing.assert_close(weights(results[0][1]), weights(parameters), rtol=0, atol=5e-6)
    with pytest.raises(ValueError, match="cpu_offload=True needs torch.distributed"):
        make("coach", cpu_offload=True).distribute()


def learn(folder, source, steps, save_as, **arguments):
    """Trains from scratch or from `source`, and saves the agent whole and in shards."""
    if source is None:
        sizes = {"batch_size": 12, "max_new_tokens": 3, "stats_window_size": 12} | arguments
        agent = CoachAgent(tiny.policy(), buttons(), 1e-3, seed=0, **sizes, **CRITIC, **LETTERS)
    else:
        agent = CoachAgent.load(folder / source, env=buttons())
    agent.learn(steps - agent.num_timesteps, reset_num_timesteps=source is None)
    if processes.size() > 1:
        agent.save_shards(folder / f"{save_as}_shards")
    agent.save(folder / save_as)
    seeds = [seed for env in agent.env.envs for seed in env.resets if seed is not None]
    actions = agent.predict(ButtonEnv().reset(seed=0)[0], deterministic=True)[0]
    infos, _ = agent.log.recent_episodes()
    return gather_state(agent.get_parameters()), agent.num_timesteps, seeds, actions, infos


def test_a_checkpoint_goes_on_in_any_number_of_processes(tmp_path):
    """Two processes, then three from their shards, then one from those, then two from a whole agent."""
    two = together(2, tmp_path, learn, tmp_path, None, 12, "two")
    assert two[0][1] == two[1][1] >= 12, "processes count their steps together"
    assert not set(two[0][2]) & set(two[1][2]) and len({*two[0][2], *two[1][2]}) == 12, "tasks are shared out"
    assert two[0][3] == two[1][3] and two[0][4] == two[1][4]
    assert_close(CoachAgent.load(tmp_path / "two_shards").get_parameters(), two[0][0])
    assert_close(CoachAgent.load(tmp_path / "two").get_parameters(), two[0][0])

    three = together(3, tmp_path, learn, tmp_path, "two_shards", two[0][1] + 12, "three")
    assert three[0][1] >= two[0][1] + 12
    whole = CoachAgent.load(tmp_path / "three_shards", env=buttons())
    assert whole.num_timesteps == three[0][1] and whole.n_updates == 2
    assert_close(whole.get_parameters(), three[0][0])
    whole.learn(12, reset_num_timesteps=False)
    whole.save(tmp_path / "one")
    again = together(2, tmp_path, learn, tmp_path, "one", whole.num_timesteps, "again")
    assert_close(again[0][0], whole.get_parameters())


def test_adapters_are_saved_whole_and_in_shards(tmp_path):
    first, _ = together(2, tmp_path, partial(learn, lora_rank=4), tmp_path, None, 12, "two")
    for folder in ("two", "two_shards"):
        assert_close(CoachAgent.load(tmp_path / folder).get_parameters(), first[0])
    assert (tmp_path / "two/actor/adapter_model.safetensors").is_file()


def assert_close(one, other):
    """Compares weights and optimizer states, and nothing else."""
    for part in ("policy", "critic"):
        torch.testing.assert_close(dict(one[part]), dict(other[part]), rtol=0, atol=0)
        mine, theirs = one[f"{part}.optimizer"]["state"], other[f"{part}.optimizer"]["state"]
        assert mine.keys() == theirs.keys()
        for number, state in mine.items():
            torch.testing.assert_close(state, theirs[number], rtol=0, atol=0)


def test_what_is_exported_is_read_by_transformers(tmp_path):
    results = together(2, tmp_path, learn, tmp_path, None, 12, "agent")
    model = Qwen2_5_VLForConditionalGeneration.from_pretrained(tmp_path / "agent/actor")
    torch.testing.assert_close(dict(model.state_dict()), dict(results[0][0]["policy"]), rtol=0, atol=0)


def exported(folder, architecture):
    """Returns what writing a whole agent costs, and whether the first process writes the agent correctly."""
    agent = make("coach", architecture=architecture)
    agent.critic.value_head.weight.data.normal_()
    tree = build_tree(agent.policy, tiny.episode(agent.policy))
    with torch.no_grad():
        expected = torch.cat(sum(log_probs(agent.policy, tree), [])), torch.cat(agent.critic.q_values(tree))
    agent.distribute()
    before = torch.get_rng_state()
    agent.save(folder / "agent")
    drawn = not torch.equal(torch.get_rng_state(), before)
    policy, critic = whole_policy(agent.policy), whole_critic(agent.critic)
    if processes.rank() > 0:
        return drawn, {p.device.type for model in (policy.model, critic) for p in model.parameters()}
    with torch.no_grad():
        found = torch.cat(sum(log_probs(policy, tree), [])), torch.cat(critic.q_values(tree))
    tied = policy.model.lm_head.weight is policy.model.get_input_embeddings().weight
    return drawn, tied, [torch.allclose(one, other, atol=1e-5) for one, other in zip(expected, found, strict=True)]


@pytest.mark.parametrize("architecture", ["qwen2_vl", "qwen2_5_vl", "qwen3_vl"])
def test_only_the_first_process_holds_what_is_exported(architecture, tmp_path):
    first, second = together(2, tmp_path, partial(exported, architecture=architecture), tmp_path)
    assert first == (False, True, [True, True])
    assert second == (False, {"meta"})


def test_a_hostile_index_does_not_run(tmp_path):
    together(2, tmp_path, learn, tmp_path, None, 1, "agent")

    class Hostile:
        def __reduce__(self):
            return (open, (str(tmp_path / "owned"), "w"))

    (tmp_path / "agent_shards/shards/.metadata").write_bytes(pickle.dumps(Hostile()))
    sums = tmp_path / "agent_shards/SHA256SUMS"
    sums.write_text("".join(line for line in sums.read_text().splitlines(True) if ".metadata" not in line))
    with pytest.raises(pickle.UnpicklingError, match="no business with"):
        CoachAgent.load(tmp_path / "agent_shards")
    assert not (tmp_path / "owned").exists()


def in_bfloat16(rounded, batch_size=12):
    agent = make("coach", bfloat16=rounded, batch_size=batch_size)
    agent.critic.value_head.weight.data.fill_(0.1)
    groups = episodes(agent)
    agent.distribute()
    agent.train(groups[processes.rank() :: processes.size()])
    agent.refresh_sampler()
    stored = {parameter.dtype for model in agent.learner.models.values() for parameter in model.parameters()}
    local = sum(p.to_local().numel() for p in agent.policy.model.parameters() if isinstance(p, DTensor))
    total = sum(p.numel() for p in agent.policy.model.parameters())
    return agent.logger.name_to_value, stored, agent.generator.policy.model.dtype, local, total


def test_passes_in_bfloat16_weights_in_float32(tmp_path):
    exact = together(2, tmp_path, in_bfloat16, False)
    rounded = together(2, tmp_path, in_bfloat16, True)
    for logged, stored, sampled, local, total in rounded:
        assert stored == {torch.float32} and sampled == torch.bfloat16
        assert local < 0.6 * total, "each process holds its half"
        assert logged["train/grad_norm"] == pytest.approx(exact[0][0]["train/grad_norm"], rel=0.25)
        assert logged["train/grad_norm"] != exact[0][0]["train/grad_norm"]
        assert logged["train/value_loss"] == pytest.approx(exact[0][0]["train/value_loss"], rel=0.05)


def spoiled():
    """Returns whether the weights are unchanged after a gradient in the second process was not finite."""
    agent = make("grpo")
    groups = episodes(agent)
    groups[2][0].steps[0].candidates[0].logprobs[0] = -200.0
    agent.distribute()
    before = [parameter.to_local().clone() for parameter in agent.policy.model.parameters()]
    with pytest.raises(FloatingPointError, match="norm of the gradient"):
        agent.train(groups[2:] if processes.rank() else groups[:2])
    after = agent.policy.model.parameters()
    return all(torch.equal(a, b.to_local()) for a, b in zip(before, after, strict=True))


def test_one_process_gradient_that_is_not_finite_ends_all(tmp_path):
    assert together(2, tmp_path, spoiled) == [True, True]


def stop_early(folder):
    agent = CoachAgent(tiny.policy(), buttons(), 1e-3, batch_size=4, max_new_tokens=3, seed=0)
    calls = []

    def one_process_wants_to_stop(*_):
        calls.append(agent.num_timesteps)
        return processes.rank() == 0 or agent.n_updates < 1

    agent.learn(10_000, one_process_wants_to_stop)
    return agent.n_updates


def faults(folder):
    """The first process has only broken devices, and learns from the second one's episodes."""
    broken = [] if processes.rank() == 0 else None
    sizes = {"batch_size": 4, "max_new_tokens": 3}
    agent = CoachAgent(tiny.policy(), buttons(faulty=broken), 1e-3, seed=0, **sizes, **CRITIC, **LETTERS)
    agent.critic.value_head.weight.data.normal_()
    before = [parameter.detach().clone() for parameter in agent.policy.model.parameters()]
    agent.learn(4)
    after = agent.generator.policy.model.parameters()
    moved = any(bool((a != b).any()) for a, b in zip(before, after, strict=True))
    return agent.n_updates, moved, [*agent.ep_success_buffer]


def test_one_process_stops_all(tmp_path):
    assert together(2, tmp_path, stop_early, tmp_path) == [1, 1]


def test_a_process_without_episodes_takes_part(tmp_path):
    (updates, _, seen), (others, moved, judged) = together(2, tmp_path, faults, tmp_path)
    assert updates == others == 1 and seen == [] and len(judged) == 2 and moved


def test_sizes_have_to_divide(tmp_path):
    with pytest.raises(ValueError, match="needs torch.distributed"):
        make("coach", bfloat16=True).distribute()
    with pytest.raises(mp.ProcessRaisedException, match="cannot be shared by 2 processes; use a multiple of 1 from 2"):
        together(2, tmp_path, in_bfloat16, False, 1)


def torchrun(size, *options):
    """Starts `coach-gym train` with torchrun on the environment that `trivial_env_id` registers."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", size, "--master-port", free_port()]
    command += ["-m", "coach_gym", "train", *BUTTONS, *options]
    command += ["--batch_size", 6, "--max_new_tokens", 3, "--critic_learning_rate", 1e-3]
    return subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def test_a_killed_process_ends_the_job_which_goes_on_from_its_checkpoint(tmp_path, capsys):
    tiny.policy().save(tmp_path / "tiny")
    out = tmp_path / "out"
    job = torchrun(2, "--steps", 10_000_000, "--policy", tmp_path / "tiny", "--out", out, "--save-every", 1)
    killed = None
    deadline = time.monotonic() + 120
    while killed is None and time.monotonic() < deadline and job.poll() is None:
        time.sleep(0.1)
        if any(out.glob("checkpoints/agent_*_steps")):
            killed = _workers(job.pid)[1]
            os.kill(killed, signal.SIGKILL)
    printed, _ = job.communicate(timeout=60)
    assert killed and job.returncode != 0, printed
    assert f"Signal 9 (SIGKILL) received by PID {killed}" in printed

    done = int(latest_checkpoint(out).name.split("_")[1])
    settings = ["--batch_size", "6", "--max_new_tokens=3"]
    main(["train", *BUTTONS, "--steps", str(done + 6), "--resume", str(out), "--out", str(out), *settings])
    assert capsys.readouterr().out.count("total_timesteps") == 1
    assert CoachAgent.load(out / "agent").num_timesteps >= done + 6


def test_one_process_saves_and_none_stays_when_torchrun_is_killed(tmp_path):
    tiny.policy().save(tmp_path / "tiny")
    out = tmp_path / "out"
    settings = "--steps", 10_000_000, "--policy", tmp_path / "tiny", "--save-every", 1, "--bfloat16", "true"
    job = torchrun(1, "--out", out, *settings)
    deadline = time.monotonic() + 120
    while not any(out.glob("checkpoints/agent_*_steps")) and time.monotonic() < deadline and job.poll() is None:
        time.sleep(0.1)
    assert len(_workers(job.pid)) == 1
    job.kill()
    job.communicate(timeout=30)  # the pipe is closed once no process holds it any more
    CoachAgent.load(latest_checkpoint(out))


def save_alone(folder):
    agent = CoachAgent(tiny.policy(), buttons(), 1e-3, batch_size=4, max_new_tokens=3, seed=0, **LETTERS, **CRITIC)
    agent.learn(4)
    agent.save(folder / "agent")
    return gather_state(agent.get_parameters())


def test_one_process_that_is_sharded_saves_a_whole_agent(tmp_path):
    (parameters,) = together(1, tmp_path, save_alone, tmp_path)
    torch.testing.assert_close(CoachAgent.load(tmp_path / "agent").get_parameters(), parameters)


def test_states_take_sixteen_bytes_a_parameter():
    """The parts are those of the memory table: weights, gradients and two moments in float32."""
    agent = make("coach", learning_rate=1e-3)
    agent.critic.value_head.weight.data.normal_()
    agent.train(episodes(agent))
    tensors, number = [], 0
    for name, model in agent.learner.models.items():
        for parameter in model.parameters():
            moments = agent.optimizers[f"{name}.optimizer"].state[parameter]
            tensors += [parameter, parameter.grad, moments["exp_avg"], moments["exp_avg_sq"]]
            number += parameter.numel()
    assert sum(tensor.nbytes for tensor in tensors) == 16 * number


def test_settings_of_the_command(tmp_path):
    words = ["--k", "4", "--learning-rate=1e-6", "--bfloat16", "true", "--critic", "some/folder"]
    settings = {"k": 4, "learning_rate": 1e-6, "bfloat16": True, "critic": "some/folder"}
    assert parse_settings(words) == settings
    (tmp_path / "a.toml").write_text("k = 2\n[env]\nscreen_size = [270, 600]\n")
    assert read_config(tmp_path / "a.toml") == {"k": 2, "env": {"screen_size": [270, 600]}}
    with pytest.raises(SystemExit, match="pairs of --name and value"):
        parse_settings(["--k"])
    with pytest.raises(SystemExit, match="neither a checkpoint nor the folder of a run"):
        latest_checkpoint(tmp_path)


def _workers(pid):
    """Returns the processes that torchrun started, by rank."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children]
