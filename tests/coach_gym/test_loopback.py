"""Ports are on this computer alone, and one that cannot be had is told with its remedy."""

import io
import logging
import socket

import pytest
from starlette.applications import Starlette

from coach_gym.__main__ import main
from coach_gym.live.serving import listening
from coach_gym.loopback import HOST, open_port
from tests.envs.ports import free_pair


def test_a_port_is_reached_from_this_computer_only():
    with open_port(0) as opened:
        assert opened.getsockname()[0] == HOST == "127.0.0.1"
        with pytest.raises(OSError, match="in use"):
            open_port(opened.getsockname()[1])


def test_a_page_leaves_the_programs_log_handlers_alone():
    class Handler(logging.StreamHandler):
        closed = False

        def close(self):
            self.closed = True
            super().close()

    handler = Handler(io.StringIO())
    with listening(lambda closing: Starlette(), 0):
        assert not handler.closed


@pytest.mark.parametrize("words", [
    ("view", "{folder}", "--port", "{port}"),
    ("phone", "--port", "{free}", "--grpc-port", "0", "--width", "270", "--height", "600", "--web", "{port}"),
    ("train", "--steps", "1", "--out", "{folder}/run", "--watch", "{port}"),
], ids=lambda words: words[0])  # fmt: skip
def test_a_page_without_a_port_ends_in_a_sentence(words, tmp_path):
    with socket.create_server((HOST, 0)) as taken:
        for port, problem in ((taken.getsockname()[1], "in use"), (99_999, "0 to 65535")):
            with pytest.raises(SystemExit, match=rf"Cannot open the port {port}: .*{problem}.* Choose another: --"):
                main([word.format(port=port, free=free_pair()[1], folder=tmp_path) for word in words])
