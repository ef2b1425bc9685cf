"""Synthetic pictures that teach a small model to look: what is asked for is seen on them and stands in no text.

A sequence is a goal, a screen and an answer, then further questions about the same screen. Some answers are due one
screen later, as in tasks in which something is looked up in one app and used in another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from transformers import PreTrainedTokenizerFast

from coach_gym.agents.pocket.boards import Board, Boards, Label, Thing, caption
from coach_gym.agents.pocket.drawings import COUNTS, DIRECTIONS, PAINTS, SHAPES, STROKES
from coach_gym.agents.pocket.screens import CERTAIN, GRAMMAR, HEIGHT, PLACE, REPEAT, WIDTH, Phrase, Screens
from coach_gym.agents.pocket.sequences import MERGE, PATCH, Batch, Sequence, batches

PADS = WIDTH * HEIGHT // (PATCH * MERGE) ** 2
"""Visual tokens of a picture."""

QUESTIONS: dict[str, tuple[str, ...]] = {
    "color": (" What color is it?", " Which color does the picture show?", " Tell the color of the shape."),
    "count": (" How many shapes does it show?", " How many are there?", " Count the shapes."),
    "shape": (" Which shape does it show?", " What is on the sign?", " Which shape is it?"),
    "direction": (" Which way does the arrow point?", " Where does the arrow point?"),
    "tallest": (" Which color has the tallest bar of the chart?", " What color is the highest bar?"),
    "time": (" What time does the clock show?", " Read the time."),
    "drawing": (" What is drawn?", " What was drawn by finger?"),
    "state": (" Is the switch on or off?",),
    "side": (" On which side of the river does the pin stand?", " Is the pin west or east of the river?"),
}
OPTIONS: dict[str, tuple[str, ...]] = {
    "color": PAINTS, "shape": tuple(SHAPES), "direction": DIRECTIONS, "tallest": PAINTS[:6], "drawing": tuple(STROKES),
    "side": ("west", "east"),
}  # fmt: skip
"""Answers that a goal may list."""
LOOKS = (" Look at the picture.", " In the picture:", " Open the picture and look.", "")
VERBS = {"Tap": False, "Press": False, "Choose": False, "Open": False, "Delete": True, "Mark": True}
"""How goals begin, and whether that takes a long press."""
MOST = 9  # things among which one is to be found
SHARES = (0.30, 0.10, 0.20, 0.40)  # of searches, switches, answers due one screen later, and questions
BEFORE = (0, 0, 1, 2, 3)  # screens before the picture that is asked about
FRESH = 100  # sequences that are sorted by length into batches


class Pictures(Screens):
    """A source of random sequences with pictures, fast enough to be drawn while training.

    Args:
        tokenizer: The pocket model's tokenizer.
        seed: Seed of all randomness.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, seed: int = 0) -> None:
        self._known: dict[str, list[int]] = {}
        super().__init__(tokenizer, seed)
        self.boards = Boards(self.random, self._label)
        self.picture = self._ids("<|vision_start|>" + "<|image_pad|>" * PADS + "<|vision_end|>")
        self.press = self._ids("\nAction: long_press(start_box='(")

    def _ids(self, text: str) -> list[int]:
        """Token ids of a text, kept because the same texts come again and again."""
        if text not in self._known:
            self._known[text] = super()._ids(text)
        return self._known[text]

    def picture_sequence(self) -> Sequence:
        """Makes one goal with its pictures."""
        kinds = (self._search, self._switches, self._later, self._questions)
        return self.random.choices(kinds, SHARES)[0]()

    def _search(self) -> Sequence:
        """Each of several things is to be touched, by what is seen; then all of them are to be named."""
        board, calls = self.boards.several(MOST)
        wanted = [(thing, call) for thing, call in zip(board.things, calls, strict=True) if call]
        self.random.shuffle(wanted)
        out = Sequence(screenshots=board.pixels[None])
        for turn, (thing, call) in enumerate(wanted):
            verb = self.random.choice(list(VERBS))
            self._goal_of(out, self._ids(verb) + self._ids(call + "."), None if turn else board)
            self._touch(out, thing, self.press if VERBS[verb] else self.click)
        question = self._ids(" What do they show?")
        self._goal_of(out, question)
        out.add(self.assistant + self.thought + question + self.finished)
        for number, thing in enumerate(board.things):
            out.add((self.comma if number else []), GRAMMAR)
            out.add(self._ids((" " if number else "") + caption(thing.facts)), CERTAIN)
        out.add(self.after_text + self.end, GRAMMAR)
        out.add(self.newline)
        return out

    def _switches(self) -> Sequence:
        """Which of some switches are on, and which must be touched so that only one is."""
        board, names = self.boards.switches()
        switches, save = board.things[:-1], board.things[-1]
        out = Sequence(screenshots=board.pixels[None])
        for turn, number in enumerate(self.random.sample(range(len(names)), len(names))):
            name, shown = self._phrase_of(names[number]).spaced, None if turn else board
            if self.random.random() < 0.5:
                question = [*self._ids(" Is"), *name, *self._ids(" on or off?")]
                self._goal_of(out, question, shown)
                self._answer(out, question, switches[number].facts["state"])
            else:
                only = [*self._ids("Set the switches so that only"), *name, *self._ids(" is on, and press Save.")]
                self._goal_of(out, only, shown)
                wrong = [s for i, s in enumerate(switches) if (s.facts["state"] == "on") != (i == number)]
                self._touch(out, wrong[0] if wrong else save, self.click)
        return out

    def _questions(self) -> Sequence:
        """Questions about one large picture, for the most part opened after other screens."""
        board = self.boards.one()
        facts = list(board.things[0].facts.items())
        self.random.shuffle(facts)
        before = [self._other_board() for _ in range(self.random.choice(BEFORE))]
        out = Sequence(screenshots=np.stack([each.pixels for each in (*before, board)]))
        for turn, (fact, truth) in enumerate(facts):
            question, rest, said = self._question(fact, truth)
            if turn:
                self._goal_of(out, question + rest)
            else:
                look = self._ids(self.random.choice(LOOKS)) + self._place()
                self._open(out, look + question + rest, [*before, board])
            self._answer(out, question, said)
        return out

    def _other_board(self) -> Board:
        """A screen that is not asked about: of text, of several pictures or of another large one."""
        draw = self.random.random()
        if draw < 0.5:
            return self.boards.words([])
        return self.boards.several(MOST)[0] if draw < 0.8 else self.boards.one()

    def _place(self) -> list[int]:
        """Where a picture is, or nothing."""
        if self.random.random() < 0.5:
            return []
        return [*self._ids(" It is in"), *self._label(False, long=0.0).spaced, *self._ids(".")]

    def _open(self, out: Sequence, goal: list[int], boards: list[Board]) -> None:
        """Adds a goal and several screens, each opened from the one before."""
        self._goal_of(out, goal, boards[0])
        for board in boards[1:]:
            opened = self._ids("Thought: open\nAction: open_app(app_name='") + self.random.choice(self.whole).plain
            out.add(self.assistant + opened + self.after_text + self.end + self.newline)
            self._show_board(out, board)

    def _later(self) -> Sequence:
        """One large picture, then another screen, on which the answer is touched or typed."""
        board = self.boards.one()
        fact, truth = self.random.choice(list(board.things[0].facts.items()))
        question, rest, _ = self._question(fact, truth)
        words = self._options(fact, truth) if fact in OPTIONS else [truth]
        other = self.boards.words(words)
        typed = len(words) == 1 or self.random.random() < 0.5
        out = Sequence(screenshots=np.stack([board.pixels, other.pixels]))
        then = self._ids(" Then type it." if typed else " Then tap it.")
        self._goal_of(out, self._ids(self.random.choice(LOOKS)) + question + rest + then, board)
        opened = self._ids("Thought: open\nAction: open_app(app_name='") + self.random.choice(self.whole).plain
        out.add(self.assistant + opened + self.after_text + self.end + self.newline)
        self._show_board(out, other)
        if typed:
            out.add(self.assistant + self.thought + self._label(True).spaced)
            out.add(self.type, GRAMMAR)
            self._say(out, truth)
        else:
            self._touch(out, other.things[words.index(truth)], self.click)
        return out

    # parts of sequences

    def _question(self, fact: str, truth: str) -> tuple[list[int], list[int], str]:
        """A question, how it is to be answered, and the answer."""
        question = self._ids(self.random.choice(QUESTIONS[fact]))
        if fact == "count" and self.random.random() < 0.7:
            return question, self._ids(" Answer with a number."), str(COUNTS.index(truth) + 1)
        if fact in OPTIONS and self.random.random() < 0.6:
            options = [self._ids(" " + option) for option in self._options(fact, truth)]
            listed = [token for option in options[:-1] for token in option + self.comma] + options[-1]
            return question, self._ids(" Answer with one of:") + listed + self._ids("."), truth
        return question, [], truth

    def _options(self, fact: str, truth: str) -> list[str]:
        """Some answers in any order, with the right one."""
        others = [option for option in OPTIONS[fact] if option != truth]
        options = [truth, *self.random.sample(others, self.random.randint(min(2, len(others)), min(5, len(others))))]
        self.random.shuffle(options)
        return options

    def _goal_of(self, out: Sequence, goal: list[int], board: Board | None = None) -> None:
        """Adds what the user wants, and the screen if it comes for the first time."""
        out.add(self.user + goal + self.close)
        if board is not None:
            self._show_board(out, board)

    def _show_board(self, out: Sequence, board: Board) -> None:
        lines: list[int] = []
        for thing in board.lines:
            lines += self._phrase_of(thing.label).plain + self.numbers[thing.x].spaced + self.numbers[thing.y].spaced
            lines += self.newline
        out.add(self.user + self.picture + lines[:-1] + self.close)

    def _touch(self, out: Sequence, thing: Thing, action: list[int]) -> None:
        x, y = self.numbers[thing.x], self.numbers[thing.y]
        label = self._phrase_of(thing.label).spaced
        out.add(self.assistant + self.thought)
        out.add(label[:1], CERTAIN)
        out.add(label[1:], REPEAT)
        out.add(x.spaced + y.spaced, PLACE)
        out.add(action, GRAMMAR)
        out.add(x.plain, REPEAT)
        out.add(self.comma, GRAMMAR)
        out.add(y.plain, REPEAT)
        out.add(self.after_point + self.end, GRAMMAR)
        out.add(self.newline)

    def _answer(self, out: Sequence, question: list[int], text: str) -> None:
        """Adds an answer, which repeats the question first: it then stands beside what it asks for."""
        out.add(self.assistant + self.thought)
        out.add(question, REPEAT)
        out.add(self.finished, GRAMMAR)
        self._say(out, text)

    def _say(self, out: Sequence, text: str) -> None:
        """Adds a word that is seen; its first token decides."""
        first, *rest = self._ids(text)
        out.add([first], PLACE)
        out.add(rest + self.after_text, CERTAIN)  # a list of options goes on after the answer, which does not
        out.add(self.end, GRAMMAR)
        out.add(self.newline)

    def _phrase_of(self, label: Label) -> Phrase:
        return label if isinstance(label, Phrase) else Phrase(self._ids(label), self._ids(" " + label))


def picture_batches(source: Pictures, tokens: int, image_token: int) -> Iterator[Batch]:
    """Yields batches of about `tokens` tokens of fresh sequences without end."""
    while True:
        fresh = [source.picture_sequence() for _ in range(FRESH)]
        yield from batches(fresh, tokens, image_token, source.random)
