"""An agent as a directory: weights that transformers and vLLM read, JSON for the rest, nothing pickled.

config.json          class and constructor arguments
actor/               the policy, as `save_pretrained` writes it
critic/              the critic, for the methods that have one
reference/           the frozen policy of the KL penalty, if there is one
optimizer.pt         optimizer states, read with `weights_only=True`
trainer_state.json   counters, statistics and random states
successes.npz        the episodes that are imitated again, for the methods that do
visited.npz          the episodes whose states are visited again, likewise
SHA256SUMS           checksums of all other files, which `load` checks

Several processes write their shards of weights and optimizer states as they are, and any number of processes can read
them: shards/ replaces optimizer.pt and the weights in actor/ and critic/ (`write_sharded`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from numbers import Integral, Real
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import gather_state, whole_critic, whole_policy
from coach_gym.agents.distributed.shards import read_shards, write_shards
from coach_gym.agents.models.architectures import read_config, untrained_backbone, untrained_model
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.learner import Learner
from coach_gym.agents.models.policy import Policy, as_device
from coach_gym.agents.training.saving import directories
from coach_gym.agents.training.saving.state import TrainerState, wrong_in
from coach_gym.agents.training.saving.transaction import require_finite
from coach_gym.dialects import Dialect

ACTOR, CRITIC, REFERENCE, SHARDS = "actor", "critic", "reference", "shards"
_CONFIG, _STATE, _OPTIMIZER = "config.json", "trainer_state.json", "optimizer.pt"
SUCCESSES, VISITED = "successes.npz", "visited.npz"
_PARTS = (_CONFIG, _STATE, _OPTIMIZER, ACTOR, CRITIC, REFERENCE, SHARDS, SUCCESSES, VISITED)
_OBJECTS = ("policy", "env", "critic", "reference", "dialect", "min_pixels", "max_pixels", "device")
"""Arguments that have folders of their own or are given again at every load."""


@dataclass
class Saved:
    """All that is saved of an agent.

    Attributes:
        kind: Name of its class.
        arguments: Its constructor's arguments by name.
        learner: Its models and optimizers.
        state: Where its training stands.
        remembered: The episodes that this process learns from again, each as `recording/archive.py` packs it, by the
            name of their file: `SUCCESSES` and `VISITED`.
    """

    kind: str
    arguments: Mapping[str, Any]
    learner: Learner
    state: TrainerState
    remembered: Mapping[str, Sequence[bytes]] = field(default_factory=dict)


def write(agent: Saved, path: Path, exclude: set[str]) -> None:
    """Writes the directory under another name first, so that an interruption never leaves half of it.

    Args:
        agent: What is saved.
        path: The directory; replaced if it holds a saved agent.
        exclude: `{"optimizer"}` leaves the optimizer states out.

    Raises:
        FileExistsError: `path` is something else; it is left alone.
        FloatingPointError: A weight or an optimizer state is not finite; nothing is written.
    """
    learner = agent.learner
    with _replacing(agent, path) as fresh:
        for folder, each in ((ACTOR, learner.policy), (REFERENCE, learner.reference)):
            policy = None if each is None else whole_policy(each)
            if policy is not None and processes.rank() == 0:
                policy.save(fresh / folder)
            del policy  # a copy if the agent is sharded, and the next one needs the memory
        critic = None if learner.critic is None else whole_critic(learner.critic)
        if critic is not None and processes.rank() == 0:
            critic.save(fresh / CRITIC)
        del critic
        if "optimizer" not in exclude:
            states = {name: gather_state(optimizer.state_dict()) for name, optimizer in learner.optimizers.items()}
            if processes.rank() == 0:
                torch.save(states, fresh / _OPTIMIZER)


def write_sharded(agent: Saved, path: Path) -> None:
    """Writes the directory of a sharded agent; all processes call it and each writes its own part.

    Args:
        agent: What is saved.
        path: The directory, on storage that all processes share; replaced if it holds a saved agent.

    Raises:
        FileExistsError: `path` is something else; it is left alone.
        FloatingPointError: A weight or an optimizer state is not finite; nothing is written.
    """
    learner, critic = agent.learner, agent.learner.critic
    with _replacing(agent, path) as fresh:
        if processes.rank() == 0:
            for folder, policy in ((ACTOR, learner.policy), (REFERENCE, learner.reference)):
                if policy is not None:
                    policy.model.config.save_pretrained(fresh / folder)
                    policy.save_processor(fresh / folder)
            if critic is not None:
                critic.backbone.config.save_pretrained(fresh / CRITIC)
        write_shards(agent.learner, fresh / SHARDS)


@contextmanager
def _replacing(agent: Saved, path: Path) -> Iterator[Path]:
    """Yields a new directory with arguments and state, which replaces `path` once it is complete."""
    require_finite(agent.learner)
    everyones = processes.gather(agent.state)
    state = asdict(agent.state) | {
        "ep_info": [info for theirs in everyones for info in theirs.ep_info],
        "ep_success": [success for theirs in everyones for success in theirs.ep_success],
        "sampling": [theirs.sampling for theirs in everyones],
    }
    remembered = {name: processes.gather(list(mine)) for name, mine in agent.remembered.items()}
    with directories.replacing(path, _PARTS) as fresh:
        if processes.rank() == 0:
            for name, episodes in remembered.items():
                if any(episodes):
                    _write_remembered(fresh / name, episodes)
            _write_json(fresh / _CONFIG, {"class": agent.kind, "checksums": True, **_describe(agent.arguments)})
            _write_json(fresh / _STATE, state)
        yield fresh


def _write_remembered(file: Path, episodes: Sequence[Sequence[bytes]]) -> None:
    """Writes those of every process, in order."""
    named = {
        f"process_{rank}_{number}": np.frombuffer(packed, np.uint8)
        for rank, theirs in enumerate(episodes)
        for number, packed in enumerate(theirs)
    }
    np.savez(file, **named)  # type: ignore[arg-type]


def _describe(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that JSON can hold, and the names of the others."""
    plain = {name: _plain(value) for name, value in sorted(arguments.items()) if name not in _OBJECTS}
    kept = {name: value for name, value in plain.items() if isinstance(value, bool | int | float | str | None)}
    return {"arguments": kept, "not_saved": [name for name in plain if name not in kept]}


