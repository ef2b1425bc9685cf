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
