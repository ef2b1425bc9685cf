"""`coach-gym evaluate`: plays every task of a suite in order, and reports as the benchmarks do.

coach-gym evaluate --agent my_agent --env AndroidWorld-v0 --runs 3 --num-envs 8 --out results.jsonl
coach-gym evaluate --agent openai:ByteDance-Seed/UI-TARS-1.5-7B@http://127.0.0.1:8000/v1 --dialect UITars --out r.jsonl

The same command continues an evaluation that was interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from coach_gym.checks import ServerError, WrongType, require_whole
from coach_gym.cli.environments import check_environment
from coach_gym.cli.refusals import path, refusing
from coach_gym.cli.settings import parse_settings, read_config
from coach_gym.envs.errors import TaskError
from coach_gym.files import require_folders, require_writable
from coach_gym.hub import require_model

if TYPE_CHECKING:
    from coach_gym.evaluation import Player


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command; all other options are settings of the environment."""
    parser.allow_abbrev = False
    parser.epilog = "Any argument of the environment is an option too: --suite official --device emulator-5554"
    parser.add_argument(
        "--agent", default="pocket",
        help="random, expert, openai:MODEL@URL, a saved agent, pocket, a directory or a hub id (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--dialect", help="how the model is prompted: UITars (default), SetOfMarks for general models, QwenMobileUse, "
        "Qwen3MobileUse, AgentCpmGui, OSGenesis, UIGenie, GuiOwl",
    )  # fmt: skip
    parser.add_argument("--max-pixels", type=int, help="largest area of a screenshot (default: that of the dialect)")
    parser.add_argument("--env", default="AndroidWorld-v0", help="id of the environment (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=1, help="times that every task is played (default: %(default)s)")
    parser.add_argument("--num-envs", type=int, default=1, help="devices (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=30, help="of the instances (default: %(default)s)")
    parser.add_argument("--sample", action="store_true", help="draw responses instead of taking the most likely")
    parser.add_argument("--max-new-tokens", type=int, help="length at which a response is cut off (default: 512)")
    parser.add_argument("--outcome-verifier", default="rules", help="judge of tasks without a rule: rules+openai:MODEL")
    parser.add_argument("--config", type=path, help="TOML or JSON file whose table env goes to the environment")
    parser.add_argument("--out", type=path, default=Path("evaluation.jsonl"), help="results; continued if it exists")
    parser.add_argument(
        "--no-episodes", action="store_true", help="do not keep the episodes, which `coach-gym view` shows"
    )
    parser.add_argument("--json", type=path, help="write summary and results to this file")
    parser.add_argument("--csv", type=path, help="write one line per episode to this file")
    parser.add_argument("--android-world", type=path, help="write a checkpoint folder of AndroidWorld's runner")
    parser.add_argument("--android-lab", type=path, help="write an output folder of AndroidLab's generate_result.py")
    parser.set_defaults(run=evaluate, settings=[])


def evaluate(
    agent: str,
    dialect: str | None,
    max_pixels: int | None,
    env: str,
    runs: int,
    num_envs: int,
    seed: int,
    sample: bool,
    max_new_tokens: int | None,
    outcome_verifier: str,
    config: Path | None,
    out: Path,
    no_episodes: bool,
    json: Path | None,
    csv: Path | None,
    android_world: Path | None,
    android_lab: Path | None,
    settings: Sequence[str],
) -> None:
    """Evaluates an agent, prints the table and writes the files; the options are those of the command line."""
    with refusing():
        if not (agent in ("random", "expert") or agent.startswith("openai:")):
            require_model(agent)

    from coach_gym.evaluation import evaluate_suite
    from coach_gym.evaluation.exports import write_android_lab, write_android_world

    chosen = {**read_config(config).get("env", {}), **parse_settings(settings)}
    with refusing():
        require_whole(1, runs=runs, num_envs=num_envs)
        out.parent.mkdir(parents=True, exist_ok=True)
        for path in (out, json, csv):
            if path is not None:
                require_writable(path)
        exports = {"android_world": android_world, "android_lab": android_lab}
        require_folders(**{name: path for name, path in exports.items() if path is not None})
        check_environment(env, chosen)
        player = make_player(agent, env, chosen, dialect, max_pixels, sample, max_new_tokens)
    stood = out.stat().st_mtime_ns if out.exists() else None
    try:
        report = evaluate_suite(
            player, env, out=out, agent=agent, runs=runs, num_envs=num_envs, seed=seed, deterministic=not sample,
            outcome_verifier=outcome_verifier, env_settings=chosen, keep_episodes=not no_episodes, progress_bar=True,
        )  # fmt: skip
    except TaskError:
        raise  # its traceback says where the user's own code is wrong
    except (ServerError, ValueError, WrongType, gym.error.Error, KeyboardInterrupt) as error:
        played = out.exists() and out.stat().st_mtime_ns != stood
        kept = f"Results so far are in {out}; the same command continues them." if played else ""
        sys.exit("\n".join(filter(None, (str(error) or "interrupted", kept))))
    print(report)
    for path, text in ((json, report.to_json()), (csv, report.to_csv())):
        if path is not None:
            path.write_text(text, "utf-8")
    name = agent.replace("/", "_")
    if android_world is not None:
        write_android_world(report.records, android_world, name)
    if android_lab is not None:
        write_android_lab(report.records, android_lab, name)


def make_player(
    agent: str,
    env: str,
    env_settings: dict[str, Any],
    dialect: str | None,
    max_pixels: int | None,
    sample: bool,
    max_new_tokens: int | None,
) -> Player:
    """Returns the player of a name; see the command's help.

    Raises:
        SystemExit: The dialect is unknown, or cannot take the pixels.
        ChatServerError: The model's server does not answer, or refuses.
    """
    from coach_gym.agents.generation.transformers import TransformersGenerator
    from coach_gym.agents.judging.chat import ChatClient
    from coach_gym.agents.judging.models import SERVED
    from coach_gym.agents.models.policy import Policy
    from coach_gym.agents.playing.player import PolicyPlayer
    from coach_gym.dialects.names import choose_dialect
    from coach_gym.evaluation import ChatPlayer, ExpertPlayer, PredictorPlayer, RandomPlayer
    from coach_gym.evaluation.run import suite_of

    if agent == "random":
        return RandomPlayer()
    if agent == "expert":
        of_suite = {name: value for name, value in env_settings.items() if name != "device"}
        return ExpertPlayer(suite_of(gym.make(env, **of_suite)))
    if agent.startswith(SERVED):
        name, _, address = agent.removeprefix(SERVED).partition("@http")
        client = ChatClient(name, f"http{address}" if address else None)
        client.check()
        spoken = choose_dialect(dialect, {"dialect": "UITars"}, max_pixels=max_pixels)
        return ChatPlayer(client, spoken, max_new_tokens or 512, 1.0 if sample else 0.0)
    saved = Path(agent) / "actor"
    arguments = _saved_arguments(Path(agent))
    policy = Policy.load(saved if saved.is_dir() else agent, dialect, max_pixels=max_pixels)
    limits = {**policy.training, **arguments}
    policy.max_prompt_length = limits.get("max_prompt_length", policy.max_prompt_length)
    length = max_new_tokens or limits.get("max_new_tokens", 512)
    temperature = arguments.get("temperature", 1.0)
    return PredictorPlayer(PolicyPlayer(policy, TransformersGenerator(policy), temperature, length), not sample)


def _saved_arguments(agent: Path) -> dict[str, Any]:
    """The limits and the temperature that a saved agent was trained with."""
    from coach_gym.agents.training.saving.checkpoint import read_arguments

    if not (agent / "actor").is_dir() or not (agent / "config.json").is_file():
        return {}
    known = read_arguments(agent)["arguments"]
    return {name: known[name] for name in ("max_prompt_length", "max_new_tokens", "temperature") if name in known}
