"""Synthetic screens that teach a small model to name an element and copy its place, without any real app.

A sequence is a goal, then screens, and after each screen many answers: the elements that the goal names in their order,
then all others. Labels are words, invented words, numbers and times, so that only copying helps. A small model learns
this only if it starts with many questions on small screens.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from transformers import PreTrainedTokenizerFast

from coach_gym.agents.pocket.build import FILE_ENDINGS, SPACE, vocabulary_words
from coach_gym.agents.pocket.demonstrations import WORD_OR_MARK
from coach_gym.agents.pocket.sequences import Sequence
from coach_gym.dialects.ui_tars import NAMED
from coach_gym.envs.tasks.words import ADJECTIVES, CITIES, FIRST_NAMES, LAST_NAMES, NOUNS

WIDTH, HEIGHT = 112, 224
"""The model's frame of a phone's screen."""

OPENERS = ("Tap", "Open", "Choose", "Set", "Create a new contact with", "Add", "Delete the", "Create a file named")
JOINS = (",", " and", ", then", " in the folder", " with", ".", " from", ", the", " named", " with the text:", " to")
BEFORE = (" to", " to", " named", " called", " as", " with the text:", " with this message:", " is", " number")
"""What a goal says before a text that is to be typed."""
FLAGS = (" on", " off", " *")
KEPT_APART = {
    word.casefold()
    for pool in (FIRST_NAMES, LAST_NAMES, NOUNS, ADJECTIVES, CITIES)
    for word in (*pool.validation, *pool.test)
}
"""The words of validation and test."""
NAMES = 0.5
"""Share of the screens of which an element's name is asked for as an answer."""
SIMPLE = 6
"""With fewer elements than this, labels are single words without flags, and goals name few elements."""
ALIKE, FILES = 0.2, 0.5
"""Share of screens whose labels end alike, and among them of those whose names do, as names of files."""

# Loss weights: places count most, then what the goal determines, other names, repetitions, and grammar.
PLACE, CERTAIN, LABEL, REPEAT, GRAMMAR = 1.5, 1.0, 0.5, 0.3, 0.1


@dataclass(frozen=True)
class Phrase:
    """Token ids of a text at the start of a line (`plain`) and after a space (`spaced`)."""

    plain: list[int]
    spaced: list[int]

    def then(self, tail: list[int]) -> Phrase:
        """Returns the phrase followed by further tokens."""
        return Phrase(self.plain + tail, self.spaced + tail)


@dataclass(frozen=True)
class Pair:
    """A field and the text that is to be typed there, with what the goal says before it and the last word of that."""

    field: Phrase
    before: list[int]
    word: list[int]
    text: Phrase


@dataclass(frozen=True)
class Item:
    """An element of a synthetic screen: its name, by which goals call it, its details, and its place."""

    name: Phrase
    details: list[int]
    x: int
    y: int

    def ending(self, kind: list[int], details: list[int]) -> Item:
        """Returns the element with `kind` at the end of its name and other details."""
        return Item(self.name.then(kind), details, self.x, self.y)


