"""The profile of an iteration: how time is attributed, and how it is reported."""

import pytest
import torch
from torch import nn

from benchmarks import iteration_profile
from benchmarks.iteration_profile import PARTS, PHASES, Stopwatch, headline, print_table


@pytest.fixture
def clock(monkeypatch):
    """The thread's processor time, which tests set."""
    now = [0.0]
    monkeypatch.setattr(iteration_profile.time, "thread_time", lambda: now[0])

    def work(seconds):
        now[0] += seconds

    return work


def test_time_counts_towards_the_innermost_part(clock):
    watch = Stopwatch()
    with watch.during("generate"):
        clock(1)
        watch.enter("text layers")
        clock(2)
        watch.enter("heads")
        clock(4)
        watch.leave()
        clock(8)
        watch.leave()
        clock(16)
    assert watch.seconds == {
        ("rest", "rest"): 0, ("generate", "rest"): 17, ("generate", "text layers"): 10, ("generate", "heads"): 4,
    }  # fmt: skip


def test_a_phase_inside_another_gives_the_time_back(clock):
    watch = Stopwatch()
    with watch.during("update"):
        clock(1)
        with watch.during("judge"):
            clock(2)
        clock(4)
    clock(8)
    watch.book()
    assert {phase: seconds for (phase, _), seconds in watch.seconds.items()} == {"update": 5, "judge": 2, "rest": 8}


def test_a_wrapped_function_that_raises_leaves_its_part(clock):
    watch = Stopwatch()

    @lambda function: watch.wrapped(function, "screens")
    def broken():
        clock(3)
        raise KeyError

    with pytest.raises(KeyError):
        broken()
    clock(1)
    watch.book()
    assert watch.seconds == {("rest", "rest"): 1, ("rest", "screens"): 3}


def test_nothing_is_left_after_clearing(clock):
    watch = Stopwatch()
    clock(5)
    watch.passes["generate"] += 1
    watch.clear()
    assert not watch.seconds and not watch.passes


class Backbone(nn.Module):
    """A vision tower and a text model whose forward passes take a second each."""

    def __init__(self, work):
        super().__init__()
        self.visual, self.language_model = Layer(work), Text(work)


class Layer(nn.Module):
    def __init__(self, work):
        super().__init__()
        self.work, self.weight = work, nn.Parameter(torch.ones(1))

    def forward(self, x):
        self.work(1)
        return x * self.weight


class Text(nn.Module):
    def __init__(self, work):
        super().__init__()
        self.layers, self.norm = nn.ModuleList([Layer(work)]), nn.Identity()

    def forward(self, x):
        return self.norm(self.layers[0](x))


def test_passes_and_parts_of_a_model_are_told_apart(clock):
    watch, head = Stopwatch(), Layer(clock)
    backbone = Backbone(clock)
    watch.watch(backbone, head)
    with watch.during("update"):
        out = head(backbone.language_model(backbone.visual(torch.ones(1))))
        watch.enter("heads")
        out.backward()
    assert watch.passes == {"update": 1}
    assert {part: s for (phase, part), s in watch.seconds.items() if s} == {
        "vision tower": 1, "text layers": 1, "heads": 1,
    }  # fmt: skip
    assert watch._parts[-1] == "vision tower"  # the gradient has gone all the way back


def row(seconds, speed):
    return {
        "seconds": {phase: {part: seconds for part in PARTS} for phase in PHASES},
        "passes": {phase: 10 for phase in PHASES}, "thread_seconds": seconds, "phone_seconds": 0.1,
        "gigaflops_per_second": {"generate": speed, "matrix products": 10 * speed},
    }  # fmt: skip


def test_the_headline_is_the_mean_over_seeds():
    assert headline([row(1.0, 3.0), row(2.0, 5.0)]) == {
        "iteration_seconds": 1.5, "gigaflops_generate": 4.0, "gigaflops_matrix_products": 40.0,
    }  # fmt: skip


def test_shares_of_the_table_add_up(capsys):
    print_table([row(1.0, 3.0)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "matrix products: 30.0 GFLOP/s"
    total = next(line for line in lines if line.startswith("| all |"))
    assert total.rstrip(" |").endswith("100.0%")
