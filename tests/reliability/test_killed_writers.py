"""What stands beside a training's checkpoints is whole after a kill, and what wrote it goes on."""

import csv
import json
import shutil
from collections import Counter
from functools import partial

import numpy as np

from coach_gym.agents import CheckpointCallback, EvalCallback, GRPOAgent
from coach_gym.agents.data.label import Labelling, label
from coach_gym.agents.data.sft import _check_run
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.training.critic.lessons import collect
from coach_gym.agents.training.logs.logger import CsvOutput, JsonOutput
from coach_gym.agents.training.saving.checkpoints import checkpoints_in
from coach_gym.cli.runs import read_run, write_run
from coach_gym.data.folder import EpisodeFolder
from coach_gym.evaluation.records import Record, RecordFile, read_records
from coach_gym.recording.archive import read_episode
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore, load_episodes
from tests.agents import tiny
from tests.agents.data.demonstrations import Scripted, episodes
from tests.agents.training.critic.test_school import PLAN, envs
from tests.agents.training.saving.test_directories import LONG
from tests.agents.training.test_callbacks import buttons
from tests.agents.warm_start import warm_policy
from tests.coach_gym.recording.made import episode
from tests.reliability.kills import killed_at

GOOD, BAD, END = "Thought: Save\nAction: click(start_box='(40,70)')", "click(start_box='(90,70)')", "finished()"


