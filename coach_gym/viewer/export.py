"""The page with its data as one HTML file, which needs no server and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from coach_gym.files import write_whole
from coach_gym.recording.store import read_trajectory, screen_path
from coach_gym.viewer.runs import Curves, find_runs, finite_curves
from coach_gym.viewer.shown import shown_episode

STATIC = Path(__file__).parent / "static"
_STYLE = re.compile(r'<link rel="stylesheet" href="static/([a-z]+\.css)">\n')
_SCRIPT = re.compile(r'<script src="static/([a-z]+\.js)" defer></script>\n')


def export_page(root: Path, path: Path, episodes: int) -> int:
    """Writes the page of the runs below a folder as one file.

    Args:
        root: Folder of runs.
        path: The HTML file.
        episodes: Most recent episodes of every run that it holds.

    Returns:
        The number of episodes in the file.

    Raises:
        ValueError: There is nothing to show.
    """
    held = _held(root, episodes)
    if not held["runs"]:
        raise ValueError(f"there are no runs in {root}: neither TensorBoard's event files nor episodes")
    page = (STATIC / "index.html").read_text("utf-8")
    style = "\n".join((STATIC / name).read_text("utf-8") for name in _STYLE.findall(page))
    script = "\n".join((STATIC / name).read_text("utf-8") for name in _SCRIPT.findall(page))
    policy = (
        f"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src {_allowed(style)}; "
        f"script-src {_allowed(script)}"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>\n'
    data = f'<script type="application/json" id="exported">{_safe_json(held)}</script>\n'
    bare = _SCRIPT.sub("", _STYLE.sub("", page))
    bare = bare.replace("</head>", head + "</head>").replace("</body>", data + f"<script>{script}</script>\n</body>")
    write_whole(path, bare)
    return len(held["documents"])


def _held(root: Path, episodes: int) -> dict[str, Any]:
    """All that the page would ask the server for."""
    held: dict[str, Any] = {name: {} for name in ("curves", "rows", "documents", "screens")}
    known, runs = Curves(), find_runs(root)
    held["runs"] = [run.told() for run in runs.values()]
    for name, run in runs.items():
        held["curves"][name] = finite_curves(known, run)
        held["rows"][name] = rows = run.rows()[-episodes:]
        for row in rows:
            assert run.store is not None
            shown = shown_episode(read_trajectory(run.store, row["id"]))
            held["documents"][f"{name}/{row['id']}"] = shown
            for screen in {each for step in shown["steps"] for each in (step["screen"], step["next"]) if each}:
                held["screens"].setdefault(screen, _picture(screen_path(run.store, screen)))
    return held


def _picture(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"


def _safe_json(value: Any) -> str:
    """JSON in which no text can end the script that it is in."""
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _allowed(text: str) -> str:
    """The source expression of a policy that allows exactly this script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
