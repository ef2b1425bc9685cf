"""Serves an application on this computer only."""

from __future__ import annotations

import socket
import sys
from typing import Any

import uvicorn

HOST = "127.0.0.1"


def serve(app: Any, port: int, path: str = "/") -> None:
    """Prints the address of an ASGI application and serves it until Ctrl-C.

    Args:
        app: The application.
        port: Port on the loopback interface; 0 takes a free one. The program exits with a message if it is taken.
        path: What to print after the address.
    """
    try:
        opened = socket.create_server((HOST, port))
    except OSError as error:
        sys.exit(f"Cannot open the port {port}: {error}. Choose another.")
    print(f"http://{HOST}:{opened.getsockname()[1]}{path}  (Ctrl-C to stop)", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[opened])
