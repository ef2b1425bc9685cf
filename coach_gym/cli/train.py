"""`coach-gym train`: trains an agent, in one process or in those that torchrun starts.

python -m coach_gym train --policy pocket --env AndroidWorld-v0 --num-envs 8 --steps 20000 --out runs/first --k 4
torchrun --nproc-per-node 8 -m coach_gym train --policy ByteDance-Seed/UI-TARS-1.5-7B --config settings.toml ...
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
import warnings
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import gymnasium as gym

from coach_gym.cli.settings import parse_settings, read_config
from coach_gym.envs.tasks.words import Split

if TYPE_CHECKING:
    from coach_gym.agents.training.online import OnlineAgent

AGENTS = {
    "coach": "CoachAgent", "ppo": "PPOAgent", "grpo": "GRPOAgent", "rloo": "RLOOAgent",
    "cloning": "FilteredCloningAgent",
}  # fmt: skip
CHECKPOINTS, AGENT = "checkpoints", "agent"
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
PATIENCE = timedelta(hours=6)
"""How long processes wait for each other, and so for the slowest device."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command; all other options are settings of the agent."""
    parser.allow_abbrev = False
    parser.epilog = "Any argument of the agent is an option too: --k 4 --learning_rate 1e-6 --bfloat16 true"
    parser.add_argument("--agent", choices=tuple(AGENTS), default="coach", help="method (default: %(default)s)")
    parser.add_argument("--policy", default="pocket", help="'pocket', a directory or a hub id (default: %(default)s)")
    parser.add_argument("--env", default="AndroidWorld-v0", help="id of the environment (default: %(default)s)")
    parser.add_argument(
        "--split", choices=get_args(Split), help="instances to train on (default: the whole suite, test included)"
    )
    parser.add_argument("--pool", type=Path, help="file of instances to train on, by coach-gym tasks")
    parser.add_argument("--num-envs", type=int, default=8, help="total over all processes (default: %(default)s)")
    parser.add_argument(
        "--steps", type=int, required=True, help="environment steps to train for, total over all processes"
    )
    parser.add_argument(
        "--config", type=Path, help="TOML or JSON file of settings; its table env goes to the environment"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("runs/train"), help="folder for logs, checkpoints and the agent"
    )
    parser.add_argument("--save-every", type=int, default=100, help="calls of env.step between checkpoints")
    parser.add_argument("--resume", type=Path, help="a checkpoint to continue from, or the --out of a run")
    parser.set_defaults(run=train, settings=[])


def train(
    agent: str,
    policy: str,
    env: str,
    split: str | None,
    pool: Path | None,
    num_envs: int,
    steps: int,
    config: Path | None,
    out: Path,
    save_every: int,
    resume: Path | None,
    settings: Sequence[str],
) -> None:
    """Trains an agent.

    Args:
        agent: Method, a key of `AGENTS`.
        policy: `"pocket"`, a directory or a hub id.
        env: Id of the environment.
        split: Instances to train on; None for what the settings of the environment say, else the whole suite.
        pool: File of instances to train on, as `coach-gym tasks` writes it.
        num_envs: Number of environments, over all processes.
        steps: Environment steps, over all processes.
        config: TOML or JSON file of settings.
        out: Folder for logs, for checkpoints (in `checkpoints/`) and for the trained agent (in `agent/`).
        save_every: Calls of `env.step` between checkpoints.
        resume: A checkpoint, or the `out` folder of a run, to continue from.
        settings: Words of the command line that are settings of the agent.
    """
    chosen = {**read_config(config), **parse_settings(settings)}
    env_settings = chosen.pop("env", {}) | ({} if split is None else {"split": split})
    env_settings |= {} if pool is None else {"pool": str(pool)}
    _warn_of_tests(env, env_settings)
    with Processes() as processes:
        if num_envs % processes.size:
            sys.exit(
                f"--num-envs {num_envs} is not a multiple of the {processes.size} processes"
            )
        envs = gym.make_vec(env, num_envs=num_envs // processes.size, **env_settings)
        arguments = {"verbose": 1, "tensorboard_log": str(out), "device": processes.building_device, **chosen}
        trained = _resumed(resume, envs, arguments) if resume else _made(agent, policy, envs, arguments)
        _learn(trained, steps, out, save_every)
        trained.save(out / AGENT, exclude=["optimizer"])
        envs.close()


def _warn_of_tests(env: str, env_settings: Mapping[str, Any]) -> None:
    """Warns of training on the very instances that the benchmark tests."""
    if env.startswith("AndroidLab") and env_settings.get("suite") == "official":
        warnings.warn(
            "AndroidLab's official tasks have no parameters, so this trains on the 138 instances that it tests; train "
            "on a pool of other tasks instead: coach-gym tasks --env AndroidLab-v0 --out pool.jsonl, then --pool "
            "pool.jsonl without suite='official'",
            stacklevel=2,
        )


def _made(agent: str, policy: str, envs: Any, arguments: dict[str, Any]) -> OnlineAgent:
    from coach_gym import agents

    return getattr(agents, AGENTS[agent])(policy, envs, **arguments)


def _resumed(path: Path, envs: Any, arguments: dict[str, Any]) -> OnlineAgent:
    from coach_gym import agents
    from coach_gym.agents.training.checkpoint import read_arguments

    checkpoint = latest_checkpoint(path)
    name = read_arguments(checkpoint, whole=False)["class"]
    if name not in AGENTS.values():
        sys.exit(f"{checkpoint} holds a {name}, not one of {', '.join(AGENTS.values())}")
    return getattr(agents, name).load(checkpoint, envs, **arguments)


def _learn(agent: OnlineAgent, steps: int, out: Path, save_every: int) -> None:
    from coach_gym.agents import CheckpointCallback

    checkpoints = CheckpointCallback(save_every, out / CHECKPOINTS, name_prefix="agent")
    agent.learn(steps - agent.num_timesteps, checkpoints, reset_num_timesteps=agent.num_timesteps == 0)


def latest_checkpoint(path: Path) -> Path:
    """Returns `path` if it is a checkpoint, else the latest checkpoint in the folder of a run.

    Raises:
        SystemExit: There is none.
    """
    if (path / "config.json").is_file():
        return path
    found = [each for each in (path / CHECKPOINTS).glob("agent_*_steps") if (each / "config.json").is_file()]
    if not found:
        sys.exit(f"{path} is neither a checkpoint nor the folder of a run that has any in {CHECKPOINTS}/")
    return max(found, key=lambda each: int(each.name.split("_")[1]))


class Processes:
    """The processes that torchrun started, or just this one; joined while the context lasts.

    Attributes:
        size: Number of processes.
        building_device: Device to build models on. Models to be sharded are built on the CPU and spread from there.
    """

    size = 1
    building_device = "auto"

    def __enter__(self) -> Processes:
        if "TORCHELASTIC_RUN_ID" not in os.environ:
            return self
        _end_with_parent()
        import torch
        import torch.distributed as dist

        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo", timeout=PATIENCE)
        self.size, self.building_device = dist.get_world_size(), "cpu"
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if (
            self.building_device == "cpu" and kind is None
        ):  # after an error, others may be waiting for this one: just leave
            import torch.distributed as dist

            dist.destroy_process_group()


def _end_with_parent() -> None:
    """Has Linux kill this process when torchrun dies, which would otherwise leave it waiting for hours."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
