"""Draws the figures of the docs anew from `benchmarks/results/`; nothing is measured.

    python -m benchmarks.figures
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import demo, scaling
from benchmarks.controls import report as controls

ROOT = Path(__file__).parents[2]


def draw_all(folder: Path) -> None:
    """Writes the figures, each in light and dark.

    Args:
        folder: Where to write them.
    """
    demo.plot(_results("demo")["runs"], folder / "learning_curve.png")
    controls.plot(_results("controls")["runs"], folder / "controls.png")
    scaling.plot(_results("scaling"), folder / "scaling.png")


def _results(name: str) -> dict[str, Any]:
    text = (ROOT / f"benchmarks/results/{name}.json").read_text("utf-8")
    results: dict[str, Any] = json.loads(text)
    return results


if __name__ == "__main__":
    draw_all(ROOT / "docs/images")
