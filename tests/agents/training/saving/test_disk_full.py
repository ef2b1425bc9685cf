"""A disk that is full at any moment of a save: a clear error, what was there before, and an agent that goes on."""

import builtins
import errno
import io
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
import torch

from coach_gym.agents import GRPOAgent
from coach_gym.recording.origin import Origin
from coach_gym.recording.store import EpisodeStore, load_episodes
from tests.agents import tiny
from tests.agents.training.saving.test_directories import LONG, contents, steps
from tests.coach_gym.recording.made import episode


class Disk:
    """Has room for a number of file operations; then nothing can be made or written any more.

    Attributes:
        operations: How many were asked for.
    """

    def __init__(self, monkeypatch, room):
        self.room, self.operations = room, 0
        for name in ("mkdir", "fsync", "link"):  # other names for what is there need no room
            monkeypatch.setattr(os, name, partial(self._call, getattr(os, name)))
        opened = io.open
        for module in (io, builtins):
            monkeypatch.setattr(module, "open", partial(self._open, opened))
        monkeypatch.setattr(Path, "write_text", lambda path, text, *rest, **more: self._write(path, text.encode()))
        monkeypatch.setattr(Path, "write_bytes", lambda path, data: self._write(path, data))
        self._opened = opened

    def _use(self):
        self.operations += 1
        if self.operations > self.room:
            raise OSError(errno.ENOSPC, "No space left on device")

    def _call(self, operation, *args, **kwargs):
        self._use()
        return operation(*args, **kwargs)

    def _open(self, opened, file, mode="r", *args, **kwargs):
        if set(mode) & set("wax+"):
            self._use()
        return opened(file, mode, *args, **kwargs)

    def _write(self, path, data):
        with self._opened(path, "wb") as file:  # there is room for a name longer than for data
            self._use()
            return file.write(data)


@pytest.fixture(scope="module")
def agent():
    return GRPOAgent(tiny.policy(), None, batch_size=8, seed=0)


def test_a_save_without_room_leaves_the_earlier_agent_whole_and_the_training_usable(agent, tmp_path):
    agent.num_timesteps = 1
    agent.save(tmp_path / "whole")
    weights = [weight.clone() for weight in agent.policy.model.parameters()]
    with pytest.MonkeyPatch.context() as patched:
        disk = Disk(patched, 10_000)
        agent.save(tmp_path / "counted")
    total, survivors = disk.operations, []
    assert total > 12
    for room in range(total + 4) if LONG else [*range(0, total - 6, 5), *range(total - 6, total + 4)]:
        path = Path(shutil.copytree(tmp_path / "whole", tmp_path / str(room) / "agent"))
        before = contents(path.parent)
        agent.num_timesteps = 2
        with pytest.MonkeyPatch.context() as patched:
            disk = Disk(patched, room)
            try:
                agent.save(path)
            except OSError as error:
                assert error.errno == errno.ENOSPC and f"while saving to {path}" in "".join(error.__notes__)
            else:
                assert disk.operations <= room
        survivors.append(steps(path))
        if survivors[-1] == 1:
            assert contents(path.parent) == before
        agent.num_timesteps = 3
        agent.save(path)
        assert steps(path) == 3 and [each.name for each in path.parent.iterdir()] == ["agent"]
        shutil.rmtree(path.parent)
    assert set(survivors) == {1, 2} and survivors == sorted(survivors)
    assert all(map(torch.equal, weights, agent.policy.model.parameters()))


def test_a_store_of_episodes_without_room_keeps_those_that_it_has(tmp_path):
    store = EpisodeStore(tmp_path / "episodes")
    store.write(episode(), Origin())
    with pytest.MonkeyPatch.context() as patched:
        disk = Disk(patched, 10_000)
        store.write(episode(goal="Save it"), Origin())
    kept = 2
    for room in range(disk.operations):
        with pytest.MonkeyPatch.context() as patched, pytest.raises(OSError, match="No space left"):
            Disk(patched, room)
            store.write(episode(goal=f"Save {room}"), Origin())
        found = len(list(load_episodes(tmp_path / "episodes")))
        assert found in (kept, kept + 1)  # the last operation is the wait for a disk that has it all
        kept = found
        assert not list(tmp_path.rglob("*.partial"))
    store.write(episode(), Origin())
    assert len(list(load_episodes(tmp_path / "episodes"))) == kept + 1
