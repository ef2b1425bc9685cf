"""A page that shows several devices, to watch and not to touch: those of a training, or that of an environment."""

from __future__ import annotations

import asyncio
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from coach_gym.live.serving import listening
from coach_gym.recording.png import encode_png
from coach_gym.viewer import server as viewer

STATIC = Path(__file__).parent / "static"
PATIENCE = 5.0  # seconds that a request for changes waits for one
LOOK_EVERY = 0.1  # seconds between two looks


@dataclass(frozen=True)
class Shown:
    """What a device shows.

    Attributes:
        place: Number of its environment.
        goal: Instruction of the episode.
        task: Name of the task, if the environment says it.
        steps: Steps taken.
        action: The latest action; empty before the first one.
        screenshot: The screen, (height, width, 3) uint8.
    """

    place: int
    goal: str
    task: str
    steps: int
    action: str
    screenshot: np.ndarray


Look = Callable[[], Sequence[Shown]]
"""Returns what the devices show now. It is called from another thread, and only while someone watches."""


@contextmanager
def watching(look: Look, port: int = 0) -> Iterator[str]:
    """Serves the page while the context lasts, and yields its address.

    Args:
        look: Returns what there is to see.
        port: Port on the loopback interface; 0 takes a free one.

    Raises:
        OSError: The port is taken.
    """
    with listening(lambda closing: make_app(look, closing), port) as address:
        yield address


def make_app(look: Look, closing: threading.Event) -> Starlette:
    """Returns the application; once `closing` is set, no request waits any more."""
    watched = _Watched(look, closing)
    return Starlette(
        routes=[
            Route("/", watched.page),
            Route("/api/devices", watched.devices),
            Route("/screen/{place:int}", watched.screen),
            Mount("/live", StaticFiles(directory=STATIC)),
            Mount("/static", StaticFiles(directory=viewer.STATIC)),
        ],
        middleware=viewer.GUARDS,
    )


class _Watched:
    """The end points. None takes a command."""

    def __init__(self, look: Look, closing: threading.Event) -> None:
        self.look, self.closing = look, closing

    def page(self, request: Request) -> Response:
        return FileResponse(STATIC / "watch.html")

    async def devices(self, request: Request) -> Response:
        """Returns all devices as soon as they differ from `after`, a checksum; 204 if they stay as they are.

        It waits in no thread, so that pages that only wait never keep others out.
        """
        known, until = request.query_params.get("after"), time.monotonic() + PATIENCE
        while True:
            changed = await run_in_threadpool(self._others, known)
            if changed is not None:
                return changed
            if time.monotonic() > until or self.closing.is_set() or await request.is_disconnected():
                return Response(status_code=204)
            await asyncio.sleep(LOOK_EVERY)

    def _others(self, known: str | None) -> Response | None:
        """Returns all devices if they differ from `known`."""
        told = [
            {
                "place": each.place, "goal": each.goal, "task": each.task, "steps": each.steps,
                "action": each.action, "screen": f"{zlib.crc32(np.ascontiguousarray(each.screenshot).data):08x}",
            }
            for each in sorted(self.look(), key=lambda each: each.place)
        ]  # fmt: skip
        mark = f"{zlib.crc32(repr(told).encode()):08x}"
        return None if mark == known else viewer.JSON({"mark": mark, "devices": told})

    def screen(self, request: Request) -> Response:
        for each in self.look():
            if each.place == request.path_params["place"]:
                return Response(encode_png(each.screenshot), media_type="image/png")
        return Response(status_code=404)
