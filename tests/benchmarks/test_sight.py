"""The benchmark of AndroidSight's control."""

import sys

import pytest

from benchmarks import sight


def test_who_looks_solves_it_and_who_is_shown_one_picture_does_not():
    assert sight.success(sight.environment(), "ChromePressColor", 4) == 1.0
    assert sight.success(sight.PICTURES["fixed"](), "ChromePressColor", 4) < 1.0


def test_every_family_has_its_picture_in_the_grid():
    picture = sight.decisive_picture("GalleryArrowDirection", 0)
    assert picture.shape == (600, 270, 3)
    home = sight.environment().reset(seed=0)[0]["screenshot"]
    assert (picture != home).any()


def test_the_table_is_printed_and_kept(monkeypatch, capsys, tmp_path):
    two = {name: sight.FAMILIES[name] for name in ("GalleryArrowDirection", "GalleryTallestBar")}
    monkeypatch.setattr(sight, "FAMILIES", two)
    monkeypatch.setattr(sys, "argv", ["sight", "--seeds", "2", "--json", str(tmp_path / "r.json")])
    sight.main()
    lines = capsys.readouterr().out
    assert all(name in lines for name in (*two, "mean", "rerun: python -m benchmarks.sight"))
    headline = sight.json.loads((tmp_path / "r.json").read_text())["headline"]
    assert headline["true"] == 1.0 and headline["chance"] == pytest.approx(0.25)


class Quitter:
    """Ends every episode at once."""

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        return ["finished()"] * len(observation["goal"]), state


@pytest.mark.parametrize("pictures", sight.PICTURES)
def test_a_policy_is_measured_with_every_kind_of_picture(pictures):
    rate, (low, high) = sight.policy_success(Quitter(), pictures, "GalleryTallestBar", 3)
    assert rate == low == 0.0 and high == pytest.approx(0.561, abs=1e-3)


def test_intervals_are_wilsons():
    assert sight.wilson(8, 10) == pytest.approx((0.490, 0.943), abs=1e-3)
    low, high = sight.wilson(10, 10)
    assert low < 0.75 and high == pytest.approx(1.0)


def test_seeing_is_more_than_chance_and_than_what_another_picture_gives():
    row = {"true": 0.6, "true_low": 0.4, "shuffled": 0.2, "shuffled_high": 0.35}
    assert sight.sees(0.25, row)
    assert not sight.sees(0.5, row)
    assert not sight.sees(0.25, {**row, "shuffled": 0.4, "shuffled_high": 0.6}), "both shares are uncertain"
