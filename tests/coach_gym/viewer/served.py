"""A viewer on a free port, and a real browser for it."""

import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from coach_gym.viewer.server import make_app


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Serves a folder, and yields the page's address."""
    import uvicorn

    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = uvicorn.Config(make_app(root), host="127.0.0.1", port=port, log_level="error", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join(10)


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
