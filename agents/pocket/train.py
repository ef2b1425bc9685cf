"""Makes the pocket models from scratch: `python -m coach_gym.agents.pocket.train`.

Stages, in order: `ground` (synthetic screens teach to copy), `see` (synthetic pictures teach the vision tower to name
what is drawn, in tokens like those of the words), `look` (the decoder learns to answer about them, and to find what a
goal names on screens that random touches come upon), `imitate` (a few demonstrations of every family, mixed with all of
these) and `prm` (the process reward model, from the same demonstrations). A fifth of all batches stays synthetic, and
`imitate` has half the learning rate: at the full rate the model forgets within minutes how to copy words that it does
not know. No stage injects errors, and of how a task is solved nothing else than `DEMONSTRATIONS` episodes of its family
is ever shown. The critic is taught last, by forks of `LESSONS` episodes of the policy, with no expert.

Work is counted in optimizer steps, and every stretch of `STRETCH` steps has a seed of its own. So the same command
makes the same models on a busy machine, bit for bit with one thread, however often it is interrupted: its state is in
`runs/pocket`, and the same command continues from there.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import torch
from torch import Tensor, nn
from tqdm import trange

from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.pocket.build import build_policy
from coach_gym.agents.pocket.curriculum import Curriculum
from coach_gym.agents.pocket.demonstrations import (  # fmt: skip
    FAMILIES,
    Demonstration,
    demonstrate,
    load_sequences,
    save_sequences,
    to_sequence,
)
from coach_gym.agents.pocket.judgments import judge, verdict_sequences
from coach_gym.agents.pocket.looking import Looking
from coach_gym.agents.pocket.optimizers import Optimizers
from coach_gym.agents.pocket.pictures import Pictures, picture_batches
from coach_gym.agents.pocket.reading import Reading, Tour, load_tours, reading_batches, save_tours, tours
from coach_gym.agents.pocket.sequences import Batch, Sequence, batches, token_loss
from coach_gym.agents.pocket.variants import Variants
from coach_gym.agents.training.critic.lessons import Plan, collect
from coach_gym.agents.training.critic.school import teach

Step = Callable[[], Tensor]
"""Computes the loss of the next batch."""


class Stage(NamedTuple):
    """A stage's number of optimizer steps, its learning rate, and the share of steps at the end in which that falls."""

    steps: int
    rate: float
    decay: float


STAGES = {
    "ground": Stage(1500, 8e-4, 0.3),
    "see": Stage(4000, 1e-3, 0.5),
    "look": Stage(1500, 8e-4, 0.4),
    "imitate": Stage(1500, 4e-4, 0.5),
    "prm": Stage(400, 4e-4, 0.5),
}
STRETCH = 100
"""Steps between two saved states."""
TOKENS = 3000  # of a batch
SCREEN = (270, 600)
FIRST_SEED = 1 << 20  # far from the seeds of evaluation
DEMONSTRATIONS = 3  # of each family
SYNTHETIC, PICTURES, READING = 0.2, 0.3, 0.1  # shares of batches that are not of the stage itself
LISTS = 0.3  # share of lists among the screens to read
TOURS = {"AndroidWorld-v0": 20, "AndroidLab-v0": 10}  # random walks for each training family, by benchmark
BOARDS = 32  # pictures of a batch for the vision tower
LESSONS, PLAN = 640, Plan(hot_temperature=1.2, states=2, deterministic=True, max_new_tokens=48)
NUM_ENVS, MAX_PROMPT_LENGTH = 16, 3072  # of the lessons


