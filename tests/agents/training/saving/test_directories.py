"""Saved agents are whole or not there, keep what others put beside them, and show damage."""

import json
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
import torch

from coach_gym.agents import CheckpointCallback, GRPOAgent
from tests.agents import tiny
from tests.reliability.kills import killed_at


@pytest.fixture(scope="module")
def agent():
    return GRPOAgent(tiny.policy(), None, batch_size=8, seed=0)


@pytest.fixture(scope="module")
def whole(agent, tmp_path_factory):
    """A saved agent, which tests copy."""
    path = tmp_path_factory.mktemp("saved") / "agent"
    agent.num_timesteps = 1
    agent.save(path)
    return path


@pytest.fixture
def saved(whole, tmp_path):
    return Path(shutil.copytree(whole, tmp_path / "agent"))


def interrupted(*_, **__):
    raise KeyboardInterrupt


def steps(path):
    return GRPOAgent.load(path).num_timesteps


def contents(folder):
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_saving_again_replaces_and_leaves_nothing_behind(agent, saved):
    (saved / "critic").mkdir()
    agent.num_timesteps = 99
    agent.save(saved)
    assert [path.name for path in saved.parent.iterdir()] == ["agent"]
    assert steps(saved) == 99 and not (saved / "critic").exists()


def test_what_users_keep_in_a_saved_agent_stays(agent, saved):
    (saved / "notes.txt").write_text("years of work")
    (saved / "actor/graphs").mkdir()
    (saved / "actor/graphs/loss.png").write_bytes(b"png")
    for _ in range(2):
        agent.save(saved)
        assert (saved / "notes.txt").read_text() == "years of work"
        assert (saved / "actor/graphs/loss.png").read_bytes() == b"png"
    steps(saved)


@pytest.mark.parametrize("name", ["agent.partial", "agent.replaced"])
def test_what_users_keep_beside_it_stays(name, agent, saved, whole):
    shutil.copytree(whole, saved.with_name(name))  # a copy made by hand
    before = contents(saved.parent)
    with pytest.raises(FileExistsError, match=f"{name} exists.*no save has left it.*another path"):
        agent.save(saved)
    assert contents(saved.parent) == before


def test_a_save_that_fails_leaves_no_trace(agent, saved, monkeypatch):
    before = contents(saved.parent)
    for error in (KeyboardInterrupt(), OSError(28, "No space left on device")):
        def failing(*_, error=error):
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(agent.policy, "save_processor", failing)
            with pytest.raises(type(error)) as raised:
                agent.save(saved)
        assert f"while saving to {saved}" in "".join(raised.value.__notes__)
        assert contents(saved.parent) == before


def test_an_interruption_while_names_change_loses_nothing(agent, saved, monkeypatch):
    rename = Path.rename
    monkeypatch.setattr(Path, "rename", lambda a, b: interrupted() if a.suffix == ".partial" else rename(a, b))
    before = contents(saved.parent)
    with pytest.raises(KeyboardInterrupt):
        agent.save(saved)
    assert contents(saved.parent) == before


def test_weights_that_are_not_finite_are_not_saved(agent, saved):
    before = contents(saved.parent)
    weight = next(agent.policy.model.parameters()).data
    kept = weight.flatten()[7].clone()
    try:
        for spoiled in ("nan", "inf", "-inf"):
            weight.flatten()[7] = float(spoiled)
            for save in (agent.save, agent.save_shards):
                with pytest.raises(FloatingPointError, match="policy model.*is not finite.*earlier checkpoint"):
                    save(saved)
    finally:
        weight.flatten()[7] = kept
    assert contents(saved.parent) == before


@pytest.mark.parametrize("shards", [False, True])
def test_flipped_bits_are_found_in_every_file(shards, agent, whole, tmp_path):
    path = tmp_path / "agent"
    agent.save_shards(path) if shards else shutil.copytree(whole, path)
    files = [file for file in path.rglob("*") if file.is_file()]
    assert len(files) > 8
    for number, file in enumerate(files):
        data = file.read_bytes()
        place = (number * 7919) % len(data)
        file.write_bytes(data[:place] + bytes([data[place] ^ 1 << number % 8]) + data[place + 1 :])
        with pytest.raises((ValueError, FileNotFoundError)) as raised:
            GRPOAgent.load(path)
        assert str(path) in str(raised.value)
        if file.name != "SHA256SUMS":
            assert str(file) in str(raised.value)
        file.write_bytes(data)
    steps(path)


def test_missing_parts_are_found(saved):
    for file in [file for file in saved.rglob("*") if file.is_file()]:
        data = file.read_bytes()
        file.unlink()
        with pytest.raises(FileNotFoundError, match=file.name):
            GRPOAgent.load(saved)
        file.write_bytes(data)
    steps(saved)


def test_a_file_that_was_changed_on_purpose_is_read_without_its_line(saved):
    state = saved / "trainer_state.json"
    state.write_text(state.read_text().replace('"num_timesteps": 1,', '"num_timesteps": 5,'))
    with pytest.raises(ValueError, match="delete its line from"):
        steps(saved)
    sums = (saved / "SHA256SUMS").read_text().splitlines(keepends=True)
    (saved / "SHA256SUMS").write_text("".join(line for line in sums if "trainer_state" not in line))
    assert steps(saved) == 5
    for wrong in ('"many"', "-3", "1.5", "null", "true"):
        state.write_text(state.read_text().replace('"num_timesteps": 5,', f'"num_timesteps": {wrong},'))
        with pytest.raises(ValueError, match="trainer_state.json is damaged: num_timesteps="):
            steps(saved)
        state.write_text(state.read_text().replace(f'"num_timesteps": {wrong},', '"num_timesteps": 5,'))


