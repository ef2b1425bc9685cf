"""`coach-gym train`: trains an agent, in one process or in those that torchrun starts.

coach-gym train --config laptop --steps 2000 --out runs/first
coach-gym train --resume runs/first
torchrun --nproc-per-node 8 -m coach_gym train --config paper --steps 20000 --out runs/paper
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_args

import gymnasium as gym

from coach_gym.checks import WrongType, require_known, require_whole
from coach_gym.cli.environments import check_environment
from coach_gym.cli.refusals import path, refusing
from coach_gym.cli.runs import (
    AGENT,
    CHECKPOINTS,
    PREFIX,
    latest_checkpoint,
    merged,
    out_folder,
    read_run,
    saving_times,
    write_run,
)
from coach_gym.cli.settings import parse_settings, read_config
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.tasks.words import Split
from coach_gym.files import require_folders
from coach_gym.hub import SHIPPED, require_model
from coach_gym.loopback import require_free

if TYPE_CHECKING:
    from coach_gym.agents.training.online import OnlineAgent

AGENTS = {
    "coach": "CoachAgent", "ppo": "PPOAgent", "grpo": "GRPOAgent", "rloo": "RLOOAgent",
    "cloning": "FilteredCloningAgent",
}  # fmt: skip
DEFAULTS = {
    "agent": "coach", "policy": "pocket", "env": "AndroidWorld-v0", "num_envs": 8, "save_every": "500", "keep": 3,
    "eval_every": None, "eval_episodes": 50,
}  # fmt: skip
MAX_STEPS = 25
"""Turns of an episode in the paper, for policies other than the pocket model."""
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
WATCH_PORT = 8072
PATIENCE = timedelta(hours=6)
"""How long processes wait for each other, and so for the slowest device."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command; all other options are settings of the agent."""
    parser.allow_abbrev = False
    parser.epilog = "Any argument of the agent is an option too: --k 4 --learning_rate 1e-6 --bfloat16 true"
    parser.add_argument("--agent", choices=tuple(AGENTS), help="method (default: coach)")
    parser.add_argument("--policy", help="'pocket', a directory or a hub id (default: pocket)")
    parser.add_argument("--env", help="id of the environment (default: AndroidWorld-v0)")
    parser.add_argument(
        "--split", choices=get_args(Split), help="instances to train on (default: the whole suite, test included)"
    )
    parser.add_argument("--pool", type=path, help="file of instances to train on, by coach-gym tasks")
    parser.add_argument(
        "--max-steps", type=int,
        help="turns of an episode (default: 25, as in the paper; for pocket and other environments their own)",
    )  # fmt: skip
    parser.add_argument("--num-envs", type=int, help="total over all processes (default: 8)")
    parser.add_argument("--steps", type=int, help="environment steps to train for, total over all processes")
    parser.add_argument(
        "--config", type=path,
        help="TOML or JSON file of settings, or a name: paper, one_gpu, laptop; its table env goes to the "
        "environment, its table train holds options of this command",
    )  # fmt: skip
    parser.add_argument("--out", type=path, help="new folder for logs, checkpoints and the agent (default: runs/train)")
    parser.add_argument("--save-every", help="steps (500) or minutes (30m) between checkpoints (default: 500)")
    parser.add_argument("--keep", type=int, help="latest checkpoints to keep, besides the best (default: 3)")
    parser.add_argument(
        "--eval-every", type=int,
        help="steps between evaluations on validation instances, the best of which is kept as best_model/ "
        "(default: none)",
    )  # fmt: skip
    parser.add_argument("--eval-episodes", type=int, help="episodes of an evaluation (default: 50)")
    parser.add_argument(
        "--watch", type=int, nargs="?", const=WATCH_PORT, metavar="PORT",
        help=f"show the devices in the browser while they are trained on (default port: {WATCH_PORT})",
    )  # fmt: skip
    parser.add_argument(
        "--resume", type=path,
        help="a run to continue in its folder, or a checkpoint to start from; with the settings of that run",
    )  # fmt: skip
    parser.set_defaults(run=train, settings=[])


