"""A server with OpenAI's chat protocol whose answers a test scripts, failures included."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = str | int | None
"""An answer's text; the status of an error; or None to close the connection in the middle of the answer."""

Script = Callable[[int, dict[str, Any]], Reply]
"""The reply to a request, from the request's number and its JSON."""


class ScriptedServer:
    """Answers requests as a script says.

    Attributes:
        requests: The JSON of all requests, in order of arrival.
        keys: The `Authorization` headers of all requests.
        most_at_once: Most requests in progress at a time.
        pause: Seconds that every answer takes.
        reason: `finish_reason` of the answers.
        body: Sent instead of any JSON, if not None.
        name: The model that answers claim to be of, if not the one that was asked for.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.most_at_once = self._at_once = 0
        self.pause = 0.0
        self.reason = "stop"
        self.body: str | None = None
        self.name = ""
        self._lock = threading.Lock()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with server._lock:
                    number = len(server.requests)
                    server.requests.append(request)
                    server.keys.append(self.headers.get("Authorization", ""))
                    server._at_once += 1
                    server.most_at_once = max(server.most_at_once, server._at_once)
                reply = server.script(number, request)
                time.sleep(server.pause)
                with server._lock:
                    server._at_once -= 1
                self._send(reply, request)

            def _send(self, reply: Reply, request: dict[str, Any]) -> None:
                status = reply if isinstance(reply, int) else 200
                text = reply if isinstance(reply, str) else "half an answer"
                whole = server.completion(text, request["model"])
                answer = whole if status == 200 else {"error": {"message": "scripted"}}
                sent = (server.body or json.dumps(answer)).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(sent)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                if reply is None:
                    self.wfile.write(sent[: len(sent) // 2])
                    self.close_connection = True
                    return
                try:
                    self.wfile.write(sent)
                except OSError:
                    pass  # the client has given up

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def completion(self, text: str, model: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        return {
            "id": "1", "object": "chat.completion", "created": 0, "model": self.name or model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }  # fmt: skip


@contextmanager
def serving(script: Script | Reply) -> Iterator[ScriptedServer]:
    """Runs a server on loopback; a script may be one reply to everything."""
    server = ScriptedServer(script if callable(script) else lambda number, request: script)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()


def said(request: dict[str, Any]) -> str:
    """The text of a request's messages; `[picture]` stands for each picture."""
    contents = [message["content"] for message in request["messages"]]
    parts = [[{"type": "text", "text": each}] if isinstance(each, str) else each for each in contents]
    return "".join(part.get("text", "[picture]") for content in parts for part in content)