class Workshop:
    """The models in training, and everything needed to continue after a pause.

    Args:
        directory: Keeps the state and the training data between runs.
        seed: Seed of weights, data and batches.
        stages: Length and learning rate of every stage.
        families: Task families to imitate, by benchmark.
        policy: The policy to begin with; None makes one.
    """

    demonstrations = DEMONSTRATIONS

    def __init__(
        self, directory: Path, seed: int = 0, stages: dict[str, Stage] | None = None,
        families: dict[str, tuple[str, ...]] | None = None, policy: Policy | None = None,
    ) -> None:  # fmt: skip
        directory.mkdir(parents=True, exist_ok=True)
        self.directory, self.seed = directory, seed
        self.stages = stages or STAGES
        self.families = families or FAMILIES
        self.steps = dict.fromkeys(self.stages, 0)
        self.random = random.Random()
        self.policy = policy or build_policy(seed)
        self.curriculum = Curriculum(self.policy, TOKENS)
        self.looking: Looking | None = None
        self.prm: GenerativePRM | None = None
        if self._state.is_file():
            self._restore(torch.load(self._state, weights_only=True))

    @property
    def _state(self) -> Path:
        return self.directory / "state.pt"

    def run(self, deadline: float = float("inf")) -> bool:
        """Trains until all stages are done or the monotonic clock passes `deadline`; returns whether all are done.

        The clock is read after every stretch, so it changes what is done in this call and nothing about the models.
        """
        for name, stage in self.stages.items():
            if self.steps[name] == stage.steps:
                continue
            model = self._begin(name)
            optimizers = Optimizers(model, stage.rate)
            self._load_optimizers(optimizers)
            while self.steps[name] < stage.steps:
                self._stretch(name, optimizers)
                self._save(optimizers)
                if time.monotonic() > deadline:
                    return self.steps[name] == stage.steps and name == list(self.stages)[-1]
        return True

    def publish(self, directory: Path) -> None:
        """Writes policy and process reward model in bfloat16, as `Policy.load` and `GenerativePRM.load` read them."""
        assert self.prm is not None
        for name, policy in (("policy", self.policy), ("prm", self.prm.policy)):
            policy.model.to(torch.bfloat16)
            policy.save(directory / name)

    def _begin(self, name: str) -> nn.Module:
        """Returns the model that a stage trains; the vision tower learns in its own stage only."""
        if name == "see":
            torch.manual_seed(self.seed)
            self.looking = self.looking or Looking(self.policy)
            return self.looking.requires_grad_(True)
        if name == "prm":
            self.prm = self.prm or GenerativePRM(_copy(self.policy))
        model = self.prm.policy.model if name == "prm" and self.prm else self.policy.model
        model.model.visual.requires_grad_(False)
        return model

    def _stretch(self, name: str, optimizers: Optimizers) -> None:
        """Makes the next `STRETCH` steps of a stage, whose randomness depends on nothing but their number."""
        stage, done = self.stages[name], self.steps[name]
        seed = random.Random(f"{self.seed} {name} {done}").randrange(1 << 31)
        self.random.seed(seed)
        self.curriculum.restart(seed)
        step = self._step(name)
        with trange(done, min(done + STRETCH, stage.steps), desc=name, leave=False) as bar:
            for number in bar:
                loss = step()
                optimizers.step(loss, min(1.0, (1 - number / stage.steps) / stage.decay))
                bar.set_postfix(loss=f"{loss.item():.3f}")
                self.steps[name] = number + 1
        print(f"{name} {self.steps[name]}/{stage.steps}: loss {loss.item():.3f}", flush=True)

    def _step(self, name: str) -> Step:
        if name == "ground":
            return self._synthetic
        pictures = Pictures(self.policy.tokenizer, self.random.randrange(1 << 31))
        if name == "see":
            assert self.looking is not None
            loss = self.looking.loss
            return lambda: loss([pictures.boards.any() for _ in range(BOARDS)])[0]
        asked = picture_batches(pictures, TOKENS, self.policy.chat.image_pad)
        if name in ("look", "imitate"):
            reading = Reading(self.policy.tokenizer, self._tours, self.random.randrange(1 << 31))
            read = reading_batches(reading, TOKENS, self.policy.chat.image_pad, LISTS)
            if name == "look":
                return lambda: self._mixed(asked, (2 * READING, read))
            variants = Variants(reading, self._cached("demonstrations", self._demonstrations))
            shown = self._endless(variants.draw)
            return lambda: self._mixed(shown, (PICTURES, asked), (READING, read))
        verdicts = self._cached("verdicts", self._verdicts)
        questions = self._endless(lambda: verdicts)
        assert self.prm is not None
        model = self.prm.policy.model
        return lambda: token_loss(model, next(questions))[0]

    def _synthetic(self) -> Tensor:
        loss, right, weights = token_loss(self.policy.model, self.curriculum.next())
        self.curriculum.learn(right, weights)
        return loss

    def _mixed(self, main: Iterator[Batch], *others: tuple[float, Iterator[Batch]]) -> Tensor:
        """The loss of a synthetic screen's batch, of one of the others, or else of the main one, by their shares."""
        draw = self.random.random() - SYNTHETIC
        if draw < 0:
            return self._synthetic()
        for share, source in others:
            draw -= share
            if draw < 0:
                return self._loss(next(source))
        return self._loss(next(main))

    def _loss(self, batch: Batch) -> Tensor:
        return token_loss(self.policy.model, batch)[0]

    def _demonstrations(self) -> list[Sequence]:
        return [to_sequence(self.policy, shown) for shown in self._shown()]

    def _verdicts(self) -> list[Sequence]:
        """Questions about the states of the demonstrations, with the policy's own proposals as answers to judge."""
        assert self.prm is not None
        rng, generator = random.Random(self.seed), TransformersGenerator(self.policy)
        torch.manual_seed(self.seed)
        judged = [judge(self.policy, shown, rng, generator) for shown in self._shown()]
        return [question for each in judged for question in verdict_sequences(self.prm, each, rng)]

    def _shown(self) -> Iterator[Demonstration]:
        """The demonstrations: `demonstrations` training instances of each family, the same for all stages."""
        seeds = range(FIRST_SEED, FIRST_SEED + self.demonstrations)
        for benchmark, families in self.families.items():
            yield from demonstrate(self.policy, benchmark, families, seeds, SCREEN)

    @cached_property
    def _tours(self) -> list[Tour]:
        """Random walks, the same for all stages."""
        path = self.directory / "tours.pt"
        if not path.is_file():
            found = (tours(self.policy, name, None, number, SCREEN) for name, number in TOURS.items())
            save_tours(chain.from_iterable(found), path)
        return load_tours(path)

    def _cached(self, name: str, make: Callable[[], list[Sequence]]) -> list[Sequence]:
        path = self.directory / f"{name}.pt"
        if not path.is_file():
            save_sequences(make(), path)
        return load_sequences(path)

    def _endless(self, draw: Callable[[], list[Sequence]]) -> Iterator[Batch]:
        while True:
            yield from batches(draw(), TOKENS, self.policy.chat.image_pad, self.random)

    def _save(self, optimizers: Optimizers) -> None:
        models = {"policy": self.policy.model.state_dict()}
        if self.looking is not None:
            models["looking"] = self.looking.state_dict()
        if self.prm is not None:
            models["prm"] = self.prm.policy.model.state_dict()
        state = {
            "steps": self.steps, "models": models, "optimizers": optimizers.state_dict(),
            "curriculum": (self.curriculum.elements, self.curriculum.screens, self.curriculum.accuracy),
        }  # fmt: skip
        partial = self._state.with_suffix(".tmp")
        torch.save(state, partial)
        partial.replace(self._state)

    def _restore(self, state: dict[str, Any]) -> None:
        self.steps.update(state["steps"])
        self.curriculum.elements, self.curriculum.screens, self.curriculum.accuracy = state["curriculum"]
        self.policy.model.load_state_dict(state["models"]["policy"])
        if "looking" in state["models"]:
            self.looking = Looking(self.policy)
            self.looking.load_state_dict(state["models"]["looking"])
        if "prm" in state["models"]:
            self.prm = GenerativePRM(_copy(self.policy))
            self.prm.policy.model.load_state_dict(state["models"]["prm"])

    def _load_optimizers(self, optimizers: Optimizers) -> None:
        """Continues with the stored state of a stage that was interrupted."""
        if self._state.is_file():
            state = torch.load(self._state, weights_only=True)["optimizers"]
            if state["steps"] == self.steps[self._current]:
                optimizers.load_state_dict(state)

    @property
    def _current(self) -> str:
        return next(name for name, stage in self.stages.items() if self.steps[name] < stage.steps)


