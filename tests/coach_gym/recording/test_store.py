"""Episodes written to a folder come back as they were, whatever interrupts the writing."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from coach_gym.dialects import SetOfMarks, UITars
from coach_gym.episode import Episode
from coach_gym.recording.keeper import EpisodeKeeper
from coach_gym.recording.origin import Origin
from coach_gym.recording.png import encode_png, read_png
from coach_gym.recording.store import EpisodeStore, find_stores, load_episodes, read_index, read_trajectory
from tests.coach_gym.recording.made import LOGPROBS, episode, screen

HOSTILE = "<img src=x onerror=alert(1)>\ud800 'quoted'\n\x00"


def same(ours: Episode, theirs: Episode) -> bool:
    screens = [*(s.observation for s in ours.steps), ours.last], [*(s.observation for s in theirs.steps), theirs.last]
    pixels = all(np.array_equal(a.screenshot, b.screenshot) for a, b in zip(*screens, strict=True))  # type: ignore[union-attr]
    return pixels and _without_screens(ours) == _without_screens(theirs)


def _without_screens(episode: Episode) -> list[object]:
    steps = [(s.candidates, s.observation.ui, s.observation.last_action_error, s.executed, s.action, s.return_, s.time)
             for s in episode.steps]  # fmt: skip
    verdicts = [(s.process_reward, s.judged, s.reasoning, s.version) for s in episode.steps]
    return [episode.goal, episode.task, episode.params, episode.outcome, episode.seed, episode.answer, steps, verdicts]


def test_png_is_lossless_and_standard(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (33, 17, 3), np.uint8)
    (tmp_path / "a.png").write_bytes(encode_png(noise))
    assert np.array_equal(read_png(tmp_path / "a.png"), noise)


def test_round_trip(tmp_path: Path) -> None:
    store, ours = EpisodeStore(tmp_path), episode()
    store.write(ours, Origin())
    (theirs,) = load_episodes(tmp_path)
    assert same(ours, theirs)


def test_hostile_text_survives(tmp_path: Path) -> None:
    EpisodeStore(tmp_path).write(episode(goal=HOSTILE), Origin())
    (read,) = load_episodes(tmp_path)
    assert read.goal == HOSTILE


def test_documents_are_atif(tmp_path: Path) -> None:
    atif = pytest.importorskip("atif")
    store = EpisodeStore(tmp_path)
    origin = Origin("train", 5, "CoachAgent", {"id": "AndroidWorld-v0", "kwargs": {}}, dialect=UITars(ui_text=True))
    document = read_trajectory(tmp_path, store.write(episode(), origin))
    trajectory = atif.Trajectory.model_validate(document)
    assert [step.source for step in trajectory.steps] == ["user", "agent", "agent", "agent"]
    assert trajectory.steps[1].tool_calls[0].function_name == "click"
    assert trajectory.steps[1].metrics.logprobs == LOGPROBS
    image = trajectory.steps[-1].observation.results[0].content[0].source.path
    assert np.array_equal(read_png(tmp_path / "trajectories" / image), screen(3))


def test_every_candidate_has_its_action_in_pixels(tmp_path: Path) -> None:
    origin = Origin(dialect=UITars(scale=1000))  # coordinates from 0 to 1000 on a screen of 20 x 40 pixels
    document = read_trajectory(tmp_path, EpisodeStore(tmp_path).write(episode(), origin))
    candidates = document["steps"][1]["extra"]["candidates"]
    assert candidates[0]["action"].endswith("click(start_box='(0,0)')")
    said = [(c["text"], c["action"]) for c in candidates]
    assert all(text != action for text, action in said[1:]), said


def test_actions_on_numbered_elements_are_on_their_pixels(tmp_path: Path) -> None:
    ours = episode()
    ours.steps[0].candidates[0].text = 'Reason: try\nAction: {"action_type": "click", "index": 0}'
    document = read_trajectory(tmp_path, EpisodeStore(tmp_path).write(ours, Origin(dialect=SetOfMarks())))
    assert document["steps"][1]["extra"]["candidates"][0]["action"].endswith("click(start_box='(4,4)')")


def test_screens_are_stored_once(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    for _ in range(3):
        store.write(episode(), Origin())
    assert len(list(tmp_path.glob("screens/*/*.png"))) == 4


def test_folder_is_bounded_and_whole(tmp_path: Path) -> None:
    bound = 40_000
    store = EpisodeStore(tmp_path, bound)
    for number in range(30):
        store.write(episode(goal=f"goal {number}"), Origin())
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.json")) + sum(
        path.stat().st_size for path in tmp_path.rglob("*.png")
    )
    kept = list(load_episodes(tmp_path))
    assert size <= bound and 2 <= len(kept) < 30
    assert kept[-1].goal == "goal 29"
    assert len(list(tmp_path.glob("trajectories/*.json"))) == len(kept)


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_text('{"steps": [')])
def test_full_folder_lets_go_of_what_is_damaged_or_left_over(harm: Callable[[Path], object], tmp_path: Path) -> None:
    unbounded = EpisodeStore(tmp_path)
    *_, last = [unbounded.write(episode(goal=f"goal {number}"), Origin()) for number in range(10)]
    harm(tmp_path / "trajectories" / f"{last}.json")
    (tmp_path / "trajectories" / "left-over.json").write_text("{}")
    bound = sum(row["bytes"] for row in read_index(tmp_path))
    EpisodeStore(tmp_path, bound).write(episode(goal="goal 10"), Origin())
    kept = [each.goal for each in load_episodes(tmp_path)]
    assert kept[-2:] == ["goal 8", "goal 10"]
    assert len(list(tmp_path.glob("trajectories/*"))) == len(kept)


def test_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    store.write(episode(), Origin())
    with (tmp_path / "index.jsonl").open("a") as file:
        file.write('{"id": "half')
    assert len(read_index(tmp_path)) == 1
    store.write(episode(), Origin())
    assert len(list(load_episodes(tmp_path))) == 2


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    code = f"""
from coach_gym.recording.keeper import EpisodeKeeper
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore
from tests.coach_gym.recording.made import episode
store = EpisodeStore({str(tmp_path)!r})
while True:
    print(store.write(episode(), Origin()), flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path(__file__).parents[3])
    yield process
    process.kill()
    process.wait()


