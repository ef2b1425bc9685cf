"""Trainings that are killed or interrupted at any moment, and resumed, end as one that was left alone."""

import json
import os
import random
import signal
import time
import traceback
from pathlib import Path

import pytest

from coach_gym.agents import BaseCallback, CheckpointCallback, CoachAgent
from coach_gym.agents.training.saving.checkpoints import checkpoints_in
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.recording.store import load_episodes
from tests.agents.training.saving.test_directories import LONG
from tests.agents.training.saving.test_save_load import assert_equal
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import warm_policy

STEPS, BREAKS = (120, 30) if LONG else (24, 2)
PATIENCE = 300.0  # seconds for a training to end, on a machine that is busy with other tests
MODES = {"rounds": ("rounds", 0), "events": ("events", 0), "ahead": ("events", 1)}
CASES = [(sent, mode) for sent in (signal.SIGKILL, signal.SIGINT) for mode in MODES][: None if LONG else 4]


class Diary(BaseCallback):
    """Writes which episodes every update learns from."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def _on_training_start(self) -> None:
        train = self.model.train

        def noted(groups):
            seeds = sorted(episode.seed for group in groups for episode in group)
            with self.path.open("a") as file:
                file.write(json.dumps([self.model.n_updates, seeds]) + "\n")
            train(groups)

        self.model.train = noted

    @staticmethod
    def read(path: Path) -> dict[int, list[int]]:
        return dict(map(json.loads, path.read_text().splitlines()))  # what was played again stands last


class Training:
    """A training in a process of its own, which goes on from the newest checkpoint in its folder."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder, self.mode = folder, mode
        folder.mkdir(exist_ok=True)
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                self._run()
                code = 0
            except KeyboardInterrupt:
                code = 130
            except BaseException:
                (folder / "trouble").write_text(traceback.format_exc())
            finally:
                os._exit(code)

    def _run(self) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # programs in the background begin without it
        envs = AndroidVectorEnv([lambda: ButtonEnv(steps=2)] * 4)
        found = checkpoints_in(self.folder / "checkpoints", "rl_model")
        agent = CoachAgent.load(found[-1], env=envs) if found else self._new(envs)
        callbacks = [CheckpointCallback(1, self.folder / "checkpoints", keep=2), Diary(self.folder / "diary")]
        if agent.num_timesteps < STEPS:
            agent.learn(STEPS - agent.num_timesteps, callbacks, reset_num_timesteps=not found)
        agent.save(self.folder / "final")

    def _new(self, envs: AndroidVectorEnv) -> CoachAgent:
        collection, staleness = MODES[self.mode]
        return CoachAgent(
            warm_policy(), envs, 1e-3, batch_size=8, mini_batch_size=4, max_new_tokens=3, seed=3, critic_replay=0,
            malformed_is_worthless=False, collection=collection, max_staleness=staleness, keep_episodes=1.0,
            tensorboard_log=str(self.folder / "log"),
        )  # fmt: skip

    def ended(self, seconds: float) -> int | None:
        """Waits; returns the exit code, or None if it goes on."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        return None

    def finish(self) -> None:
        """Requires that it ends by itself, and well."""
        code = self.ended(PATIENCE)
        if code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        trouble = self.folder / "trouble"
        assert code == 0, trouble.read_text() if trouble.exists() else code


@pytest.mark.parametrize(("sent", "mode"), CASES)
def test_a_training_that_is_broken_off_again_and_again(sent, mode, tmp_path):
    warm_policy()  # once, for all processes
    whole, began = tmp_path / "whole", time.monotonic()
    Training(whole, mode).finish()
    took, chance, breaks, line = time.monotonic() - began, random.Random(7), 0, 0
    broken = -signal.SIGKILL if sent == signal.SIGKILL else 130
    while breaks < BREAKS:
        folder, line = tmp_path / str(line), line + 1
        for _ in range(5):  # breaks at most, so that it gets to its end
            training = Training(folder, mode)
            code = training.ended(chance.uniform(0.1, 1.0) * took)
            if code is not None:
                break
            os.kill(training.pid, sent)
            code = training.ended(PATIENCE)
            assert code in (broken, 0), code  # it may have ended just before
            breaks += code == broken
            left = {path.name for path in folder.glob("checkpoints/*.*")} - {"rl_model_best.json"}
            assert sent == signal.SIGKILL or not left, "nothing half done"
        if not (folder / "final").exists():
            Training(folder, mode).finish()
        require_same(folder, whole, mode)


def require_same(folder: Path, whole: Path, mode: str) -> None:
    """Both learned from the same episodes, each once; in rounds, they end with the same weights."""
    resumed, expected = (CoachAgent.load(each / "final") for each in (folder, whole))
    ours, theirs = Diary.read(folder / "diary"), Diary.read(whole / "diary")
    both = min(resumed.n_updates, expected.n_updates)  # how many it takes depends on how the devices take turns
    assert both >= 2 and all(ours[number] == theirs[number] for number in range(both))
    assert resumed.num_instances == 8 * resumed.n_updates
    for index in folder.rglob("index.jsonl"):
        assert all(episode.steps for episode in load_episodes(index.parent))
    if mode == "rounds":
        assert (resumed.num_timesteps, resumed.n_updates) == (expected.num_timesteps, expected.n_updates)
        assert_equal(resumed.get_parameters(), expected.get_parameters(), atol=1e-6)
