"""`coach-gym serve`, up to where vLLM begins."""

from importlib.util import find_spec

import pytest

from coach_gym.__main__ import main
from coach_gym.agents.generation.vllm import engine, server


class Server:
    """A server that records what it serves and is interrupted at once."""

    def __init__(self, described, host, port):
        self.address = host, port

    def run(self, engine):
        Server.ran = (self.address, engine)
        raise KeyboardInterrupt


@pytest.fixture
def stub(monkeypatch):
    monkeypatch.setattr(engine, "require_vllm", lambda: None)
    monkeypatch.setattr(server, "describe", lambda policy: policy)
    monkeypatch.setattr(server, "GenerationServer", Server)
    monkeypatch.setattr(server, "server_options", lambda: {"dtype": "float32", "max_model_len": 100})
    monkeypatch.setattr(engine, "LocalEngine", lambda policy, **options: (policy, options))


def test_options_of_the_engine_override_the_defaults(stub):
    main(["serve", "--policy", "mine", "--port", "0", "--max_model_len", "32768", "--enable_sleep_mode", "true"])
    address, made = Server.ran
    assert address == ("127.0.0.1", 0)
    assert made == ("mine", {"dtype": "float32", "max_model_len": 32768, "enable_sleep_mode": True})


@pytest.mark.parametrize("error", [ImportError("no vLLM"), OSError("port taken"), ValueError("no such model")])
def test_what_cannot_be_served_is_said_in_a_line(stub, monkeypatch, error):
    def fail(policy, **options):
        raise error

    monkeypatch.setattr(engine, "LocalEngine", fail)
    with pytest.raises(SystemExit, match=f"Cannot serve pocket on 127.0.0.1, port 8100: {error}"):
        main(["serve"])


@pytest.mark.skipif(find_spec("vllm") is not None, reason="vLLM is installed")
def test_without_vllm_the_remedy_is_said():
    with pytest.raises(SystemExit, match=r"pip install 'coach-gym\[vllm\]'"):
        main(["serve"])
