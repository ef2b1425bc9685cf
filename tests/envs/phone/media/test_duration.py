"""How lengths are written."""

import pytest

from coach_gym.envs.phone.media.duration import clock_text


@pytest.mark.parametrize("seconds, text", [(0, "00:00"), (59.4, "00:59"), (127, "02:07"), (3727, "1:02:07")])
def test_lengths_are_written_as_clocks_do(seconds, text):
    assert clock_text(seconds) == text
