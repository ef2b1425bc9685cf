"""An agent as a directory: weights that transformers and vLLM read, JSON for the rest, nothing pickled.

config.json          class and constructor arguments
actor/               the policy, as `save_pretrained` writes it
critic/              the critic, for the methods that have one
optimizer.pt         states of the optimizers, read with `weights_only=True`
trainer_state.json   counters, statistics and random states
"""

import inspect
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .critic import Critic
from .policy import Policy

if TYPE_CHECKING:
    from .online import OnlineAgent

ACTOR, CRITIC = "actor", "critic"
_CONFIG, _STATE, _OPTIMIZER = "config.json", "trainer_state.json", "optimizer.pt"
# Arguments that are objects, kept in folders of their own or given anew to every load.
_OBJECTS = {"self", "policy", "env", "critic", "dialect", "device", "shared"}


def save_agent(agent: "OnlineAgent", path: Path, exclude: set[str]) -> None:
    """Writes the directory under another name first, so that an interruption never leaves half of one.

    Args:
        agent: what is saved.
        path: the directory; replaced if there is one.
        exclude: `{"optimizer"}` leaves the optimizer states out.
    """
    fresh = path.with_name(path.name + ".partial")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    _write_json(fresh / _CONFIG, _config(agent))
    _write_json(fresh / _STATE, _trainer_state(agent))
    agent.policy.save(fresh / ACTOR)
    if agent.critic is not None:
        agent.critic.save(fresh / CRITIC)
    if "optimizer" not in exclude:
        torch.save({name: optimizer.state_dict() for name, optimizer in agent.optimizers.items()}, fresh / _OPTIMIZER)
    shutil.rmtree(path, ignore_errors=True)
    fresh.rename(path)


def load_arguments(path: Path, expected: str, given: dict[str, Any]) -> dict[str, Any]:
    """Constructor arguments of a saved agent, overridden by `given`.

    Raises:
        FileNotFoundError: `path` is not a saved agent.
        ValueError: it holds an agent of another class, or an argument that JSON cannot hold was not given again.
    """
    if not (path / _CONFIG).is_file():
        raise FileNotFoundError(f"{path} holds no saved agent: there is no {_CONFIG} in it")
    config = json.loads((path / _CONFIG).read_text())
    if config["class"] != expected:
        raise ValueError(f"{path} holds a {config['class']}, not a {expected}; load it with {config['class']}.load")
    missing = sorted(set(config["not_saved"]) - given.keys())
    if missing:
        raise ValueError(f"{', '.join(missing)} could not be saved in {path}; pass it to load() again")
    parts = {"policy": path / ACTOR} | ({"critic": path / CRITIC} if (path / CRITIC).is_dir() else {})
    return {**config["arguments"], **parts, **given}


def restore(agent: "OnlineAgent", path: Path) -> None:
    """Puts optimizer states, counters and random states back into an agent built from `load_arguments`."""
    if (path / _OPTIMIZER).is_file():
        states = torch.load(path / _OPTIMIZER, map_location=agent.device, weights_only=True)
        for name, optimizer in agent.optimizers.items():
            optimizer.load_state_dict(states[name])
    state = json.loads((path / _STATE).read_text())
    agent.num_timesteps, agent.n_updates = state["num_timesteps"], state["n_updates"]
    agent.ep_info_buffer.extend(state["ep_info"])
    agent.ep_success_buffer.extend(state["ep_success"])
    agent.rng.bit_generator.state = state["numpy_rng"]
    torch.set_rng_state(_unhex(state["torch_rng"]))
    if state["cuda_rng"] is not None and agent.device.type == "cuda":
        torch.cuda.set_rng_state(_unhex(state["cuda_rng"]), agent.device)


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
    return {
        "num_timesteps": agent.num_timesteps,
        "n_updates": agent.n_updates,
        "ep_info": list(agent.ep_info_buffer),
        "ep_success": list(agent.ep_success_buffer),
        "numpy_rng": agent.rng.bit_generator.state,
        "torch_rng": _hex(torch.get_rng_state()),
        "cuda_rng": _hex(torch.cuda.get_rng_state(agent.device)) if cuda else None,
    }


def _hex(state: torch.Tensor) -> str:
    return state.numpy().tobytes().hex()


def _unhex(text: str) -> torch.Tensor:
    return torch.from_numpy(np.frombuffer(bytes.fromhex(text), np.uint8).copy())


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")