def teach_critic(weights: Path, lessons: Path) -> None:
    """Teaches a critic what the published policy's candidates lead to, and publishes it in bfloat16."""
    policy = Policy.load(weights / "policy")
    policy.max_prompt_length = MAX_PROMPT_LENGTH
    envs = gym.make_vec(
        "AndroidWorld-v0", num_envs=NUM_ENVS, vectorization_mode="vector_entry_point",
        tasks=FAMILIES["AndroidWorld-v0"], screen_size=SCREEN, split="train",
    )  # fmt: skip
    collect(policy, TransformersGenerator(policy), envs, lessons, LESSONS, PLAN, progress_bar=True)
    envs.close()
    critic, reports = teach(policy, lessons, progress_bar=True)
    print(*reports, sep="\n")
    critic.to(torch.bfloat16).save(weights / "critic")


def _copy(policy: Policy) -> Policy:
    return Policy(deepcopy(policy.model), policy.tokenizer, policy.image_processor, policy.dialect)


def main() -> None:
    """Runs the command."""
    program = "python -m coach_gym.agents.pocket.train"
    parser = argparse.ArgumentParser(prog=program, description="Makes the pocket models.")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="pause after so long; run again to go on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/pocket"), help="state and data between runs")
    parser.add_argument("--weights", type=Path, default=Path(__file__).parent / "weights")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # sums in another order would make other models
    workshop = Workshop(arguments.out, arguments.seed)
    if workshop.run(time.monotonic() + 60 * arguments.minutes):
        workshop.publish(arguments.weights)
        teach_critic(arguments.weights, arguments.out / "lessons")
        print(f"written: {arguments.weights}/policy, prm, critic")
    else:
        print("to go on, run the same command again")


if __name__ == "__main__":
    main()