def train(
    agent: str | None,
    policy: str | None,
    env: str | None,
    split: str | None,
    pool: Path | None,
    max_steps: int | None,
    num_envs: int | None,
    steps: int | None,
    config: Path | None,
    out: Path | None,
    save_every: str | None,
    keep: int | None,
    eval_every: int | None,
    eval_episodes: int | None,
    watch: int | None,
    resume: Path | None,
    settings: Sequence[str],
) -> None:
    """Trains an agent.

    What is None comes from the table `train` of the file, from the run that is continued, or from `DEFAULTS`.

    Args:
        agent: Method, a key of `AGENTS`.
        policy: `"pocket"`, a directory or a hub id.
        env: Id of the environment.
        split: Instances to train on; None for what the settings of the environment say, else the whole suite.
        pool: File of instances to train on, as `coach-gym tasks` writes it.
        max_steps: Turns of an episode.
        num_envs: Number of environments, over all processes.
        steps: Environment steps, over all processes.
        config: TOML or JSON file of settings, or the name of a shipped one.
        out: Folder for logs, for checkpoints (in `checkpoints/`) and for the trained agent (in `agent/`).
        save_every: Environment steps or minutes between checkpoints.
        keep: Latest checkpoints to keep, besides the best.
        eval_every: Environment steps between evaluations; None for no evaluation.
        eval_episodes: Episodes of an evaluation.
        watch: Port of a page that shows the devices, that of the first process; None for no page.
        resume: A checkpoint, or the `out` folder of a run, to continue from.
        settings: Words of the command line that are settings of the agent.
    """
    words = {
        "agent": agent, "policy": policy, "env": env, "num_envs": num_envs, "steps": steps, "save_every": save_every,
        "keep": keep, "eval_every": eval_every, "eval_episodes": eval_episodes, "split": split, "pool": pool,
        "max_steps": max_steps, "out": out, "watch": watch, "resume": resume,
    }  # fmt: skip
    file = read_config(config)
    with refusing():
        options = {**_options_in(file.pop("train", {})), **_given(words)}
        out, watch, resume = (options.pop(name, None) for name in ("out", "watch", "resume"))
        before = read_run(resume)
    of_env = {name: options.pop(name) for name in ("split", "pool", "max_steps") if name in options}
    if "pool" in of_env:
        of_env["pool"] = str(of_env["pool"])
    defaults = {"train": DEFAULTS, "env": {}}
    whole = merged(defaults, before, file, {**parse_settings(settings), "train": options, "env": of_env})
    folder = out_folder(out, resume)
    chosen = dict(whole)
    run, env_settings = chosen.pop("train"), chosen.pop("env")
    _require_no_others(chosen, {*words})
    if "pool" in of_env and "split" not in of_env:
        env_settings.pop("split", None)  # of the table env; the pool says which instances there are
    if "steps" not in run:
        sys.exit("how long to train is missing; pass --steps, the number of environment steps")
    with refusing():
        counts = {name: run[name] for name in ("keep", "eval_every", "eval_episodes") if run[name] is not None}
        require_whole(1, steps=run["steps"], **counts)
        require_folders(out=folder)
        check_environment(run["env"], env_settings, vector=True)
        checkpoint = None if resume is None else latest_checkpoint(resume)
        if checkpoint is None:  # otherwise it has the models
            require_model(run["policy"])
        else:
            run["agent"] = _agent_that_goes_on(checkpoint, run["steps"], before.get("train", {}), options)
    if run["policy"] not in SHIPPED and run["env"].startswith("Android"):
        env_settings.setdefault("max_steps", MAX_STEPS)
    saving_times(run["save_every"])  # refuses now what it cannot read
    if resume is not None and checkpoint is None:
        print(f"{resume} stopped before its first checkpoint; it begins anew")
    with Processes() as processes:
        watched = None if watch is None else _port_to_watch(watch, processes.rank)
        arguments = {"verbose": 1, "tensorboard_log": str(folder), "device": processes.building_device, **chosen}
        with refusing():
            envs = gym.make_vec(run["env"], num_envs=processes.share(run["num_envs"]), **env_settings)
            trained = _made(run["agent"], run["policy"], checkpoint, envs, arguments)
        if processes.first():  # not earlier: what was refused leaves the folder free
            write_run(folder, whole)
        try:
            _learn(trained, run, env_settings, folder, watched)
        except KeyboardInterrupt:
            if processes.size > 1:
                raise
            _stop(trained, folder)
        trained.save(folder / AGENT, exclude=["optimizer"])
        envs.close()


def _port_to_watch(port: int, rank: int) -> int:
    """Returns the port of this process's page, or ends the program now if there can be no page."""
    try:
        import coach_gym.live.watching  # noqa: F401
    except ModuleNotFoundError as missing:
        sys.exit(f"coach-gym train --watch needs {missing.name}: pip install 'coach-gym[view]'")
    own = port and port + rank
    require_free(own, "--watch PORT")
    return own


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _options_in(table: Mapping[str, Any]) -> dict[str, Any]:
    """Reads the table `train` of a file as the command line is read: the same options, types and choices."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_arguments(parser)
    known = vars(parser.parse_args([])).keys() - {"config", "settings", "run"}
    require_known("coach-gym train", sorted(known), table)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in table.items() if value is not None]
    try:
        read = vars(parser.parse_args(words))
    except argparse.ArgumentError as error:
        sys.exit(f"the table [train]: {error}")
    return _given({name: read[name] for name in table})


def _require_no_others(names: Iterable[str], options: Collection[str]) -> None:
    """Refuses settings that are not the agent's, as the agent itself would, but before models are loaded."""
    of_env = signature(AndroidEnv).parameters.keys() - {"device"}  # the agent has one, too
    for name in names:
        if name in options:
            sys.exit(f"{name} is an option of the command: put it into the table [train] of the --config file")
        if name in of_env:
            sys.exit(f"{name} is a setting of the environment: put it into the table [env] of a --config file")


