"""``coach-gym train``: trains an agent, in one process or in as many as torchrun starts.

    python -m coach_gym train --policy pocket --env AndroidWorld-v0 --num-envs 8 --steps 20000 --out runs/first --k 4
    torchrun --nproc-per-node 8 -m coach_gym train --policy ByteDance-Seed/UI-TARS-1.5-7B --config settings.toml ...
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym

if TYPE_CHECKING:
    from coach_gym.agents.training.online import OnlineAgent

AGENTS = {"coach": "CoachAgent", "ppo": "PPOAgent", "grpo": "GRPOAgent"}
CHECKPOINTS, AGENT = "checkpoints", "agent"
PATIENCE = timedelta(hours=6)  # processes wait for the slowest device among them


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command; what is none of them is a setting of the agent."""
    parser.allow_abbrev = False
    parser.epilog = "Any argument of the agent is an option too: --k 4 --learning_rate 1e-6 --bfloat16 true"
    parser.add_argument("--agent", choices=tuple(AGENTS), default="coach", help="method (default: %(default)s)")
    parser.add_argument("--policy", default="pocket", help="'pocket', a directory or a hub id (default: %(default)s)")
    parser.add_argument("--env", default="AndroidWorld-v0", help="id of the environment (default: %(default)s)")
    parser.add_argument("--num-envs", type=int, default=8, help="of all processes together (default: %(default)s)")
    parser.add_argument("--steps", type=int, required=True, help="of the environments, of all processes together")
    parser.add_argument("--config", type=Path, help="TOML or JSON file of settings; table env: the environment's")
    parser.add_argument("--out", type=Path, default=Path("runs/train"), help="folder of logs, checkpoints, agent")
    parser.add_argument("--save-every", type=int, default=100, help="calls of env.step between checkpoints")
    parser.add_argument("--resume", type=Path, help="a checkpoint, or the --out of a run, to go on from")
    parser.set_defaults(run=train, settings=[])


def train(
    agent: str,
    policy: str,
    env: str,
    num_envs: int,
    steps: int,
    config: Path | None,
    out: Path,
    save_every: int,
    resume: Path | None,
    settings: Sequence[str],
) -> None:
    """Trains, and leaves the agent in `out`/agent and checkpoints in `out`/checkpoints."""
    chosen = {**read_config(config), **parse_settings(settings)}
    env_settings = chosen.pop("env", {})
    with Processes() as processes:
        if num_envs % processes.size:
            sys.exit(f"--num-envs {num_envs} cannot be shared by {processes.size} processes; take a multiple of that")
        envs = gym.make_vec(env, num_envs=num_envs // processes.size, **env_settings)
        arguments = {"verbose": 1, "tensorboard_log": str(out), "device": processes.building_device, **chosen}
        trained = _resumed(resume, envs, arguments) if resume else _made(agent, policy, envs, arguments)
        _learn(trained, steps, out, save_every)
        trained.save(out / AGENT, exclude=["optimizer"])
        envs.close()


def _made(agent: str, policy: str, envs: Any, arguments: dict[str, Any]) -> OnlineAgent:
    from coach_gym import agents

    return getattr(agents, AGENTS[agent])(policy, envs, **arguments)


def _resumed(path: Path, envs: Any, arguments: dict[str, Any]) -> OnlineAgent:
    from coach_gym import agents

    checkpoint = latest_checkpoint(path)
    name = json.loads((checkpoint / "config.json").read_text())["class"]
    if name not in AGENTS.values():
        sys.exit(f"{checkpoint} holds a {name}, which is none of {', '.join(AGENTS.values())}")
    return getattr(agents, name).load(checkpoint, envs, **arguments)


def _learn(agent: OnlineAgent, steps: int, out: Path, save_every: int) -> None:
    from coach_gym.agents import CheckpointCallback

    checkpoints = CheckpointCallback(save_every, out / CHECKPOINTS, name_prefix="agent")
    agent.learn(steps - agent.num_timesteps, checkpoints, reset_num_timesteps=agent.num_timesteps == 0)


def latest_checkpoint(path: Path) -> Path:
    """`path` itself if it is a checkpoint, else the one with most steps of a run's folder."""
    if (path / "config.json").is_file():
        return path
    found = [each for each in (path / CHECKPOINTS).glob("agent_*_steps") if (each / "config.json").is_file()]
    if not found:
        sys.exit(f"{path} is neither a checkpoint nor the folder of a run with one in {CHECKPOINTS}/")
    return max(found, key=lambda each: int(each.name.split("_")[1]))


def read_config(path: Path | None) -> dict[str, Any]:
    """Settings of a TOML or JSON file."""
    if path is None:
        return {}
    text = path.read_text("utf-8")
    return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)


def parse_settings(words: Sequence[str]) -> dict[str, Any]:
    """Settings from `--name value` or `--name=value`; values are read as JSON where they are such, else as text."""
    settings: dict[str, Any] = {}
    rest = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    if len(rest) % 2 or not all(name.startswith("--") for name in rest[::2]):
        sys.exit(f"settings are pairs of --name and value, unlike {' '.join(words)}")
    for name, value in zip(rest[::2], rest[1::2], strict=True):
        try:
            settings[name[2:].replace("-", "_")] = json.loads(value)
        except ValueError:
            settings[name[2:].replace("-", "_")] = value
    return settings


class Processes:
    """The processes that torchrun started, for as long as the context lasts; a single one without torchrun.

    Attributes:
        size: how many there are.
        building_device: where models are built: on the CPU where they are to be spread, layer by layer, from there.
    """

    size = 1
    building_device = "auto"

    def __enter__(self) -> Processes:
        if "TORCHELASTIC_RUN_ID" not in os.environ:
            return self
        import torch
        import torch.distributed as dist

        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo", timeout=PATIENCE)
        self.size, self.building_device = dist.get_world_size(), "cpu"
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if self.building_device == "cpu" and kind is None:  # after an error the others may wait for this one: just go
            import torch.distributed as dist

            dist.destroy_process_group()