def test_killed_writer_loses_nothing_it_has_written(tmp_path: Path, writer: subprocess.Popen[bytes]) -> None:
    assert writer.stdout is not None
    said = [writer.stdout.readline().decode().strip() for _ in range(20)]
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    rows = [row["id"] for row in read_index(tmp_path)]
    assert set(said) <= set(rows)
    assert len(list(load_episodes(tmp_path))) == len(rows)
    EpisodeStore(tmp_path).write(episode(), Origin())  # its lock is free


def test_chosen_by_their_row(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path / "run" / "episodes")
    store.write(episode(goal="one"), Origin("train"))
    store.write(episode(goal="two"), Origin("evaluation"))
    assert find_stores(tmp_path) == [tmp_path / "run" / "episodes"]
    assert [each.goal for each in load_episodes(tmp_path, lambda row: row["phase"] == "evaluation")] == ["two"]


def test_nothing_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no episodes"):
        next(load_episodes(tmp_path))


def test_index_is_plain_json(tmp_path: Path) -> None:
    EpisodeStore(tmp_path).write(episode(), Origin("train", 12))
    row = json.loads((tmp_path / "index.jsonl").read_text())
    assert (row["task"], row["outcome"], row["length"], row["k"]) == ("ContactsAddContact", 1.0, 3, 4)
    assert (row["phase"], row["timesteps"]) == ("train", 12)


def test_keeper_writes_in_order_before_its_context_ends(tmp_path: Path) -> None:
    with EpisodeKeeper(tmp_path) as keeper:
        for number in range(10):
            keeper.keep(episode(goal=f"goal {number}"), Origin())
    assert [row["goal"] for row in read_index(tmp_path)] == [f"goal {number}" for number in range(10)]


def test_keeper_without_a_disk_warns_once(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, where the folder should be")
    told = pytest.warns(UserWarning, match="no more episodes are kept")
    with told as warned, EpisodeKeeper(tmp_path / "taken") as keeper:
        for _ in range(10):
            keeper.keep(episode(), Origin())
    assert len(warned) == 1 and not keeper.keeps
