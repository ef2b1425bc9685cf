"""`coach-gym critic`: teaches a critic before the agent learns: by forks, from labels or from roll-outs.

torchrun --nproc-per-node 8 -m coach_gym critic --policy ByteDance-Seed/UI-TARS-1.5-7B --critic runs/prm \
    --labels runs/labels --bfloat16 true --checkpoint_activations true
python -m coach_gym critic --policy pocket --env AndroidWorld-v0 --episodes 1000 --out runs/school
python -m coach_gym train --policy pocket --critic runs/school/critic --steps 4000
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from coach_gym.cli.environments import check_environment
from coach_gym.cli.refusals import path, refusing
from coach_gym.cli.settings import parse_settings, read_config
from coach_gym.cli.train import Processes
from coach_gym.hub import SHIPPED, require_model

if TYPE_CHECKING:
    from gymnasium.vector import VectorEnv

    from coach_gym.agents.models.critic import Critic
    from coach_gym.agents.models.policy import Policy
    from coach_gym.agents.training.critic.lessons import Plan
    from coach_gym.agents.training.critic.school import Report


LEARNING_RATE = 1e-5
"""Of the paper's critic, for policies other than the pocket model, whose own is `teach`'s default."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command; all other options are settings of the lessons or of the fit."""
    parser.allow_abbrev = False
    parser.epilog = "Any setting of lessons.Plan and school.teach is an option too: --hot_temperature 1.5 --contrast 2"
    parser.add_argument("--policy", default="pocket", help="'pocket', a directory or a hub id (default: %(default)s)")
    parser.add_argument(
        "--critic", help="where to start: 'pocket', a critic or a process reward model (default: a copy of the policy)"
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--labels", type=path, help="learn from these labels of coach-gym label, not from forks")
    source.add_argument(
        "--rollouts", type=path, nargs="+", help="learn from the outcomes in these folders of episodes, not from forks"
    )
    parser.add_argument("--env", default="AndroidWorld-v0", help="id of the environment (default: %(default)s)")
    parser.add_argument("--num-envs", type=int, default=8, help="number of environments (default: %(default)s)")
    parser.add_argument("--episodes", type=int, default=1000, help="episodes to play in all (default: %(default)s)")
    parser.add_argument(
        "--max-prompt-length", type=int, default=32_768, help="of a prompt, in tokens (default: %(default)s)"
    )
    parser.add_argument(
        "--config", type=path, help="TOML or JSON file of settings; its table env goes to the environment"
    )
    parser.add_argument(
        "--out", type=path, default=Path("runs/school"), help="folder for lessons and critic; lessons in it are kept"
    )
    parser.set_defaults(run=critic, settings=[])


def critic(
    policy: str,
    critic: str | None,
    labels: Path | None,
    rollouts: Sequence[Path] | None,
    env: str,
    num_envs: int,
    episodes: int,
    max_prompt_length: int,
    config: Path | None,
    out: Path,
    settings: Sequence[str],
) -> None:
    """Fits a critic to lessons and writes it to `out/critic`; lessons by forks are kept in `out/lessons`.

    In the processes of torchrun, the critic is sharded.

    Args:
        policy: `"pocket"`, a directory or a hub id.
        critic: Where to start, as in `Critic.load`; None for a copy of the policy.
        labels: Folder of labels to learn from instead of forks.
        rollouts: Folders of episodes whose outcomes to learn from instead of forks.
        env: Id of the environment, which must be on the embedded phone.
        num_envs: Number of environments.
        episodes: Episodes to play, those of earlier runs included.
        max_prompt_length: Maximum number of prompt tokens.
        config: TOML or JSON file of settings.
        out: Folder for lessons and critic.
        settings: Words of the command line that are settings of `Plan` and `teach`.

    Raises:
        SystemExit: A setting is unknown.
    """
    with refusing():
        require_model(policy)
        require_model(critic or policy)

    import torch

    from coach_gym.agents.data.critic import from_labels, from_rollouts
    from coach_gym.agents.data.labels import LabelFolder
    from coach_gym.agents.distributed.parallel import whole_critic
    from coach_gym.agents.models.critic import Critic
    from coach_gym.agents.models.policy import Policy
    from coach_gym.agents.training.critic.lessons import Plan
    from coach_gym.agents.training.critic.school import teach

    chosen = {**read_config(config), **parse_settings(settings)}
    env_settings = chosen.pop("env", {})
    of_plan = {each.name for each in fields(Plan)}
    of_fit = {*signature(teach).parameters} - {"policy", "lessons", "critic"}
    if unknown := sorted(chosen.keys() - of_plan - of_fit):
        sys.exit(f"{', '.join(unknown)} is unknown; settings are {', '.join(sorted(of_plan | of_fit))}")
    with refusing():
        if labels is None and rollouts is None:
            check_environment(env, env_settings, vector=True)
        plan = Plan(**_only(chosen, of_plan))
    with Processes() as processes, refusing():
        several, device = processes.size > 1, processes.building_device
        if several and labels is None and rollouts is None:
            sys.exit("lessons by forks are collected in one process; pass --labels or --rollouts under torchrun")
        # Shards become float32, so whole weights may be as they are stored.
        actor = Policy.load(policy, device=device, dtype="auto" if several else None)
        actor.max_prompt_length = max_prompt_length
        start = Critic.load(critic, actor.device, "auto" if several else torch.float32) if critic else None
        lessons: Any = out / "lessons"
        if labels is not None:
            lessons = from_labels(actor, LabelFolder(labels))
        elif rollouts is not None:
            lessons = from_rollouts(actor, rollouts, plan.gamma)
        else:
            envs = gym.make_vec(env, num_envs=num_envs, vectorization_mode="vector_entry_point", **env_settings)
            _play_lessons(actor, envs, lessons, episodes, plan)
        fit = {"progress_bar": processes.rank == 0, **_only(chosen, of_fit)}
        if policy not in SHIPPED:
            fit.setdefault("learning_rate", LEARNING_RATE)
        taught, reports = teach(actor, lessons, start, **fit)
        whole = whole_critic(taught)
        if processes.first():
            _write(whole, reports, out / "critic")


def _play_lessons(actor: Policy, envs: VectorEnv, lessons: Path, episodes: int, plan: Plan) -> None:
    from coach_gym.agents.generation.transformers import TransformersGenerator
    from coach_gym.agents.training.critic.lessons import collect

    ledger = collect(actor, TransformersGenerator(actor), envs, lessons, episodes, plan, progress_bar=True)
    envs.close()
    print(f"{ledger.episodes} episodes, {ledger.timesteps} steps, and {ledger.fork_steps} steps on forks")


def _write(taught: Critic, reports: Sequence[Report], folder: Path) -> None:
    for report in reports:
        print(
            f"epoch {report.epoch}: held-out loss {report.loss:.4f}, explained variance "
            f"{report.explained_variance:.2f}, correlation within states {report.within:.2f}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    taught.save(folder)
    print(f"the best of these is in {folder}")


def _only(settings: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name in names}
