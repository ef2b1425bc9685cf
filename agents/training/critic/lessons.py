"""What a critic learns from: the policy's own episodes, and what other candidates would have led to.

The policy plays training instances. In every state it draws further responses at a higher temperature. In the states of
an episode where these differ most, every distinct one is played to the end on a fork. No expert is needed, and no
process reward model.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

import numpy as np
import torch
from gymnasium.vector import VectorEnv
from tqdm import tqdm

from coach_gym.actions import ActionError, format_action
from coach_gym.agents.generation.generator import Generator, OnFirst
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.collector import Collector
from coach_gym.agents.playing.forks import measure_candidates
from coach_gym.agents.playing.player import PolicyPlayer, Situation
from coach_gym.agents.training.batching import FIRST_TRAINING_SEED
from coach_gym.agents.training.objective.returns import discounted_outcome
from coach_gym.checks import require_share, require_switch, require_temperature, require_whole
from coach_gym.episode import Candidate, Episode, Step
from coach_gym.files import read_object, write_whole
from coach_gym.recording.archive import write_episode

_LEDGER = "lessons.json"


@dataclass(frozen=True)
class Plan:
    """How lessons are made.

    Attributes:
        k: Responses drawn in every state, of which the distinct ones count.
        temperature: Temperature of the first one, which is executed, and of all that follows a candidate on a fork.
        hot_temperature: Temperature of the other k - 1, which should be various.
        states: States of an episode that are measured: those with the most different actions.
        gamma: Discount factor of returns.
        deterministic: Continues forks with the most likely responses instead of draws, which is less noisy; returns are
            then those of the greedy policy.
        malformed_is_worthless: Sets the return of a response that is no action to 0, as `CoachAgent` does.
        max_new_tokens: Length at which a response is cut off.
        seed: Seed of instances and draws.
    """

    k: int = 8
    temperature: float = 1.0
    hot_temperature: float = 1.5
    states: int = 1
    gamma: float = 0.95
    deterministic: bool = False
    malformed_is_worthless: bool = True
    max_new_tokens: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        require_whole(1, k=self.k, states=self.states, max_new_tokens=self.max_new_tokens)
        if self.k < 2:
            raise ValueError(f"k={self.k} leaves nothing to compare; pass 2 or more")
        require_whole(0, seed=self.seed)
        require_share(gamma=self.gamma)
        require_switch(deterministic=self.deterministic, malformed_is_worthless=self.malformed_is_worthless)
        require_temperature(temperature=self.temperature, hot_temperature=self.hot_temperature)


@dataclass
class Ledger:
    """How far lessons have come.

    Attributes:
        plan: How they are made.
        episodes: Episodes played.
        timesteps: Steps taken in these episodes.
        fork_steps: Steps taken on forks of their states.
    """

    plan: Plan
    episodes: int = 0
    timesteps: int = 0
    fork_steps: int = 0


def collect(
    policy: Policy,
    generator: Generator,
    envs: VectorEnv,
    directory: str | Path,
    episodes: int,
    plan: Plan | None = None,
    progress_bar: bool = False,
) -> Ledger:
    """Makes lessons until a directory has those of so many episodes; an interrupted call can be repeated.

    Args:
        policy: Plays the episodes, and continues the forks.
        generator: Draws its responses.
        envs: Environments that can be forked, such as `AndroidVectorEnv` on the embedded phone.
        directory: Where the lessons are kept, one file an episode.
        episodes: Episodes to play in all, those of earlier calls included. Episodes that a fault has left without a
            verdict give no lesson.
        plan: How lessons are made.
        progress_bar: Shows a progress bar.

    Raises:
        UsageError: The environments cannot be forked.
        ValueError: The directory has lessons that were made in another way.
    """
    directory, plan = Path(directory), plan or Plan()
    directory.mkdir(parents=True, exist_ok=True)
    ledger = _opened(directory, plan)
    player = _CuriousPlayer(policy, generator, plan)
    with tqdm(total=episodes, initial=ledger.episodes, desc="lessons", unit="episode", disable=not progress_bar) as bar:
        while ledger.episodes < episodes:
            first, size = ledger.episodes, min(2 * envs.num_envs, episodes - ledger.episodes)
            played = _play(player, envs, first, size)
            lessons = {number: episode for number, episode in played.items() if episode.learnable}
            ledger.timesteps += sum(episode.length for episode in played.values())
            ledger.fork_steps += _measure(player, lessons)
            for number, episode in lessons.items():
                write_episode(directory / f"{number:06d}.npz", episode)
            ledger.episodes += size
            _write(directory, ledger)
            bar.set_postfix(fork_steps=ledger.fork_steps)
            bar.update(size)
    return ledger


class _CuriousPlayer(PolicyPlayer):
    """Acts as the policy does, and draws further responses at a higher temperature; keeps the distinct ones."""

    def __init__(self, policy: Policy, generator: Generator, plan: Plan) -> None:
        super().__init__(policy, generator, plan.temperature, plan.max_new_tokens)
        self.plan = plan

    def draw(self, situations: Sequence[Situation], on_first: OnFirst | None = None) -> list[list[Candidate]]:
        prompts, plan = self.prompts(situations), self.plan
        firsts = self.explore(prompts, 1, on_first)
        others = self.generator.sample(prompts, plan.k - 1, plan.hot_temperature, plan.max_new_tokens)
        return [_distinct([*first, *other]) for first, other in zip(firsts, others, strict=True)]


def _distinct(candidates: Sequence[Candidate]) -> list[Candidate]:
    distinct: dict[str, Candidate] = {}
    for candidate in candidates:
        distinct.setdefault(candidate.text, candidate)
    return list(distinct.values())


def _play(player: _CuriousPlayer, envs: VectorEnv, first: int, size: int) -> dict[int, Episode]:
    """Plays a batch of episodes with a seed of its own, so that it does not matter where a call was interrupted."""
    torch.manual_seed(_drawn(player.plan.seed, first))
    collector = Collector(
        envs, player, _seeds(player.plan.seed, first), first, size, in_rounds=True, max_staleness=0,
        timed=lambda part: nullcontext(), keep_forks=True,
    )  # fmt: skip
    attempts = collector.collect(lambda transition: True) or []
    return {attempt.number: attempt.episode for attempt in attempts}


def _seeds(seed: int, first: int) -> Iterator[int]:
    for number in count(first):
        yield FIRST_TRAINING_SEED + _drawn(seed, number) % ((1 << 31) - FIRST_TRAINING_SEED)


def _drawn(seed: int, number: int) -> int:
    return int(np.random.SeedSequence((seed, number)).generate_state(1)[0])


def _measure(player: _CuriousPlayer, lessons: dict[int, Episode]) -> int:
    """Turns episodes into lessons: sets the known returns, and measures what is not known. Returns the steps taken."""
    for number, episode in lessons.items():
        _assign_returns(player, episode)
        _choose(player, episode, np.random.default_rng((player.plan.seed, number)))
    return measure_candidates(player, list(lessons.values()), player.plan.gamma, player.plan.deterministic)


def _assign_returns(player: _CuriousPlayer, episode: Episode) -> None:
    """Sets what is known before any fork: returns of executed actions, and the 0 of responses that are no action."""
    returns = discounted_outcome(episode.length, episode.outcome or 0.0, player.plan.gamma)
    for step, return_ in zip(episode.steps, returns, strict=True):
        if not player.plan.deterministic:
            step.candidates[step.executed].return_ = step.return_ = return_
        if player.plan.malformed_is_worthless:
            for candidate in step.candidates:
                if not player.policy.is_action(candidate.text, player.policy.frame(step.observation)):
                    candidate.return_ = 0.0


def _choose(player: _CuriousPlayer, episode: Episode, rng: np.random.Generator) -> None:
    """Keeps forks and candidates of the states where candidates differ most, and cuts the episode after the last."""
    worth = []
    for t, step in enumerate(episode.steps):
        actions = {_action(player, step, candidate) for candidate in step.candidates}
        if step.env is not None and len(actions) > 1:
            worth.append((len(actions), rng.random(), t))
    chosen = {t for *_, t in sorted(worth, reverse=True)[: player.plan.states]}
    for t, step in enumerate(episode.steps):
        if t not in chosen:
            step.env, step.candidates = None, [step.candidates[step.executed]]
    if chosen:
        del episode.steps[max(chosen) + 1 :]


def _action(player: _CuriousPlayer, step: Step, candidate: Candidate) -> str:
    """A candidate's action without its thought. All responses that are no action count as one if they are worthless."""
    try:
        _, action = player.policy.dialect.parse(candidate.text, player.policy.frame(step.observation))
    except ActionError:
        return "" if player.plan.malformed_is_worthless else candidate.text
    return format_action(action)


def _opened(directory: Path, plan: Plan) -> Ledger:
    if not (directory / _LEDGER).is_file():
        return Ledger(plan)
    told = read_object(directory / _LEDGER, plan=dict, episodes=int, timesteps=int, fork_steps=int)
    known = Plan(**told.pop("plan"))
    if known != plan:
        other = {name: value for name, value in asdict(known).items() if value != getattr(plan, name)}
        raise ValueError(f"the lessons in {directory} were made with {other}; pass these, or another directory")
    return Ledger(plan, **told)


def _write(directory: Path, ledger: Ledger) -> None:
    write_whole(directory / _LEDGER, json.dumps(asdict(ledger), indent=2) + "\n")
