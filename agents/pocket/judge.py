"""Teaches the pocket judge with forks: `python -m coach_gym.agents.pocket.judge`.

The shipped policy plays training instances. Forks tell which of its candidates in every state begin a shortest known
solution (`coach_gym.agents.pocket.solutions`), and the shipped process reward model learns these verdicts, on states
that the policy comes to. Known solutions are those of the scripted experts, so it is they who teach. Without experts,
they are what the policy itself finds in `TRIES` tries of an instance.

In further rounds, other instances are played with the judge of the round before, which chooses what is executed, and so
is asked about the mistakes that it likes. Where no expert helps, it finds more solutions, too, and needs fewer tries.

Like `coach_gym.agents.pocket.train`, it goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch
from torch import nn
from tqdm import tqdm

from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.policy import POCKET, Policy
from coach_gym.agents.models.reward_models import GenerativePRM, format_judgment
from coach_gym.agents.playing.best_of_k import BestOfK
from coach_gym.agents.playing.forks import State, play_on, play_states
from coach_gym.agents.playing.player import PolicyPlayer
from coach_gym.agents.playing.scorers import VerdictScorer
from coach_gym.agents.pocket.demonstrations import FAMILIES, answer, blunder, small_picture
from coach_gym.agents.pocket.sequences import Sequence, token_loss
from coach_gym.agents.pocket.solutions import Solutions, android, good_candidates
from coach_gym.agents.pocket.train import MAX_PROMPT_LENGTH, SCREEN, SYNTHETIC, Stage, Step, Workshop
from coach_gym.envs.android import AndroidEnv
from coach_gym.episode import Candidate, Episode

STEPS, RATE, DECAY = 4500, 4e-4, 0.6  # of the optimizer
FIRST_SEED = 5_000_000  # far from the seeds of evaluation, and from those of demonstrations
INSTANCES = 20  # of each family
K, TEMPERATURE, MAX_NEW_TOKENS = 4, 1.2, 48  # candidates of a state
TRIES = 16  # of an instance, at temperature 1, where no expert helps
CHOICE, MAX_CHOICE = 16, 64  # candidates of a state in further rounds, at temperature 1
TRIES_BY_CHOICE = 4


class JudgeWorkshop(Workshop):
    """The shipped process reward model on its way to judge.

    Args:
        directory: Keeps the state and the questions between runs.
        seed: Seed of draws and batches.
        families: Task families that the policy plays.
        instances: Training instances of each family, in every round.
        steps: Optimizer steps of a round.
        experts: Whether scripted experts tell what solves a task, or the policy's own successes alone.
        rounds: How often questions are gathered and learned from, with those of the rounds before.
    """

    def __init__(
        self, directory: Path, seed: int = 0, families: tuple[str, ...] = FAMILIES["AndroidWorld-v0"],
        instances: int = INSTANCES, steps: int = STEPS, experts: bool = True, rounds: int = 1,
    ) -> None:  # fmt: skip
        stages = {"judge" if n == 0 else f"judge_{n + 1}": Stage(steps, RATE, DECAY) for n in range(rounds)}
        super().__init__(directory, seed, stages, {"AndroidWorld-v0": families}, policy=Policy.load("pocket"))
        self.instances, self.experts = instances, experts
        self.policy.max_prompt_length = MAX_PROMPT_LENGTH
        self.prm = self.prm or GenerativePRM(Policy.load(POCKET.parent / "prm"))
        full = self.curriculum
        full.elements, full.screens = full.ELEMENTS, full.SCREENS

    def _begin(self, name: str) -> nn.Module:
        """Gathers a round's questions, and returns the model; vision tower and codes of tokens stay as they are."""
        assert self.prm is not None
        self.questions = self._gather(list(self.stages).index(name))
        model = self.prm.policy.model
        for kept in (model.model.visual, model.model.language_model.embed_tokens, model.lm_head):
            kept.requires_grad_(False)
        return model

    def _step(self, name: str) -> Step:
        assert self.prm is not None
        model, questions = self.prm.policy.model, self._endless(lambda: self.questions)

        def loss() -> torch.Tensor:
            synthetic = self.random.random() < SYNTHETIC
            return token_loss(model, self.curriculum.next() if synthetic else next(questions))[0]

        return loss

    def _gather(self, latest: int) -> list[Sequence]:
        """Returns the questions of the rounds up to the latest; every family and round has a file of its own."""
        found = []
        for number in range(latest + 1):
            for family in tqdm(self.families["AndroidWorld-v0"], f"questions {number + 1}", unit="family"):
                name = f"questions_{family}" if number == 0 else f"questions_{number + 1}_{family}"
                found += self._cached(name, partial(self._questions, family, number))
        if not found:
            raise ValueError(
                f"no solution of the {self.instances} instances of each family "
                f"({', '.join(self.families['AndroidWorld-v0'])}) was found, so there is nothing to learn; pass more "
                f"instances or other families"
            )
        return found

    def _questions(self, family: str, number: int) -> list[Sequence]:
        rng = random.Random(f"{self.seed} {family} {number}" if number else f"{self.seed} {family}")
        torch.manual_seed(rng.randrange(1 << 31))
        self.player, self.trying = self._players(number)
        self.tries = TRIES_BY_CHOICE if number else TRIES
        env = AndroidEnv(screen_size=SCREEN, tasks=(family,), split="train")
        first = FIRST_SEED + number * self.instances
        seeds = range(first, first + self.instances)
        found = [asked for seed in seeds for asked in self._asked(*play_states(self.player, env, seed), rng)]
        env.close()
        return found

    def _players(self, number: int) -> tuple[PolicyPlayer, PolicyPlayer]:
        """Returns who plays the episodes of a round, and who tries to solve their instances."""
        assert self.prm is not None
        generator = TransformersGenerator(self.policy)
        if number:
            score = VerdictScorer(self.policy, self.prm.judge)
            chooser = BestOfK(self.policy, generator, 1.0, MAX_NEW_TOKENS, score, CHOICE, MAX_CHOICE)
            return chooser, chooser
        player = PolicyPlayer(self.policy, generator, TEMPERATURE, MAX_NEW_TOKENS)
        player.k = K
        return player, PolicyPlayer(self.policy, generator, 1.0, MAX_NEW_TOKENS)

    def _asked(self, episode: Episode, states: list[State], rng: random.Random) -> Iterator[Sequence]:
        """Asks about the candidates of an episode's states, about the expert's answers, and about random touches."""
        solutions = self._solutions(episode, states[0])
        if episode.outcome is None or solutions is None:
            return
        for state in states:
            first = solutions.shortest(android(state), state.observation).first
            more = [blunder(self.policy, state.observation, episode.goal, rng)]
            more += [answer(self.policy, first, state.observation, episode.goal)] if first is not None else []
            state.candidates += [Candidate(text, [], []) for text in more]
        good = good_candidates(self.policy, episode, states, solutions)
        assert good is not None
        for number, (state, verdicts) in enumerate(zip(states, good, strict=True)):
            known = {c.text: v for c, v in zip(state.candidates, verdicts, strict=True) if not math.isnan(v)}
            right = [text for text, verdict in known.items() if verdict]
            for text, verdict in known.items() if right else ():
                yield self._question(episode, number, state, text, bool(verdict), right[-1])

    def _solutions(self, episode: Episode, start: State) -> Solutions | None:
        if self.experts:
            return Solutions.of(episode, android(start), start.observation)
        return Solutions.found([episode, *play_on(self.trying, start, self.tries)])

    def _question(
        self, episode: Episode, number: int, state: State, text: str, good: bool, right: str
    ) -> Sequence:  # fmt: skip
        """A question about one candidate, with the verdict; the reasoning names the target of a right answer."""
        assert self.prm is not None
        chat, frame = self.prm.policy.chat, self.policy.frame(state.observation)
        history = [(step.observation, step.action) for step in episode.steps[:number]]
        asked = self.prm.prompt(episode.goal, [*history, (state.observation, self.policy.parse(text, frame))])
        reason = right.partition("\n")[0].removeprefix("Thought: ")
        sequence = Sequence(task=episode.task, screenshots=small_picture(state.observation, frame)[None])
        sequence.add(asked.input_ids)
        sequence.add([*chat.encode_text(format_judgment(good, reason)), chat.turn_end], 1.0)
        return sequence


