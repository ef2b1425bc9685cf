"""`coach-gym view`: shows runs, their curves and their episodes in the browser, also while they are running.

coach-gym view runs                        # serves the page on a local port
coach-gym view runs --export episodes.html # writes it as one file, to send or to keep
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from coach_gym.checks import require_whole
from coach_gym.cli.refusals import path, refusing
from coach_gym.files import require_writable

PORT = 8070


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    parser.add_argument("folder", type=path, help="folder of a run, of several runs, or of episodes")
    parser.add_argument("--port", type=int, default=PORT, help="port on this computer (default: %(default)s)")
    parser.add_argument("--export", type=path, help="write one HTML file instead, which needs no server")
    parser.add_argument(
        "--episodes", type=int, default=40, help="with --export: latest episodes of every run (default: %(default)s)"
    )
    parser.set_defaults(run=view)


def view(folder: Path, port: int, export: Path | None, episodes: int) -> None:
    """Serves the page until Ctrl-C, or exports it.

    Args:
        folder: Folder of runs.
        port: Port, on the loopback interface only; 0 for a free one.
        export: HTML file to write instead.
        episodes: Most recent episodes of every run in that file.
    """
    if not folder.is_dir():
        sys.exit(f"there is no folder {folder}; pass the folder of a run, or the one given as tensorboard_log")
    if export is not None:
        from coach_gym.viewer.export import export_page

        with refusing():
            require_whole(1, episodes=episodes)
            require_writable(export)
            told = export_page(folder, export, episodes)
        print(f"Wrote {told} episodes to {export}, {export.stat().st_size / 1e6:.1f} MB")
        return
    try:
        import uvicorn  # noqa: F401

        from coach_gym.loopback import serve
        from coach_gym.viewer.server import make_app
    except ModuleNotFoundError as missing:
        sys.exit(f"coach-gym view needs {missing.name}: pip install 'coach-gym[view]'")
    serve(make_app(folder), port, "--port PORT")
