"""The uiautomator2 server as its client reaches it: JSON-RPC over HTTP on a port inside the phone."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from coach_gym.envs.phone.servers import http
from coach_gym.envs.phone.servers.adb_transport import Stream
from coach_gym.envs.phone.servers.uiautomator.automator import UiAutomator
from coach_gym.envs.phone.servers.uiautomator.errors import RpcError
from coach_gym.envs.phone.servers.uiautomator.objects import GONE

PORT = 9008
"""The default port of the client."""

MAIN = "com.wetest.uia2.Main"
"""The class that `app_process` runs to start the server."""

_PORT_OPTION = re.compile(r"\s-p\s+(\d{1,5})\b")
_JSON = "application/json; charset=utf-8"


class UiAutomatorServer:
    """Serves connections to a phone's uiautomator while a shell of the phone runs the server.

    Attributes:
        ports: The services of the ports on which it listens, by adb's names for them, such as `tcp:9008`.
    """

    def __init__(self, automator: UiAutomator) -> None:
        self._automator = automator
        self.ports: dict[str, Callable[[http.Stream], None]] = {}

    @contextmanager
    def running(self, command: str) -> Iterator[None]:
        """Listens on the port of `app_process … -p PORT`. A port in use stays with its server."""
        given = _PORT_OPTION.search(command)
        name = f"tcp:{given[1] if given else PORT}"
        taken = name in self.ports
        self.ports.setdefault(name, self.serve)
        try:
            yield
        finally:
            if not taken:
                self.ports.pop(name, None)

    def serve(self, stream: http.Stream) -> None:
        """Answers one connection until it ends."""
        if isinstance(stream, Stream):
            GONE.set(lambda: stream.ended)
        http.serve(stream, self._respond)

    def _respond(self, method: str, path: str, body: bytes) -> tuple[HTTPStatus, str, bytes]:
        match method, path.partition("?")[0]:
            case "GET", "/ping":
                return HTTPStatus.OK, "text/plain", b"pong"
            case "POST", "/jsonrpc/0":
                return HTTPStatus.OK, _JSON, json.dumps(self._rpc(body)).encode()
            case _:
                return HTTPStatus.NOT_FOUND, "text/plain", b"Not Found"

    def _rpc(self, body: bytes) -> dict[str, Any]:
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            return _failure(None, -32700, "parse error")
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return _failure(None, -32600, "invalid request")
        number, params = request.get("id"), request.get("params")
        if not isinstance(number, int | str | None) or not isinstance(params, list | dict | None):
            return _failure(None, -32600, "invalid request")
        try:
            return {"jsonrpc": "2.0", "id": number, "result": self._automator.call(request["method"], params)}
        except RpcError as error:
            return _failure(number, error.code, str(error))
        except Exception:
            logging.exception("uiautomator: %s", request["method"][:60])
            return _failure(number, -32603, "internal error")


def _failure(number: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, "data": message}}
