"""Environments in processes of their own: the same as in threads, and faults that stay with one process."""

import importlib
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

from coach_gym.envs import make
from coach_gym.envs.android import AndroidEnv
from coach_gym.envs.devices.fleet_file import OneOfFleet
from coach_gym.envs.devices.locks import hold
from coach_gym.envs.errors import DeviceError, UsageError
from coach_gym.envs.remote import process
from coach_gym.envs.vector import AndroidVectorEnv
from tests.envs.fake_device import SIZE, SUITE, FakeDevice

make_env = partial(AndroidEnv, device=FakeDevice, screen_size=SIZE, suite=SUITE)
HOLD = "from coach_gym.envs.devices.locks import hold"
SAVE_ADA = {"task": "SaveName", "params": {"name": "Ada"}}


class Mischief(gym.Wrapper):
    """Does to its process what its actions say; `info` tells the process."""

    def reset(self, **kwargs):
        observation, info = super().reset(**kwargs)
        return observation, {**info, "pid": os.getpid()}

    def step(self, words):  # an argument may have any name
        match words:
            case "raise":
                raise Unpicklable("lost", "and found")
            case "exit":
                sys.exit("died")
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang":
                time.sleep(60)
            case "lambda":
                *results, info = super().step("wait()")
                return *results, {**info, "function": lambda: None}
            case "foreign":
                *results, info = super().step("wait()")
                return *results, {**info, "foreign": Foreign()}
        return super().step(words)


class Foreign:
    """Can be sent, and not received."""

    def __reduce__(self):
        return importlib.import_module, ("no_such_module",)


class Unpicklable(RuntimeError):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def in_processes(num_envs, **settings):
    return AndroidVectorEnv([lambda: Mischief(make_env())] * num_envs, workers="process", **settings)


def test_processes_and_threads_show_the_same():
    results = []
    for workers in ("thread", "process"):
        envs = AndroidVectorEnv([make_env] * 2, workers=workers)
        rng = np.random.default_rng(0)
        shown = [envs.reset(seed=5)]
        for _ in range(12):
            actions = tuple(rng.choice(["wait()", "finished()", "type(content='é')", "?"], size=2))
            shown.append(envs.step(actions))
            shown[-1][-1].pop("step_latency", None)
        envs.close()
        results.append(shown)
    assert data_equivalence(*results, exact=True)


def test_make_vec_puts_them_into_processes():
    def device():
        raise DeviceError(f"made by process {os.getpid()}")

    envs = gym.make_vec("AndroidWorld-v0", 1, vectorization_mode="vector_entry_point", workers="process", device=device)
    envs.reset(seed=0)
    *_, infos = envs.step(["wait()"])
    envs.close()
    assert "made by process" in infos["fault"][0] and str(os.getpid()) not in infos["fault"][0]


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_a_process_keeps_the_memory_of_its_screens():
    """Else every screen takes as many page faults as it has pages."""

    class Screens(gym.Wrapper):
        def reset(self, **kwargs):
            import resource

            observation, info = super().reset(**kwargs)
            faults = []
            for _ in range(3):
                screens = [np.ones((600, 270, 3), np.uint8) for _ in range(20)]
                del screens
                faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
            return observation, {**info, "faults": faults[2] - faults[1]}

    envs = AndroidVectorEnv([lambda: Screens(make_env())], workers="process")
    assert envs.reset(seed=0)[1]["faults"][0] < 20  # of 20 screens with 118 pages each
    envs.close()


