"""`coach-gym openenv`: serves environments to trainers that speak OpenEnv, on this computer only.

coach-gym openenv --env AndroidWorld-v0 --sessions 8 --screen_size "[540, 1200]"
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

import gymnasium as gym

from coach_gym.cli.environments import check_environment
from coach_gym.cli.settings import parse_settings
from coach_gym.envs.errors import DeviceError

PORT = 8000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command; all other options are settings of the environment."""
    parser.add_argument("--env", default="AndroidWorld-v0", help="id of the environment (default: %(default)s)")
    parser.add_argument("--port", type=int, default=PORT, help="port; 0 for a free one (default: %(default)s)")
    parser.add_argument(
        "--sessions", type=int, default=8, help="most clients at a time, a phone each (default: %(default)s)"
    )
    parser.set_defaults(run=serve, settings=[])


def serve(env: str, port: int, sessions: int, settings: Sequence[str]) -> None:
    """Serves an environment until Ctrl-C.

    Args:
        env: Id of the environment.
        port: Port on the loopback interface.
        sessions: Most sessions at a time.
        settings: Words of the command line that are settings of the environment.
    """
    os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")  # the page reports nothing to anybody
    try:
        from coach_gym.bridges.openenv_server import PhoneEnvironment, make_app
    except ModuleNotFoundError as missing:
        sys.exit(f"coach-gym openenv needs {missing.name}: pip install 'coach-gym[openenv]'")
    from coach_gym.loopback import serve as serve_http

    chosen = parse_settings(settings)
    if sessions > 1 and chosen.get("device", "phone") != "phone":
        sys.exit(f"{sessions} sessions cannot share the device {chosen['device']!r}; pass --sessions 1")
    try:
        check_environment(env, chosen)
        PhoneEnvironment(env, **chosen).close()
        app = make_app(env, sessions, **chosen)
    except (gym.error.Error, DeviceError, ImportError, TypeError, ValueError) as error:
        sys.exit(f"{env} cannot be served: {error}")
    serve_http(app, port, "--port PORT")
