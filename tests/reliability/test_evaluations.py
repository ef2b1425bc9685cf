"""Evaluations that are killed or interrupted at any moment, and continued, end as one that was left alone."""

import os
import random
import signal
import time
import traceback
from collections import Counter

import gymnasium as gym
import pytest

from coach_gym.evaluation.players import ExpertPlayer
from coach_gym.evaluation.records import read_records
from coach_gym.evaluation.run import evaluate_suite
from coach_gym.recording.store import load_episodes, read_index
from tests.agents.training.saving.test_directories import LONG
from tests.reliability.test_killed_writers import broken_off

TASKS = ("ClockStopWatchRunning", "MarkorCreateFolder", "SystemBrightnessMax", "FilesDeleteFile", "OpenAppTaskEval")
BREAKS = 60 if LONG else 6
PATIENCE = 100.0  # seconds to end after Ctrl-C: less than a step may take


def evaluating(out):
    """The evaluation in a process of its own; returns its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # programs in the background begin without it
        player = ExpertPlayer(gym.make("AndroidWorld-v0").unwrapped.suite)
        settings = {"tasks": list(TASKS), "screen_size": (270, 600)}
        evaluate_suite(player, out=out, runs=2, num_envs=3, env_settings=settings)
        code = 0
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def ended(pid, seconds):
    """Waits; returns the exit code, or None if it goes on."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    return None


def records(out):
    return [(each.number, each.task, each.params, each.score, each.steps, each.fault) for each in read_records(out)[1]]


def kept(out):
    return Counter((row["task"], row["goal"]) for row in read_index(out.with_suffix(".episodes")))


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_an_evaluation_that_is_broken_off_again_and_again(sent, tmp_path):
    whole, began = tmp_path / "whole.jsonl", time.monotonic()
    assert ended(evaluating(whole), 300) == 0
    took, chance, breaks, line = time.monotonic() - began, random.Random(5), 0, 0
    while breaks < BREAKS:
        out, line = tmp_path / f"{line}.jsonl", line + 1
        for _ in range(3):
            pid = evaluating(out)
            if ended(pid, chance.uniform(0.1, 0.9) * took) is not None:
                break
            os.kill(pid, sent)
            code = ended(pid, PATIENCE)
            assert code in (0, 130 if sent == signal.SIGINT else -sent), code  # it may have ended just before
            breaks += 1
        assert ended(evaluating(out), 300) == 0
        assert records(out) == records(whole)
        assert kept(out) == kept(whole)


class Finishing:
    """Ends every episode with its first action."""

    def act(self, attempts):
        return ["finished()"] * len(attempts)


def test_an_evaluation_that_is_killed_at_any_file_operation(tmp_path):
    def evaluated(folder):
        settings = {"tasks": list(TASKS[:2]), "screen_size": (270, 600)}
        evaluate_suite(Finishing(), out=folder / "all.jsonl", env_settings=settings)

    evaluated(tmp_path / "whole")
    expected = kept(tmp_path / "whole/all.jsonl")
    assert expected.total() == 2
    for path in broken_off(evaluated, tmp_path, points=100):
        evaluated(path)
        assert records(path / "all.jsonl") == records(tmp_path / "whole/all.jsonl")
        assert kept(path / "all.jsonl") == expected
        assert [each.length for each in load_episodes(path)] == [1, 1]