def _plain(value: Any) -> Any:
    """A NumPy number or a path as JSON has it; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, Real | Path):
        return value
    return str(value) if isinstance(value, Path) else int(value) if isinstance(value, Integral) else float(value)


def is_agent(path: Path) -> bool:
    """Returns whether a directory is a saved agent, or what an interrupted `remove` has left of one."""
    return directories.is_saved(path, _PARTS)


def remove(path: Path) -> None:
    """Removes a saved agent, and its directory unless that holds something else."""
    directories.remove_saved(path, _PARTS)


def load_arguments(
    path: Path, kind: str, given: Mapping[str, Any], device: str | torch.device = "cpu"
) -> dict[str, Any]:
    """Returns the constructor arguments of a saved agent.

    Args:
        path: The directory.
        kind: Name of the expected class.
        given: Arguments that override the saved ones.
        device: Device of models that `restore_learner` will fill from shards.

    Raises:
        FileNotFoundError: `path` is not a saved agent, or a part of it is missing.
        ValueError: It holds an agent of another class, a file of it is damaged, an argument that JSON cannot hold was
            not given again, or weights were trained and now adapters are to be, or the other way round.
    """
    config = read_arguments(path)
    if config["class"] != kind:
        raise ValueError(f"{path} holds a {config['class']}, not a {kind}; load it with {config['class']}.load")
    missing = sorted(set(map(str, config["not_saved"])) - given.keys())
    if missing:
        raise ValueError(f"{', '.join(missing)} could not be saved in {path}; pass it to load() again")
    _check_adapters(path, config, given)
    parts: dict[str, Any] = {"policy": path / ACTOR}
    if (path / CRITIC).is_dir():
        parts["critic"] = path / CRITIC
    if (path / REFERENCE).is_dir() and {**config["arguments"], **given}.get("kl_coef"):
        parts["reference"] = path / REFERENCE
    if has_shards(path):
        parts = _unfilled(path, parts, device, given.get("dialect"))
    return {**config["arguments"], **parts, **given}


def _check_adapters(path: Path, config: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuses another `lora_rank` that what was saved does not fit; adapters of another rank refuse it themselves."""
    saved = config["arguments"].get("lora_rank", 0)
    wanted, kind, actor = given.get("lora_rank", saved), config["class"], str(path / ACTOR)
    if saved and not wanted:
        raise ValueError(
            f"{path} was trained with lora_rank={saved}, so it holds adapters; leave lora_rank out, or merge them and "
            f"begin a new training: {kind}(Policy.load({actor!r}).merged(), ...)"
        )
    if wanted and not saved and (has_shards(path) or (path / _OPTIMIZER).is_file()):
        raise ValueError(
            f"{path} was trained without adapters, so its optimizer states do not fit lora_rank={wanted}; leave "
            f"lora_rank out, or begin a new training from its policy: {kind}({actor!r}, ..., lora_rank={wanted})"
        )


