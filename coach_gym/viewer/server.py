"""The web server behind the page: on loopback only, and for reading, except that it can play candidates."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coach_gym.loopback import NAMES
from coach_gym.recording.png import encode_png
from coach_gym.recording.store import read_trajectory, screen_path
from coach_gym.viewer.runs import Curves, Run, find_runs, finite_curves
from coach_gym.viewer.shown import shown_episode
from coach_gym.viewer.what_if import CannotReplay, what_if

STATIC = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: its own files and nothing else, and no script or style in its markup."""
ASKED_BY_PAGE = "x-coach-gym"
"""A header that pages of other origins cannot send."""


def make_app(root: Path) -> Starlette:
    """Returns the application that shows the runs below a folder."""
    viewer = _Viewer(root)
    return Starlette(
        routes=[
            Route("/", viewer.page),
            Route("/api/runs", viewer.runs),
            Route("/api/curves", viewer.curves),
            Route("/api/episodes", viewer.episodes),
            Route("/api/episode", viewer.episode),
            Route("/api/what-if", viewer.what_if, methods=["POST"]),
            Route("/screen", viewer.screen),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[*GUARDS, Middleware(GZipMiddleware)],
        exception_handlers={KeyError: _not_found, IndexError: _not_found, CannotReplay: _not_found},
    )


class Guarded:
    """Adds the headers that keep other origins and their scripts out.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        await self.app(scope, receive, guarded)


GUARDS = (
    Middleware(TrustedHostMiddleware, allowed_hosts=NAMES),  # no other site can name this server as its own
    Middleware(Guarded),
)
"""What every page of ours is served behind."""


WRONG = (ArithmeticError, ClientDisconnect, LookupError, RecursionError, TypeError, ValueError)
"""What reading a request raises whose JSON is wrong, or whose client has hung up."""


async def asked_json(request: Request) -> dict[str, Any]:
    """Returns the JSON of a request.

    Raises:
        ValueError: It is no JSON object.
    """
    asked = await request.json()
    if not isinstance(asked, dict):
        raise ValueError("the request is not a JSON object")
    return asked


class JSON(JSONResponse):
    """An answer in ASCII, as texts of models and tasks may hold lone surrogates, which UTF-8 has not."""

    def render(self, content: Any) -> bytes:
        """Writes the JSON."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class _Viewer:
    """The end points. They are not coroutines, so each runs in a thread of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.known = Curves()

    def page(self, request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    def runs(self, request: Request) -> Response:
        return JSON([run.told() for run in find_runs(self.root).values()])

    def curves(self, request: Request) -> Response:
        return JSON(finite_curves(self.known, self._run(request.query_params["run"])))

    def episodes(self, request: Request) -> Response:
        return JSON(self._run(request.query_params["run"]).rows())

    def episode(self, request: Request) -> Response:
        store = self._store(request.query_params["run"])
        return JSON(shown_episode(read_trajectory(store, request.query_params["id"])))

    def screen(self, request: Request) -> Response:
        path = screen_path(self._store(request.query_params["run"]), request.query_params["name"])
        if not path.is_file():
            raise KeyError(f"there is no screen {path.stem}")
        return FileResponse(path, headers={"Cache-Control": "max-age=31536000, immutable"})

    async def what_if(self, request: Request) -> Response:
        if ASKED_BY_PAGE not in request.headers:
            return JSON({"problem": f"the header {ASKED_BY_PAGE} is missing"}, 403)
        try:
            asked = await asked_json(request)
            place = str(asked["run"]), str(asked["id"]), int(asked["step"]), int(asked["candidate"])
        except WRONG as problem:
            return refusal(problem, 400)
        return await run_in_threadpool(self._play, *place)

    def _play(self, run: str, id: str, step: int, candidate: int) -> Response:
        outcome = what_if(self._store(run), id, step, candidate)
        screen = base64.b64encode(encode_png(outcome.screenshot)).decode()
        told = {"error": outcome.error, "over": outcome.over, "success": outcome.success}
        return JSON({"screen": f"data:image/png;base64,{screen}", **told})

    def _run(self, name: str) -> Run:
        runs = find_runs(self.root)
        if name not in runs:
            raise KeyError(f"there is no run {name}")
        return runs[name]

    def _store(self, name: str) -> Path:
        store = self._run(name).store
        if store is None:
            raise KeyError(f"the run {name} has no episodes")
        return store


def refusal(problem: Exception, status: int) -> Response:
    """Returns an answer that says what is wrong."""
    return JSON({"problem": str(problem.args[0] if problem.args else type(problem).__name__)}, status)


def _not_found(request: Request, problem: Exception) -> Response:
    return refusal(problem, 404)
