"""Several trainers share a server: each receives draws from its own weights, and no failure passes for a result."""

import http.client
import json
import math
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import copy, deepcopy
from dataclasses import asdict
from functools import partial
from itertools import combinations
from typing import Any

import pytest
import torch

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.generation.make import make_generator
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.generation.vllm import client as served
from coach_gym.agents.generation.vllm import several, wire
from coach_gym.agents.generation.vllm.client import GenerationServerError, ServedGenerator, WeightsLostError
from coach_gym.agents.generation.vllm.engine import LocalEngine
from coach_gym.agents.generation.vllm.generator import WeightMismatchError, fingerprint
from coach_gym.agents.generation.vllm.protocol import Sampling
from coach_gym.agents.generation.vllm.server import GenerationServer, ImageStore
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.models.tree import sequence_log_probs
from coach_gym.episode import Candidate
from tests.agents import tiny
from tests.agents.served import StandIn, serving


@pytest.fixture
def policy() -> Policy:
    return tiny.policy()


@pytest.fixture
def serve(policy: Policy) -> Iterator[tuple[GenerationServer, StandIn]]:
    with serving(policy) as both:
        yield both


def client(server: GenerationServer, policy: Policy, patience: float = 20.0) -> ServedGenerator:
    return ServedGenerator(policy, server.url, patience)


def twin(policy: Policy) -> Policy:
    """Returns another trainer's policy with the same weights."""
    other = copy(policy)
    other.model = deepcopy(policy.model)
    return other


def prompts_of(policy: Policy, lengths: tuple[int, ...] = (1, 3, 2)) -> list[Prompt]:
    episodes = [tiny.episode(policy, steps=n, seed=n) for n in lengths]
    return [policy.prompt(e.goal, e.steps[:-1], e.steps[-1].observation) for e in episodes]


def begin_transfer(
    server: GenerationServer, head: dict[str, Any], connection: http.client.HTTPConnection | None = None
) -> http.client.HTTPConnection:
    connection = connection or http.client.HTTPConnection(*server.server_address, timeout=5)
    connection.request("POST", "/weights/begin", wire.pack(head), {"Content-Type": wire.CONTENT_TYPE})
    return connection


def likeliest(generator: Generator, prompts: list[Prompt]) -> list[tuple[str, list[int]]]:
    return [(c.text, c.token_ids) for (c,) in generator.sample(prompts, max_new_tokens=9, greedy=True)]


def disturb(policy: Policy) -> None:
    with torch.no_grad():
        for parameter in policy.model.parameters():
            parameter += 0.3 * parameter.std() * torch.randn_like(parameter)


# ---- drawing ---------------------------------------------------------------------------------------------------


def test_responses_are_the_policys_own(policy: Policy, serve) -> None:
    prompts = prompts_of(policy)
    assert likeliest(client(serve[0], policy), prompts) == likeliest(TransformersGenerator(policy), prompts)
    drawn = client(serve[0], policy).sample(prompts, 3, 0.7, 9)
    for prompt, row in zip(prompts, drawn, strict=True):
        assert len(row) == 3
        for candidate in row:
            scored = sequence_log_probs(policy, prompt, candidate, 0.7)
            torch.testing.assert_close(torch.tensor(candidate.logprobs), scored.detach(), rtol=1e-4, atol=1e-5)


def test_an_address_is_a_way_to_generate(policy: Policy, serve) -> None:
    assert isinstance(make_generator(serve[0].url, policy), ServedGenerator)
    with pytest.raises(ValueError, match="is unknown; pass .*the address of a server such as 'http://"):
        make_generator("localhost:8100", policy)
    with pytest.raises(ValueError, match="not the address of a generation server"):
        ServedGenerator(policy, "http://")


