"""How often judges of whole episodes agree with the tasks' rules, on the embedded phone, where the truth is known.

Three players make the episodes: experts; experts who make one plausible mistake, such as another name or a form that is
never saved; and the pocket policy. Every judge sees the same episodes, and the rules' verdict is the truth. A judge is

    claims        believes every agent that says it has finished: what a judge must beat
    pocket-prm    the shipped process reward model, asked whether finishing was a good last step
    openai:MODEL  a model behind an OpenAI-compatible server, as docs/how_to/judges.md has it; at another address
                  openai:MODEL@http://host:port/v1
    a directory   or hub id of a model that runs here

Agreement is among the episodes that the judge gave a verdict on, with a 95 % interval (Wilson's); `silent` is the share
of the others. Kappa is 0 for a judge that agrees by chance alone. The paper's judge agrees with people in 92 % of 100
episodes.

    python -m benchmarks.judge_agreement --judges claims pocket-prm --seeds 0 1 2 --json agreement.json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch  # noqa: E402  (after the number of threads is set)
from tqdm import tqdm  # noqa: E402
from transformers.utils import logging  # noqa: E402

from benchmarks.demo import DEVICE, SCREEN, SETTINGS, TASKS  # noqa: E402
from coach_gym.actions import ActionError, parse_action  # noqa: E402
from coach_gym.agents.generation.transformers import TransformersGenerator  # noqa: E402
from coach_gym.agents.judging.chat import spent  # noqa: E402
from coach_gym.agents.judging.verifiers import OutcomeVerifier, load_verifier  # noqa: E402
from coach_gym.agents.models.policy import Policy  # noqa: E402
from coach_gym.agents.models.reward_models import GenerativePRM  # noqa: E402
from coach_gym.agents.playing.player import PolicyPlayer  # noqa: E402
from coach_gym.agents.playing.rollout import observation_of  # noqa: E402
from coach_gym.cli.refusals import refusing  # noqa: E402
from coach_gym.envs.android import AndroidEnv  # noqa: E402
from coach_gym.envs.suites.play import Demonstration, play  # noqa: E402
from coach_gym.episode import Candidate, Episode, Step  # noqa: E402

FIRST_SEED = 30_000  # of the instances; the next seed takes the next ones
PLAYERS = ("experts", "mistaken", "pocket")
CHANGES = ("click", "long_press", "type", "drag")


def main() -> None:
    """Plays, asks every judge, prints the tables and writes the JSON."""
    options = _options()
    torch.set_num_threads(1)
    logging.disable_progress_bar()
    with refusing():
        judges = {name: make_judge(name) for name in options.judges}
    runs = []
    for seed in options.seeds:
        torch.manual_seed(seed)
        episodes = record(options.players, seed, options.episodes)
        verdicts = {name: judge.verify([each for _, each in episodes]) for name, judge in judges.items()}
        runs.append(
            {
                "seed": seed,
                "episodes": [_row(player, each) for player, each in episodes],
                "verdicts": verdicts,
            }
        )
    results = summary(runs, options)
    print_tables(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge_agreement", description=__doc__.splitlines()[0])
    parser.add_argument("--judges", nargs="+", default=["claims", "pocket-prm"])
    parser.add_argument("--players", nargs="+", choices=PLAYERS, default=list(PLAYERS))
    parser.add_argument("--episodes", type=int, default=99, help="per seed, shared by the players")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--json", type=Path, help="write the results to this file")
    return parser.parse_args()


# ---- judges ---------------------------------------------------------------------------------------------------------


class Claims(OutcomeVerifier):
    """Believes every agent that says it has finished."""

    def verify(self, episodes: Sequence[Episode]) -> list[float | None]:
        """Returns 1 for episodes that end with `finished`, else 0."""
        return [float(_kind(episode.steps[-1].action) == "finished") for episode in episodes]


class LastStep(OutcomeVerifier):
    """Asks a process reward model about the last step; who did not finish has failed."""

    def __init__(self, prm: GenerativePRM) -> None:
        self.prm = prm

    def verify(self, episodes: Sequence[Episode]) -> list[float | None]:
        """Returns the model's verdict on finishing."""
        claimed = [episode for episode in episodes if _kind(episode.steps[-1].action) == "finished"]
        steps = [[(step.observation, step.action) for step in episode.steps] for episode in claimed]
        verdicts = iter(self.prm.judge([(each.goal, done) for each, done in zip(claimed, steps, strict=True)]))
        return [next(verdicts) if _kind(episode.steps[-1].action) == "finished" else 0.0 for episode in episodes]


