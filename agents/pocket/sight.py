"""Teaches the pocket policy to see: `python -m coach_gym.agents.pocket.sight`.

The shipped policy, which has seen three demonstrations of each of twelve families of AndroidSight, is shown
`DEMONSTRATIONS` of each of its fourteen families of training, and synthetic screens on which something is searched for.
Its vision tower learns, too. A second stage, `read`, shows mostly the families that the first has not taught, `READ`.

Like `coach_gym.agents.pocket.train`, it makes the same model on a busy machine and goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import torch
from torch import nn

from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket.pictures import BEFORE, MOST, VERBS, Pictures, picture_batches
from coach_gym.agents.pocket.sequences import Sequence
from coach_gym.agents.pocket.train import TOKENS, Stage, Step, Workshop
from coach_gym.dialects.ui_tars import NAMED
from coach_gym.envs.suites.load import load_suite

STAGES = {"sight": Stage(2400, 4e-4, 0.6), "read": Stage(700, 4e-4, 0.7)}
DEMONSTRATIONS = 300  # of each family
PICTURES = 0.4  # share of batches with synthetic pictures
READ = ("GalleryCountShapes", "GalleryReadClock", "MarkorTypeWordOfPicture")
"""Families of which more is to be learned, in a stage of their own."""
READING, FEWER_PICTURES = 0.6, 0.1  # shares of batches in that stage with these families, and with synthetic pictures
SHARES = (0.55, 0.15, 0.10, 0.20)  # of searches, switches, answers due one screen later, and questions
CAMERA = 0.3  # share of searches in which pictures are named as a camera names them
OPENED = 0.5  # share of searches that begin with other screens


class Searches(Pictures):
    """Pictures as in tasks: what is asked for stands among other words of the goal, and comes after other screens."""

    def picture_sequence(self) -> Sequence:
        """Makes one goal with its pictures."""
        kinds = (self._search, self._switches, self._later, self._questions)
        return self.random.choices(kinds, SHARES)[0]()

    def _search(self) -> Sequence:
        """Each of several things is to be touched, by what is seen."""
        board, calls = self.boards.several(MOST)
        camera = self.random.random() < CAMERA
        for number, thing in enumerate(board.things):
            if camera:
                thing.label = f"IMG_{self.random.randrange(1000, 10000)}.png"
            elif isinstance(thing.label, str) and thing.label.lower() in calls[number]:
                thing.label = NAMED + thing.label
        wanted = [(thing, call) for thing, call in zip(board.things, calls, strict=True) if call]
        self.random.shuffle(wanted)
        count = self.random.choice(BEFORE) if self.random.random() < OPENED else 0
        before = [self._other_board() for _ in range(count)]
        out = Sequence(screenshots=np.stack([each.pixels for each in (*before, board)]))
        for turn, (thing, call) in enumerate(wanted):
            verb = self.random.choice(list(VERBS))
            goal = self._among_words(verb, call)
            if turn:
                self._goal_of(out, goal)
            else:
                self._open(out, goal, [*before, board])
            self._touch(out, thing, self.press if VERBS[verb] else self.click)
        return out

    def _among_words(self, verb: str, call: str) -> list[int]:
        """A goal that says where something is, what it is, and sometimes that nothing else is meant."""
        draw, label = self.random.random(), partial(self._label, False, long=0.0)
        if draw < 0.3:
            start = self._ids(verb)
        elif draw < 0.6:
            start = [*self._ids("In"), *label().spaced, *self._ids(", open"), *label().spaced, *self._ids(" with")]
            start += [*label().spaced, *self._ids(f". Then {verb.lower()}")]
        else:
            start = [*self._ids("In"), *label().spaced, *self._ids(f", {verb.lower()}")]
        where = [*self._ids(" in the folder"), *label().spaced] if self.random.random() < 0.2 else []
        return start + self._ids(call) + where + self._ids(self.random.choice((".", ", and no other.")))


class SightWorkshop(Workshop):
    """The shipped policy on its way to see.

    Args:
        directory: Keeps the state and the demonstrations between runs.
        seed: Seed of data and batches.
    """

    demonstrations = DEMONSTRATIONS

    def __init__(self, directory: Path, seed: int = 0) -> None:
        families = tuple(load_suite("android_sight").of("train").families)
        super().__init__(directory, seed, STAGES, {"AndroidSight-v0": families}, Policy.load("pocket"))
        full = self.curriculum
        full.elements, full.screens = full.ELEMENTS, full.SCREENS

    def _begin(self, name: str) -> nn.Module:
        """Returns the model, all of which learns but the codes of its tokens."""
        model = self.policy.model
        for codes in (model.model.language_model.embed_tokens, model.lm_head):
            codes.weight.requires_grad_(False)
        return model

    def _step(self, name: str) -> Step:
        pictures = Searches(self.policy.tokenizer, self.random.randrange(1 << 31))
        asked = picture_batches(pictures, TOKENS, self.policy.chat.image_pad)
        shown = self._endless(lambda: self._kept)
        if name == "sight":
            return lambda: self._mixed(shown, (PICTURES, asked))
        read = self._endless(lambda: [sequence for sequence in self._kept if sequence.task in READ])
        return lambda: self._mixed(shown, (READING, read), (FEWER_PICTURES, asked))

    @cached_property
    def _kept(self) -> list[Sequence]:
        return self._cached("demonstrations", self._demonstrations)


def main() -> None:
    """Runs the command."""
    program = "python -m coach_gym.agents.pocket.sight"
    parser = argparse.ArgumentParser(prog=program, description="Teaches the pocket policy to see.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/sight"), help="state and data; the policy is in policy/")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # sums in another order would make another model
    workshop = SightWorkshop(arguments.out, arguments.seed)
    workshop.run()
    workshop.policy.model.to(torch.bfloat16)
    workshop.policy.save(arguments.out / "policy")
    print(f"written: {arguments.out}/policy")


if __name__ == "__main__":
    main()
