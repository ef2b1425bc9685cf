"""Ports of this computer that only this computer reaches."""

from __future__ import annotations

import socket
import sys
from typing import Any

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""What a browser on this computer may call it."""


def open_port(port: int) -> socket.socket:
    """Opens a port of the loopback interface; 0 opens a free one.

    Raises:
        OSError: The port is taken, or no port has this number.
    """
    if not 0 <= port < 1 << 16:
        raise OSError(f"ports have the numbers 0 to {(1 << 16) - 1}")
    return socket.create_server((HOST, port))


def require_free(port: int, option: str) -> None:
    """Ends the program with a message if a port is taken; to be called before anything that takes long.

    Args:
        port: The port.
        option: What chooses another one, such as `"--watch PORT"`.
    """
    open_or_exit(port, option).close()


def open_or_exit(port: int, option: str) -> socket.socket:
    """Opens a port, or ends the program with a message that names the option that chooses another one."""
    try:
        return open_port(port)
    except OSError as error:
        sys.exit(f"Cannot open the port {port}: {error}. Choose another: {option}.")


def serve(app: Any, port: int, option: str, path: str = "/") -> None:
    """Prints the address of an ASGI application and serves it until Ctrl-C.

    Args:
        app: The application.
        port: Port on the loopback interface; 0 takes a free one. The program exits with a message if it is taken.
        option: What chooses another port, for that message.
        path: What to print after the address.
    """
    from coach_gym.pages import page_server  # of an extra

    opened = open_or_exit(port, option)
    print(f"http://{HOST}:{opened.getsockname()[1]}{path}  (Ctrl-C to stop)", flush=True)
    page_server(app).run(sockets=[opened])
