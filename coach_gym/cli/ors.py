"""`coach-gym ors`: serves environments to trainers that speak the Open Reward Standard, on this computer only.

coach-gym ors --env AndroidWorld-v0 --screen_size "[540, 1200]"
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

PORT = 8080


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command; all other options are settings of the environment."""
    parser.add_argument("--env", default="AndroidWorld-v0", help="id of the environment (default: %(default)s)")
    parser.add_argument("--port", type=int, default=PORT, help="port; 0 for a free one (default: %(default)s)")
    parser.set_defaults(run=serve, settings=[])


def serve(env: str, port: int, settings: Sequence[str]) -> None:
    """Serves an environment until Ctrl-C.

    Args:
        env: Id of the environment.
        port: Port on the loopback interface.
        settings: Words of the command line that are settings of the environment.
    """
    os.environ.setdefault("ORS_LOG_LEVEL", "WARNING")
    try:
        from coach_gym.bridges.ors_server import make_app
    except ModuleNotFoundError as missing:
        sys.exit(f"coach-gym ors needs {missing.name}: pip install 'coach-gym[ors]'")
    from coach_gym.loopback import serve as serve_http

    chosen = parse_settings(settings)
    try:
        check_environment(env, chosen)
        gym.make(env, disable_env_checker=True, **chosen).close()
        app = make_app(env, **chosen)
    except (gym.error.Error, DeviceError, ImportError, TypeError, ValueError) as error:
        sys.exit(f"{env} cannot be served: {error}")
    serve_http(app, port, "--port PORT")
