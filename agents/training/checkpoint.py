"""An agent as a directory: weights that transformers and vLLM read, JSON for the rest, nothing pickled.

config.json          class and constructor arguments
actor/               the policy, as `save_pretrained` writes it
critic/              the critic, for the methods that have one
optimizer.pt         states of the optimizers, read with `weights_only=True`
trainer_state.json   counters, statistics and random states

Several processes write their shards of weights and optimizer states as they are, which any number of processes reads:
shards/ in place of optimizer.pt and of the weights in actor/ and critic/ (`save_shards`).
"""

import inspect
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import (
    distribute,
    gather_state,
    refresh_sampler,
    split_randomness,
    whole_critic,
    whole_policy,
)
from coach_gym.agents.distributed.shards import read_shards, write_shards
from coach_gym.agents.models.architectures import read_config, untrained_backbone, untrained_model
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy, as_device
from coach_gym.dialects import Dialect

if TYPE_CHECKING:
    from coach_gym.agents.training.online import OnlineAgent

ACTOR, CRITIC, SHARDS = "actor", "critic", "shards"
_CONFIG, _STATE, _OPTIMIZER = "config.json", "trainer_state.json", "optimizer.pt"
# Arguments that are objects, kept in folders of their own or given anew to every load.
_OBJECTS = {"self", "policy", "env", "critic", "dialect", "device", "shared"}


def save_agent(agent: "OnlineAgent", path: Path, exclude: set[str]) -> None:
    """Writes the directory under another name first, so that an interruption never leaves half of one.

    Args:
        agent: what is saved.
        path: the directory; replaced if it holds a saved agent.
        exclude: `{"optimizer"}` leaves the optimizer states out.

    Raises:
        FileExistsError: `path` is something else; it is left alone.
    """
    with _replacing(agent, path) as fresh:
        policy = whole_policy(agent)
        if processes.rank() == 0:
            policy.save(fresh / ACTOR)
        del policy  # a copy, if the agent is spread over processes, and the next one needs the room
        critic = whole_critic(agent)
        if critic is not None and processes.rank() == 0:
            critic.save(fresh / CRITIC)
        del critic
        if "optimizer" not in exclude:
            states = {name: gather_state(optimizer.state_dict()) for name, optimizer in agent.optimizers.items()}
            if processes.rank() == 0:
                torch.save(states, fresh / _OPTIMIZER)


def save_shards(agent: "OnlineAgent", path: Path) -> None:
    """Writes the directory of an agent that is spread over processes; all have to call it, each writes its own part.

    Args:
        agent: what is saved.
        path: the directory, on storage that all processes share; replaced if it holds a saved agent.

    Raises:
        FileExistsError: `path` is something else; it is left alone.
    """
    with _replacing(agent, path) as fresh:
        if processes.rank() == 0:
            agent.policy.model.config.save_pretrained(fresh / ACTOR)
            agent.policy.save_processor(fresh / ACTOR)
            if agent.critic is not None:
                agent.critic.backbone.config.save_pretrained(fresh / CRITIC)
        write_shards(agent, fresh / SHARDS)


@contextmanager
def _replacing(agent: "OnlineAgent", path: Path) -> Iterator[Path]:
    """A new directory with the agent's arguments and counters, which takes the place of `path` when it is filled."""
    path = path.resolve()
    if processes.gather(_is_foreign(path))[0]:
        raise FileExistsError(f"{path} exists and is no saved agent, so it is not replaced; save to another path")
    fresh = path.with_name(path.name + ".partial")
    state = _trainer_state(agent)
    if processes.rank() == 0:
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        _write_json(fresh / _CONFIG, _config(agent))
        _write_json(fresh / _STATE, state)
    processes.barrier()
    yield fresh
    processes.barrier()
    if processes.rank() == 0:
        replaced = _replaced(path)
        if path.exists():
            shutil.rmtree(replaced, ignore_errors=True)
            path.rename(replaced)
        fresh.rename(path)
        shutil.rmtree(replaced, ignore_errors=True)
    processes.barrier()


def _is_foreign(path: Path) -> bool:
    """Whether there is something that no save has made; an empty directory is as good as nothing."""
    if not path.is_dir():
        return path.exists()
    return any(path.iterdir()) and not ((path / _CONFIG).is_file() and (path / _STATE).is_file())


def _replaced(path: Path) -> Path:
    """Where an agent lies while another takes its place."""
    return path.with_name(path.name + ".replaced")