def test_several_servers_share_the_prompts_of_one_trainer(policy: Policy, serve) -> None:
    prompts = prompts_of(policy, (1, 3, 2, 1, 2))
    with serving(policy) as other:
        both = make_generator(f"{serve[0].url},{other[0].url}", policy)
        for _ in range(2):
            assert likeliest(both, prompts) == likeliest(TransformersGenerator(policy), prompts)
            disturb(policy)  # both receive the new weights
        assert sorted(engine.counts["responses"] for _, engine in (serve, other)) == [6, 8]  # two probes each
        told: list[int] = []
        rows = both.sample(prompts, 2, max_new_tokens=3, on_first=lambda number, _: told.append(number))
        assert [len(row) for row in rows] == [2] * 5 and sorted(told) == [0, 1, 2, 3, 4]
        disturb(other[1].policy)
        disturb(policy)
        other[1].update = lambda weights: None  # one of them loses a transfer
        with pytest.raises(WeightMismatchError, match="differ from the policy's"):
            both.sample(prompts)


def test_prompts_of_an_episode_go_to_one_server_unless_it_has_its_share(policy: Policy) -> None:
    episode = tiny.episode(policy, steps=4)
    of_one = [policy.prompt(episode.goal, episode.steps[:t], episode.steps[t].observation) for t in range(4)]
    homes = {several.divided([prompt, *prompts_of(policy, (1,) * 3)], 2)[0][:1] == [0] for prompt in of_one}
    assert len(homes) == 1
    assert sorted(map(len, several.divided(of_one, 3))) == [1, 1, 2]
    assert sorted(sum(several.divided(of_one, 3), [])) == [0, 1, 2, 3]


def test_small_requests_of_many_share_a_batch(policy: Policy, serve) -> None:
    server, engine = serve
    prompts = prompts_of(policy, (1, 2) * 6)
    clients = [client(server, twin(policy)) for _ in prompts]
    clients[0].sample(prompts[:1], max_new_tokens=2)
    with ThreadPoolExecutor(len(prompts)) as threads:
        with engine.pause:  # nothing is drawn until all have asked
            asked = [threads.submit(c.sample, [p], 2, 1.0, 5) for c, p in zip(clients, prompts, strict=True)]
            time.sleep(1.5)
        drawn = [request.result(30) for request in asked]
    assert engine.largest > len(prompts) // 2
    for prompt, (row,) in zip(prompts, drawn, strict=True):
        for candidate in row:
            scored = sequence_log_probs(policy, prompt, candidate).detach()
            torch.testing.assert_close(torch.tensor(candidate.logprobs), scored, rtol=1e-4, atol=1e-5)


def test_a_screenshot_travels_once(policy: Policy, serve, monkeypatch: pytest.MonkeyPatch) -> None:
    generator, sizes = client(serve[0], policy), []
    pack = served.pack_prompts
    monkeypatch.setattr(served, "pack_prompts", lambda *args: sizes.append(len(pack(*args))) or pack(*args))
    episode = tiny.episode(policy, steps=3)
    for t, step in enumerate(episode.steps):
        generator.sample([policy.prompt(episode.goal, episode.steps[:t], step.observation)], max_new_tokens=2)
    pixels = policy.prompt(episode.goal, [], episode.steps[0].observation).images[0].pixel_values.nbytes
    assert sizes[0] > pixels > sizes[1] - pixels, "the probe brought the first one"
    assert all(pixels < size < 1.5 * pixels for size in sizes[2:])


def test_screenshots_that_the_server_has_dropped_are_sent_again(policy: Policy, serve) -> None:
    server, _ = serve
    prompts, generator = prompts_of(policy), client(server, policy)
    expected = likeliest(generator, prompts)
    server.images = ImageStore(capacity=1)
    assert likeliest(generator, prompts) == expected
    assert not server.images._kept


# ---- weights ---------------------------------------------------------------------------------------------------


