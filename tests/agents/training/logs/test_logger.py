"""Tables, curves, pictures and run folders."""

import csv
import io
import json
import math

import numpy as np
import PIL.Image
import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from stable_baselines3.common import logger as sb3
from stable_baselines3.common.logger import Figure, HParam, Image, Video
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from coach_gym.agents.training.logs.logger import CsvOutput, HumanOutput, JsonOutput, Logger, configure_logger
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv


class Memory:
    name = "memory"

    def __init__(self):
        self.dumps = []

    def write(self, values, excluded, step):
        self.dumps.append((step, {key: value for key, value in values.items() if self.name not in excluded[key]}))

    def close(self):
        self.dumps.append("closed")


def test_a_dump_holds_what_was_recorded_since_the_last():
    memory = Memory()
    logger = Logger(None, [memory])
    logger.record("a", 1)
    logger.record("a", 2)
    logger.record("hidden", 3, exclude="memory")
    logger.record_mean("mean", 1.0)
    logger.record_mean("mean", 2.0)
    logger.record_mean("mean", 6.0)
    logger.dump(step=10)
    logger.record_mean("mean", 5.0)
    logger.dump(step=20)
    logger.close()
    assert memory.dumps == [(10, {"a": 2, "mean": 3.0}), (20, {"mean": 5.0}), "closed"]


def test_table(capsys):
    logger = Logger(None, [HumanOutput()])
    logger.record("train/loss", 0.123456)
    logger.record("rollout/success_rate", 0.5)
    logger.record("rollout/hidden", 0.5, exclude=("stdout", "tensorboard"))
    logger.record("note", "text")
    logger.dump()
    assert capsys.readouterr().out.splitlines() == [
        "---------------------------",
        "| note            | text  |",
        "| rollout/        |       |",
        "|    success_rate | 0.5   |",
        "| train/          |       |",
        "|    loss         | 0.123 |",
        "---------------------------",
    ]
    logger.dump()
    assert capsys.readouterr().out == ""


def test_run_folders_count_up_or_go_on(tmp_path):
    (tmp_path / "run_2").mkdir()
    (tmp_path / "running_7").mkdir()
    assert configure_logger(0, tmp_path, "run", reset_num_timesteps=True).dir == str(tmp_path / "run_3")
    assert configure_logger(0, tmp_path, "run", reset_num_timesteps=False).dir == str(tmp_path / "run_3")
    assert configure_logger(0, tmp_path, "new", reset_num_timesteps=False).dir == str(tmp_path / "new_1")
    assert configure_logger(0, None, "run", reset_num_timesteps=True).dir is None


def test_tensorboard_takes_what_stable_baselines3_logs(tmp_path, capsys):
    from matplotlib.figure import Figure as Drawing

    logger = configure_logger(1, tmp_path, "run", reset_num_timesteps=True)
    logger.record("eval/screen", Image(np.zeros((4, 3, 3), np.uint8), "HWC"))
    logger.record("eval/curve", Figure(Drawing(), close=True))
    logger.record("train/q", torch.tensor([[0.0, 1.0], [float("nan"), 1.0]], dtype=torch.bfloat16))
    logger.record("train/nothing", np.array([np.nan]))
    logger.record("train/hidden", np.ones(3), exclude="tensorboard")
    red = np.zeros((2, 3, 3, 4, 5), np.uint8)  # two videos of three frames, of which one turns red
    red[1, 2, 0] = 255
    logger.record("eval/video", Video(torch.from_numpy(red), fps=2))
    logger.record("eval/grey", Video(torch.full((1, 1, 1, 4, 5), 0.5), fps=2))
    logger.record("hparams", HParam({"k": 4}, {"eval/success_rate": 0.0}))
    logger.record("loss", np.float32(0.5))
    logger.dump(7)
    logger.close()
    assert "loss" in (shown := capsys.readouterr().out) and "screen" not in shown
    events = EventAccumulator(logger.dir)
    events.Reload()
    tags = events.Tags()
    assert set(tags["images"]) == {"eval/screen", "eval/curve", "eval/video", "eval/grey"}
    assert tags["histograms"] == ["train/q"]
    (histogram,) = events.Histograms("train/q")
    assert (histogram.step, histogram.histogram_value.num, histogram.histogram_value.max) == (7, 3.0, 1.0)
    assert events.Images("eval/screen")[0].height == 4
    video = PIL.Image.open(io.BytesIO(events.Images("eval/video")[0].encoded_image_string))
    assert (video.n_frames, video.size, video.info["duration"]) == (2, (10, 4), 1000), "two frames are alike"
    video.seek(1)
    assert [video.convert("RGB").getpixel((x, 1)) for x in (0, 5)] == [(0, 0, 0), (255, 0, 0)]
    assert "_hparams_/session_start_info" in str(events.summary_metadata)


