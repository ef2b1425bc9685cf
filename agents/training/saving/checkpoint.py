"""An agent as a directory: weights that transformers and vLLM read, JSON for the rest, nothing pickled.

config.json          class and constructor arguments
actor/               the policy, as `save_pretrained` writes it
critic/              the critic, for the methods that have one
reference/           the frozen policy of the KL penalty, if there is one
optimizer.pt         optimizer states, read with `weights_only=True`
trainer_state.json   counters, statistics and random states
successes.npz        the episodes that are imitated again, for the methods that do
SHA256SUMS           checksums of all other files, which `load` checks

Several processes write their shards of weights and optimizer states as they are, and any number of processes can read
them: shards/ replaces optimizer.pt and the weights in actor/ and critic/ (`write_sharded`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from numbers import Integral, Real
from pathlib import Path
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
from coach_gym.agents.training.saving.transaction import require_finite
from coach_gym.dialects import Dialect

ACTOR, CRITIC, REFERENCE, SHARDS = "actor", "critic", "reference", "shards"
_CONFIG, _STATE, _OPTIMIZER, _SUCCESSES = "config.json", "trainer_state.json", "optimizer.pt", "successes.npz"
_PARTS = (_CONFIG, _STATE, _OPTIMIZER, ACTOR, CRITIC, REFERENCE, SHARDS, _SUCCESSES)
_OBJECTS = ("policy", "env", "critic", "reference", "dialect", "min_pixels", "max_pixels", "device")
"""Arguments that have folders of their own or are given again at every load."""


@dataclass
class TrainerState:
    """Where a training stands, as one process sees it.

    Attributes:
        num_timesteps: Environment steps taken.
        n_updates: Iterations that ended in an update.
        num_instances: Task instances played to their end.
        task_entropy: Seed of the task instances.
        ep_info: Statistics of the latest episodes.
        ep_success: Their successes.
        numpy_rng: State of the generator of shared decisions.
        sampling: torch's random states, as `sampling_state` returns them.
        num_fork_steps: Steps taken on forks.
        success_rates: Recent success by task family, if a curriculum needs it; the same in all processes.
    """

    num_timesteps: int
    n_updates: int
    num_instances: int
    task_entropy: int
    ep_info: list[dict[str, float]]
    ep_success: list[float]
    numpy_rng: Mapping[str, Any]
    sampling: Mapping[str, str | None]
    num_fork_steps: int = 0
    success_rates: Mapping[str, float] = field(default_factory=dict)


@dataclass
class Saved:
    """All that is saved of an agent.

    Attributes:
        kind: Name of its class.
        arguments: Its constructor's arguments by name.
        learner: Its models and optimizers.
        state: Where its training stands.
        successes: The episodes that this process imitates again, each as `recording/archive.py` packs it.
    """

    kind: str
    arguments: Mapping[str, Any]
    learner: Learner
    state: TrainerState
    successes: Sequence[bytes] = ()


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
    successes = processes.gather(list(agent.successes))
    with directories.replacing(path, _PARTS) as fresh:
        if processes.rank() == 0:
            if any(successes):
                _write_successes(fresh / _SUCCESSES, successes)
            _write_json(fresh / _CONFIG, {"class": agent.kind, "checksums": True, **_describe(agent.arguments)})
            _write_json(fresh / _STATE, state)
        yield fresh


def _write_successes(file: Path, successes: Sequence[Sequence[bytes]]) -> None:
    """Writes those of every process, in order."""
    named = {
        f"process_{rank}_{number}": np.frombuffer(packed, np.uint8)
        for rank, theirs in enumerate(successes)
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
    if (path / REFERENCE).is_dir():
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
    except ValueError as error:
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
        states = torch.load(path / _OPTIMIZER, map_location=learner.policy.device, weights_only=True)
        for name, optimizer in learner.optimizers.items():
            optimizer.load_state_dict(states[name])


def read_state(path: Path) -> tuple[TrainerState, bool]:
    """Reads where the training of a saved agent stood.

    Returns:
        This process's share of the state, and whether its random state is its own. If the number of processes has
        changed, all get the first one's.

    Raises:
        ValueError: A part of it is missing or of the wrong type, or a counter is negative.
    """
    state: dict[str, Any] = {"num_fork_steps": 0, "success_rates": {}} | _read_json(path / _STATE)
    if wrong := _wrong_in(state):
        raise ValueError(f"{path / _STATE} is damaged: {wrong}; load another checkpoint")
    share = slice(processes.rank(), None, processes.size())
    same = len(state["sampling"]) == processes.size()
    mine = {
        "ep_info": state["ep_info"][share],
        "ep_success": state["ep_success"][share],
        "sampling": state["sampling"][processes.rank() if same else 0],
    }
    return TrainerState(**state | mine), same


def read_successes(path: Path) -> list[bytes]:
    """Reads this process's share of the episodes that a saved agent imitates again: its own, in their order.

    If there are fewer processes than before, they share those of the others; if there are more, the added ones have
    none yet.

    Raises:
        ValueError: The file is damaged.
    """
    if not (path / _SUCCESSES).is_file():
        return []
    try:
        with np.load(path / _SUCCESSES, allow_pickle=False) as file:
            mine = [name for name in file.files if int(name.split("_")[1]) % processes.size() == processes.rank()]
            return [file[name].tobytes() for name in mine]
    except (OSError, ValueError, LookupError, EOFError, AttributeError, BadZipFile) as error:
        raise ValueError(f"{path / _SUCCESSES} is damaged: {error}; load another checkpoint") from error


def _wrong_in(state: Mapping[str, Any]) -> str | None:
    """Returns what is wrong with where a training stood, as JSON told it; None if nothing is."""
    for name in ("num_timesteps", "n_updates", "num_instances", "task_entropy", "num_fork_steps"):
        if type(count := state.get(name)) is not int or count < 0:
            return f"{name}={count!r:.60} is not a count"
    if not _is_list(successes := state.get("ep_success"), _is_number):
        return f"ep_success={successes!r:.60} is not a list of numbers"
    infos = state.get("ep_info")
    if not _is_list(infos, lambda each: isinstance(each, dict) and all(map(_is_number, each.values()))):
        return f"ep_info={infos!r:.60} is not a list of statistics"
    rates = state.get("success_rates")
    if not isinstance(rates, dict) or not all(_is_number(rate) and 0 <= rate <= 1 for rate in rates.values()):
        return f"success_rates={rates!r:.60} are not shares by task"
    try:
        np.random.default_rng().bit_generator.state = state["numpy_rng"]
        for each in state["sampling"]:
            torch.Generator().set_state(_unhex(each["cpu"]))
        state["sampling"][0]["cuda"]
    except Exception as error:  # whatever NumPy and torch make of nonsense
        return f"its random states cannot be read ({type(error).__name__}: {error})"
    return None


def _is_list(value: Any, of: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(map(of, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def sampling_state(device: torch.device) -> dict[str, str | None]:
    """Returns torch's random states of this process."""
    cuda = _hex(torch.cuda.get_rng_state(device)) if device.type == "cuda" else None
    return {"cpu": _hex(torch.get_rng_state()), "cuda": cuda}


def restore_sampling(state: Mapping[str, str | None], device: torch.device) -> None:
    """Restores torch's random states."""
    assert state["cpu"] is not None
    torch.set_rng_state(_unhex(state["cpu"]))
    if state["cuda"] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(_unhex(state["cuda"]), device)


def read_parameters(path: Path) -> dict[str, dict[str, Any]]:
    """Returns what the agent's `get_parameters` returned when it was saved."""
    read_arguments(path)
    parameters: dict[str, dict[str, Any]] = {"policy": Policy.load(path / ACTOR, device="cpu").model.state_dict()}
    if (path / CRITIC).is_dir():
        parameters["critic"] = Critic.load(path / CRITIC).state_dict()
    return parameters | torch.load(path / _OPTIMIZER, map_location="cpu", weights_only=True)


def _hex(state: torch.Tensor) -> str:
    return state.numpy().tobytes().hex()


def _unhex(text: str) -> torch.Tensor:
    return torch.from_numpy(np.frombuffer(bytes.fromhex(text), np.uint8).copy())


def _write_json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")
