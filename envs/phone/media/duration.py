"""How long a recording, a film or a song lasts, as players write it."""

from __future__ import annotations


def clock_text(seconds: float) -> str:
    """Returns minutes and seconds, such as `02:07`; from an hour on with hours, such as `1:02:07`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes:02d}:{rest:02d}"
