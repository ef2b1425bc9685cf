"""Serves an application on this computer only."""

from __future__ import annotations

import socket
import sys
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

HOST = "127.0.0.1"
NAMES = ("127.0.0.1", "localhost", "::1")


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


def guard(app: Starlette) -> None:
    """Keeps out pages of other sites, which a browser on this computer may show: they get neither HTTP nor sockets."""
    app.add_middleware(_OwnPagesOnly)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(NAMES))


class _OwnPagesOnly:
    """Refuses requests whose `Origin` is another site; programs other than browsers send none."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = dict(scope.get("headers", ())).get(b"origin")
        if origin is None or urlsplit(origin.decode("latin-1")).hostname in NAMES:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send({"type": "http.response.start", "status": 403, "headers": []})
            await send({"type": "http.response.body", "body": b"only pages of this computer may ask"})
