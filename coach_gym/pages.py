"""Serves ASGI applications: pages, and protocols of other programs."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from coach_gym.connections import Connections

MOST = 64
"""Connections at once; a browser opens six."""
STALL = 30.0
"""Seconds that a request may take to arrive, from the connection or the previous answer on."""


def page_server(app: Any) -> uvicorn.Server:
    """Returns a server of an ASGI application, of which neither idle nor slow clients keep others out."""
    connections = Connections[_Connection](MOST, _Connection.hang_up)

    class Connection(_Connection):
        others = connections

    # uvicorn's own configuration of logging would close the handlers of the whole program
    config = uvicorn.Config(app, http=Connection, log_level="warning", log_config=None, backlog=MOST)
    return uvicorn.Server(config)


class _Connection(H11Protocol):
    """A connection that leaves others room, and whose requests arrive in time.

    uvicorn's own time limits begin after the first answer, and end with the first byte of the next request.
    """

    others: Connections[_Connection]
    _deadline: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()
        self.others.enter(self)

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete:
            self._deadline.cancel()
            self.others.note(self, waits=True)  # so that a newcomer always finds room

    def on_response_complete(self) -> None:
        self.others.note(self, waits=True)
        self._deadline.cancel()  # of a request that was refused before it had arrived
        self._await_request()
        super().on_response_complete()  # which may begin with the next request

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._deadline.cancel()
        self.others.leave(self)  # those who serve sockets count their sessions
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        self.others.leave(self)
        super().connection_lost(exc)

    def hang_up(self) -> None:
        self.transport.abort()

    def _await_request(self) -> None:
        self._deadline = self.loop.call_later(STALL, self.hang_up)