def main() -> None:
    """Runs the command."""
    program = "python -m coach_gym.agents.pocket.judge"
    parser = argparse.ArgumentParser(prog=program, description="Teaches the pocket judge with forks.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", nargs="+", default=FAMILIES["AndroidWorld-v0"], metavar="FAMILY")
    parser.add_argument("--instances", type=int, default=INSTANCES, help="of each family, in a round; %(default)s")
    parser.add_argument("--steps", type=int, default=STEPS, help="of the optimizer, in a round; %(default)s")
    parser.add_argument("--rounds", type=int, default=1, help="in further ones, the judge chooses; %(default)s")
    parser.add_argument("--without-experts", action="store_true", help="learn from the policy's own successes alone")
    told = "state and data of these settings; the judge is in prm/"
    parser.add_argument("--out", type=Path, default=Path("runs/judge"), help=told)
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error(f"--rounds {arguments.rounds} teaches nothing; pass 1 or more")
    torch.set_num_threads(1)  # sums in another order would make another model
    families, experts = tuple(arguments.families), not arguments.without_experts
    workshop = JudgeWorkshop(
        arguments.out, arguments.seed, families, arguments.instances, arguments.steps, experts, arguments.rounds
    )  # fmt: skip
    workshop.run()
    assert workshop.prm is not None
    workshop.prm.policy.model.to(torch.bfloat16)
    workshop.prm.policy.save(arguments.out / "prm")
    print(f"written: {arguments.out}/prm")


if __name__ == "__main__":
    main()
