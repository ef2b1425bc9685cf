"""Copies of what screens keep: callbacks act on the copy, never on the original."""

import sqlite3
import threading
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

from coach_gym.envs.phone.copying import copied


class Box:
    def __init__(self):
        self.items, self.then = [], None

    def add(self, item):
        self.items.append(item)


class Pair(NamedTuple):
    first: object
    second: object


class Slotted:
    __slots__ = ("box", "number")


@dataclass(frozen=True)
class Frozen:
    box: Box
    name: str


class Color(Enum):
    RED = 1


def by_lambda(box):
    return lambda: box.items.append(1)


def by_default(box):
    return lambda own=box: own.items.append(1)


def by_keyword(box):
    def then(*, own=box):
        own.items.append(1)

    return then


def by_two_functions(box):
    inner = by_lambda(box)
    return lambda: inner()


WAYS = {
    "method": lambda box: partial(box.add, 1),
    "partial": lambda box: partial(list.append, box.items, 1),
    "partial of a lambda": lambda box: partial(lambda own, item: own.add(item), box, item=1),
    "method of a list": lambda box: partial(box.items.append, 1),
    "lambda": by_lambda,
    "default argument": by_default,
    "keyword default": by_keyword,
    "function in function": by_two_functions,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_callback_of_a_copy_acts_on_the_copy(way):
    box = Box()
    box.then = way(box)
    other = copied(box, {})
    other.then()
    assert (box.items, other.items) == ([], [1])
    box.then()
    box.then()
    assert (box.items, other.items) == ([1, 1], [1])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("hold", [list, dict.fromkeys, deque, lambda things: Pair(*things, 1), lambda t: Counter(t)])
def test_callbacks_are_found_wherever_they_are_kept(way, hold):
    box = Box()
    state = {"box": box, "held": hold([way(box)])}
    other = copied(state, {})
    assert type(other["held"]) is type(state["held"])
    next(iter(other["held"]))()
    assert not box.items and other["box"].items == [1]


def test_functions_that_share_a_variable_go_on_sharing_it():
    count = 0

    def more():
        nonlocal count
        count += 1

    first, second = copied((more, lambda: count), {})
    first()
    first()
    assert (second(), count) == (2, 0)


def test_a_function_that_refers_to_itself():
    def down(n):
        return n and down(n - 1)

    other = copied(down, {})
    assert other(3) == 0 and other.__closure__[0].cell_contents is other
    assert other.__name__ == "down"


def test_what_holds_no_state_is_not_copied():
    for value in (len, np.zeros, test_a_function_that_refers_to_itself, Box, Color.RED, Box.add, datetime(2023, 1, 1)):
        assert copied(value, {}) is value
    constant = (1, "a", (None, b"x"))
    assert copied(constant, {}) is constant


@pytest.mark.parametrize("make", [lambda i: Pair(i, [i]), lambda i: frozenset({i}), lambda i: Counter({i: i})])
def test_many_objects_of_a_kind_stay_apart(make):
    things = [make(i) for i in range(50)]
    assert copied(things, {}) == things


@pytest.mark.parametrize("way", [lambda box: lambda: box, lambda box: box.add])
def test_many_tuples_with_callbacks_stay_apart(way):
    boxes = [Box() for _ in range(50)]
    made, pairs = copied([boxes, [Pair(way(box), i) for i, box in enumerate(boxes)]], {})
    owners = [getattr(first, "__self__", None) or first() for first, _ in pairs]
    assert owners == made and [second for _, second in pairs] == list(range(50))


def test_what_is_shared_stays_shared_and_loops_close():
    box = Box()
    box.items.append(box)
    first, second = copied([box, box], {})
    assert first is second is not box and first.items == [first]


def test_what_the_memo_knows_stands_for_itself():
    box, other = Box(), Box()
    assert copied(by_lambda(box), {id(box): other}).__closure__[0].cell_contents is other


def test_objects_of_all_kinds():
    slotted, box = Slotted(), Box()
    slotted.box, slotted.number = box, 3
    groups = defaultdict(list, {"a": [box]})
    state = [slotted, Frozen(box, "f"), Pair(box, {1, 2}), groups, np.arange(3), {("a", 1): frozenset([2])}]
    new, frozen, pair, sets, array, keyed = copied(state, {})
    assert new.box is frozen.box is pair.first is sets["a"][0] is not box
    assert (new.number, frozen.name, pair.second, keyed) == (3, "f", {1, 2}, {("a", 1): {2}})
    assert sets["b"] == [] and list(array) == [0, 1, 2] and array is not state[4]


@pytest.mark.parametrize("thing", [sqlite3.connect(":memory:"), threading.Lock(), iter(x for x in "ab")], ids=type)
def test_what_cannot_be_copied_is_named(thing):
    with pytest.raises(TypeError, match=type(thing).__name__):
        copied(lambda: thing, {})
