"""Experts of Audio Recorder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.tasks.screen import Screen, expert

APP = "Audio Recorder"


@expert("AudioRecorderRecordAudio")
def record(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Records clips and keeps their names."""
    yield from s.open(APP)
    for _ in range(p.get("clips", 1)):
        yield from _clip(s)
        yield s.tap("Save")


@expert("AudioRecorderRecordAudioWithFileName")
def record_with_name(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Records a clip and types its name."""
    yield from s.open(APP)
    yield from _clip(s)
    yield s.type(p["file_name"])  # replaces the proposed name, which is selected
    yield s.tap("Save")


def _clip(s: Screen) -> Iterator[str]:
    """Records a few seconds, up to the question for a name."""
    yield s.tap("Start recording")
    yield s.wait()
    yield s.tap("Stop recording")
