"""The progress bar says what is going on, keeps moving, and promises what the iterations so far support."""

import io
import time

import pytest

from coach_gym.agents import ProgressBarCallback
from coach_gym.agents.training.logs import progress
from coach_gym.agents.training.logs.logger import HumanOutput
from coach_gym.agents.training.logs.progress import PARTS, Estimate
from tests.agents.training.test_callbacks import make


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Trainee:
    """A training of 100 steps, 20 of them taken before."""

    num_timesteps, total_timesteps = 20, 100
    doing: str | None = None
    ep_success_buffer = (1.0, 0.0)


@pytest.fixture
def terminal(monkeypatch):
    """Opens one; in the test itself, because pytest puts its own standard error in place before."""

    def open_one():
        shown = Terminal()
        monkeypatch.setattr("sys.stderr", shown)
        return shown

    monkeypatch.setattr(progress, "EVERY", 0.01)
    return open_one


def test_it_shows_the_part_in_progress_and_goes_on_while_nothing_steps(terminal):
    terminal, bar, trainee = terminal(), ProgressBarCallback(), Trainee()
    bar.init_callback(trainee)
    bar.on_training_start({}, {})
    for part, words in PARTS.items():
        trainee.doing, before = part, len(terminal.getvalue())
        deadline = time.monotonic() + 10
        while words not in terminal.getvalue()[before:] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert words in terminal.getvalue()[before:], part
    trainee.num_timesteps = 60
    bar.on_training_end()
    last = terminal.getvalue().split("\r")[-1]
    assert "50%" in last and "40/80 steps" in last and "success 50% of the last 2" in last and "left" not in last


def test_steps_beyond_those_asked_for_are_all_there_are(terminal):
    """The episodes of the last roll-out are played to their end."""
    terminal, bar, trainee = terminal(), ProgressBarCallback(), Trainee()
    bar.init_callback(trainee)
    bar.on_training_start({}, {})
    trainee.num_timesteps = 105
    bar.on_training_end()
    last = terminal.getvalue().split("\r")[-1]
    assert "100%" in last and "85/85 steps" in last


def test_a_training_passes_through_its_parts(terminal, monkeypatch):
    seen = set()
    terminal()
    monkeypatch.setattr(ProgressBarCallback, "_show", lambda self: seen.add(self._doing()))
    monkeypatch.setattr(progress, "EVERY", 1e-4)
    agent = make()
    mini_batches = agent.mini_batches  # which it asks for in the midst of an update
    monkeypatch.setattr(agent, "mini_batches", lambda *given: time.sleep(0.2) or mini_batches(*given))
    agent.learn(8, progress_bar=True)
    assert "updating the policy" in seen


def test_at_the_end_it_shows_all_steps_and_success(terminal):
    terminal = terminal()
    make().learn(8, progress_bar=True)
    last = terminal.getvalue()
    assert "8/8 steps" in last and "success" in last and "of the last 8" in last


def test_a_pipe_sees_nothing(capsys):
    make().learn(4, progress_bar=True)
    assert capsys.readouterr().err == ""


def test_tables_are_printed_beside_the_bar(terminal, capsys):
    terminal, bar = terminal(), ProgressBarCallback()
    bar.init_callback(Trainee())
    bar.on_training_start({}, {})
    before = len(terminal.getvalue())
    HumanOutput().write({"time/fps": 1}, {"time/fps": ()}, 0)
    assert "\r" in terminal.getvalue()[before:] and "fps" in capsys.readouterr().out
    bar.on_training_end()


def test_the_estimate_counts_whole_iterations_with_their_updates():
    estimate = Estimate(100, now=0.0)
    estimate.iterate(0, 0.5)
    assert estimate.left(5.0) is None
    estimate.iterate(30, 60.0)  # 30 steps and an update took a minute, so three more iterations are to come
    assert estimate.left(60.0) == pytest.approx(180.0)
    assert estimate.left(100.0) == pytest.approx(140.0)
    assert estimate.left(1000.0) == 0.0
    estimate.iterate(70, 140.0)
    assert estimate.left(140.0) == pytest.approx(70.0)
