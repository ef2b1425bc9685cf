"""Retro Music's expert: it reads lengths off the list and finds songs that last as long as is asked for."""

import random

import pytest

from coach_gym.envs.apps.retro.expert import _SONG, _lasting


@pytest.mark.parametrize("label, groups", [
    ("Low Tide, Ann • 03:20", ("Low Tide", None, "03", "20")),
    ("Don't Look Up, Ann Lee • 1:02:03", ("Don't Look Up", "1", "02", "03")),
    ("One, Two, Ann • 00:00", ("One, Two", None, "00", "00")),
])  # fmt: skip
def test_a_row_tells_title_and_length(label, groups):
    assert _SONG.fullmatch(label).groups() == groups


@pytest.mark.parametrize("label", ["Low Tide", "Options of Low Tide", "Calm, 2 Songs", "Songs"])
def test_other_labels_are_no_songs(label):
    assert _SONG.fullmatch(label) is None


@pytest.mark.parametrize("seed", range(50))
def test_songs_are_found_that_last_long_enough_and_not_too_long(seed):
    """Some songs last 47.5 minutes together, cut at random as in AndroidWorld; others three to five minutes each."""
    rng = random.Random(seed)
    cuts = sorted(rng.randint(0, 2850) for _ in range(rng.randint(8, 10)))
    lengths = [b - a for a, b in zip([0, *cuts], [*cuts, 2850], strict=True)]
    lengths += [rng.randint(180, 300) for _ in range(15 - len(lengths))]
    rng.shuffle(lengths)
    songs = {f"song {number}": length for number, length in enumerate(lengths)}
    chosen = _lasting(songs, 45 * 60, 50 * 60)
    assert 45 * 60 + 30 <= sum(songs[title] for title in chosen) <= 50 * 60 - 30, "half a minute for rounding"
