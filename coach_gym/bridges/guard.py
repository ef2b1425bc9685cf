"""Keeps other sites out of an application on this computer."""

from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from coach_gym.loopback import NAMES


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
