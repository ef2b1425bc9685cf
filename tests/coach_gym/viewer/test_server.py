"""The server gives files of its folder and nothing else, to pages of its own."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from torch.utils.tensorboard import SummaryWriter

import coach_gym  # noqa: F401, registers the environments
from coach_gym.agents import evaluate
from coach_gym.envs.suites.pool import benchmark_instances, write_pool
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore, load_episodes, read_index
from coach_gym.viewer.export import export_page
from coach_gym.viewer.runs import Curves, find_runs
from coach_gym.viewer.what_if import CannotReplay, Outcome, what_if
from tests.coach_gym.recording.made import episode
from tests.coach_gym.viewer.served import served
from tests.envs.suites import toy_lab

gym = pytest.importorskip("gymnasium")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("root")
    (root.parent / "secret.json").write_text("{}")
    EpisodeStore(root / "run").write(episode(), Origin())
    with served(root) as address:
        yield address


def status(url: str, headers: dict[str, str] | None = None, data: bytes | None = None) -> int:
    try:
        return urllib.request.urlopen(urllib.request.Request(url, data, headers or {})).status
    except urllib.error.HTTPError as refusal:
        return refusal.code


@pytest.mark.parametrize(
    "path",
    [
        "api/episode?run=run&id=../../secret",
        "api/episode?run=run&id=..%2f..%2fsecret",
        "api/episode?run=../..&id=secret",
        "screen?run=run&name=../../secret",
        "screen?run=run&name=0000",
        "static/../server.py",
        "api/curves?run=none",
    ],
)
def test_nothing_outside_the_folder(path: str, address: str) -> None:
    assert status(address + path) == 404


def test_pages_carry_a_policy_and_foreign_names_are_refused(address: str) -> None:
    policy = urllib.request.urlopen(address).headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert status(address, {"Host": "evil.example"}) == 400


def test_other_pages_cannot_play_candidates(address: str) -> None:
    asked = json.dumps({"run": "run", "id": "x", "step": 0, "candidate": 0}).encode()
    assert status(address + "api/what-if", {"Content-Type": "application/json"}, asked) == 403
    assert status(address + "api/what-if", {"Content-Type": "application/json", "X-Coach-Gym": "view"}, asked) == 404


def test_curves_grow(tmp_path: Path) -> None:
    writer, curves = SummaryWriter(str(tmp_path / "a_1")), Curves()
    writer.add_scalar("train/loss", 2.0, 10)
    writer.flush()
    assert curves.of(find_runs(tmp_path)["a_1"]) == {"train/loss": [(10, 2.0)]}
    writer.add_scalar("train/loss", 1.0, 20)
    writer.close()
    assert curves.of(find_runs(tmp_path)["a_1"]) == {"train/loss": [(10, 2.0), (20, 1.0)]}


class Opening:
    """Opens some apps, one after another, and stops."""

    apps = ("Contacts", "Clock")

    def predict(self, observation, state=None, episode_start=None, deterministic=False):
        done = [0] * len(observation["goal"]) if state is None else [each or 0 for each in state]
        actions = [f"open_app(app_name='{self.apps[n]}')" if n < 2 else "finished()" for n in done]
        return actions, [n + 1 for n in done]


def play(folder: Path, env: str, **settings: object) -> Path:
    """Keeps an episode in a folder."""
    envs = gym.make_vec(env, num_envs=1, vectorization_mode="vector_entry_point", screen_size=(135, 300), **settings)
    evaluate(Opening(), envs, 1, seed=5, keep=folder)
    envs.close()
    return folder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return play(tmp_path_factory.mktemp("played"), "AndroidWorld-v0", split="train")


def played_again(folder: Path) -> list[Outcome]:
    """Plays the steps of the only episode anew, and checks that they lead to the same screens."""
    (row,), (kept,) = read_index(folder), load_episodes(folder)
    again = [what_if(folder, row["id"], t, 0) for t in range(3)]
    following = [*(step.observation for step in kept.steps[1:]), kept.last]
    for outcome, seen in zip(again, following, strict=True):
        assert seen is not None and np.array_equal(outcome.screenshot, seen.screenshot)
    return again


def test_what_if_plays_from_the_very_state(played: Path) -> None:
    again = played_again(played)
    assert [outcome.over for outcome in again] == [False, False, True] and again[2].success is False


def test_what_if_says_when_the_state_is_another(played: Path, tmp_path: Path) -> None:
    (kept,) = load_episodes(played)
    kept.steps[1].observation.screenshot[0, 0] ^= 255
    store = EpisodeStore(tmp_path)
    environment = json.loads(next(played.glob("trajectories/*.json")).read_text())["extra"]["environment"]
    id = store.write(kept, Origin(environment=environment))
    with pytest.raises(CannotReplay, match="screen of step 2"):
        what_if(tmp_path, id, 1, 0)
    with pytest.raises(CannotReplay, match="not known which environment"):
        what_if(tmp_path, store.write(kept, Origin()), 1, 0)


@pytest.mark.parametrize("place", ["shared", "world", "lab"])
@pytest.mark.parametrize("named", [{"suite": "official", "checkout": "runs/stranger"}, {"apps": ["stranger"]}])
def test_what_if_runs_no_code_that_an_episode_names(named: dict[str, object], place: str, tmp_path: Path) -> None:
    known = {"id": "AndroidWorldAndLab-v0", "kwargs": named if place == "shared" else {place: named}}
    id = EpisodeStore(tmp_path).write(episode(), Origin(environment=known))
    with pytest.raises(CannotReplay, match="this episode needs .*stranger"):
        what_if(tmp_path, id, 1, 0)


def test_what_if_takes_a_checkout_from_whoever_runs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = str(toy_lab.write(tmp_path / "toy"))
    folder = play(tmp_path / "played", "AndroidLab-v0", suite="official", checkout=checkout)
    with pytest.raises(CannotReplay, match="set COACH_ANDROID_WORLD or COACH_ANDROID_LAB to just that"):
        played_again(folder)
    monkeypatch.setenv("COACH_ANDROID_LAB", checkout)
    played_again(folder)


@pytest.mark.parametrize("env", ["AndroidWorld-v0", "AndroidWorldAndLab-v0"])
def test_what_if_needs_no_pool(env: str, tmp_path: Path) -> None:
    write_pool(tmp_path / "pool.jsonl", [benchmark_instances(f"Android{name}-v0")[0] for name in ("World", "Lab")])
    folder = play(tmp_path / "played", env, pool=str(tmp_path / "pool.jsonl"))
    (tmp_path / "pool.jsonl").unlink()
    played_again(folder)


def test_a_goal_with_a_lone_surrogate_is_shown(tmp_path: Path) -> None:
    EpisodeStore(tmp_path / "run").write(episode(goal="Save \ud800"), Origin())
    with served(tmp_path) as address:
        (row,) = json.load(urllib.request.urlopen(f"{address}api/episodes?run=run"))
        shown = json.load(urllib.request.urlopen(f"{address}api/episode?run=run&id={row['id']}"))
    assert row["goal"] == shown["goal"] == "Save \ud800"
    assert export_page(tmp_path, tmp_path / "page.html", 1) == 1