def load_arguments(
    path: Path, expected: str, given: dict[str, Any], device: str | torch.device = "cpu"
) -> dict[str, Any]:
    """Constructor arguments of a saved agent, overridden by `given`; `device` is for models that shards will fill.

    Raises:
        FileNotFoundError: `path` is not a saved agent.
        ValueError: it holds an agent of another class, or an argument that JSON cannot hold was not given again.
    """
    if not (path / _CONFIG).is_file():
        before = _replaced(path.resolve())
        remedy = f"; a save was interrupted, and the agent from before it is {before}" if before.is_dir() else ""
        raise FileNotFoundError(f"{path} holds no saved agent: there is no {_CONFIG} in it{remedy}")
    config = json.loads((path / _CONFIG).read_text())
    if config["class"] != expected:
        raise ValueError(f"{path} holds a {config['class']}, not a {expected}; load it with {config['class']}.load")
    missing = sorted(set(config["not_saved"]) - given.keys())
    if missing:
        raise ValueError(f"{', '.join(missing)} could not be saved in {path}; pass it to load() again")
    parts: dict[str, Any] = {"policy": path / ACTOR}
    if (path / CRITIC).is_dir():
        parts["critic"] = path / CRITIC
    if (path / SHARDS).is_dir():
        parts = _unfilled(path, parts, device, given.get("dialect"))
    return {**config["arguments"], **parts, **given}


def _unfilled(
    path: Path, parts: dict[str, Any], device: str | torch.device, dialect: Dialect | None
) -> dict[str, Any]:
    """Models whose weights are still to come out of shards."""
    model = untrained_model(read_config(path / ACTOR))
    filled: dict[str, Any] = {"policy": Policy.around(model.to(as_device(device)), path / ACTOR, dialect)}
    if "critic" in parts:
        backbone = untrained_backbone(read_config(path / CRITIC))
        filled["critic"] = Critic(backbone.to(as_device(device)))
    return filled


def restore(agent: "OnlineAgent", path: Path) -> None:
    """Puts optimizer states, counters and random states back into an agent built from `load_arguments`."""
    if (path / SHARDS).is_dir():
        distribute(agent)
        read_shards(agent, path / SHARDS)
        refresh_sampler(agent)
    elif (path / _OPTIMIZER).is_file():
        states = torch.load(path / _OPTIMIZER, map_location=agent.device, weights_only=True)
        for name, optimizer in agent.optimizers.items():
            optimizer.load_state_dict(states[name])
    state = json.loads((path / _STATE).read_text())
    agent.num_timesteps, agent.n_updates = state["num_timesteps"], state["n_updates"]
    agent.num_instances, agent.task_entropy = state["num_instances"], state["task_entropy"]
    share = slice(processes.rank(), None, processes.size())
    agent.ep_info_buffer.extend(state["ep_info"][share])
    agent.ep_success_buffer.extend(state["ep_success"][share])
    agent.rng.bit_generator.state = state["numpy_rng"]
    same = len(state["sampling"]) == processes.size()
    sampling = state["sampling"][processes.rank() if same else 0]
    torch.set_rng_state(_unhex(sampling["cpu"]))
    if sampling["cuda"] is not None and agent.device.type == "cuda":
        torch.cuda.set_rng_state(_unhex(sampling["cuda"]), agent.device)
    if not same:
        split_randomness(agent)


def read_parameters(path: Path) -> dict[str, dict[str, Any]]:
    """What `OnlineAgent.get_parameters` returned when the agent was saved."""
    parameters: dict[str, dict[str, Any]] = {"policy": Policy.load(path / ACTOR, device="cpu").model.state_dict()}
    if (path / CRITIC).is_dir():
        parameters["critic"] = Critic.load(path / CRITIC).state_dict()
    return parameters | torch.load(path / _OPTIMIZER, map_location="cpu", weights_only=True)


def _config(agent: "OnlineAgent") -> dict[str, Any]:
    constructors = [vars(cls)["__init__"] for cls in type(agent).__mro__[:-1] if "__init__" in vars(cls)]
    names = {name for constructor in constructors for name in inspect.signature(constructor).parameters}
    arguments = {name: getattr(agent, name) for name in sorted(names - _OBJECTS)}
    plain = {name: value for name, value in arguments.items() if _is_json(value)}
    return {
        "class": type(agent).__name__,
        "arguments": plain,
        "not_saved": [name for name in arguments if name not in plain],
    }


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _trainer_state(agent: "OnlineAgent") -> dict[str, Any]:
    cuda = agent.device.type == "cuda"
    sampling = {
        "cpu": _hex(torch.get_rng_state()),
        "cuda": _hex(torch.cuda.get_rng_state(agent.device)) if cuda else None,
    }
    infos, successes = agent.recent_episodes()
    return {
        "num_timesteps": agent.num_timesteps,
        "n_updates": agent.n_updates,
        "num_instances": agent.num_instances,
        "task_entropy": agent.task_entropy,
        "ep_info": infos,
        "ep_success": successes,
        "numpy_rng": agent.rng.bit_generator.state,
        "sampling": processes.gather(sampling),
    }


def _hex(state: torch.Tensor) -> str:
    return state.numpy().tobytes().hex()


def _unhex(text: str) -> torch.Tensor:
    return torch.from_numpy(np.frombuffer(bytes.fromhex(text), np.uint8).copy())


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")
