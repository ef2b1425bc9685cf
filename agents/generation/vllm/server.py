"""A generation server: sampling with vLLM in a process that several trainers share.

One thread steps the engine; one thread per connection reads requests and waits for their results. New requests join the
batch before the next token is drawn, so many small ones cost little more than one large one. A change to the engine
waits until nothing is being drawn, in the order of arrival, so no response is drawn with two versions of the weights.
"""

import hmac
import io
import json
import os
import queue
import socket
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import torch

from coach_gym.agents.generation.vllm.checks import check_prompt, check_sampling, check_shapes
from coach_gym.agents.generation.vllm.engine import LocalEngine
from coach_gym.agents.generation.vllm.protocol import Drawn, Sampling
from coach_gym.agents.generation.vllm.timed import TimedInput
from coach_gym.agents.generation.vllm.wire import CONTENT_TYPE, KEY, unpack, unpack_images
from coach_gym.agents.models.architectures import read_config, untrained_model
from coach_gym.agents.models.chatml import ImageInput
from coach_gym.agents.models.policy import SHIPPED, Policy, Prompt
from coach_gym.checks import require_port
from coach_gym.connections import Connections, shut

IMAGE_BYTES = 4 << 30
"""Bytes of preprocessed screenshots that are kept; one of a phone in full resolution has 24 MB."""
SILENCE = 600.0
"""Seconds of silence after which a connection is closed."""
STALL = 30.0
"""Seconds of silence after which a transfer of weights, for which all others wait, is abandoned; and seconds that the
head of a request may take to arrive."""
SLOWEST = 1 << 20
"""Bytes a second at which a body must arrive at least, after the first `STALL` seconds."""
LARGEST_BODY = 16 << 30
"""Bytes of a request; a piece of weights has at most those of the largest layer."""
MOST_CONNECTIONS = 512


class Refusal(Exception):
    """A well-formed request that cannot be fulfilled.

    Args:
        status: HTTP status of the answer.
        problem: Message for the client.
    """

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


# ---- the engine's thread ----------------------------------------------------------------------------------------


@dataclass
class Request:
    """Prompts of one client in progress.

    Attributes:
        prompts: The prompts.
        sampling: How to draw.
        version: Version of the weights to draw with.
        result: Receives the responses.
        numbers: The engine's names of the prompts.
        finished: Responses of finished prompts, by name.
    """

    prompts: Sequence[Prompt]
    sampling: Sampling
    version: str
    result: Future[list[list[Drawn]]] = field(default_factory=Future)
    numbers: list[str] = field(default_factory=list)
    finished: dict[str, list[Drawn]] = field(default_factory=dict)


class EngineLoop:
    """Steps the engine for the threads of all clients.

    Args:
        engine: An engine without weights.

    Attributes:
        version: Version of the weights in use; empty while there are none.
    """

    def __init__(self, engine: LocalEngine) -> None:
        self.engine = engine
        self.version = ""
        self._inbox: queue.SimpleQueue[Request | tuple[Callable[[], None], Future[None]]] = queue.SimpleQueue()
        self._under_way: dict[str, Request] = {}

    def draw(self, prompts: Sequence[Prompt], sampling: Sampling, version: str) -> list[list[Drawn]]:
        """Draws responses in one batch with other clients' requests; any thread may call it."""
        request = Request(prompts, sampling, version)
        self._inbox.put(request)
        return request.result.result()

    def between(self, work: Callable[[], None]) -> Future[None]:
        """Schedules work for when all earlier requests are done; any thread may call it."""
        done: Future[None] = Future()
        self._inbox.put((work, done))
        return done

    def run(self) -> None:
        """Steps the engine forever; raises the engine's error, after which it cannot be used."""
        while True:
            try:
                task = self._inbox.get(block=not self.engine.busy)
            except queue.Empty:
                self._step()
                continue
            if isinstance(task, Request):
                self._begin(task)
                continue
            while self.engine.busy:
                self._step()
            _settle(*task)

    def _begin(self, request: Request) -> None:
        try:
            self._check_version(request.version)
            request.numbers = self.engine.submit(request.prompts, request.sampling)
        except Exception as error:
            request.result.set_exception(error)
            return
        self._under_way |= dict.fromkeys(request.numbers, request)

    def _check_version(self, wanted: str) -> None:
        if not self.version:
            raise Refusal(410, f"there are no weights here, and so none of version {wanted}; send them first")
        if wanted != self.version:
            raise Refusal(
                409,
                f"the weights here are version {self.version}, not {wanted}: another trainer has replaced them. "
                f"Start a server for each trainer with different weights",
            )

    def _step(self) -> None:
        for number, drawn in self.engine.step().items():
            request = self._under_way.pop(number)
            request.finished[number] = drawn
            if len(request.finished) == len(request.numbers):
                request.result.set_result([request.finished[number] for number in request.numbers])


