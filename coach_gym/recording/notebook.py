"""What a notebook shows of observations, episodes and evaluations: pictures, and HTML with all text escaped."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from PIL import Image

from coach_gym.recording.png import encode_png

HEIGHT = 480  # pixels of a screen


class Shown(dict[str, Any]):
    """An environment's observation: a dict that a notebook shows as a picture and text."""

    def _repr_html_(self) -> str:
        return screen_html(self["screenshot"], self["goal"], self["ui"], self["last_action_error"])


def png(image: Image.Image) -> bytes:
    """Returns a picture as the bytes of a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, "png")
    return buffer.getvalue()


def screen_html(screenshot: np.ndarray, goal: str, ui: str, error: str) -> str:
    """Returns a screen with what the agent reads beside it."""
    width = max(1, round(screenshot.shape[1] * HEIGHT / screenshot.shape[0]))
    data = base64.b64encode(encode_png(screenshot)).decode()
    text = f"<b>{escape(goal)}</b>"
    if error:
        text += f"<p><i>{escape(error)}</i></p>"
    if ui:
        text += f"<details><summary>screen text</summary><pre>{escape(ui)}</pre></details>"
    return (
        f'<div style="display:flex;gap:1em"><img width="{width}" height="{HEIGHT}" src="data:image/png;base64,{data}">'
        f"<div>{text}</div></div>"
    )


def table_html(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str) -> str:
    """Returns a table."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def success_html(counts: Mapping[str, tuple[int, int]], success_rate: float, unjudged: int) -> str:
    """Returns a table of an evaluation: solved and judged episodes by task family."""
    caption = f"success {success_rate:.1%}" + (f", {unjudged} episodes without a verdict" if unjudged else "")
    return table_html(("task", "solved", "of"), ((task, *each) for task, each in counts.items()), caption)