def read_arguments(path: Path, whole: bool = True) -> dict[str, Any]:
    """Reads what a saved agent was made with.

    Args:
        path: The directory.
        whole: Checks first that all of it is there and undamaged.

    Returns:
        The name of its `class`, its constructor's `arguments`, and the names of those that were `not_saved`.

    Raises:
        FileNotFoundError: `path` is not a saved agent, or a part of it is missing.
        ValueError: A file of it is damaged.
    """
    if not (path / _CONFIG).is_file():
        before = directories.replaced_by(path)
        remedy = f"; a save was interrupted, and the agent from before it is {before}" if before else ""
        raise FileNotFoundError(f"{path} holds no saved agent: there is no {_CONFIG} in it{remedy}")
    if whole and (path / directories.SUMS).exists():
        directories.check(path, together=has_shards(path))
    config = _read_json(path / _CONFIG)
    if config.get("checksums") and not (path / directories.SUMS).is_file():
        raise FileNotFoundError(
            f"{path / directories.SUMS} is missing, so nothing shows whether {path} is whole; restore that file, or "
            f"load another checkpoint"
        )
    for name, kind in (("class", str), ("arguments", dict), ("not_saved", list)):
        if name not in config:
            raise ValueError(f"{path / _CONFIG} is not of a saved agent: it has no {name!r}")
        if not isinstance(config[name], kind):
            raise ValueError(f"{path / _CONFIG} is damaged: {name}={config[name]!r:.60} is no {kind.__name__}")
    return config


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}; load another checkpoint") from error
    if not isinstance(value, dict):
        raise ValueError(f"{path} is damaged: it holds no JSON object; load another checkpoint")
    return value


def _unfilled(
    path: Path, parts: dict[str, Any], device: str | torch.device, dialect: Dialect | str | None
) -> dict[str, Any]:
    """Models whose weights are still to come from shards."""
    filled: dict[str, Any] = {}
    for name in parts.keys() - {"critic"}:
        model = untrained_model(read_config(parts[name]))
        filled[name] = Policy.around(model.to(as_device(device)), parts[name], dialect)
    if "critic" in parts:
        backbone = untrained_backbone(read_config(path / CRITIC))
        filled["critic"] = Critic(backbone.to(as_device(device)))
    return filled


def has_shards(path: Path) -> bool:
    """Returns whether `write_sharded` wrote the directory."""
    return (path / SHARDS).is_dir()


def restore_learner(learner: Learner, path: Path) -> None:
    """Puts back what `load_arguments` left out: optimizer states if there are any, and weights from shards.

    Args:
        learner: Built from `load_arguments`, and sharded already if there are several processes and shards.
        path: The directory.
    """
    if has_shards(path):
        read_shards(learner, path / SHARDS)
    elif (path / _OPTIMIZER).is_file():
        states = _read_optimizers(path, learner.policy.device)
        try:
            for name, optimizer in learner.optimizers.items():
                optimizer.load_state_dict(states[name])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{path / _OPTIMIZER} does not fit the agent ({type(error).__name__}: {error}); load another checkpoint"
            ) from error


def _read_optimizers(path: Path, device: str | torch.device) -> dict[str, Any]:
    """Reads the optimizers' state dicts by name."""
    try:
        return dict(torch.load(path / _OPTIMIZER, map_location=device, weights_only=True))
    except torch.OutOfMemoryError:
        raise
    except (UnpicklingError, EOFError, RuntimeError, LookupError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path / _OPTIMIZER} is damaged: {reason}; load another checkpoint") from error


def read_state(path: Path) -> tuple[TrainerState, bool]:
    """Reads where the training of a saved agent stood.

    Returns:
        This process's share of the state, and whether its random state is its own. If the number of processes has
        changed, all get the first one's.

    Raises:
        ValueError: A part of it is missing, unknown or of the wrong type, or a number cannot be.
    """
    older: dict[str, Any] = {"num_fork_steps": 0, "success_rates": {}, "critic_is_ready": False}
    state = older | _read_json(path / _STATE)
    if wrong := wrong_in(state):
        raise ValueError(f"{path / _STATE} is damaged: {wrong}; load another checkpoint")
    share = slice(processes.rank(), None, processes.size())
    same = len(state["sampling"]) == processes.size()
    mine = {
        "ep_info": state["ep_info"][share],
        "ep_success": state["ep_success"][share],
        "sampling": state["sampling"][processes.rank() if same else 0],
    }
    return TrainerState(**state | mine), same


def read_remembered(file: Path) -> list[bytes]:
    """Reads this process's share of the episodes that a saved agent learns from again: its own, in their order.

    If there are fewer processes than before, they share those of the others; if there are more, the added ones have
    none yet.

    Raises:
        ValueError: The file is damaged.
    """
    if not file.is_file():
        return []
    try:
        with np.load(file, allow_pickle=False) as episodes:
            mine = [name for name in episodes.files if int(name.split("_")[1]) % processes.size() == processes.rank()]
            return [episodes[name].tobytes() for name in mine]
    except (OSError, ValueError, LookupError, EOFError, AttributeError, BadZipFile) as error:
        raise ValueError(f"{file} is damaged: {error}; load another checkpoint") from error


def read_parameters(path: Path) -> dict[str, dict[str, Any]]:
    """Returns what the agent's `get_parameters` returned when it was saved."""
    read_arguments(path)
    parameters: dict[str, dict[str, Any]] = {"policy": Policy.load(path / ACTOR, device="cpu").model.state_dict()}
    if (path / CRITIC).is_dir():
        parameters["critic"] = Critic.load(path / CRITIC).state_dict()
    return parameters | _read_optimizers(path, "cpu")


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")