def _settle(work: Callable[[], None], done: Future[None]) -> None:
    try:
        work()
    except Exception as error:
        done.set_exception(error)
    else:
        done.set_result(None)


# ---- requests ----------------------------------------------------------------------------------------------------


class ImageStore:
    """The latest screenshots that clients have sent.

    Args:
        capacity: Maximum size in bytes.
    """

    def __init__(self, capacity: int = IMAGE_BYTES) -> None:
        self.capacity = capacity
        self._kept: OrderedDict[str, ImageInput] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, names: set[str], given: Mapping[str, ImageInput]) -> dict[str, ImageInput]:
        """Stores the given screenshots and returns all known ones among `names`."""
        with self._lock:
            found = {name: self._kept[name] for name in names & self._kept.keys()} | dict(given)
            for name, image in found.items():
                self._kept[name] = image
                self._kept.move_to_end(name)
            while sum(image.pixel_values.nbytes for image in self._kept.values()) > self.capacity:
                self._kept.popitem(last=False)
        return found


class GenerationServer(ThreadingHTTPServer):
    """Answers trainers over HTTP.

    The server binds its port at once, so that a port in use is reported before the slow start of an engine. It answers
    once it runs.

    Args:
        policy: The policy whose architecture and tokenizer it serves; its weights are not used.
        host: Address to listen on; any but this machine's own needs a key in the environment.
        port: Port to listen on; 0 takes a free one.

    Raises:
        ValueError: Other machines could reach the server, and there is no key.
        OSError: The port is in use.
    """

    daemon_threads = True
    request_queue_size = 128
    loop: EngineLoop

    def __init__(self, policy: Policy, host: str = "127.0.0.1", port: int = 8100) -> None:
        require_port(port=port)
        self.key = os.environ.get(KEY, "")
        if not self.key and not _is_own(host):
            raise ValueError(
                f"other machines could reach {host}, and read or replace the weights; set {KEY} to the same secret "
                f"here and for the trainers, or listen on 127.0.0.1"
            )
        super().__init__((host, port), Connection, bind_and_activate=False)
        self.server_bind()
        self.policy = policy
        self.shapes = {name: list(parameter.shape) for name, parameter in policy.model.named_parameters()}
        self.images = ImageStore()
        self.updating = threading.Lock()
        self.connections = Connections(MOST_CONNECTIONS, shut)  # its thread wakes and closes it

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serves a connection in a thread of its own, if there is room for it."""
        if self.connections.enter(request):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serves a connection until it ends."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.leave(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints the traceback of a mistake; a client that hangs up makes none."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """Address of the server."""
        return f"http://{self.server_address[0]!s}:{self.server_address[1]}"

    def run(self, engine: LocalEngine) -> None:
        """Serves until the engine fails; this thread steps it."""
        self.loop = EngineLoop(engine)
        self.server_activate()
        print(f"{self.url}    (Ctrl-C ends it.)", flush=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.loop.run()

    def status(self) -> dict[str, Any]:
        """Answers with the version, the precision and the totals."""
        engine = self.loop.engine
        return {"version": self.loop.version, "dtype": str(engine.dtype).removeprefix("torch."), **engine.counts}

    def sample(self, body: bytes) -> dict[str, Any]:
        """Draws responses, or answers with the names of screenshots that it needs first."""
        head, tensors = unpack(body)
        rows = head["prompts"]
        if not rows:
            raise ValueError("the request has no prompts; send at least one")
        names = {name for row in rows for name in row["images"]}
        images = self.images.find(names, unpack_images(head, tensors))
        if missing := sorted(names - images.keys()):
            return {"missing": missing}
        prompts = [Prompt(row["tokens"], [images[name] for name in row["images"]]) for row in rows]
        for prompt in prompts:
            check_prompt(prompt, self.policy)
        sampling = Sampling(**head["sampling"])
        check_sampling(sampling, self.policy)
        drawn = self.loop.draw(prompts, sampling, head["version"])
        return {"drawn": [[(one.token_ids, one.logprobs, one.version) for one in row] for row in drawn]}

    def sleep(self, _body: bytes) -> dict[str, Any]:
        """Frees accelerator memory until the next request, if the engine was started with that option."""
        self.loop.between(self.loop.engine.sleep).result()
        return {}


class Update:
    """A transfer of weights on one connection; only one is active at a time.

    Args:
        server: The server that receives the weights.
        version: Version of the weights.
    """

    def __init__(self, server: GenerationServer, version: str) -> None:
        self.server, self.version = server, version
        self._awaited = set(server.shapes)
        server.updating.acquire()

    def begin(self, client: socket.socket) -> None:
        """Waits until nothing is being drawn; from then on there are no weights.

        Raises:
            ConnectionAbortedError: The client has hung up while it waited, so the weights in force stay.
        """

        def prepare() -> None:
            if _has_hung_up(client):
                raise ConnectionAbortedError("the client hung up before its transfer began")
            self.server.loop.version = ""
            self.server.loop.engine.begin_update()

        self.server.loop.between(prepare).result()

    def take(self, body: bytes) -> None:
        """Receives some of the weights.

        Raises:
            Refusal: All of them have arrived before, so that the transfer could go on for ever.
            ValueError: One is unknown, of another shape, no floating-point numbers, or not finite in the engine's.
        """
        _, tensors = unpack(body)
        for name, tensor in tensors.items():
            if list(tensor.shape) != self.server.shapes.get(name):
                raise ValueError(f"{name} of shape {list(tensor.shape)} is not a weight of this model")
            if not tensor.is_floating_point() or not tensor.to(self.server.loop.engine.dtype).isfinite().all():
                raise ValueError(f"{name} is not finite, so these weights do not come into force")
        if not self._awaited & tensors.keys():
            raise Refusal(400, "a piece without any weight that has not arrived yet; send each of them once")
        self._awaited -= tensors.keys()
        self.server.loop.between(partial(self.server.loop.engine.update, tensors)).result()

    def finish(self, version: str) -> None:
        """Starts using the weights under a name, or abandons them if it is empty.

        Raises:
            Refusal: Some of them have not arrived; they are abandoned.
        """
        missing = sorted(self._awaited)
        if version and missing:
            self.finish("")
            raise Refusal(400, f"{len(missing)} weights have not arrived, such as {missing[0]}; send all of them again")

        def put_in_force() -> None:
            self.server.loop.engine.finish_update(version)
            self.server.loop.version = version

        self.server.loop.between(put_in_force).result()

    def close(self) -> None:
        """Lets another transfer begin."""
        self.server.updating.release()


class Connection(BaseHTTPRequestHandler):
    """Reads and answers the requests of one connection, one after the other."""

    server: GenerationServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = SILENCE
    update: Update | None = None

    def setup(self) -> None:
        """Opens both directions."""
        super().setup()
        self.rfile.close()
        self._input = TimedInput(self.connection, STALL)
        self.rfile = io.BufferedReader(self._input)

    def handle_one_request(self) -> None:
        """Waits for a request and answers it."""
        self._input.await_request()
        super().handle_one_request()
        self.server.connections.note(self.request, waits=self.update is None)

    def do_GET(self) -> None:  # noqa: N802  (the base class's name)
        """Answers `/status`."""
        self._reply(lambda _: self.server.status() if self.path == "/status" else self._unknown())

    def do_POST(self) -> None:  # noqa: N802
        """Answers all other requests."""
        answers = {
            "/sample": self.server.sample,
            "/sleep": self.server.sleep,
            "/weights/begin": self._begin_update,
            "/weights/piece": self._take_piece,
            "/weights/finish": self._finish_update,
        }
        self._reply(answers.get(self.path, lambda _: self._unknown()))

    def finish(self) -> None:
        """Abandons a transfer that is unfinished when the connection ends."""
        try:
            super().finish()
        finally:
            if self.update is not None:
                self._end_update("")

    def _begin_update(self, body: bytes) -> dict[str, Any]:
        if self.update is not None:
            raise Refusal(400, "a transfer began within another one; finish the first, or use another connection")
        head, _ = unpack(body)
        check_shapes(head["shapes"], self.server.shapes)
        if not head["version"] or not isinstance(head["version"], str):
            raise ValueError(f"weights have a text for their version, not {head['version']!r}")
        update = Update(self.server, head["version"])
        if head["version"] == self.server.loop.version:
            update.close()
            return {"held": True}
        self.update = update
        self.connection.settimeout(STALL)
        try:
            update.begin(self.connection)
        except ConnectionAbortedError:  # there is nothing to abandon
            update.close()
            self.update = None
            raise
        return {"held": False}

    def _take_piece(self, body: bytes) -> dict[str, Any]:
        if self.update is None:
            raise Refusal(400, "weights arrived before a transfer began; use one connection for all of a transfer")
        self.update.take(body)
        return {}

    def _finish_update(self, _body: bytes) -> dict[str, Any]:
        if self.update is None:
            raise Refusal(400, "a transfer ended that had not begun; use one connection for all of a transfer")
        self._end_update(self.update.version)
        return {}

    def _end_update(self, version: str) -> None:
        assert self.update is not None
        try:
            self.update.finish(version)
        finally:
            self.update.close()
            self.update = None
            self.connection.settimeout(SILENCE)

    # ---- HTTP ---------------------------------------------------------------------------------------------------

    def _reply(self, answer: Callable[[bytes], dict[str, Any]]) -> None:
        try:
            self._check_sender()
            if self.update is not None and not self.path.startswith("/weights/"):  # all others wait for its weights
                raise Refusal(400, "a transfer is under way on this connection; use another one for anything else")
            status, told = 200, json.dumps(answer(self._body()))
        except Refusal as refusal:
            status, told = refusal.status, str(refusal)
        except (ValueError, KeyError, TypeError) as error:
            status, told = 400, f"{type(error).__name__}: {error}"
        except Exception as error:
            status, told = 500, f"{type(error).__name__}: {error}"
        content = told.encode(errors="backslashreplace")  # it may quote a client's lone surrogates
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if status != 200:
            self.close_connection = True  # the rest of a refused request may still be arriving
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def _check_sender(self) -> None:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self.server.key.encode()):
            raise Refusal(401, "a different key is required")
        if self.headers.get("Content-Type") != CONTENT_TYPE:
            raise Refusal(415, f"requests must have the content type {CONTENT_TYPE}")
        host = self.headers.get("Host", "")
        if not self.server.key and not _is_own(urlsplit(f"//{host}").hostname or ""):
            raise Refusal(403, f"{host!r} is not a name of this machine; to answer to other names, set a key in {KEY}")

    def _body(self) -> bytes:
        length = int(self.headers.get("Content-Length", 0))
        if not 0 <= length <= LARGEST_BODY:
            raise Refusal(413, f"the request has {length} bytes; the most are {LARGEST_BODY}")
        self._input.deadline = time.monotonic() + STALL + length / SLOWEST
        body = self.rfile.read(length)
        self.server.connections.note(self.request, waits=False)
        if len(body) < length:
            raise ValueError(f"only {len(body)} of {length} bytes arrived; send the request again")
        return body

    def _unknown(self) -> dict[str, Any]:
        raise Refusal(404, "there is nothing at this path")

    def log_message(self, format: str, *arguments: Any) -> None:
        """Logs nothing, because there are many requests."""


# ---- what it serves ----------------------------------------------------------------------------------------------


def server_options() -> dict[str, Any]:
    """Returns the `EngineArgs` of a server, which owns its accelerator but shares the memory of a CPU."""
    if not torch.cuda.is_available():
        return {"dtype": "float32"}
    return {"dtype": "bfloat16", "enforce_eager": False, "enable_sleep_mode": False, "gpu_memory_utilization": 0.9}


def describe(source: str) -> Policy:
    """Returns a policy without weights, given by `"pocket"`, a directory or a hub id."""
    path = str(SHIPPED.get(source, source))
    with torch.device("meta"):
        model = untrained_model(read_config(path))
    return Policy.around(model, path)


def _has_hung_up(client: socket.socket) -> bool:
    silence = client.gettimeout()
    client.setblocking(False)
    try:
        return client.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        client.settimeout(silence)


def _is_own(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