def broken_off(work, folder, points=11, before=None):
    """Does the work in new folders, killed at one operation after another; yields the folder after each kill.

    Args:
        work: What is done in the folder that it is given.
        folder: Where the folders are made.
        points: Operations at most, unless all are asked for.
        before: What is in the folders when the work begins.
    """
    def made(name):
        return shutil.copytree(before, folder / name) if before else folder / name

    total = killed_at(-1, partial(work, made("counted")))
    assert total > 3
    for number in range(total) if LONG or total <= points else [*range(0, total - 1, -(-total // points)), total - 1]:
        path = made(str(number))
        ended = killed_at(number, partial(work, path))  # a thread logs when it can, so a run may take fewer operations
        assert ended is None or number >= 0.9 * total
        yield path
        shutil.rmtree(path, ignore_errors=True)


def training(folder):
    """A training of three updates with checkpoints, evaluations and logs, which goes on from the newest checkpoint."""
    found = checkpoints_in(folder / "checkpoints", "rl_model")
    new = {"batch_size": 8, "group_size": 2, "max_new_tokens": 2, "seed": 0, "tensorboard_log": str(folder / "log")}
    agent = GRPOAgent.load(found[-1], buttons()) if found else GRPOAgent(warm_policy(), buttons(), 1e-3, **new)
    judged = EvalCallback(
        buttons(2), n_eval_episodes=4, eval_steps=8, log_path=folder, best_model_save_path=folder, verbose=0,
    )  # fmt: skip
    saved = CheckpointCallback(None, folder / "checkpoints", save_steps=8, keep=1)
    agent.learn(24 - agent.num_timesteps, [saved, judged], reset_num_timesteps=not found, tb_log_name="run")


def test_a_training_goes_on_with_its_notes_and_tables(tmp_path):
    warm_policy()
    training(tmp_path / "whole")
    expected = dict(np.load(tmp_path / "whole/evaluations.npz"))
    assert expected["timesteps"].tolist() == [0, 8, 16, 24]
    for path in broken_off(training, tmp_path, points=5):
        training(path)
        for name, column in np.load(path / "evaluations.npz").items():
            np.testing.assert_array_equal(column, expected[name], name)
        best = json.loads((path / "best_model.json").read_text())
        assert best == json.loads((tmp_path / "whole/best_model.json").read_text())
        assert GRPOAgent.load(path / "best_model").num_timesteps == best["timesteps"]
        assert (path / "checkpoints" / json.loads((path / "checkpoints/rl_model_best.json").read_text())["checkpoint"])
        for table in path.glob("log/*/progress.json"):
            assert [json.loads(line) for line in table.read_text().splitlines() if line.endswith("}")]
        assert all(each.steps for index in path.rglob("index.jsonl") for each in load_episodes(index.parent))


def test_labels_are_drawn_again_where_they_were_not_kept(tmp_path):
    policy, shown = tiny.policy(), episodes(tmp_path / "shown", number=10)

    def labelled(out):
        label([shown], policy, Scripted(policy, GOOD, BAD, END), out, Labelling(policy="tiny", candidates=5))

    labelled(tmp_path / "whole")
    cut_off = shutil.copytree(tmp_path / "whole", tmp_path / "cut_off") / "candidates.jsonl"
    cut_off.write_bytes(cut_off.read_bytes()[:-9])
    for path in broken_off(labelled, tmp_path, before=cut_off.parent):
        assert (path / "candidates.jsonl").read_bytes().count(b"\n") in (9, 10)
        labelled(path)
        for name in ("labels.jsonl", "label.json"):
            assert (path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_lessons_go_on_to_the_same_lessons(tmp_path):
    policy = warm_policy()

    def collected(folder):
        return collect(policy, TransformersGenerator(policy), envs(), folder, 6, PLAN)

    whole = collected(tmp_path / "whole")
    for path in broken_off(collected, tmp_path, points=4):
        assert collected(path) == whole
        for file in (tmp_path / "whole").glob("*.npz"):
            ours, theirs = (read_episode(each) for each in (path / file.name, file))
            assert [step.candidates for step in ours.steps] == [step.candidates for step in theirs.steps]


def test_a_folder_of_episodes_goes_on(tmp_path):
    def written(path):
        folder = EpisodeFolder(path, {"from": "here"})
        for part in "ab":
            if part not in folder.done:
                folder.write(part, episode())
                folder.finish(part, Counter(late=1))

    for path in broken_off(written, tmp_path):
        written(path)
        folder = EpisodeFolder(path)
        assert folder.names == ["a", "b"] and folder.dropped == {"late": 2} and folder.read("a").length == 3


def test_records_of_an_evaluation_go_on(tmp_path):
    def record(number):
        return Record(number, 0, "Task", {}, "Ü" * 30, "easy", "query", 1.0, 3, 0.1, 0.5)

    def recorded(folder):
        file = RecordFile(folder / "records.jsonl", {"of": "me"})
        for number in range(4):
            if number not in file.records:
                file.add(record(number))

    for path in broken_off(recorded, tmp_path, points=30):
        recorded(path)
        assert read_records(path / "records.jsonl") == ({"of": "me"}, [record(number) for number in range(4)])


def test_settings_are_there_whole(tmp_path):
    def written(path):
        write_run(path, {"train": {"steps": 5}, "env": {}})
        _check_run(path, {"epochs": 3})

    written(tmp_path / "old")
    for path in broken_off(written, tmp_path, before=tmp_path / "old"):
        assert read_run(path) == {"train": {"steps": 5}, "env": {}}
        written(path)


def test_tables_of_a_log_keep_their_rows(tmp_path):
    def logged(folder, first=0):
        for output in (CsvOutput(folder), JsonOutput(folder)):
            for number in range(first, first + 3):
                row = {f"key{number}": number, "all": number}
                output.write(row, dict.fromkeys(row, ()), number)

    for path in broken_off(logged, tmp_path, points=40):
        before = _numbers(path)
        logged(path, first=10)
        assert _numbers(path)[-3:] == [10, 11, 12] and _numbers(path)[: len(before)] == before


def _numbers(folder):
    if not (folder / "progress.csv").exists():
        return []
    with (folder / "progress.csv").open(newline="") as file:
        return [int(row["all"]) for row in csv.DictReader(file) if row["all"]]


def test_a_store_has_whole_episodes(tmp_path):
    def stored(folder, number=2):
        store = EpisodeStore(folder)
        for each in range(number):
            store.write(episode(goal=f"Save {each}"), Origin())

    for path in broken_off(stored, tmp_path, points=20):
        found = [each.goal for each in load_episodes(path)] if (path / "index.jsonl").exists() else []
        assert found == ["Save 0", "Save 1"][: len(found)]
        stored(path, number=1)
        assert [each.goal for each in load_episodes(path)] == [*found, "Save 0"]
