"""The client of chat servers: it gets every answer that can be had, and invents none."""

import base64
import io
import json
import random
import re
import threading
import time
import warnings
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer

import numpy as np
import pytest
from PIL import Image

from coach_gym.agents.judging import chat
from coach_gym.agents.judging.chat import ChatClient, ChatServerError, as_message, spent
from coach_gym.agents.judging.verifiers import load_verifier
from coach_gym.dialects import IMAGE, UITars
from tests.agents.judging.scripted_server import said, serving


def client(url: str, **settings) -> ChatClient:
    return ChatClient("scripted", url, **{"timeout": 5.0, "patience": 20.0, **settings})


def ask(asked: ChatClient, *questions: str) -> list[str | None]:
    return asked.ask([[{"role": "user", "content": question}] for question in questions])


def echo(number, request) -> str:
    return f"to {said(request)}"


def test_answers_come_in_the_order_of_the_questions_and_in_parallel():
    with serving(echo) as server:
        server.pause = 0.05
        questions = [f"question {number}" for number in range(12)]
        assert ask(client(server.url, parallel=4), *questions) == [f"to {question}" for question in questions]
    assert 2 <= server.most_at_once <= 4


def test_a_server_that_fails_in_a_fifth_of_the_calls_answers_everything():
    """Too many requests, internal errors, half answers: repeated, and none of them changes an answer."""
    rng = random.Random(0)

    def script(number, request):
        return rng.choice([429, 500, 503, None]) if rng.random() < 0.2 else echo(number, request)

    with serving(script) as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        questions = [f"question {number}" for number in range(40)]
        asked = client(server.url)
        assert ask(asked, *questions) == [f"to {question}" for question in questions]
    assert len(server.requests) > 43
    assert asked.usage.requests == 40 and asked.usage.failures == 0


def test_a_slow_answer_is_asked_for_again():
    with serving(lambda number, request: time.sleep(0.6 if number == 0 else 0) or "done") as server:
        assert ask(client(server.url, timeout=0.2), "a") == ["done"]
    assert len(server.requests) >= 2


def test_nobody_waits_longer_than_the_patience():
    with serving(lambda number, request: time.sleep(8) or "late") as server:
        asked = client(server.url, timeout=60.0, patience=0.2)
        begun = time.perf_counter()
        with pytest.warns(UserWarning, match=r"1 of 1 questions .* no answer within 0.2 s"):
            assert ask(asked, "a") == [None]
        assert time.perf_counter() - begun < 4


@pytest.mark.parametrize(
    "body",
    [
        '{"choices": []}', '{"choices": [{}], "usage": {"prompt_tokens": "x"}}', "[]", "{", 100_000 * "[",
        '{"choices": [{"message": {"content": 7}}]}',
    ],
    ids=range(6),
)  # fmt: skip
def test_whatever_a_server_sends_is_no_answer_rather_than_an_error(body):
    with serving("x") as server:
        server.body = body
        with pytest.warns(UserWarning, match="got no answer"):
            assert ask(client(server.url, retries=1), "a") == [None]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"error": {"message": "no credit left", "code": 402}}', "no credit left"),
        ('{"choices": [{"message": {"content": "True"}}, {"message": {"content": "False"}}]}', "'True'"),
    ],
    ids=["an error with status 200", "two choices"],
)
def test_what_a_server_says_in_place_of_an_answer_is_told(body, told):
    with serving("x") as server:
        server.body = body
        with pytest.warns(UserWarning, match=f"no single answer .*{told}"):
            assert ask(client(server.url, retries=1), "a") == [None]


def test_an_answer_without_end_is_none(monkeypatch):
    monkeypatch.setattr(chat, "LARGEST_ANSWER", 1 << 16)
    sent = []

    class Endless(StreamRequestHandler):
        def handle(self):
            self.rfile.readline()
            self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n")
            with suppress(OSError):
                while sum(sent) < 1 << 28:
                    sent.append(self.wfile.write(b" " * (1 << 16)))

    with ThreadingTCPServer(("127.0.0.1", 0), Endless) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        asked = client(f"http://127.0.0.1:{server.server_address[1]}/v1", retries=0)
        with pytest.warns(UserWarning, match="65536 bytes in one answer"):
            assert ask(asked, "a") == [None]
        server.shutdown()
    assert sum(sent) < 1 << 26


def test_an_answer_in_the_name_of_another_model_is_noted_once():
    with serving("yes") as server:
        server.name = "scripted-2026-01-01"
        asked = client(server.url)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ask(asked, "a") == ["yes"]
        server.name = "cheap"
        with pytest.warns(UserWarning, match="asked for scripted, and answers as cheap") as noted:
            assert ask(asked, "a", "b") == ["yes", "yes"]
    assert ["answers as cheap" in str(each.message) for each in noted].count(True) == 1


def test_an_answer_that_was_cut_off_is_none():
    with serving("<ans>Tr") as server:
        server.reason = "length"
        with pytest.warns(UserWarning, match="cut off"):
            assert ask(client(server.url), "a") == [None]