def test_a_training_shows_its_settings_and_what_it_learned_from(tmp_path):
    from coach_gym.agents import CoachAgent, EvalCallback

    agent = CoachAgent(
        tiny.policy(), SyncVectorEnv([ButtonEnv] * 2), batch_size=2, max_new_tokens=3, seed=0, tensorboard_log=tmp_path
    )
    agent.learn(2, EvalCallback(ButtonEnv(), eval_freq=1, n_eval_episodes=3, verbose=0))
    events = EventAccumulator(str(tmp_path / "CoachAgent_1"))
    events.Reload()
    tags = events.Tags()
    assert {"train/q", "train/advantages", "train/returns"} <= set(tags["histograms"])
    assert "eval/failure" in tags["images"] and any(tag.startswith("eval_by_task/Press") for tag in tags["scalars"])
    (text,) = events.Tensors("settings/text_summary")
    assert b"| batch_size | `2` |" in text.tensor_proto.string_val[0]


def write_some(folder, csv_output, json_output):
    logger = Logger(folder, [csv_output(folder), json_output(folder)])
    logger.record("train/loss", 0.5)
    logger.record("hidden", 1, exclude=("csv", "json"))
    logger.record("note", 'a "quoted", long\nnote')
    logger.dump(1)
    logger.record("train/loss", math.nan)
    logger.record("rollout/success_rate", 1.0)
    logger.dump(2)
    logger.close()


def test_csv_and_json_are_those_of_stable_baselines(tmp_path):
    write_some(tmp_path / "ours", CsvOutput, JsonOutput)
    write_some(
        tmp_path / "theirs",
        lambda folder: folder.mkdir() or sb3.CSVOutputFormat(str(folder / "progress.csv")),
        lambda folder: sb3.JSONOutputFormat(str(folder / "progress.json")),
    )
    ours, theirs = ([line for line in (tmp_path / who / "progress.json").open()] for who in ("ours", "theirs"))
    assert json.loads(ours[0]) == json.loads(theirs[0]) and json.loads(ours[1])["rollout/success_rate"] == 1.0
    assert json.loads(ours[1])["train/loss"] is None
    rows = list(csv.DictReader((tmp_path / "ours/progress.csv").open(newline="")))
    assert [row["train/loss"] for row in rows] == ["0.5", "nan"]
    assert rows[0]["note"] == 'a "quoted", long\nnote' and rows[0]["rollout/success_rate"] == ""
    assert set(rows[0]) == {"note", "train/loss", "rollout/success_rate"}


@pytest.mark.parametrize("kind", [CsvOutput, JsonOutput])
def test_a_run_that_goes_on_appends_to_its_files(tmp_path, kind):
    for step, key in enumerate(["a", "b"]):
        logger = Logger(tmp_path, [kind(tmp_path)])
        logger.record(key, step)
        logger.dump(step)
    text = (tmp_path / f"progress.{kind.name}").read_text()
    assert text.split() == (["a,b", "0,", ",1"] if kind is CsvOutput else ['{"a":', "0}", '{"b":', "1}"])
