"""What the benchmarks of the page and of kept episodes count."""

import shutil
from pathlib import Path

import pytest

from benchmarks.watching.frames import PAUSE, measure
from benchmarks.watching.recording import clocked
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore, load_episodes
from tests.coach_gym.recording.made import episode


def test_writing_is_timed_or_left_out(tmp_path: Path) -> None:
    for write in (True, False):
        folder = tmp_path / str(write)
        with clocked(write) as spent:
            EpisodeStore(folder).write(episode(), Origin("test"))
        assert len(spent) == int(write) and folder.exists() is write
    assert len(list(load_episodes(tmp_path))) == 1
    EpisodeStore(tmp_path / "after").write(episode(), Origin("test"))
    assert not spent


def test_frames_are_counted_as_the_page_draws_them() -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    with sync_api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except sync_api.Error:
            pytest.skip("no Chromium here: playwright install chromium")
        found = measure(browser, (270, 600), 1.0)
        browser.close()
    assert 0 < found["fps"] < 1 / PAUSE and found["core_ms"] > 0