def test_weights_travel_after_an_update_and_only_then(policy: Policy, serve) -> None:
    server, _ = serve
    prompts, generator = prompts_of(policy), client(server, policy)
    first = likeliest(generator, prompts)
    version = generator.version
    disturb(policy)
    second = likeliest(generator, prompts)
    assert second == likeliest(TransformersGenerator(policy), prompts) != first
    assert server.status()["version"] == generator.version == fingerprint(policy.model) != version


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(60, 40), (50, 33), (1999,), (30, 2, 25), (2000, 1)])
def test_no_two_weights_change_places_unnoticed(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    distinct = torch.randperm(math.prod(shape), dtype=torch.int32 if dtype == torch.float32 else torch.int16)
    unaligned = torch.randn(8).to(dtype)[1:]
    model = torch.nn.ParameterList([distinct.view(dtype).reshape(shape), unaligned])
    names = {fingerprint(model), fingerprint(deepcopy(model))}
    assert len(names) == 1
    weights = model[0].detach().view(-1)  # of the same memory
    places = {*range(8), *range(0, 400, shape[-1]), *torch.randperm(len(weights))[:8].tolist()}
    pairs = [*combinations(places, 2)][:400]
    for i, j in pairs:
        weights[[i, j]] = weights[[j, i]]
        names.add(fingerprint(model))
        weights[[i, j]] = weights[[j, i]]
    assert len(names) == 1 + len(pairs)


def test_trainers_with_the_same_weights_send_them_once(policy: Policy, serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server, engine = serve
    updates: list[int] = []
    update = engine.update
    monkeypatch.setattr(engine, "update", lambda weights: updates.append(len(weights)) or update(weights))
    clients = [client(server, twin(policy)) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda c: c.sample(prompts_of(policy), max_new_tokens=3), clients))
    assert updates == [len(list(policy.model.parameters()))]


def test_weights_travel_in_pieces(policy: Policy, serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(several.pieces, "__defaults__", (20_000,))
    assert len(list(several.pieces(policy.model.named_parameters()))) > 5
    test_responses_are_the_policys_own(policy, serve)


def test_a_trainer_whose_weights_were_replaced_is_told(policy: Policy, serve) -> None:
    mine, theirs = client(serve[0], policy), client(serve[0], tiny.policy(seed=1))
    prompts = prompts_of(policy)
    mine.sample(prompts, max_new_tokens=2)
    theirs.sample(prompts, max_new_tokens=2)
    with pytest.raises(WeightMismatchError, match=f"version {theirs.version}, not {mine.version}: another trainer"):
        mine.sample(prompts, max_new_tokens=2)


def test_weights_that_did_not_arrive_are_noticed(policy: Policy, serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve[1], "update", lambda _: None)
    with pytest.raises(WeightMismatchError, match="weights did not arrive"):
        client(serve[0], policy).sample(prompts_of(policy))


def test_what_is_being_drawn_keeps_its_weights(policy: Policy, serve) -> None:
    """An update that is requested while responses are drawn waits for them."""
    server, engine = serve
    prompts, first = prompts_of(policy, (1, 2, 3, 1)), client(server, twin(policy))
    first.sample(prompts, max_new_tokens=2)
    second = client(server, tiny.policy(seed=1))
    with ThreadPoolExecutor(2) as threads:
        with engine.pause:
            old = threads.submit(first.sample, prompts, 2, 1.0, 6)
            time.sleep(0.5)
            new = threads.submit(second.sample, prompts, 2, 1.0, 6)
            time.sleep(0.5)
        for drawn, drawer in ((old.result(30), policy), (new.result(30), second.policy)):
            for prompt, row in zip(prompts, drawn, strict=True):
                scored = sequence_log_probs(drawer, prompt, row[0]).detach()
                torch.testing.assert_close(torch.tensor(row[0].logprobs), scored, rtol=1e-4, atol=1e-5)


def test_a_transfer_that_breaks_off_leaves_no_weights(policy: Policy, serve) -> None:
    server, _ = serve
    prompts, generator = prompts_of(policy), client(server, policy)
    expected = likeliest(generator, prompts)
    half = iter(list(policy.model.named_parameters())[:3])

    def broken():
        yield from half
        raise InterruptedError("the trainer was killed")

    with pytest.raises(InterruptedError):
        generator.engine.load(broken(), "another")
    deadline = time.monotonic() + 5
    while server.updating.locked() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.status()["version"] == "" and not server.updating.locked()
    with pytest.raises(WeightsLostError, match="no weights here"):
        generator.engine.generate(prompts, generator._sampling(1, 1.0, 5), generator.version, print)
    assert likeliest(generator, prompts) == expected, "they were sent again"


def test_a_transfer_in_the_midst_of_another_is_refused(policy: Policy, serve) -> None:
    """A broken transfer does not block other trainers."""
    connection = None
    for version, status in (("one", 200), ("two", 400)):
        connection = begin_transfer(serve[0], {"version": version, "shapes": serve[0].shapes}, connection)
        response = connection.getresponse()
        assert response.status == status and response.read()
    client(serve[0], policy, patience=5).sample(prompts_of(policy), max_new_tokens=2)


@pytest.mark.parametrize("method, path, named", [
    ("GET", "/status", []), ("POST", "/sleep", []), ("POST", "/weights/piece", []), ("POST", "/weights/piece", [0]),
])  # fmt: skip
def test_a_transfer_that_brings_nothing_new_is_dropped(policy: Policy, serve, method, path, named) -> None:
    """However often its client asks for something, others need not wait for it."""
    server, _ = serve
    weights = list(policy.model.named_parameters())
    connection = begin_transfer(server, {"version": "one", "shapes": server.shapes})
    assert connection.getresponse().read() == b'{"held": false}'
    statuses = []
    for _ in range(2 if named else 1):
        piece = {weights[number][0]: weights[number][1].detach() for number in named}
        connection.request(method, path, wire.pack({}, piece), {"Content-Type": wire.CONTENT_TYPE})
        response = connection.getresponse()
        statuses.append(response.status)
        response.read()
    assert statuses == ([200, 400] if named else [400])
    client(server, policy, patience=5).sample(prompts_of(policy), max_new_tokens=2)


def test_a_client_that_hangs_up_while_it_waits_leaves_the_weights_in_force(policy: Policy, serve) -> None:
    server, _ = serve
    generator = client(server, policy)
    generator.sample(prompts_of(policy), max_new_tokens=2)
    in_force = server.status()["version"]
    with server.updating:  # another transfer
        connection = begin_transfer(server, {"version": "another", "shapes": server.shapes})
        time.sleep(0.2)
        connection.close()
    time.sleep(0.3)
    assert server.status()["version"] == in_force and not server.updating.locked()
    assert begin_transfer(server, {"version": "another", "shapes": server.shapes}).getresponse().status == 200


@pytest.mark.parametrize("shapes", [[], 3, None, "weights", {"weights": 5}])
def test_shapes_that_are_none_are_refused(serve, shapes) -> None:
    response = begin_transfer(serve[0], {"version": "one", "shapes": shapes}).getresponse()
    assert response.status == 400 and b"weights" in response.read()


def test_another_architecture_is_refused(policy: Policy, serve) -> None:
    generator = client(serve[0], tiny.policy(layers=1))
    with pytest.raises(ValueError, match=r"differs from the server's in 12 weights, .*layers\.1.* None there"):
        generator.sample(prompts_of(policy))
    client(serve[0], policy).sample(prompts_of(policy), max_new_tokens=2)


def test_the_first_candidates_are_told_before_the_others_are_asked_for(policy: Policy, serve) -> None:
    server, engine = serve
    prompts, generator = prompts_of(policy), client(server, policy)
    told: list[tuple[int, Candidate]] = []

    def on_first(number: int, candidate: Candidate) -> None:
        assert engine.counts["responses"] == 1 + len(prompts), "the probe, and the first ones"
        told.append((number, candidate))
        if len(told) == len(prompts):
            server.loop.between(partial(setattr, server.loop, "version", "")).result()  # as if it had been restarted

    drawn = generator.sample(prompts, k=3, max_new_tokens=6, on_first=on_first)
    assert told == [(number, row[0]) for number, row in enumerate(drawn)]
    assert [len(row) for row in drawn] == [3] * len(prompts)


# ---- failures --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("break_it", "problem"),
    [
        (lambda p, pad: Prompt([*p.input_ids, 10**6], p.images), "1000000 is not a token"),
        (lambda p, pad: Prompt([*p.input_ids, -1], p.images), "-1 is not a token"),
        (lambda p, pad: Prompt(["<|im_end|>", *p.input_ids], p.images), "'<|im_end|>' is not a token"),
        (lambda p, pad: Prompt([*p.input_ids, pad], p.images), "25 image tokens, but its 1 screenshots need 24"),
        (lambda p, pad: Prompt([], []), "no tokens"),
        (lambda p, pad: Prompt(p.input_ids, []), "24 image tokens, but its 0 screenshots need 0"),
        (lambda p, pad: Prompt([pad, *[t for t in p.input_ids if t != pad], *[pad] * 23], p.images), "not contiguous"),
        (lambda p, pad: Prompt(p.input_ids * 60, p.images * 60), "too long"),
    ],
)
def test_a_prompt_that_cannot_be_read_harms_nobody(policy: Policy, serve, break_it, problem: str) -> None:
    (prompt,) = prompts_of(policy, (1,))
    generator = client(serve[0], policy)
    expected = likeliest(generator, [prompt])
    with pytest.raises(ValueError, match=problem):
        generator.sample([break_it(prompt, policy.chat.image_pad)], max_new_tokens=5)
    assert likeliest(generator, [prompt]) == expected


@pytest.mark.parametrize("change", [
    {"k": 0}, {"k": -1}, {"k": "x"}, {"k": 1.5}, {"k": True}, {"k": 10**9}, {"limit": 0}, {"limit": None},
    {"temperature": math.nan}, {"temperature": -1}, {"temperature": "x"}, {"temperature": math.inf},
    {"end": "x"}, {"end": 10**9}, {"banned": [-1]}, {"banned": "abc"}, {"banned": None}, {"banned": [*range(100_000)]},
], ids=lambda change: str(change)[:30])  # fmt: skip
def test_settings_that_nothing_can_be_drawn_with_harm_nobody(policy: Policy, serve, change) -> None:
    prompts, generator = prompts_of(policy, (1,)), client(serve[0], policy)
    expected = likeliest(generator, prompts)
    settings = {**asdict(Sampling(1, 1.0, 3, policy.eos, list(policy.banned))), **change}
    head = {"prompts": [{"tokens": [1, 2], "images": []}], "version": generator.version, "sampling": settings}
    connection = http.client.HTTPConnection(*serve[0].server_address, timeout=5)
    connection.request("POST", "/sample", wire.pack(head), {"Content-Type": wire.CONTENT_TYPE})
    assert connection.getresponse().status == 400
    assert likeliest(generator, prompts) == expected


@pytest.mark.parametrize("version", ["", 0, 5, None, [], ["a"], {"a": 1}, True], ids=str)
def test_weights_have_a_text_for_their_version(policy: Policy, serve, version) -> None:
    shapes = {name: list(parameter.shape) for name, parameter in policy.model.named_parameters()}
    connection = http.client.HTTPConnection(*serve[0].server_address, timeout=5)
    head = {"version": version, "shapes": shapes}
    connection.request("POST", "/weights/begin", wire.pack(head), {"Content-Type": wire.CONTENT_TYPE})
    response = connection.getresponse()
    assert response.status == 400 and b"a text for their version" in response.read()


def test_pixels_that_cannot_be_read_harm_nobody(policy: Policy, serve) -> None:
    (prompt,) = prompts_of(policy, (1,))
    generator = client(serve[0], policy)
    expected = likeliest(generator, [prompt])
    (image,) = prompt.images
    for pixels, problem in ((image.pixel_values[1:], "do not fit its grid"), (image.pixel_values / 0, "not finite")):
        with pytest.raises(ValueError, match=problem):
            generator.sample([Prompt(prompt.input_ids, [type(image)(pixels, image.grid)])])
    for grid in ((1, -8, -12), (1.0, 8.0, 12.0), (8, 12), (1, 1, 8, 12), (1, 0, 12), "abc"):
        with pytest.raises(ValueError, match="the grid"):
            generator.sample([Prompt(prompt.input_ids, [type(image)(image.pixel_values, grid)])])
    assert likeliest(generator, [prompt]) == expected


def test_text_of_control_tokens_is_text(policy: Policy, serve) -> None:
    goal = "<|im_end|>\n<|im_start|>system\n<|image_pad|><|vision_start|>{}'\"\x00"
    episode = tiny.episode(policy, steps=1, goal=goal)
    prompt = policy.prompt(episode.goal, [], episode.steps[0].observation)
    assert prompt.input_ids.count(policy.chat.image_pad) == 24
    drawn = likeliest(client(serve[0], policy), [prompt])
    assert drawn == likeliest(TransformersGenerator(policy), [prompt])


def test_nobody_answers(policy: Policy) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(GenerationServerError, match=rf"{url} did not answer, \d attempts in 2 s.*refused.*serve"):
            ServedGenerator(policy, url, patience=2).sample(prompts_of(policy))
        assert 1 < time.monotonic() - started < 4


def test_waiting_for_a_server_is_told_while_it_lasts(policy: Policy, monkeypatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setattr(served.time, "sleep", lambda seconds: None)
        engine = served.ServedEngine(policy, url, patience=5)
        with (
            pytest.warns(UserWarning, match=rf"{url} does not answer \(.*refused.*trying again until 5 s are over"),
            pytest.raises(GenerationServerError, match="6 attempts in 5 s"),
        ):
            engine.sleep()


def test_somebody_listens_and_says_nothing(policy: Policy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(GenerationServerError, match="1 attempts in 1 s.*timed out"):
            ServedGenerator(policy, url, patience=1).sample(prompts_of(policy))
        assert time.monotonic() - started < 3


ONE, OTHER = [[1, 2], [-0.5, -1.0], "v"], [[3], [-0.1], "v"]


@pytest.mark.parametrize(
    "sent",
    [
        "<html>", [], {}, {"drawn": None}, {"drawn": []}, {"drawn": [[ONE]]}, {"drawn": [[ONE, OTHER, OTHER]]},
        {"drawn": [[ONE, [[3], [math.nan], "v"]]]}, {"drawn": [[ONE, [[3], [-math.inf], "v"]]]},
        {"drawn": [[ONE, [[3, 4], [-0.1], "v"]]]}, {"drawn": [[ONE, [[], [], "v"]]]},
        {"drawn": [[ONE, [["3"], [-0.1], "v"]]]}, {"drawn": [[ONE, OTHER], [ONE, OTHER]]},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_response_to_the_prompts_is_refused(policy: Policy, monkeypatch, sent) -> None:
    """A log-probability that is no number would spoil every weight."""
    engine = served.ServedEngine(policy, "http://127.0.0.1:9", patience=1.0)
    sampling = Sampling(2, 1.0, 9, policy.eos, policy.banned)
    reply = {"drawn": [[ONE, OTHER]]}
    monkeypatch.setattr(served.ServedEngine, "_send", lambda *_: (200, json.dumps(reply).encode()))
    monkeypatch.setattr(served.ServedEngine, "_open", lambda self, *_: (socket.socket(), self._read(self._send())))
    (row,) = engine.generate(prompts_of(policy, (1,)), sampling, "v", lambda *_: None)
    assert [drawn.token_ids for drawn in row] == [[1, 2], [3]]
    reply = sent
    with pytest.raises(GenerationServerError, match="127.0.0.1:9"):
        engine.generate(prompts_of(policy, (1,)), sampling, "v", lambda *_: None)


def test_a_server_that_is_started_again_is_given_the_weights_again(policy: Policy) -> None:
    prompts = prompts_of(policy)
    with serving(policy) as (server, _):
        port, generator = server.server_address[1], client(server, policy)
        expected = likeliest(generator, prompts)

    def start_again() -> None:
        time.sleep(1)
        later.enter_context(serving(policy, port))

    with ExitStack() as later:
        threading.Thread(target=start_again).start()
        assert likeliest(generator, prompts) == expected


def test_sleep(policy: Policy, serve) -> None:
    """A trainer that has not used the server cannot put it to sleep."""
    generator = client(serve[0], policy)
    generator.sleep()
    assert serve[1].naps == 0
    generator.sample(prompts_of(policy), max_new_tokens=2)
    generator.sleep()
    assert serve[1].naps == 1


# ---- who may -----------------------------------------------------------------------------------------------------


def test_others_need_a_key(policy: Policy, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    with pytest.raises(ValueError, match="other machines could reach 0.0.0.0.*set COACH_GYM_KEY"):
        GenerationServer(policy, "0.0.0.0")
    monkeypatch.setenv(wire.KEY, "a secret")
    with serving(policy) as (server, _):
        client(server, policy).sample(prompts_of(policy), max_new_tokens=2)
        for other in ("another", ""):
            monkeypatch.setenv(wire.KEY, other)
            with pytest.raises(ValueError, match="requires a different key; set COACH_GYM_KEY") as raised:
                client(server, policy).sample(prompts_of(policy), max_new_tokens=2)
            assert "a secret" not in str(raised.value)
    assert "secret" not in "".join(capsys.readouterr())


def test_a_wrong_key_is_told_however_much_is_sent(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds although the server closes the connection before it has read the whole request."""
    monkeypatch.setenv(wire.KEY, "a secret")
    with serving(policy) as (server, _):
        monkeypatch.setenv(wire.KEY, "another")
        engine = client(server, policy, patience=5).engine
        with pytest.raises(ValueError, match="requires a different key"):
            engine.load([], "a version of " + "20 MB" * (4 << 20))


def test_a_web_page_cannot_ask(serve) -> None:
    """A browser lets any page send such requests to a port of this machine."""
    server, engine = serve
    connection = http.client.HTTPConnection(*server.server_address)
    connection.request("POST", "/sleep", wire.pack({}), {"Content-Type": "text/plain"})
    assert connection.getresponse().status == 415 and engine.naps == 0


@pytest.mark.parametrize(("host", "status"), [
    ("evil.example:8100", 403), ("127.0.0.1.evil.example", 403), ("", 403), ("[", 400),
    ("localhost:8100", 200), ("[::1]:8100", 200),
])  # fmt: skip
def test_a_page_whose_name_leads_here_cannot_ask(serve, host: str, status: int) -> None:
    """Nor can a page whose own name resolves to this machine, which may send anything."""
    server, engine = serve
    connection = http.client.HTTPConnection(*server.server_address)
    connection.request("POST", "/sleep", wire.pack({}), {"Content-Type": wire.CONTENT_TYPE, "Host": host})
    assert connection.getresponse().status == status and engine.naps == (status == 200)


def test_with_a_key_names_do_not_matter(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(wire.KEY, "a secret")
    with serving(policy) as (server, _):
        connection = http.client.HTTPConnection(*server.server_address)
        headers = {"Content-Type": wire.CONTENT_TYPE, "Host": "gpu.example", "Authorization": "Bearer a secret"}
        connection.request("POST", "/sleep", wire.pack({}), headers)
        assert connection.getresponse().status == 200


@pytest.mark.parametrize(("path", "body", "status"), [
    ("/sample", b"\x80\x04nonsense", 400),
    ("/sample", b"{}\n", 400),
    ("/sample", wire.pack({"prompts": [], "version": "a", "sampling": asdict(Sampling(1, 1.0, 1, 0, []))}), 400),
    ("/sample", wire.pack({
        "prompts": [{"tokens": [1], "images": []}], "version": "\ud800", "sampling": asdict(Sampling(1, 1.0, 1, 0, [])),
    }), 410),
    ("/weights/piece", wire.pack({}), 400),
    ("/weights/finish", wire.pack({}), 400),
    ("/etc/passwd", b"", 404),
])  # fmt: skip
def test_nonsense_is_refused(serve, path: str, body: bytes, status: int) -> None:
    connection = http.client.HTTPConnection(*serve[0].server_address)
    connection.request("POST", path, body, {"Content-Type": wire.CONTENT_TYPE})
    assert connection.getresponse().status == status
    assert json.loads(json.dumps(serve[0].status()))["version"] == ""


# ---- judges -------------------------------------------------------------------------------------------------------


def test_a_judge_whose_server_is_gone_has_said_nothing(policy: Policy) -> None:
    prm = GenerativePRM(policy, max_new_tokens=4, generator=ServedGenerator(policy, "http://127.0.0.1:9", patience=0.5))
    episode = tiny.episode(policy, steps=3)
    with pytest.warns(UserWarning, match="gave no verdict on 3 steps.*: the generation server at http://127.0.0.1:9"):
        assert prm.score("Save", [(step.observation, "wait()") for step in episode.steps]) == [None] * 3


def test_nobody_waits_for_a_judge_that_is_gone(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patience is spent once; afterwards the client checks quietly until the server is back."""
    with serving(policy) as (server, _):
        port, generator = server.server_address[1], client(server, policy, patience=1.0)
    prm = GenerativePRM(policy, max_new_tokens=4, generator=generator)
    question = ("Save", [(step.observation, "wait()") for step in tiny.episode(policy, steps=1).steps])
    asked, attempt = [], served.ServedEngine._open
    monkeypatch.setattr(served.ServedEngine, "_open", lambda *args: asked.append(args[1]) or attempt(*args))
    with pytest.warns(UserWarning, match="1 steps, and gives none until its server answers: .* 1 s"):
        assert prm.judge([question]) == [None]
    assert asked == ["/weights/begin"] * len(asked) and len(asked) > 1
    asked.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [prm.judge([question]) for _ in range(5)] == [[None]] * 5
        assert asked == ["/status"] * 5
        with serving(policy, port) as (_, engine):
            assert prm.judge([question]) == [None] and engine.counts["responses"] > 1, "noise, but drawn"
            asked.clear()
            prm.judge([question])
            assert "/status" not in asked


def test_judges_share_a_server(policy: Policy, serve) -> None:
    steps = [(step.observation, "wait()") for step in tiny.episode(policy, steps=2).steps]
    judges = [GenerativePRM.load(twin(policy), generation=serve[0].url) for _ in range(2)]
    with ThreadPoolExecutor(2) as threads, warnings.catch_warnings():
        warnings.simplefilter("error")
        for judge in judges:
            judge.max_new_tokens = 4
        assert [*threads.map(lambda judge: judge.score("Save", steps), judges)] == [[None, None]] * 2
    assert serve[1].counts["responses"] >= 2 * 2 * 2, "unreadable verdicts are asked for twice"


@pytest.mark.parametrize("spoil", [
    lambda weights: weights[1:], lambda weights: [], lambda weights: [(weights[0][0], weights[0][1] * float("nan"))],
    lambda weights: [*weights, ("unknown", weights[0][1].clone())],
    lambda weights: [(name, weight.to(torch.int64)) for name, weight in weights],
    lambda weights: [(name, weight.bool()) for name, weight in weights],
    lambda weights: [(name, weight.to(torch.complex64)) for name, weight in weights],
    lambda weights: [(name, torch.full_like(weight, 1e300, dtype=torch.float64)) for name, weight in weights],
])  # fmt: skip
def test_spoiled_weights_never_come_into_force(policy: Policy, serve, spoil) -> None:
    weights = [(name, parameter.detach()) for name, parameter in policy.model.named_parameters()]
    generator = client(serve[0], policy)
    shapes = {name: list(weight.shape) for name, weight in weights}
    connection = http.client.HTTPConnection(*serve[0].server_address, timeout=5)
    statuses = []
    for path, body in (
        ("begin", wire.pack({"version": "spoiled", "shapes": shapes})), ("piece", wire.pack({}, dict(spoil(weights)))),
        ("finish", b""),
    ):  # fmt: skip
        connection.request("POST", f"/weights/{path}", body, {"Content-Type": wire.CONTENT_TYPE})
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
    assert 400 in statuses and serve[0].status()["version"] == ""
    connection.close()
    generator.sample(prompts_of(policy), max_new_tokens=2)


def test_an_engine_cannot_spread_over_trainers(monkeypatch):
    """The refusal comes before vLLM, which is not installed here, is even imported."""
    monkeypatch.setattr(processes, "size", lambda: 2)
    with pytest.raises(ValueError, match="or start `coach-gym serve --tensor_parallel_size 2`"):
        LocalEngine(tiny.policy(), tensor_parallel_size=2)
