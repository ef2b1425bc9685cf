"""A model behind an API is evaluated: any server with OpenAI's chat protocol.

Without arguments a scripted server on this computer answers, which always declares the task done.

    python examples/api_agent.py
    python examples/api_agent.py gpt-4o                                    # needs OPENAI_API_KEY
    python examples/api_agent.py my/model http://127.0.0.1:8000/v1         # vLLM, SGLang, Ollama, ...
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from coach_gym.agents.judging.chat import ChatClient
from coach_gym.dialects import SetOfMarks
from coach_gym.evaluation import ChatPlayer, evaluate_suite

ANSWER = 'Reason: Nothing to do.\nAction: {"action_type": "status", "goal_status": "complete"}'


def main():
    match sys.argv[1:]:
        case []:
            with scripted_server() as address:
                evaluate("scripted", address)
        case [model, *address]:
            evaluate(model, *address)


def evaluate(model: str, address: str | None = None):
    client = ChatClient(model, address, prices=(2.5, 10.0))  # dollars per million tokens in and out
    player = ChatPlayer(client, SetOfMarks())
    report = evaluate_suite(
        player, "AndroidWorld-v0", out="api_agent.jsonl", agent=model, num_envs=2,
        env_settings={"screen_size": (270, 600), "tasks": ["SystemWifiTurnOn", "SystemWifiTurnOnVerify"]},
    )  # fmt: skip
    print(report)
    print(client.usage)


@contextmanager
def scripted_server() -> Iterator[str]:
    """Serves one answer to everything on a free port of this computer."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


class Scripted(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": ANSWER}
        usage = {"prompt_tokens": 1000, "completion_tokens": 20, "total_tokens": 1020}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
        sent = json.dumps(reply | {"usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    main()