def make_judge(name: str) -> OutcomeVerifier:
    """Returns the judge of a name."""
    if name == "claims":
        return Claims()
    return LastStep(GenerativePRM.load("pocket")) if name == "pocket-prm" else load_verifier(name)


def _kind(action: str) -> str:
    try:
        return parse_action(action)[1].kind
    except ActionError:
        return ""


# ---- episodes -------------------------------------------------------------------------------------------------------


def record(players: Sequence[str], seed: int, number: int) -> list[tuple[str, Episode]]:
    """Plays episodes with the players in turn, each on an instance of its own.

    Returns:
        Pairs of player and episode; `outcome` is the rules' verdict.
    """
    env = AndroidEnv(screen_size=SCREEN, tasks=TASKS)
    pocket = _pocket_player() if "pocket" in players else None
    play_as: dict[str, Callable[[AndroidEnv, int], Episode]] = {
        "experts": _expert, "mistaken": _mistaken, "pocket": lambda env, seed: _policy(env, seed, pocket),
    }  # fmt: skip
    first = FIRST_SEED + seed * number
    turns = [(players[index % len(players)], first + index) for index in range(number)]
    bar = tqdm(turns, desc=f"seed {seed}: playing", unit="episode")
    return [(player, play_as[player](env, instance)) for player, instance in bar]


def _expert(env: AndroidEnv, seed: int) -> Episode:
    observation, info = env.reset(seed=seed)
    return _episode(play(env, observation, info))


def _mistaken(env: AndroidEnv, seed: int) -> Episode:
    """An expert with almost the right parameters, or without the last action that changes anything."""
    observation, info = env.reset(seed=seed)
    wrong = env.suite.family(info["task"])(info["params"]).near_miss(random.Random(seed))
    if wrong is not None:
        return _episode(play(env, observation, info, wrong))
    actions = play(env, observation, info).actions
    changing = [index for index, action in enumerate(actions) if _kind(action) in CHANGES]
    del actions[changing[-1] if changing else 0]
    observation, info = env.reset(seed=seed)
    return _episode(play(env, observation, info, expert=lambda screen, params: iter(actions)))


def _pocket_player() -> PolicyPlayer:
    policy = Policy.load("pocket")
    policy.max_prompt_length = SETTINGS["max_prompt_length"]
    return PolicyPlayer(policy, TransformersGenerator(policy), 1.0, SETTINGS["max_new_tokens"])


def _policy(env: AndroidEnv, seed: int, player: PolicyPlayer | None) -> Episode:
    assert player is not None
    observation, info = env.reset(seed=seed)
    shown, state, over = Demonstration(info=info), None, False
    while not over:
        action, state = player.predict(observation, state)
        shown.steps.append((observation, action))
        observation, shown.reward, terminated, truncated, shown.info = env.step(action)
        over = terminated or truncated
    return _episode(shown)


def _episode(shown: Demonstration) -> Episode:
    steps = [Step(observation_of(seen), [Candidate(action, [], [])], 0, action) for seen, action in shown.steps]
    goal, params = str(shown.steps[0][0]["goal"]), dict(shown.info["params"])
    return Episode(goal, steps, outcome=float(shown.reward >= 1.0), task=shown.info["task"], params=params)


def _row(player: str, episode: Episode) -> dict[str, Any]:
    return {"player": player, "task": episode.task, "steps": episode.length, "truth": episode.outcome}


# ---- agreement ------------------------------------------------------------------------------------------------------


def compare(truth: Sequence[float], verdicts: Sequence[float | None]) -> dict[str, Any]:
    """Compares verdicts with the truth: 1 for solved, 0 for failed, None for silence.

    Returns:
        The confusion table, and what the module's docstring names.
    """
    table = Counter(zip(truth, verdicts, strict=True))
    judged = sum(number for (_, verdict), number in table.items() if verdict is not None)
    right = table[1.0, 1.0] + table[0.0, 0.0]
    low, high = wilson(right, judged)
    return {
        "agreement": right / judged if judged else math.nan,
        "low": low,
        "high": high,
        "kappa": kappa(table),
        "silent": 1 - judged / len(truth),
        "table": {
            _name(real): {_name(said): table[real, said] for said in (1.0, 0.0, None)} for real in (1.0, 0.0)
        },
    }