def _agent_that_goes_on(checkpoint: Path, steps: int, before: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Returns the method of a checkpoint, or ends the program if it cannot go on as the options say."""
    from coach_gym.agents.training.saving.checkpoint import read_arguments, read_state

    names = {kind: name for name, kind in AGENTS.items()}
    kind, done = read_arguments(checkpoint, whole=False)["class"], read_state(checkpoint)[0].num_timesteps
    if kind not in names:
        sys.exit(f"{checkpoint} holds a {kind}, not one of {', '.join(names)}")
    if steps <= done:
        sys.exit(f"--steps {steps} is the total, and {checkpoint} stands at {done} steps; pass more than {done}")
    for name, own in (("agent", names[kind]), ("policy", before.get("policy"))):
        if own is not None and options.get(name, own) != own:
            sys.exit(f"--{name} {options[name]} differs from {checkpoint}, which is of {own}; leave --{name} out")
    return names[kind]


def _made(agent: str, policy: str, checkpoint: Path | None, envs: Any, arguments: dict[str, Any]) -> OnlineAgent:
    from coach_gym import agents

    kind = getattr(agents, AGENTS[agent])
    return kind(policy, envs, **arguments) if checkpoint is None else kind.load(checkpoint, envs, **arguments)


def _stop(agent: OnlineAgent, folder: Path) -> NoReturn:
    """Saves an interrupted training as a checkpoint, and ends the program with the status of Ctrl-C."""
    agent.save(folder / CHECKPOINTS / f"{PREFIX}_{agent.num_timesteps}_steps")
    print(f"stopped at step {agent.num_timesteps}; continue with --resume {folder}", file=sys.stderr)
    sys.exit(128 + signal.SIGINT)


def _learn(
    agent: OnlineAgent, run: Mapping[str, Any], env_settings: Mapping[str, Any], folder: Path, watch: int | None
) -> None:
    """Trains with checkpoints, with evaluations if the run wants any, and with a page of the devices if asked for."""
    from coach_gym.agents import CheckpointCallback, EvalCallback, WatchCallback

    evaluates = run["eval_every"] is not None
    saving = {**saving_times(run["save_every"]), "keep": run["keep"], "keep_best": not evaluates}
    with refusing():
        callbacks: list[Any] = [CheckpointCallback(None, folder / CHECKPOINTS, name_prefix=PREFIX, **saving)]
        if evaluates:
            episodes = run["eval_episodes"]
            held_out = _held_out(run["env"], env_settings)
            judges = gym.make_vec(run["env"], num_envs=min(run["num_envs"], episodes), **held_out)
            callbacks.append(
                EvalCallback(
                    judges, n_eval_episodes=episodes, eval_steps=run["eval_every"], best_model_save_path=folder
                )
            )
        if watch is not None:
            callbacks.append(WatchCallback(watch))
    steps = run["steps"] - agent.num_timesteps
    try:
        agent.learn(steps, callbacks, reset_num_timesteps=agent.num_timesteps == 0, progress_bar=True)
    except (ValueError, WrongType) as error:
        if callbacks[0].locals:  # which it has once the training begins; what is wrong then keeps its traceback
            raise
        sys.exit(str(error))
    if evaluates:
        judges.close()


def _held_out(env: str, env_settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the environment to evaluate on: validation instances; of an environment of your own, its own."""
    if not env.startswith("Android"):
        return dict(env_settings)
    return {name: value for name, value in env_settings.items() if name != "pool"} | {"split": "validation"}


class Processes:
    """The processes that torchrun started, or just this one; joined while the context lasts.

    Attributes:
        size: Number of processes.
        building_device: Device to build models on. Models to be sharded are built on the CPU and spread from there.
    """

    size = 1
    rank = 0
    building_device = "auto"

    def share(self, total: int) -> int:
        """Returns this process's part of a number of environments.

        Raises:
            SystemExit: Some process would have none.
        """
        if total < self.size:
            sys.exit(f"--num-envs {total} are too few for {self.size} processes; pass at least {self.size}")
        return total // self.size + (self.rank < total % self.size)

    def first(self) -> bool:
        """Returns whether this is the first process, after all have come here."""
        if self.size > 1:
            import torch.distributed as dist

            dist.barrier()
        return self.rank == 0

    def __enter__(self) -> Processes:
        if "TORCHELASTIC_RUN_ID" not in os.environ:
            return self
        _end_with_parent()
        import torch
        import torch.distributed as dist

        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo", timeout=PATIENCE)
        self.size, self.rank, self.building_device = dist.get_world_size(), dist.get_rank(), "cpu"
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if self.building_device != "cpu" or kind is not None:
            return  # after an error, others may be waiting for this one: just leave
        import torch.distributed as dist

        dist.destroy_process_group()
        _leave()


def _leave() -> NoReturn:
    """Ends this process at once, with success.

    Threads of gloo outlive their process group, and one that drops its last tensor while Python takes itself down
    aborts the process, after all is saved (pytorch/pytorch#179291).
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _end_with_parent() -> None:
    """Has Linux kill this process when torchrun dies, which would otherwise leave it waiting for hours."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
