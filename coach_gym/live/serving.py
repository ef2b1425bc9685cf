"""A page on a port of this computer, beside whatever else runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.applications import Starlette

from coach_gym.live.hands import Hands
from coach_gym.live.server import make_app
from coach_gym.loopback import HOST, open_port
from coach_gym.pages import page_server


@contextmanager
def serving(hands: Hands, port: int = 0) -> Iterator[str]:
    """Serves the page of a device while the context lasts, and yields its address.

    Args:
        hands: The device.
        port: Port on the loopback interface; 0 takes a free one.

    Raises:
        OSError: The port is taken.
    """
    with listening(lambda closing: make_app(hands, closing), port) as address:
        try:
            yield address
        finally:
            hands.leave()


@contextmanager
def listening(make: Callable[[threading.Event], Starlette], port: int) -> Iterator[str]:
    """Serves an application while the context lasts, and yields its address.

    Args:
        make: Makes the application; the event is set when requests must not wait any longer.
        port: Port on the loopback interface; 0 takes a free one.

    Raises:
        OSError: The port is taken.
    """
    opened, closing = open_port(port), threading.Event()
    server = page_server(make(closing))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://{HOST}:{opened.getsockname()[1]}/"
    finally:
        closing.set()
        server.should_exit = True
        thread.join(10)
        opened.close()
