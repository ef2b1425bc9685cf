"""Two processes save their shards together, and one or both are killed: the old agent or the new one is there."""

import io
import os
import random
import shutil
import signal
import time
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
import torch.distributed as dist

from coach_gym.agents import GRPOAgent
from tests.agents import tiny
from tests.reliability.kills import OPERATIONS

LONG = os.environ.get("RELIABILITY") == "long"

PATIENCE = 60  # seconds that a process may wait for one that has died


@pytest.fixture(scope="module")
def agent():
    return GRPOAgent(tiny.policy(), None, batch_size=8, seed=0)


class Saving:
    """Two processes that save the shards of an agent to `path` together.

    Args:
        agent: What they save, with `num_timesteps=2`.
        path: Where they save it.
        victim: Rank of the one that is killed.
        number: The file operation before which it is killed; -1 for none.
    """

    def __init__(self, agent, path, victim=0, number=-1):
        self._agent, self._path, self._victim, self._number = agent, path, victim, number
        self._count = 0
        self.exchange = path.with_suffix(".exchange")
        self.exchange.mkdir()
        self.pids = [self._forked(rank) for rank in range(2)]

    def _forked(self, rank):
        if pid := os.fork():
            return pid
        with suppress(BaseException):
            self._save(rank)
            (self.exchange / f"{rank}.done").write_text(str(self._count))
        os._exit(0)

    def _save(self, rank):
        store = dist.FileStore(str(self.exchange / "store"), 2)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=PATIENCE))
        self._agent.num_timesteps = 2
        self._agent.distribute()
        dist.barrier()
        for module, names in ((os, OPERATIONS), (io, ["open"])):
            for name in names:
                setattr(module, name, partial(self._operation, rank, getattr(module, name)))
        (self.exchange / f"{rank}.saving").touch()
        self._agent.save_shards(self._path)

    def _operation(self, rank, operation, *args, **kwargs):
        if rank == self._victim and self._count == self._number:
            os.kill(os.getpid(), signal.SIGKILL)
        self._count += 1
        return operation(*args, **kwargs)

    def begun(self):
        return all((self.exchange / f"{rank}.saving").exists() for rank in range(2))

    def kill(self, rank):
        os.kill(self.pids[rank], signal.SIGKILL)

    def wait(self, rank):
        """Returns the number of file operations of a process that has ended; None if it did not get to the end."""
        until = time.monotonic() + 2 * PATIENCE
        while os.waitpid(self.pids[rank], os.WNOHANG) == (0, 0):
            assert time.monotonic() < until, f"process {rank} waits for ever for the other, which is dead"
            time.sleep(0.005)
        told = self.exchange / f"{rank}.done"
        return int(told.read_text()) if told.exists() else None


@pytest.fixture(scope="module")
def whole(agent, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "agent"
    agent.num_timesteps = 1
    agent.save_shards(path)
    (path / "notes.txt").write_text("years of work")
    return path


def survivor(agent, path):
    """Returns how many steps the agent has that is there after a kill, and saves there once more."""
    try:
        steps = GRPOAgent.load(path).num_timesteps
    except FileNotFoundError as error:
        assert f"{path}.replaced" in str(error)
        steps = GRPOAgent.load(path.with_name("agent.replaced")).num_timesteps
    agent.num_timesteps = 3
    agent.save_shards(path)
    assert GRPOAgent.load(path).num_timesteps == 3 and (path / "notes.txt").read_text() == "years of work"
    assert {each.name for each in path.parent.iterdir()} == {"agent", "agent.exchange"}
    return steps


@pytest.mark.parametrize("victim", [0, 1])
def test_a_kill_of_one_process_at_any_file_operation_loses_nothing(agent, whole, tmp_path, victim):
    saving = Saving(agent, Path(shutil.copytree(whole, tmp_path / "agent")))
    total = [saving.wait(rank) for rank in range(2)][victim]
    assert total > 10
    numbers = range(total) if LONG else [total // 3, total - 7, total - 2]  # it is swapped in last
    kept = []
    for number in numbers:
        path = Path(shutil.copytree(whole, tmp_path / str(number) / "agent"))
        saving = Saving(agent, path, victim, number)
        assert saving.wait(victim) is None
        if number % 2:
            with suppress(ProcessLookupError):
                saving.kill(1 - victim)  # as torchrun does to the others
        saving.wait(1 - victim)
        kept.append(survivor(agent, path))
        shutil.rmtree(path.parent)
    assert set(kept) <= {1, 2} and kept == sorted(kept) and 1 in kept


def test_a_kill_of_both_at_a_random_moment_loses_nothing(agent, whole, tmp_path):
    rng, kept = random.Random(0), []
    for number in range(60 if LONG else 3):
        path = Path(shutil.copytree(whole, tmp_path / str(number) / "agent"))
        saving = Saving(agent, path)
        while not saving.begun():
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.3))
        for rank in rng.sample(range(2), 2):
            saving.kill(rank)
        for rank in range(2):
            saving.wait(rank)
        kept.append(survivor(agent, path))
        shutil.rmtree(path.parent)
    assert set(kept) <= {1, 2}
