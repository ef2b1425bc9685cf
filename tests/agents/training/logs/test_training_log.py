"""A training reports statistics of its latest episodes, and where its time went."""

import time

import numpy as np
import pytest

from coach_gym.agents.playing.rollout import Attempt
from coach_gym.agents.training.logs.logger import Logger
from coach_gym.agents.training.logs.training_log import TrainingLog
from coach_gym.episode import Episode, Observation


class Written:
    """An output that keeps its entries."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, dict]] = []

    def write(self, values, excluded, step):
        self.entries.append((step, dict(values)))

    def close(self): ...


def attempt(outcome: float | None, length: int = 2, fault: str | None = None) -> Attempt:
    episode = Episode("goal", outcome=outcome, fault=fault)
    return Attempt(0, 0, episode, Observation(np.zeros((2, 2, 3), np.uint8)), length, outcome or 0.0)


@pytest.fixture
def log() -> TrainingLog:
    made = TrainingLog(window=3)
    made.logger = Logger(None, [Written()])
    return made


def entry(log: TrainingLog) -> tuple[int, dict]:
    return log.logger.outputs[0].entries[-1]


def test_means_are_over_the_latest_episodes_with_a_verdict(log: TrainingLog) -> None:
    log.add_episodes([attempt(0.0, 9)])
    log.add_episodes([attempt(None), attempt(0.0, fault="adb gone"), attempt(1.0, 4), attempt(0.5, 2), attempt(1.0, 6)])
    log.dump(50, iteration=2)
    step, values = entry(log)
    assert step == 50 and values["time/iterations"] == 2
    assert values["rollout/ep_rew_mean"] == pytest.approx(2.5 / 3)
    assert values["rollout/ep_len_mean"] == 4.0
    assert values["rollout/success_rate"] == pytest.approx(2 / 3), "half a reward is no success"


def test_nothing_is_said_without_episodes(log: TrainingLog) -> None:
    log.dump(0)
    assert not [key for key in entry(log)[1] if key.startswith("rollout/")]
    log.add_episodes([attempt(1.0)])
    log.set_episodes()
    assert log.recent_episodes() == ([], [])


def test_seconds_are_added_up_and_start_again_with_every_entry(log: TrainingLog) -> None:
    for _ in range(2):
        with log.timed("generate"):
            time.sleep(0.01)
    log.dump(10)
    assert 0.02 <= entry(log)[1]["time/generate"] < 1.0
    log.dump(20)
    assert "time/generate" not in entry(log)[1]


def test_the_speed_counts_from_where_the_training_began(log: TrainingLog) -> None:
    log.begin(1_000_000)
    time.sleep(0.01)
    log.dump(1_000_010)
    assert entry(log)[1]["time/fps"] <= 1000 and entry(log)[1]["time/total_timesteps"] == 1_000_010


def test_a_smaller_window_keeps_the_latest(log: TrainingLog) -> None:
    log.add_episodes([attempt(1.0), attempt(0.0), attempt(1.0)])
    log.resize(2)
    assert [*log.ep_success_buffer] == [0.0, 1.0]
    log.add_episodes([attempt(0.0)])
    assert [*log.ep_success_buffer] == [1.0, 0.0] and len(log.ep_info_buffer) == 2
