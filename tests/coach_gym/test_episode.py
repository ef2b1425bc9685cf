"""Which episodes count as solved, and which may be learned from."""

import numpy as np
import pytest

from coach_gym.episode import Candidate, Episode, Observation, Step


@pytest.mark.parametrize(
    ("outcome", "fault", "success", "learnable"),
    [
        (1.0, None, True, True),
        (0.0, None, False, True),
        (0.5, None, False, True),
        (None, None, False, False),
        (0.0, "device went away", False, False),
        (None, "device went away", False, False),
    ],
)
def test_a_broken_or_unjudged_episode_is_never_learned_from(outcome, fault, success, learnable) -> None:
    episode = Episode("Open the clock", outcome=outcome, fault=fault)
    assert (episode.success, episode.learnable) == (success, learnable)


def test_an_episode_starts_empty_and_shares_nothing() -> None:
    first, second = Episode("a"), Episode("b")
    candidate = Candidate("wait()", [5, 2], [-0.1, -0.2])
    first.steps.append(Step(Observation(np.zeros((2, 2, 3), np.uint8)), [candidate], 0, "wait()"))
    assert (first.length, second.length) == (1, 0)
    assert first.steps[0].process_reward is None and first.steps[0].return_ is None
    assert second.params == {} and second.answer is None
