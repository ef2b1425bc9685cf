"""`coach-gym data`: writes demonstrations and roll-outs as episodes on disk, and exports episodes.

coach-gym data androidcontrol ~/android_control --split train --out runs/data/androidcontrol
coach-gym data experts --env AndroidWorld-v0 --episodes 500 --out runs/data/experts
coach-gym data rollouts --policy pocket --env AndroidWorld-v0 --episodes 500 --out runs/data/rollouts
coach-gym data export runs --out steps.parquet

Each of the first three continues what was interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from coach_gym.checks import MOST, require_at_most, require_temperature, require_whole
from coach_gym.cli.environments import check_environment
from coach_gym.cli.refusals import path, refusing
from coach_gym.cli.settings import parse_settings
from coach_gym.envs.tasks.words import Split
from coach_gym.files import require_folders, require_writable
from coach_gym.hub import require_model

if TYPE_CHECKING:
    from coach_gym.data.folder import EpisodeFolder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the sources, and the export."""
    sources = parser.add_subparsers(required=True, metavar="source")
    published = sources.add_parser("androidcontrol", help="read AndroidControl as it is published")
    published.add_argument("source", type=path, help="folder of its TFRecord files, and of splits.json")
    published.add_argument("--split", help="train, validation or test (default: all)")
    published.add_argument("--no-finish", dest="finish", action="store_false", help="add no finished() at the end")
    published.set_defaults(run=android_control)
    experts = sources.add_parser("experts", help="let the scripted experts play tasks of the embedded phone")
    experts.set_defaults(run=from_experts, settings=[])
    played = sources.add_parser("rollouts", help="let a policy play")
    played.add_argument("--policy", default="pocket", help="'pocket', a directory or a hub id (default: %(default)s)")
    played.add_argument("--generation", default="transformers", help="'transformers', 'vllm' or a server's address")
    played.add_argument("--temperature", type=float, default=1.0, help="of the draws (default: %(default)s)")
    played.add_argument("--max-new-tokens", type=int, default=512, help="of a response (default: %(default)s)")
    played.add_argument("--num-envs", type=int, default=8, help="devices (default: %(default)s)")
    played.set_defaults(run=from_rollouts, settings=[])
    for each in (experts, played):
        each.allow_abbrev = False
        each.epilog = "Any argument of the environment is an option too: --tasks '[\"MarkorCreateNote\"]'"
        each.add_argument("--env", default="AndroidWorld-v0", help="id of the environment (default: %(default)s)")
        each.add_argument("--split", choices=get_args(Split), default="train", help="instances (default: %(default)s)")
        each.add_argument("--episodes", type=int, default=1000, help="to play in all (default: %(default)s)")
        each.add_argument("--seed", type=int, default=0, help="of the instances (default: %(default)s)")
    kept = sources.add_parser("export", help="write kept episodes in the format of others")
    kept.add_argument("source", type=path, help="folder of a run or of episodes, as coach-gym view takes it")
    kept.add_argument("--format", choices=("dataset", "androidcontrol"), default="dataset", help="default: %(default)s")
    kept.add_argument("--solved", action="store_true", help="only episodes that were solved")
    kept.set_defaults(run=export)
    for each in (published, experts, played, kept):
        each.add_argument("--out", type=path, required=True, help="what to write; a folder of episodes is continued")


def android_control(source: Path, split: str | None, finish: bool, out: Path) -> None:
    """Converts AndroidControl; the options are those of the command line."""
    from coach_gym.data.android_control import convert

    with refusing():
        require_folders(out=out)
        _report(convert(source, out, split, finish, progress_bar=True))


def export(source: Path, format: str, solved: bool, out: Path) -> None:
    """Exports kept episodes; the options are those of the command line."""
    from coach_gym.data.export import export_android_control, export_dataset
    from coach_gym.recording import load_episodes

    with refusing():
        episodes = (episode for episode in load_episodes(source) if episode.success or not solved)
        if format == "androidcontrol":
            require_folders(out=out)
            print(f"Wrote {export_android_control(episodes, out)} records to {out}")
            return
        require_writable(out)
        try:
            print(f"Wrote {export_dataset(episodes, out)} rows, one a step, to {out}")
        except ModuleNotFoundError as missing:
            sys.exit(f"--format dataset needs {missing.name}: pip install 'coach-gym[datasets]'")


def from_experts(env: str, split: str, episodes: int, seed: int, out: Path, settings: Sequence[str]) -> None:
    """Records experts; the options are those of the command line."""
    from coach_gym.data.experts import record

    with refusing():
        require_whole(1, episodes=episodes)
        require_folders(out=out)
        chosen = {"split": split, **parse_settings(settings)}
        check_environment(env, chosen)
        _report(record(out, env, episodes, seed, chosen, progress_bar=True))


def from_rollouts(
    policy: str,
    generation: str,
    temperature: float,
    max_new_tokens: int,
    num_envs: int,
    env: str,
    split: str,
    episodes: int,
    seed: int,
    out: Path,
    settings: Sequence[str],
) -> None:
    """Records a policy; the options are those of the command line."""
    with refusing():
        require_model(policy)

    from coach_gym.agents.generation.make import make_generator
    from coach_gym.agents.models.policy import Policy
    from coach_gym.data.rollouts import record

    chosen = {"split": split, **parse_settings(settings)}
    with refusing():
        require_whole(1, episodes=episodes, num_envs=num_envs, max_new_tokens=max_new_tokens)
        require_at_most(MOST, episodes=episodes, max_new_tokens=max_new_tokens)
        require_temperature(temperature=temperature)
        require_folders(out=out)
        check_environment(env, chosen)
        actor = Policy.load(policy)
        _report(record(
            out, actor, make_generator(generation, actor), env, episodes, num_envs, seed, temperature, max_new_tokens,
            chosen, policy_name=policy, progress_bar=True,
        ))  # fmt: skip


def _report(folder: EpisodeFolder) -> None:
    print(folder.summary())