def test_a_fault_costs_one_episode_and_its_process_is_replaced():
    envs = in_processes(2)
    _, infos = envs.reset(seed=0, options=SAVE_ADA)
    assert len({*infos["pid"], os.getpid()}) == 3
    with pytest.raises(UsageError, match="workers='thread'"):
        envs.fork()
    with pytest.raises(UsageError, match="forks or snapshots"):
        envs.snapshot()
    for mischief, fault in (
        ("raise", "DeviceError: Unpicklable: lost and found"),
        ("exit", "SystemExit: died"),
        ("foreign", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("kill", "DeviceError: the environment's process ended with code -9"),
    ):
        _, rewards, terminations, truncations, infos = envs.step(["type(content='A')", mischief])
        assert infos["fault"].tolist() == [None, fault]
        assert truncations.tolist() == [False, True] and not rewards.any() and not terminations.any()
        old = infos["pid"][1] if "pid" in infos else None
        observations, infos = envs.reset(options=SAVE_ADA)
        assert "fault" not in infos and infos["pid"][1] != old and observations["goal"][1] == "Save the name Ada."
    *_, infos = envs.step(["wait()", "lambda"])
    assert "returned cannot go to another process: " in infos["fault"][1] and "lambda" in infos["fault"][1]
    envs.close()


def test_a_process_that_hangs_is_given_up_and_then_killed(monkeypatch):
    monkeypatch.setattr(process, "GRACE", 0.2)
    envs = in_processes(1, step_timeout=0.3)
    _, infos = envs.reset(options=SAVE_ADA)
    assert envs.step(["hang"])[-1]["fault"].tolist() == ["TimeoutError: step took longer than 0.3 s"]
    _, again = envs.reset(options=SAVE_ADA)
    assert "fault" not in again
    await_end(infos["pid"][0])
    envs.close()
    await_end(again["pid"][0])


def await_zombie(pid):
    deadline = time.monotonic() + 10
    while "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
        assert time.monotonic() < deadline, f"process {pid} lives on"
        time.sleep(0.02)


def await_end(pid):
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline, f"process {pid} lives on"
        time.sleep(0.02)


def test_a_script_needs_no_guard_and_leaves_no_process(tmp_path):
    """Its own functions reach the processes, although nobody can import it."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "from coach_gym.envs.android import AndroidEnv\n"
        "from coach_gym.envs.vector import AndroidVectorEnv\n"
        "class Mine(AndroidEnv):\n"
        "    def reset(self, **kwargs):\n"
        "        observation, info = super().reset(**kwargs)\n"
        "        return observation, {**info, 'pid': os.getpid()}\n"
        "envs = AndroidVectorEnv([lambda: Mine(screen_size=(90, 200))], workers='process')\n"
        "print(envs.reset(seed=0)[1]['pid'][0])\n"
    )
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    await_end(int(ended.stdout))


def test_a_refusal_comes_with_the_traceback_of_its_process():
    envs = AndroidVectorEnv([make_env], workers="process")
    with pytest.raises(UsageError, match="no task 'Nope'") as raised:
        envs.reset(options={"task": "Nope"})
    assert "in _draw_task" in raised.value.__notes__[0]
    envs.close()


def test_a_process_that_dies_between_calls_is_found_by_the_next():
    envs = in_processes(2)
    _, infos = envs.reset(seed=0, options=SAVE_ADA)
    os.kill(infos["pid"][0], signal.SIGKILL)
    await_zombie(infos["pid"][0])
    envs.send(["wait()"], [1])
    assert [arrival.env_id for arrival in envs.recv()] == [1]  # what owes no answer gives none
    assert envs.step(["wait()", "wait()"])[-1]["fault"][0].startswith("DeviceError: the environment's process ended")
    envs.close()


def test_recipes_larger_than_a_pipe_hold_nobody_up():
    large = np.zeros(1 << 20, np.uint8)
    envs = AndroidVectorEnv([lambda: make_env() if large.size else make_env()] * 2, workers="process")
    assert set(envs.reset(seed=0)[1]["device"]) == {"fake"}
    envs.close()


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"workers": "fork"}, "'thread', 'process' or 'ray'"), ({"actor_options": {}}, "pass workers='ray'")],
)
def test_wrong_settings_are_refused(settings, told):
    with pytest.raises(ValueError, match=told):
        AndroidVectorEnv([make_env], **settings)


def test_every_process_takes_one_free_device_of_a_fleet(tmp_path, monkeypatch):
    file = tmp_path / "fleet.toml"
    file.write_text('[[attached]]\nserials = ["emulator-5560", "emulator-5562"]\n')
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    other = subprocess.Popen(
        [sys.executable, "-c", f"{HOLD}; hold('emulator-5560'); print('held', flush=True); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    lent = []
    monkeypatch.setattr("coach_gym.envs.devices.fleet_file.Fleet", lambda members: lent.append(members) or FakeFleet())
    device = OneOfFleet(file)
    assert isinstance(device(), FakeDevice) and isinstance(device(), FakeDevice)
    assert [[member.name for member in members] for members in lent] == [["emulator-5562"]]
    file.write_text('[[attached]]\nserials = ["emulator-5560"]\n')
    with pytest.raises(DeviceError, match="all 1 devices"):
        OneOfFleet(file)()
    other.communicate(b"\n")
    hold("emulator-5560")()


class FakeFleet:
    def close(self):
        pass

    def __call__(self):
        return FakeDevice()


def test_a_vector_of_processes_hands_each_the_file(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(make, "AndroidVectorEnv", lambda env_fns, **settings: given.extend(env_fns))
    make.make_vector_env(2, workers="process", device="fleet.toml")
    assert all(isinstance(each.keywords["device"], OneOfFleet) for each in given)
