"""The web server behind the page of a phone: on loopback only, and for nobody but its own page."""

from __future__ import annotations

import asyncio
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from coach_gym.actions import Action, ActionError
from coach_gym.envs.errors import DeviceError
from coach_gym.live.hands import Hands, Refused
from coach_gym.recording.png import encode_png
from coach_gym.registration import env_ids
from coach_gym.viewer import server as viewer
from coach_gym.viewer.shown import elements_of

STATIC = Path(__file__).parent / "static"
PATIENCE = 5.0  # seconds that a request for the next screen waits for a change
LOOK_EVERY = 0.04  # seconds between two looks


def make_app(hands: Hands, closing: threading.Event) -> Starlette:
    """Returns the application that shows a device and works it; once `closing` is set, no request waits any more."""
    served = _Served(hands, closing)
    return Starlette(
        routes=[
            Route("/", served.page),
            Route("/api/state", served.state),
            Route("/api/tasks", served.tasks),
            Route("/api/elements", served.elements),
            Route("/api/{command}", served.command, methods=["POST"]),
            Route("/screen", served.screen),
            Mount("/live", StaticFiles(directory=STATIC)),
            Mount("/static", StaticFiles(directory=viewer.STATIC)),
        ],
        middleware=viewer.GUARDS,
        exception_handlers={DeviceError: _unreachable},
    )


def _unreachable(request: Request, problem: Exception) -> Response:
    return viewer.refusal(problem, 503)


class _Served:
    """The end points. Those that are no coroutines run in a thread of their own each."""

    def __init__(self, hands: Hands, closing: threading.Event) -> None:
        self.hands, self.closing = hands, closing
        self.commands: dict[str, Callable[[dict[str, Any]], None]] = {
            "act": lambda asked: hands.act(_action(asked)),
            "press": lambda asked: hands.press(str(asked["key"])),
            "reset": lambda asked: hands.reset(),
            "task": lambda asked: hands.choose(str(asked["id"]), int(asked["seed"])),
            "leave": lambda asked: hands.leave(),
        }

    def page(self, request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    def state(self, request: Request) -> Response:
        return viewer.JSON(self.hands.told())

    def tasks(self, request: Request) -> Response:
        return viewer.JSON([id for id in env_ids() if "tasks" in gym.spec(id).kwargs])

    def elements(self, request: Request) -> Response:
        return viewer.JSON(elements_of(self.hands.screen_text()))

    async def screen(self, request: Request) -> Response:
        """Returns the screen as soon as it is another than `after`, a checksum, or another page asked for something.

        The latter is seen by `turn`, the number of the latest request that this page knows of. 204 means that all is as
        it was. It waits in no thread, so that pages that only wait never keep others out.
        """
        shown, turn = request.query_params.get("after"), request.query_params.get("turn")
        until = time.monotonic() + PATIENCE
        while True:
            changed = await run_in_threadpool(self._another, shown, turn)
            if changed is not None:
                return changed
            if time.monotonic() > until or self.closing.is_set() or await request.is_disconnected():
                return Response(status_code=204)
            await asyncio.sleep(LOOK_EVERY)

    def _another(self, shown: str | None, turn: str | None) -> Response | None:
        """Returns the screen unless it is the one `shown` and all that was asked is known."""
        screenshot, now = self.hands.screenshot(), str(self.hands.turn)
        mark = f"{zlib.crc32(screenshot.data):08x}"
        if mark == shown and turn in (None, now):
            return None
        headers = {"X-Screen": mark, "X-Turn": now, "Cache-Control": "no-store"}
        return Response(encode_png(screenshot), media_type="image/png", headers=headers)

    async def command(self, request: Request) -> Response:
        if viewer.ASKED_BY_PAGE not in request.headers or not _same_origin(request):
            return viewer.JSON({"problem": "only the page of this phone may work it"}, 403)
        command = self.commands.get(request.path_params["command"])
        if command is None:
            return viewer.JSON({"problem": "there is no such command"}, 404)
        try:
            await run_in_threadpool(command, await viewer.asked_json(request))
        except (Refused, ActionError, *viewer.WRONG) as problem:
            return viewer.refusal(problem, 400)
        return viewer.JSON(await run_in_threadpool(self.hands.told))


def _same_origin(request: Request) -> bool:
    origin = request.headers.get("origin")
    return origin is None or origin == f"{request.url.scheme}://{request.headers['host']}"


def _action(asked: dict[str, Any]) -> Action:
    return Action(
        str(asked["kind"]), _point(asked.get("start")), _point(asked.get("end")), asked.get("direction"),
        str(asked.get("content", "")),
    )  # fmt: skip


def _point(asked: Any) -> tuple[int, int] | None:
    if asked is None:
        return None
    x, y = asked
    return int(x), int(y)
