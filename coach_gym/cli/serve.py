"""`coach-gym serve`: runs vLLM in a process of its own, which generates responses for several trainers.

    python -m coach_gym serve --policy pocket --port 8100
    python -m coach_gym serve --policy ByteDance-Seed/UI-TARS-1.5-7B --max_model_len 32768 --gpu_memory_utilization 0.8

Trainers and judges use it with generation="http://127.0.0.1:8100".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from coach_gym.cli.settings import parse_settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command; all other options are settings of vLLM's engine."""
    parser.allow_abbrev = False
    parser.epilog = "Any of vLLM's EngineArgs is an option too: --max_model_len 32768 --enable_sleep_mode true"
    parser.add_argument(
        "--policy", default="pocket",
        help="model to serve: 'pocket', a directory or a hub id; trainers send its weights",
    )  # fmt: skip
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8100, help="0 chooses a free one (default: %(default)s)")
    parser.set_defaults(run=serve, settings=[])


def serve(policy: str, host: str, port: int, settings: Sequence[str]) -> None:
    """Serves until Ctrl-C.

    Args:
        policy: `"pocket"`, a directory or a hub id.
        host: Address to listen on.
        port: Port to listen on; 0 chooses a free one.
        settings: Words of the command line that are settings of vLLM's engine.

    Raises:
        SystemExit: vLLM is not installed, or the policy or the port cannot be used.
    """
    from coach_gym.agents.generation.vllm.engine import LocalEngine, require_vllm
    from coach_gym.agents.generation.vllm.server import GenerationServer, describe, server_options

    try:
        require_vllm()
        described = describe(policy)
        server = GenerationServer(described, host, port)
        engine = LocalEngine(described, **{**server_options(), **parse_settings(settings)})
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"Cannot serve {policy} on {host}, port {port}: {error}")
    try:
        server.run(engine)
    except KeyboardInterrupt:
        print()
