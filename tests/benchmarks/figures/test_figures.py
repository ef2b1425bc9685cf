"""Figures: one style for all of them, each in light and dark."""

import ast
from pathlib import Path

import pytest
from PIL import Image, ImageColor

from benchmarks.figures import __main__ as figures
from benchmarks.figures import style

ROOT = Path(__file__).parents[3]
STYLE = ROOT / "benchmarks/figures/style.py"


def drawing(source):
    """Names with which a module would draw past the style."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ("savefig", "use", "style", "rcParams"):
            yield node.attr
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None)
            names = [f"{module}.{each.name}" if module else each.name for each in node.names]
            yield from (name for name in names if name.startswith("matplotlib") and "pyplot" in name)


PAST = ("from matplotlib import pyplot", "import matplotlib.pyplot", "figure.savefig(path)")


@pytest.mark.parametrize("source", PAST)
def test_what_would_pass_the_style_by_is_found(source):
    assert list(drawing(source))


@pytest.mark.parametrize("path", sorted({*(ROOT / "benchmarks").rglob("*.py")} - {STYLE}), ids=lambda path: path.stem)
def test_benchmarks_draw_with_the_style_alone(path):
    assert not list(drawing(path.read_text("utf-8")))


def test_a_figure_is_light_and_dark(tmp_path):
    def draw(theme):
        figure, axes = style.plt.subplots(figsize=(2, 2))
        axes.plot([0, 1], [0, 1])
        return figure

    style.save(draw, tmp_path / "line.png")
    corners = [Image.open(tmp_path / name).convert("RGB").getpixel((0, 0)) for name in ("line.png", "line_dark.png")]
    assert corners == [ImageColor.getrgb(theme.paper) for theme in (style.LIGHT, style.DARK)]
    assert style.plt.get_fignums() == []


def test_the_figures_of_the_docs_come_from_the_committed_results(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "_DPI", 30)
    figures.draw_all(tmp_path)
    drawn = {path.name for path in tmp_path.iterdir()}
    assert {"learning_curve.png", "learning_curve_dark.png", "controls_dark.png", "scaling_dark.png"} < drawn
    assert all((ROOT / "docs/images" / name).exists() for name in drawn)
