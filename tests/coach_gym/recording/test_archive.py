"""An episode that was written is read as it was."""

import dataclasses
import datetime

import numpy as np

from coach_gym.episode import Candidate, Episode, Observation, Step
from coach_gym.recording.archive import read_episode, write_episode


def test_an_episode_is_read_as_it_was_written(tmp_path):
    rng = np.random.default_rng(0)
    steps = [
        Step(
            Observation(rng.integers(0, 256, (4, 3, 3), dtype=np.uint8), f"<ui {number}>", "no such thing"),
            [Candidate("Zurück", [1, 2], [-0.5, 0.0], 0.25), Candidate("b", [3], [-1.0])],
            executed=1, action="b", return_=0.5, env=object(),
        )
        for number in range(2)
    ]  # fmt: skip
    episode = Episode("Öffne", steps, 1.0, task="Open", params={"n": 3, "day": datetime.date(2023, 10, 15)}, answer="x")
    write_episode(tmp_path / "one.npz", episode)
    read = read_episode(tmp_path / "one.npz")
    assert [each.name for each in tmp_path.iterdir()] == ["one.npz"]
    for mine, theirs in zip(steps, read.steps, strict=True):
        assert np.array_equal(mine.observation.screenshot, theirs.observation.screenshot)
        assert theirs.env is None
        theirs.observation = mine.observation
        assert dataclasses.replace(mine, env=None) == theirs
    assert read.params == {"n": 3, "day": "2023-10-15"}
    assert dataclasses.replace(read, steps=[], params={}) == dataclasses.replace(episode, steps=[], params={})
