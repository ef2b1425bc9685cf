"""Screens of the phone that teach to read: whatever a goal names is to be found among an app's real elements.

Random touches lead to them, no task is solved and no goal is a task's. So they teach where the words of a goal stand on
a screen, and nothing about what to do. In some sequences a part of the labels is replaced, so that only looking helps.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from tqdm import tqdm
from transformers import PreTrainedTokenizerFast

import coach_gym  # noqa: F401  (registers the environments)
from coach_gym.actions import Action, format_action
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.pocket.demonstrations import small_picture
from coach_gym.agents.pocket.pictures import PADS
from coach_gym.agents.pocket.screens import Item, Pair, Phrase, Screens
from coach_gym.agents.pocket.sequences import Batch, Sequence, batches
from coach_gym.dialects.ui_tars import screen_lines
from coach_gym.envs.tasks.words import Split
from coach_gym.episode import Observation
from coach_gym.ui import parse_ui

LINE = re.compile(r"(.+?) ([0-9]+) ([0-9]+)((?:, .*?)?)((?: on| off)?(?: \*)?(?: =.*)?)")
"""Name, place, details and state of an element, as `screen_lines` writes them."""
TOUCHES = 5
"""Actions of a tour after its app is open."""
MOST = 3  # screens of a sequence
OTHERS = 4  # elements of a screen that are asked for although the goal does not name them
SHARES = (0.0, 0.3, 0.6)  # of labels that are replaced
FINDING = 0.75  # share of sequences that ask for one element only
ROWS = 6  # rows of a list that are asked for besides
FIRST = 4.0  # loss weight of the token that decides which
FRESH = 100  # sequences that are sorted by length into batches


@dataclass(frozen=True)
class Tour:
    """Different screens in the order in which somebody came upon them.

    Attributes:
        texts: The elements of each, as `screen_lines` writes them.
        pictures: The screenshots in the model's frame, (T, H, W, 3) uint8.
    """

    texts: list[str]
    pictures: np.ndarray


def tours(
    policy: Policy, benchmark: str, families: Iterable[str] | None, number: int, screen_size: tuple[int, int],
    split: Split = "train", seed: int = 0,
) -> Iterator[Tour]:
    """Yields random walks through the apps of tasks, with the data of their instances.

    Args:
        policy: The policy whose frame and dialect are used.
        benchmark: Id of the environment.
        families: Names of the task families whose apps are visited; None for all of the split.
        number: Tours for each family.
        screen_size: Width and height of the phone in pixels.
        split: Split of the instances.
        seed: Seed of the walks, and of the first instance.
    """  # fmt: skip
    env: gym.Env = gym.make(benchmark, screen_size=screen_size, split=split, tasks=families and list(families))
    for name, family in env.get_wrapper_attr("suite").families.items():
        for instance in range(seed, seed + number):
            yield _walk(policy, env, name, family.apps, instance)
    env.close()


def _walk(policy: Policy, env: gym.Env, family: str, apps: tuple[str, ...], seed: int) -> Tour:
    rng = random.Random(f"{family} {seed}")
    seen, _ = env.reset(seed=seed, options={"task": family})
    shown = dict([_view(policy, seen)])
    for number in range(TOUCHES + bool(apps)):
        opens = apps and not number
        action = Action("open_app", content=rng.choice(apps)) if opens else _touch(seen["ui"], rng)
        seen, _, terminated, truncated, _ = env.step(format_action(action))
        if terminated or truncated:
            break
        shown.update([_view(policy, seen)])
    return Tour(list(shown), np.stack(list(shown.values())))


def _view(policy: Policy, seen: dict[str, Any]) -> tuple[str, np.ndarray]:
    """The elements and the picture of a screen, as the policy sees them."""
    observation = Observation(seen["screenshot"], seen["ui"])
    frame = policy.frame(observation)
    return screen_lines(observation, frame), small_picture(observation, frame)


def _touch(ui: str, rng: random.Random) -> Action:
    """A touch or a long press of something that can be touched, or the way back."""
    targets = [element for element in parse_ui(ui) if element.enabled and (element.clickable or element.long_clickable)]
    if not targets or rng.random() < 0.15:
        return Action("press_back")
    target = rng.choice(targets)
    long = target.long_clickable and (not target.clickable or rng.random() < 0.5)
    return Action("long_press" if long else "click", target.center)


def save_tours(found: Iterable[Tour], path: Path) -> None:
    """Writes tours to a file for `load_tours`."""
    torch.save([(tour.texts, torch.from_numpy(tour.pictures)) for tour in tqdm(found, unit="tour", leave=False)], path)


def load_tours(path: Path) -> list[Tour]:
    """Reads tours that `save_tours` wrote, as texts and tensors only, so that no code runs."""
    return [Tour(texts, pictures.numpy()) for texts, pictures in torch.load(path, weights_only=True)]


class Reading(Screens):
    """A source of random questions about the screens of tours.

    Args:
        tokenizer: The pocket model's tokenizer.
        seen: The tours.
        seed: Seed of all randomness.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, seen: list[Tour], seed: int = 0) -> None:
        super().__init__(tokenizer, seed)
        self.tours = seen
        self.picture = self._ids("<|vision_start|>" + "<|image_pad|>" * PADS + "<|vision_end|>")
        self._known: dict[str, list[tuple[Item, list[int]]]] = {}

    def reading_sequence(self) -> Sequence:
        """Makes a goal with one screen or several."""
        return self._finding() if self.random.random() < FINDING else self._browsing()

    def sequence_of(self, lists: float) -> Sequence:
        """Makes a sequence that is about a list in a share of the cases."""
        if lists and self.random.random() < lists:
            return self.rows_sequence()
        return self.reading_sequence()

    def _finding(self) -> Sequence:
        """A goal that names one element among others, and the answer, whose first token decides all the rest."""
        tour = self.random.choice(self.tours)
        number = self.random.randrange(len(tour.texts))
        board = self._listed(self._renamed(self._lines(tour.texts[number]), {}, self.random.choice(SHARES)))
        if self.random.random() < 0.5:  # fewer elements, from which this is learned sooner
            count = self.random.randint(2, 6)
            first = self.random.randrange(max(1, len(board) - count + 1))
            board = board[first : first + count]
        clear = _clear([item for item, _ in board])
        if not clear:
            return self._browsing()
        out = Sequence(screenshots=tour.pictures[number : number + 1])
        item = self.random.choice([each for each in clear if each.details] or clear)
        goal = self.random.choice(self.openers) + self._words() + item.name.spaced + self.random.choice(self.joins)
        goal += self._words()
        out.add(self.user + goal + self.close)
        self._show_lines(out, goal, board)
        self._ask(out, goal, [item], [item], 0, first=FIRST)
        return out

    def rows_sequence(self) -> Sequence:
        """A list whose rows end alike and lead to different places: all of them are asked for, in any order."""
        tour = self.random.choice(self.tours)
        number = self.random.randrange(len(tour.texts))
        board = self._column(self._renamed(self._lines(tour.texts[number]), {}, self.random.choice(SHARES)))
        clear = _clear([item for item, _ in board])
        if len(clear) < 2:
            return self.rows_sequence()
        wanted = self.random.choice(clear)
        goal = self.random.choice(self.openers) + wanted.name.spaced + self.random.choice(self.joins)
        out = Sequence(screenshots=tour.pictures[number : number + 1])
        out.add(self.user + goal + self.close)
        self._show_lines(out, goal, board)
        self._ask(out, goal, clear, [wanted], ROWS, first=FIRST)
        return out

    def _column(self, board: list[tuple[Item, list[int]]]) -> list[tuple[Item, list[int]]]:
        """Gives a screen's elements one column and, for the most part, one end of their names or the same details."""
        ending, x = self._ending(), self.random.choice(board)[0].x
        first = self.random.randrange(max(1, len(board) - 2))
        listed = range(first, first + self.random.randint(2, 8))
        return [
            (Item(item.name, item.details, x, item.y).ending(*ending) if number in listed else item, state)
            for number, (item, state) in enumerate(board)
        ]

    def _words(self) -> list[int]:
        """Up to three words that a goal says besides."""
        words = self.random.choices(self.words, k=self.random.choice((0, 0, 1, 2, 3)))
        return [token for word in words for token in word.spaced]

    def _listed(self, board: list[tuple[Item, list[int]]]) -> list[tuple[Item, list[int]]]:
        """Lets a column end alike in half of the cases, as files of one kind and day do."""
        if self.random.random() < 0.5:
            return board
        column = self.random.choice([item.x for item, _ in board])
        ending = self._ending()
        return [(item.ending(*ending) if item.x == column else item, state) for item, state in board]

    def _browsing(self) -> Sequence:
        """A goal with some screens of a tour; asks for what the goal names, and for other elements."""
        tour = self.random.choice(self.tours)
        first = self.random.randrange(len(tour.texts))
        chosen = range(first, min(first + self.random.randint(1, MOST), len(tour.texts)))
        new: dict[tuple[int, ...], Phrase] = {}
        share = self.random.choice(SHARES)
        boards = [self._renamed(self._lines(tour.texts[number]), new, share) for number in chosen]
        named = [self._wanted([item for item, _ in board]) for board in boards]
        out = Sequence(screenshots=tour.pictures[chosen.start : chosen.stop])
        goal = self._goal(named, self._pairs())
        out.add(self.user + goal + self.close)
        for board, wanted in zip(boards, named, strict=True):
            self._show_lines(out, goal, board)
            self._ask(out, goal, _clear([item for item, _ in board]), wanted, OTHERS)
        return out

    def _pairs(self) -> list[Pair]:
        """What a goal says besides: something that is on no screen."""
        return [self._pair(False, long=0.1) for _ in range(self.random.choice((0, 0, 0, 1)))]

    def _wanted(self, board: list[Item]) -> list[Item]:
        clear = _clear(board)
        return self.random.sample(clear, min(len(clear), self.random.choice((0, 1, 1, 1, 2))))

    def _lines(self, text: str) -> list[tuple[Item, list[int]]]:
        """The elements of a screen and their states, kept because the same screens come again and again."""
        if text not in self._known:
            found: Iterator[Any] = (LINE.fullmatch(line) for line in text.splitlines())
            self._known[text] = [
                (Item(self._phrase(name), self._ids(details), int(x), int(y)), self._ids(state))
                for name, x, y, details, state in (match.groups() for match in found if match)
            ]
        return self._known[text]

    def _renamed(
        self, board: list[tuple[Item, list[int]]], new: dict[tuple[int, ...], Phrase], share: float
    ) -> list[tuple[Item, list[int]]]:
        """Replaces a share of the names, the same ones by the same on all screens of a sequence."""
        return [(self._item_named(item, new, share), state) for item, state in board]

    def _item_named(self, item: Item, new: dict[tuple[int, ...], Phrase], share: float) -> Item:
        old = tuple(item.name.plain)
        if old not in new:
            new[old] = self._label(False, long=0.0) if self.random.random() < share else item.name
        return Item(new[old], item.details, item.x, item.y)

    def _show_lines(self, out: Sequence, goal: list[int], board: list[tuple[Item, list[int]]]) -> None:
        lines = [token for item, state in board for token in self._line(item, goal) + state + self.newline]
        out.add(self.user + self.picture + lines[:-1] + self.close)


def _clear(board: list[Item]) -> list[Item]:
    """The elements whose name no other has."""
    names = [tuple(item.name.plain) for item in board]
    return [item for item, name in zip(board, names, strict=True) if names.count(name) == 1]


def reading_batches(source: Reading, tokens: int, image_token: int, lists: float = 0.0) -> Iterator[Batch]:
    """Yields batches of about `tokens` tokens of fresh sequences without end, a share of them about lists."""
    while True:
        fresh = [source.sequence_of(lists) for _ in range(FRESH)]
        yield from batches(fresh, tokens, image_token, source.random)