def test_a_server_that_is_down_is_not_waited_for_again_until_it_answers():
    state = {"up": False}
    with serving(lambda number, request: "hello" if state["up"] else 500) as server:
        asked = client(server.url, retries=3)
        with pytest.warns(UserWarning, match="2 of 2"):
            assert ask(asked, "a", "b") == [None, None]
        assert len(server.requests) == 8
        with pytest.warns(UserWarning, match="1 of 1"):
            ask(asked, "c")
        assert len(server.requests) == 9
        state["up"] = True
        assert ask(asked, "d") == ["hello"]
    assert asked.usage.failures == 3


def test_tokens_and_cost_are_counted():
    before = spent()
    with serving("yes") as server:
        asked = client(server.url, prices=(2.5, 10.0))
        ask(asked, "a", "b", "c", "d")
    usage = asked.usage
    assert (usage.requests, usage.prompt_tokens, usage.completion_tokens) == (4, 400, 40)
    assert usage.cost == pytest.approx((400 * 2.5 + 40 * 10.0) / 1e6)
    assert spent().prompt_tokens - before.prompt_tokens == 400


def test_tokens_below_zero_are_none():
    with serving("x") as server:
        counted = {"prompt_tokens": -5, "completion_tokens": 3, "total_tokens": -2}
        server.body = json.dumps({**server.completion("yes", "scripted"), "usage": counted})
        asked = client(server.url, prices=(2.5, 10.0))
        assert ask(asked, "a") == ["yes"]
    assert (asked.usage.prompt_tokens, asked.usage.completion_tokens) == (0, 3) and asked.usage.cost > 0


def test_the_key_comes_from_the_environment_and_is_never_shown(monkeypatch, capfd, caplog):
    caplog.set_level("DEBUG")
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    with serving(401) as server:
        server.body = '{"error": {"message": "wrong key: sk-very-secret"}}'
        asked = client(server.url, key_variable="MY_KEY")
        with pytest.raises(ChatServerError) as refused, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            ask(asked, "a")
            asked.check()
    shown = f"{refused.value}{[str(each.message) for each in warned]}{capfd.readouterr()}{caplog.text}{asked!r}"
    assert server.keys and set(server.keys) <= {"Bearer sk-very-secret"}
    assert "very-secret" not in shown
    assert "MY_KEY" in str(refused.value)


def test_an_address_with_a_password_is_refused_without_showing_it():
    with pytest.raises(ValueError, match="OPENAI_API_KEY") as refused:
        client("http://user:hidden@127.0.0.1:1/v1")
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999/v1", "http://", "http://[::1/v1", "http://h:x"])
def test_an_address_that_is_none_is_refused(url):
    for make in (client, lambda url: load_verifier(f"rules+openai:model@{url}")):
        with pytest.raises(ValueError, match=r"is not the address of a server of models \(.*; pass one like http://127"):
            make(url)


def test_a_model_without_a_name_is_refused():
    with pytest.raises(ValueError, match="none is named; pass 'openai:MODEL'"):
        load_verifier("openai:")


def test_an_address_that_is_none_keeps_its_password():
    with pytest.raises(ValueError, match="not the address of a server of models") as refused:
        client("http://user:hidden@127.0.0.1:99999/v1")
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, True, "5", None])
@pytest.mark.parametrize("name", ["timeout", "patience", "retries", "parallel", "prices"])
def test_numbers_that_are_none_are_refused(name, wrong):
    with pytest.raises((TypeError, ValueError), match="pass"):
        client("http://127.0.0.1:9/v1", **{name: (wrong, 0.0) if name == "prices" else wrong})


def test_a_check_finds_an_address_where_nobody_listens():
    with serving("x") as server:
        url = server.url
    with pytest.raises(ChatServerError, match="OPENAI_BASE_URL"):
        client(url).check()


def test_a_check_is_content_with_any_answer():
    with serving("Yes, and") as server:
        server.reason = "length"
        client(server.url).check()


def test_fields_of_requests_can_be_added_and_left_out():
    with serving("yes") as server:
        ask(client(server.url, request={"temperature": None, "top_p": 0.5}), "a")
    (request,) = server.requests
    assert request["top_p"] == 0.5 and "temperature" not in request and request["max_completion_tokens"] == 1024


def test_a_picture_is_sent_in_the_size_that_coordinates_refer_to():
    screen = np.zeros((240, 108, 3), np.uint8)
    frame = UITars(28 * 28, 28 * 28 * 8).frame(108, 240)
    message = as_message("user", ["Look: ", IMAGE, " there"], [screen], [frame])
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["text", "image_url", "text"]
    url = message["content"][1]["image_url"]["url"]
    data = re.fullmatch(r"data:image/png;base64,(.*)", url)[1]
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == frame.image != (108, 240)
    assert as_message("user", ["a", "b"], [], []) == {"role": "user", "content": "ab"}