def wilson(right: int, number: int, z: float = 1.96) -> tuple[float, float]:
    """Returns Wilson's 95 % interval of a share; from 0 to 1 without any observation."""
    if number == 0:
        return 0.0, 1.0
    share, shrink = right / number, 1 + z**2 / number
    middle = (share + z**2 / (2 * number)) / shrink
    half = z / shrink * math.sqrt(share * (1 - share) / number + z**2 / (4 * number**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def kappa(table: Counter[tuple[float, float | None]]) -> float:
    """Returns Cohen's kappa over the episodes with a verdict; 0 if it is not defined."""
    number = sum(table[real, said] for real in (0.0, 1.0) for said in (0.0, 1.0))
    if number == 0:
        return 0.0
    observed = (table[1.0, 1.0] + table[0.0, 0.0]) / number
    real = (table[1.0, 1.0] + table[1.0, 0.0]) / number
    said = (table[1.0, 1.0] + table[0.0, 1.0]) / number
    chance = real * said + (1 - real) * (1 - said)
    return (observed - chance) / (1 - chance) if chance < 1 else 0.0


def _name(verdict: float | None) -> str:
    return "silent" if verdict is None else "solved" if verdict >= 1 else "failed"


def summary(runs: list[dict[str, Any]], options: argparse.Namespace) -> dict[str, Any]:
    """Pools all seeds, by judge and by player; the headline has every judge's agreement."""
    judges = {}
    for name in options.judges:
        players = {player: list(_answers(runs, name, player)) for player in options.players}
        everyone = [answer for answers in players.values() for answer in answers]
        judges[name] = {
            "all": compare(*zip(*everyone, strict=True)),
            **{player: compare(*zip(*answers, strict=True)) for player, answers in players.items() if answers},
            "agreement_by_seed": [compare(*zip(*_answers([run], name), strict=True))["agreement"] for run in runs],
        }
    return {
        "benchmark": "judge_agreement",
        "device": DEVICE,
        "command": shlex.join(["python", "-m", "benchmarks.judge_agreement", *sys.argv[1:]]),
        "headline": {
            f"agreement_{re.sub('[^0-9a-zA-Z]+', '_', name)}": judges[name]["all"]["agreement"]
            for name in options.judges
            if not math.isnan(judges[name]["all"]["agreement"])
        },
        "judges": judges,
        "runs": runs,
    }


def _answers(runs: Sequence[dict[str, Any]], judge: str, player: str = "") -> Iterator[tuple[float, float | None]]:
    """Pairs of truth and verdict, of one player or of all."""
    for run in runs:
        for row, verdict in zip(run["episodes"], run["verdicts"][judge], strict=True):
            if player in ("", row["player"]):
                yield row["truth"], verdict


def print_tables(results: dict[str, Any]) -> None:
    """Prints agreement by player and the confusion table, for every judge."""
    rows = [row for run in results["runs"] for row in run["episodes"]]
    print(f"\n{len(rows)} episodes, {mean(row['truth'] for row in rows):.0%} of them solved ({DEVICE})")
    for name, found in results["judges"].items():
        seeds = found["agreement_by_seed"]
        print(f"\n{name}: {mean(seeds):.1%} ± {stdev(seeds) if len(seeds) > 1 else 0:.1%} over {len(seeds)} seeds")
        print(f"{'':12s}{'agreement':>11s}{'95 %':>16s}{'kappa':>8s}{'silent':>8s}   solved*; failed*")
        for player in ("all", *PLAYERS):
            if player in found:
                print(_line(player, found[player]))
    print("\n* of these episodes, how many the judge said were solved/failed, and on how many it was silent")
    usage = spent()
    if usage.requests:
        print(f"\n{usage.requests} questions, {usage.prompt_tokens} + {usage.completion_tokens} tokens")
    print(f"\nrerun: {results['command']}")


def _line(player: str, found: dict[str, Any]) -> str:
    interval = f"{found['low']:.1%}-{found['high']:.1%}"
    cells = ["/".join(str(number) for number in found["table"][real].values()) for real in ("solved", "failed")]
    share = f"{found['agreement']:>11.1%}{interval:>16s}{found['kappa']:>8.2f}{found['silent']:>8.1%}"
    return f"{player:12s}{share}   {cells[0]}; {cells[1]}"


if __name__ == "__main__":
    main()