WRONG_STATES = [
    ("num_timesteps", None), ("n_updates", True), ("num_instances", [5]), ("task_entropy", 1.5), ("num_fork_steps", -1),
    ("success_rates", 5), ("success_rates", {"a": "x"}), ("success_rates", {"a": 1.5}),
    ("ep_info", "x"), ("ep_info", [5]), ("ep_info", [{"r": "x"}]), ("ep_success", {}), ("ep_success", ["x"]),
    ("ep_info", [{}]), ("ep_info", [{"r": float("nan"), "l": 1}]), ("ep_success", [float("nan")]), ("invented", 5),
    ("ep_info", [{"r": 10**400, "l": 1}]), ("ep_success", [float("inf")]), ("ep_success", [2.0]),
    ("numpy_rng", 5), ("numpy_rng", {}), ("sampling", []), ("sampling", [{}]),
    ("sampling", [{"cpu": "0", "cuda": None}]), ("sampling", None),
]  # fmt: skip


@pytest.mark.parametrize("name, wrong", [*WRONG_STATES, ("n_updates", ...), ("ep_info", ...), ("sampling", ...)])
def test_a_state_of_wrong_type_or_without_a_part_is_named(saved, name, wrong):
    state = saved / "trainer_state.json"
    told = json.loads(state.read_text())
    state.write_text(json.dumps({key: value for key, value in (told | {name: wrong}).items() if value is not ...}))
    unsummed(saved, state.name)
    with pytest.raises(ValueError, match="trainer_state.json is damaged: .*; load another checkpoint"):
        steps(saved)


def unsummed(path, name):
    """Deletes the line of a file that was changed on purpose."""
    sums = path / "SHA256SUMS"
    sums.write_text("".join(line for line in sums.read_text().splitlines(True) if name not in line))


@pytest.mark.parametrize("name", ["config.json", "trainer_state.json"])
def test_a_file_of_endless_brackets_is_named(saved, name):
    (saved / name).write_text("[" * 100_000)
    unsummed(saved, name)
    with pytest.raises(ValueError, match=f"{name} is damaged: .*; load another checkpoint"):
        steps(saved)


@pytest.mark.parametrize("wrong", [b"", b"garbage", [], [5], 5, {}, {"policy.optimizer": 5}, {"policy.optimizer": {}}])
def test_optimizer_states_of_another_kind_or_without_a_part_are_named(saved, wrong):
    file = saved / "optimizer.pt"
    file.write_bytes(wrong) if isinstance(wrong, bytes) else torch.save(wrong, file)
    unsummed(saved, file.name)
    with pytest.raises(ValueError, match="optimizer.pt (is damaged|does not fit the agent).*; load another checkpoint"):
        steps(saved)


def test_a_damaged_agent_is_replaced(agent, saved):
    (saved / "SHA256SUMS").write_bytes(b"\xff\x00")
    agent.save(saved)
    steps(saved)
    assert [path.name for path in saved.parent.iterdir()] == ["agent"]


LONG = os.environ.get("RELIABILITY") == "long"


def test_a_kill_at_any_file_operation_loses_nothing(agent, whole, tmp_path):
    def save(path):
        agent.num_timesteps = 2
        agent.save(path)

    total = killed_at(-1, partial(save, Path(shutil.copytree(whole, tmp_path / "agent"))))
    assert total > 40
    numbers = range(total) if LONG else [*range(0, total - 16, 5), *range(total - 16, total)]  # it is swapped in last
    survivors = []
    for number in numbers:
        folder = tmp_path / str(number)
        path = Path(shutil.copytree(whole, folder / "agent"))
        (path / "notes.txt").write_text("years of work")
        assert killed_at(number, partial(save, path)) is None
        try:
            survivors.append(steps(path))
        except FileNotFoundError as error:
            assert f"{path}.replaced" in str(error)
            survivors.append(steps(folder / "agent.replaced"))
        agent.num_timesteps = 3
        agent.save(path)
        assert steps(path) == 3 and (path / "notes.txt").read_text() == "years of work"
        assert [each.name for each in folder.iterdir()] == ["agent"]
        shutil.rmtree(folder)
    assert set(survivors) == {1, 2} and survivors == sorted(survivors)


def test_a_kill_while_old_checkpoints_are_removed_leaves_no_part_of_them(whole, tmp_path):
    def folder(name):
        for number in (8, 16, 24, 32):
            shutil.copytree(whole, tmp_path / name / f"agent_{number}_steps")
        (tmp_path / name / "agent_best.json").write_text('{"checkpoint": "agent_8_steps", "success_rate": 0.5}')
        return tmp_path / name

    def prune(path):
        CheckpointCallback(1, path, "agent", keep=1)._prune(path / "agent_32_steps", 0.75, 1)

    total = killed_at(-1, partial(prune, folder("counted")))
    assert total > 20
    for number in range(total) if LONG else [*range(4), *range(4, total, 7), total - 1]:
        path = folder(str(number))
        assert killed_at(number, partial(prune, path)) is None
        prune(path)
        holding = {file.relative_to(path).parts[0] for file in path.rglob("*") if file.is_file()}
        assert {name for name in holding if not name.endswith(".partial")} == {"agent_32_steps", "agent_best.json"}
        assert steps(path / "agent_32_steps") == 1
        shutil.rmtree(path)
