"""Measures how many frames a second the page of `coach-gym phone --web` draws, in a real headless Chromium.

A map on the phone moves all the time, as under a finger, at most 50 times a second. A frame counts when the page has
drawn it and it differs from the one before. `core_ms` is the processor time of the server for a frame, the phone's own
work included, which does not depend on other programs; the frames do.

    python -m benchmarks.watching.frames --screens 540x1200 --repeats 3 --json frames.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from coach_gym.actions import Action  # noqa: E402  (after the number of threads is set)
from coach_gym.envs.devices.phone import PhoneDevice  # noqa: E402
from coach_gym.live.hands import Hands  # noqa: E402
from coach_gym.live.serving import serving  # noqa: E402

SCREENS = ["540x1200"]
PAUSE = 0.02  # seconds between two movements of the finger
STROKE, THERE = 0.08, 10  # share of the width that a movement takes, and how many it makes in one direction
COUNT = """() => {
  window.drawn = 0;
  const canvas = document.getElementById("screen");
  new MutationObserver(() => window.drawn++).observe(canvas, { attributeFilter: ["data-mark"] });
}"""


def measure(browser: Any, size: tuple[int, int], seconds: float) -> dict[str, float]:
    """Counts the frames that a page draws, after it has drawn some.

    Args:
        browser: Playwright's browser.
        size: Width and height of the phone in pixels.
        seconds: How long to count.

    Returns:
        `fps`, and `core_ms` of this process for a frame.
    """
    with tempfile.TemporaryDirectory() as out:
        hands = Hands(PhoneDevice(*size), threading.RLock(), {"screen_size": size}, Path(out))
        over = threading.Event()
        finger = threading.Thread(target=_pan, args=(hands, over))
        with serving(hands) as address:
            page = browser.new_page()
            page.goto(address)
            finger.start()
            try:
                page.evaluate(COUNT)
                page.wait_for_function("() => window.drawn > 5")
                begun, wall, core = page.evaluate("window.drawn"), time.perf_counter(), time.process_time()
                time.sleep(seconds)
                drawn = page.evaluate("window.drawn") - begun
                wall, core = time.perf_counter() - wall, time.process_time() - core
            finally:
                over.set()
                finger.join()
                page.close()
    return {"fps": drawn / wall, "core_ms": 1e3 * core / max(1, drawn)}


def _pan(hands: Hands, over: threading.Event) -> None:
    """Drags a map to and fro, so that every movement changes all of the screen, until it is over."""
    hands.act(Action("open_app", content="OsmAnd"))
    width, height = hands.device.size
    left, right = ((int(width * share), height // 2) for share in (0.5, 0.5 + STROKE))
    for start, end in cycle([(right, left)] * THERE + [(left, right)] * THERE):
        if over.wait(PAUSE):
            return
        hands.act(Action("drag", start, end))


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.watching.frames", description=__doc__.splitlines()[0])
    parser.add_argument("--screens", nargs="+", default=SCREENS, help="sizes in pixels, such as 1080x2400")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long to count (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="measurements of each size (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the results to this file")
    options = parser.parse_args(arguments)
    command = (
        f"python -m benchmarks.watching.frames --screens {' '.join(options.screens)} --seconds {options.seconds:g} "
        f"--repeats {options.repeats}"
    )
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    runs: dict[str, list[dict[str, float]]] = {}
    print(f"{'screen':>10}{'frames/s':>18}{'core ms a frame':>18}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for screen in options.screens:
            width, height = map(int, screen.split("x"))
            runs[screen] = [measure(browser, (width, height), options.seconds) for _ in range(options.repeats)]
            cells = [[run[name] for run in runs[screen]] for name in ("fps", "core_ms")]
            print(f"{screen:>10}" + "".join(f"{_spread(cell):>18}" for cell in cells), flush=True)
        browser.close()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\nrerun: {command}")
    if options.json:
        headline = {f"fps_{screen}": mean(run["fps"] for run in found) for screen, found in runs.items()}
        headline |= {f"core_ms_{screen}": mean(run["core_ms"] for run in found) for screen, found in runs.items()}
        result = {
            "headline": headline, "runs": runs, "command": command, "load": os.getloadavg(), "cores": os.cpu_count(),
            "python": sys.version, "machine": platform.platform(),
        }  # fmt: skip
        options.json.write_text(json.dumps(result, indent=2) + "\n")


def _spread(values: list[float]) -> str:
    return f"{mean(values):.1f} ± {stdev(values) if len(values) > 1 else 0.0:.1f}"


if __name__ == "__main__":
    main()
