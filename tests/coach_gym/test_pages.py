"""Idle, slow and deaf clients of a page keep nobody out."""

import socket
import time
from contextlib import contextmanager, suppress

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from coach_gym import pages
from coach_gym.live.serving import listening
from tests.reliability.fuzz import http

PATIENCE = 30.0  # seconds, on a machine that is busy with other tests
GET = http("GET", "/")


def chunks():
    while True:
        yield bytes(1 << 16)


async def hello(request):
    await request.body()
    return PlainTextResponse("hello")


async def endless(request):
    return StreamingResponse(chunks())


APP = Starlette(routes=[Route("/", hello, methods=["GET", "POST"]), Route("/endless", endless)])
HALVES = pytest.mark.parametrize(
    "said", [b"", GET[:9], http("POST", "/", b"x" * 9999)[:-9000]], ids=["", "head", "body"]
)


@pytest.fixture
def port():
    with listening(lambda closing: APP, 0) as address:
        yield int(address.rstrip("/").rpartition(":")[2])


@contextmanager
def connected(port, number, said=b""):
    opened = []
    try:
        for _ in range(number):
            opened.append(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            with suppress(OSError):
                opened[-1].sendall(said)
        yield opened
    finally:
        for each in opened:
            each.close()


def served(connection):
    """Asks for the page, and returns whether it came."""
    try:
        connection.sendall(GET)
        told = b""
        while b"hello" not in told and (data := connection.recv(4096)):
            told += data
    except ConnectionError:
        return False
    return b"hello" in told


def ended(connection):
    try:
        return connection.recv(4096) == b""
    except ConnectionError:
        return True


@HALVES
def test_idle_connections_end_before_those_that_were_used(port, said):
    with connected(port, 1) as (user,):
        assert served(user)
        with connected(port, 200, said) as idle, connected(port, 1) as (late,):
            assert served(late) and served(user)
            assert all(ended(each) for each in idle[: 200 + 2 - pages.MOST])


def test_those_who_do_not_read_their_answer_make_room(port):
    with connected(port, 2 * pages.MOST, http("GET", "/endless")), connected(port, 1) as (late,):
        assert served(late)


@pytest.mark.parametrize(
    "said", [b"", GET[:9], http("POST", "/", b"x" * 9999)[:-9000]], ids=["nothing", "head", "body"]
)
@pytest.mark.parametrize("first", [b"", GET], ids=["at once", "after an answer"])
def test_a_request_that_drips_is_given_up(port, monkeypatch, first, said):
    monkeypatch.setattr(pages, "STALL", 1.0)
    with connected(port, 1, first) as (drip,):
        drip.sendall(said)
        drip.settimeout(0.05)
        until = time.monotonic() + PATIENCE
        told = b"?"
        while told:
            assert time.monotonic() < until
            try:
                drip.sendall(b"x")
                told = drip.recv(4096)
            except TimeoutError:
                continue
            except ConnectionError:
                break