class Screens:
    """A source of random sequences. It works on token ids, because tokenising would take longer than training.

    Args:
        tokenizer: The pocket model's tokenizer.
        seed: Seed of all randomness.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.tokenizer = tokenizer
        vocabulary = dict(sorted(tokenizer.get_vocab().items()))  # it comes in any order
        self.words = [self._phrase(word) for word in dict.fromkeys(vocabulary_words())]
        self.whole = [word for word in self.words if len(word.plain) == len(word.spaced) == 1]
        heads = [text for text in vocabulary if SPACE + text in vocabulary and text.isalpha() and len(text) > 1]
        self.heads = [(text, Phrase([vocabulary[text]], [vocabulary[SPACE + text]])) for text in heads]
        tails = [text for text in vocabulary if text.isalpha() and text.islower() and text.isascii()]
        self.tails = [(text, vocabulary[text]) for text in tails]
        self.numbers = [self._phrase(str(n)) for n in range(256)]
        self.user, self.assistant = self._ids("<|im_start|>user\n"), self._ids("<|im_start|>assistant\n")
        self.end, self.newline = self._ids("<|im_end|>"), self._ids("\n")
        self.close = self.end + self.newline
        self.openers, self.joins = [self._ids(t) for t in OPENERS], [self._ids(t) for t in JOINS]
        self.flags = [self._ids(t) for t in FLAGS]
        self.marks = [self._ids(t) for t in (":", "-", ".", "", "")]
        self.comma, self.value = self._ids(","), self._ids(" =")
        self.before = [(self._ids(text), self._ids(f" {WORD_OR_MARK.findall(text)[-1]}")) for text in BEFORE]
        self.starts = {index for text, index in vocabulary.items() if text.startswith(SPACE)}
        self.endings = [self._ids(t) for t in FILE_ENDINGS]
        self.thought, self.answer = self._ids("Thought:"), self._ids(" answer")
        self.named, self.spaced_named = self._ids(NAMED.strip()), self._ids(" " + NAMED.strip())
        self.click, self.type = self._ids("\nAction: click(start_box='("), self._ids("\nAction: type(content='")
        self.finished = self._ids("\nAction: finished(content='")
        self.after_point, self.after_text = self._ids(")')"), self._ids("')")

    def sequence(self, elements: int, screens: int = 1, dense: float = 1.0) -> Sequence:
        """Makes one goal with its screens.

        Args:
            elements: Maximum number of elements on a screen; the minimum is half of it.
            screens: Number of screens, which share some of their labels.
            dense: Share of screens that ask for every element, and not only for those that the goal names.
        """
        simple = elements < SIMPLE
        shared = [self._label(simple) for _ in range(self.random.randint(0, 3))]
        boards = [self._board(elements, shared, simple) for _ in range(screens)]
        count = (0, 0, 1) if simple else (0, 1, 1, 2, 3)
        named = [self.random.sample(board, min(len(board), self.random.choice(count))) for board in boards]
        fields = self.random.choice((0, 0, 0, 1) if simple else (0, 1, 2, 3))
        pairs = [self._pair(simple, long=0.3) for _ in range(fields)]
        out, goal = Sequence(), self._goal(named, pairs)
        out.add(self.user + goal + self.close)
        for board, wanted in zip(boards, named, strict=True):
            values = self._show(out, goal, board, simple)
            self._ask(out, goal, board, wanted, others=len(board) if self.random.random() < dense else 2)
            self._ask_typing(out, pairs)
            self._ask_values(out, values)
            self._ask_names(out, board)
        return out

    def text(self, ids: list[int]) -> str:
        """Returns what token ids say, special tokens included."""
        return str(self.tokenizer.decode(ids))

    def _ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False) if text else []

    def _phrase(self, text: str) -> Phrase:
        return Phrase(self._ids(text), self._ids(" " + text))

    def _word(self) -> Phrase:
        """A known word, an invented one, or a number, time or date."""
        draw = self.random.random()
        if draw < 0.45:
            return self.random.choice(self.words)
        if draw < 0.85:
            return self._invented()
        number = self.random.choice(self.numbers)
        for _ in range(self.random.choice((0, 0, 1, 2, 4))):
            number = number.then(self.random.choice(self.marks) + self.random.choice(self.numbers).plain)
        return number

    def plain_word(self) -> str:
        """Returns a word of letters, known or invented."""
        while True:
            word = self.random.choice(self.words) if self.random.random() < 0.4 else self._invented()
            text = self.text(word.plain)
            if text.isalpha():
                return text

    def _invented(self) -> Phrase:
        """A word made of pieces, but none that is kept apart from training."""
        while True:
            text, head = self.random.choice(self.heads)
            tails = self.random.choices(self.tails, k=self.random.choice((0, 1, 1, 2, 2, 3)))
            if "".join((text, *(tail for tail, _ in tails))).casefold() not in KEPT_APART:
                return head.then([piece for _, piece in tails])

    def _label(self, simple: bool, long: float = 0.1) -> Phrase:
        if simple:
            return self.random.choice(self.whole)
        label = self._word()
        many = self.random.random() < long
        for _ in range(self.random.choice((2, 3, 4, 5) if many else (0, 0, 0, 1, 1))):
            comma = self.comma if self.random.random() < 0.15 else []
            label = label.then(comma + self._word().spaced)
        return label

    def _pair(self, simple: bool, long: float) -> Pair:
        return Pair(self._label(simple, long=0.0), *self.random.choice(self.before), self._label(simple, long))

    def _board(self, elements: int, shared: list[Phrase], simple: bool) -> list[Item]:
        """Elements with different labels; half of the screens are one column, and most are in reading order."""
        count = self.random.randint(max(2, elements // 2), elements)
        labels = [self._label(simple) for _ in range(count)] + [s for s in shared if self.random.random() < 0.7]
        column = self.random.randrange(WIDTH) if self.random.random() < 0.5 else None
        board = [
            self._item(label, simple, column) for label in {tuple(label.plain): label for label in labels}.values()
        ]
        if not simple and self.random.random() < ALIKE:
            board = self._alike(board)
        return sorted(board, key=lambda item: (item.y, item.x)) if self.random.random() < 0.7 else board

    def _alike(self, board: list[Item]) -> list[Item]:
        """Lets most names or details be alike at their end, as in a list."""
        ending = self._ending()
        return [item.ending(*ending) if self.random.random() < 0.8 else item for item in board]

    def _ending(self) -> tuple[list[int], list[int]]:
        """How names end, as those of files of one kind do, and their details, as the day of all of them.

        Either may be empty, but not both.
        """
        named = self.random.random() < FILES
        kind = self.random.choice(self.endings) if named else []
        listed = not named or self.random.random() < 0.5
        return kind, self.comma + self._label(False, long=0.3).spaced if listed else []

    def _item(self, name: Phrase, simple: bool, column: int | None) -> Item:
        """An element, which often has details, as a row of a list does."""
        details = [] if simple or self.random.random() < 0.6 else self.comma + self._label(False, long=0.3).spaced
        x = self.random.randrange(WIDTH) if column is None else column
        return Item(name, details, x, self.random.randrange(HEIGHT))

    def _goal(self, named: list[list[Item]], pairs: list[Pair]) -> list[int]:
        goal = list(self.random.choice(self.openers))
        for item in (item for wanted in named for item in wanted):
            goal += item.name.spaced + self.random.choice(self.joins)
        for pair in pairs:
            goal += pair.field.spaced + pair.before + pair.text.spaced + self.random.choice(self.joins)
        return goal

    def _show(self, out: Sequence, goal: list[int], board: list[Item], simple: bool) -> list[tuple[Item, Phrase]]:
        """Adds the screen's lines; returns the fields that hold a text, with the text."""
        lines: list[int] = []
        values = []
        for item in board:
            lines += self._line(item, goal)
            draw = 1.0 if simple else self.random.random()
            if draw < 0.15:
                lines += self.random.choice(self.flags)
            elif draw < 0.25:
                value = self._label(simple, long=0.0)
                values.append((item, value))
                lines += self.value + value.plain
            lines += self.newline
        out.add(self.user + lines[:-1] + self.close)
        return values

    def _line(self, item: Item, goal: list[int]) -> list[int]:
        """An element as `coach_gym.dialects.ui_tars.screen_lines` writes it, without its state."""
        name = self.named + item.name.spaced if stands_in(goal, item.name.spaced) else item.name.plain
        return name + self.numbers[item.x].spaced + self.numbers[item.y].spaced + item.details

    def _ask(
        self, out: Sequence, goal: list[int], board: list[Item], wanted: list[Item], others: int, first: float = CERTAIN
    ) -> None:  # fmt: skip
        rest = [item for item in board if item not in wanted]
        self.random.shuffle(rest)
        for item in wanted + rest[:others]:
            x, y = self.numbers[item.x], self.numbers[item.y]
            out.add(self.assistant + self.thought)
            if stands_in(goal, item.name.spaced):
                out.add(self.spaced_named, first if item in wanted else 0.0)
            out.add(item.name.spaced[:1], first if item in wanted else 0.0)
            out.add(item.name.spaced[1:], CERTAIN if item in wanted else LABEL)
            out.add(x.spaced + y.spaced, PLACE)
            out.add(self.click, GRAMMAR)
            out.add(x.plain, REPEAT)
            out.add(self.comma, GRAMMAR)
            out.add(y.plain, REPEAT)
            out.add(self.after_point + self.end, GRAMMAR)
            out.add(self.newline)

    def _ask_typing(self, out: Sequence, pairs: list[Pair]) -> None:
        """Adds answers that type what the goal says about a field, and first say where it stands."""
        if not pairs or self.random.random() < 0.2:
            return
        for pair in self.random.sample(pairs, self.random.randint(1, len(pairs))):
            spaced = pair.text.spaced
            first = next((at for at in range(1, len(spaced)) if spaced[at] in self.starts), len(spaced))
            out.add(self.assistant + self.thought + pair.field.spaced)
            out.add(self.comma + pair.word + spaced[:first], CERTAIN)
            out.add(self.type + pair.text.plain + self.after_text + self.end, CERTAIN)
            out.add(self.newline)

    def _ask_values(self, out: Sequence, values: list[tuple[Item, Phrase]]) -> None:
        """Adds answers that give the text of a field."""
        for item, value in self.random.sample(values, min(len(values), 2)):
            out.add(self.assistant + self.thought + item.name.spaced)
            out.add(self.finished + value.plain + self.after_text + self.end, CERTAIN)
            out.add(self.newline)


    def _ask_names(self, out: Sequence, board: list[Item]) -> None:
        """Adds an answer that gives an element's name; where it ends, its place follows on the screen."""
        if self.random.random() < NAMES:
            name = self.random.choice(board).name.plain
            out.add(self.assistant + self.thought + self.answer + self.finished + name[:1])
            out.add(name[1:] + self.after_text + self.end, CERTAIN)
            out.add(self.newline)


def stands_in(text: list[int], part: list[int]) -> bool:
    """Returns whether tokens contain others in a row."""
    return any(text[at : at + len(part)] == part for at in range(len(text) - len(part) + 1))
