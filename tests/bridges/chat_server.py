"""An OpenAI-compatible server on loopback that answers by a script: a real one, but for the model."""

import base64
import io
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from PIL import Image


class ChatServer(ThreadingHTTPServer):
    """Answers the n-th question of a conversation with the n-th line of the script of its goal.

    Attributes:
        scripts: Answers by a text that the conversation contains.
        asked: The messages of every request, in the order of their arrival.
    """

    def __init__(self, scripts):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripts, self.asked = scripts, []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def answer(self, messages):
        self.asked.append(messages)
        said = sum(message["role"] == "assistant" for message in messages)
        (script,) = [script for goal, script in self.scripts.items() if goal in texts(messages)]
        return script[said]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": self.server.answer(body["messages"])}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice]}
        data = json.dumps({**reply, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextmanager
def serving(scripts):
    server = ChatServer(scripts)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def texts(messages):
    return " ".join(
        message["content"] if isinstance(message["content"], str) else
        " ".join(part.get("text", "") for part in message["content"])
        for message in messages
    )  # fmt: skip


def screens(messages):
    """The pictures of a conversation, (height, width, 3) uint8."""
    urls = [
        part["image_url"]["url"]
        for message in messages if isinstance(message["content"], list)
        for part in message["content"] if part["type"] == "image_url"
    ]  # fmt: skip
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")) for url in urls]
