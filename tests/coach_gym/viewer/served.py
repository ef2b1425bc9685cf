"""A viewer on a free port, and a real browser for it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from coach_gym.live.serving import listening
from coach_gym.viewer.server import make_app


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serves a folder, and yields the page's address."""
    with listening(lambda closing: make_app(root), 0) as address:
        yield address


@contextmanager
def chromium() -> Iterator[Any]:
    """Yields a headless browser; skips the test where none is installed."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chromium-browser"))), None)
    with sync_api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except sync_api.Error as problem:
            pytest.skip(f"there is no browser: {str(problem).splitlines()[0]}")
        yield browser
        browser.close()
