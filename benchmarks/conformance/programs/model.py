"""OpenAI's interface on a local port, with a script behind it; and programs whose requests are led there.

    python -m benchmarks.conformance.programs.model http://127.0.0.1:8000 run.py --agent_name=t3a_gpt4 ...

runs a program unchanged, except that its requests to api.openai.com go to the given address, its shell commands to
bash where it asks for zsh, and that it need not download the accessibility forwarder. A window of pygame is clicked in
and closed, as a person would do.
"""

from __future__ import annotations

import io
import json
import os
import runpy
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

from benchmarks.conformance.programs.scripts import Script
from coach_gym.envs.phone.packages import package_file
from coach_gym.envs.phone.shell.commands.state import FORWARDER

OPENAI = "https://api.openai.com/v1"
PLAYED_BY_A_PERSON = "run_human_agent.py"
FILLING = 1 << 16
"""Bytes. android_env installs a file that it has not flushed, so that short ones arrive empty. The phone has the
forwarder's function built in and runs no foreign code, so a file with its name will do."""


@contextmanager
def served() -> Iterator[tuple[str, list[str]]]:
    """Serves the script on a free port. Yields its address and, as they come, what the script could not answer."""
    script, faults = Script(), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                answer = script.answer("\n".join(map(_text, asked["messages"])))
            except LookupError as error:
                faults.append(str(error))
                answer = "the script does not know what to do"
            message = {"role": "assistant", "content": answer}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            reply = {"id": "0", "object": "chat.completion", "created": 0, "model": "script", "choices": [choice]}
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1", faults
        server.shutdown()


def _text(message: dict[str, Any]) -> str:
    """Returns the text of a message, without its pictures."""
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def click_and_close() -> None:
    """Waits for a window of pygame, clicks in its middle, and closes it."""
    import pygame

    while not (pygame.get_init() and pygame.display.get_surface()):
        time.sleep(0.5)
    width, height = pygame.display.get_surface().get_size()
    at = {"pos": (width // 2, height // 2), "button": 1}
    for kind in (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP, pygame.QUIT):
        pygame.event.post(pygame.event.Event(kind, at))
        time.sleep(2)


def run_program() -> None:
    """Runs the program that the command line names."""
    address, program, *_ = sys.argv[1:]
    post, popen, urlopen = requests.post, subprocess.Popen.__init__, urllib.request.urlopen

    def led_post(url: str, **settings: Any) -> requests.Response:
        return post(url.replace(OPENAI, address), **settings)

    def bash_popen(self: Any, *args: Any, executable: str | None = None, **settings: Any) -> None:
        popen(self, *args, executable="/bin/bash" if executable == "/bin/zsh" else executable, **settings)

    def spared_urlopen(url: Any, *args: Any, **settings: Any) -> Any:
        forwarder = isinstance(url, str) and url.endswith("accessibility_forwarder.apk")
        return io.BytesIO(package_file(FORWARDER, FILLING)) if forwarder else urlopen(url, *args, **settings)

    requests.post, urllib.request.urlopen = led_post, spared_urlopen
    subprocess.Popen.__init__ = bash_popen  # type: ignore[method-assign]
    if program == PLAYED_BY_A_PERSON:
        threading.Thread(target=click_and_close, daemon=True).start()
    sys.argv = sys.argv[2:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    run_program()
