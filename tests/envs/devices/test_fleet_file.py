"""Fleets from TOML files, their parts for several processes, and the locks of devices."""

import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest

from coach_gym.envs import make
from coach_gym.envs.devices import fleet_file
from coach_gym.envs.devices.fleet import Fleet
from coach_gym.envs.devices.fleet_file import Part, read_fleet
from coach_gym.envs.devices.locks import hold
from coach_gym.envs.errors import DeviceError
from tests.envs.fake_device import SIZE, SUITE, FakeDevice

FLEET = """
[[emulators]]
avd = "AndroidWorldAvd"
count = 4
[[attached]]
serials = ["R58N12ABCDE", "emulator-5600"]
[[attached]]
host = "10.0.0.7"
ports = [5555, 5557]
[fleet]
patience = 7
"""
HOLD = "import sys; from coach_gym.envs.devices.locks import hold; hold(sys.argv[1]); print('held', flush=True); "
HOLD += "input()"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "fleet.toml").write_text(FLEET)
    return tmp_path / "fleet.toml"


def test_every_device_belongs_to_one_process_and_none_is_left_over(file: Path):
    """Two machines of two processes: each machine starts its own emulators."""
    parts = [Part(rank, 4, rank % 2, 2) for rank in range(4)]
    names = [list(read_fleet(file, part).states) for part in parts]
    emulators = [[name for name in each if name.startswith("emulator-55")] for each in names]
    assert emulators[0] == emulators[2] and emulators[1] == emulators[3]
    assert sorted(emulators[0] + emulators[1]) == [f"emulator-{port}" for port in (5554, 5556, 5558, 5560)]
    attached = sorted(name for each in names for name in each if not name.startswith("emulator-55"))
    assert attached == ["10.0.0.7:5555", "10.0.0.7:5557", "R58N12ABCDE", "emulator-5600"]
    assert read_fleet(file).patience == 7


def test_torchrun_says_which_part_is_ours(file: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    assert list(read_fleet(file).states) == ["emulator-5556", "emulator-5560", "emulator-5600", "10.0.0.7:5557"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[attached]]\nserials = ['a1', 'a1']", "lists \\['a1'\\] twice"),
        ("[[attached]]\nhost = '10.0.0.7'", "list of serials, or a host and a list of ports"),
        ("[[attached]]\nserials = 'a1'", "list of serials"),
        ("[[attached]]\nserials = ['a1', '']", "device='' is unknown"),
        ("[[attached]]\nserials = [5554]", "device=5554 is of type int"),
        ("[[phones]]\nserials = ['a1']", "tables \\['phones'\\]"),
        ("[[attached]]\nserials = ['a1']", "none is left for process 1 of 2"),
    ],
)
def test_a_file_that_describes_no_fleet_is_refused(text: str, message: str, tmp_path: Path):
    (tmp_path / "fleet.toml").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_fleet(tmp_path / "fleet.toml", Part(1, 2, 1, 2))


def test_a_vector_environment_takes_a_file_and_closes_its_fleet(file: Path, monkeypatch: pytest.MonkeyPatch):
    class Started:
        name = "fake"
        running = False

        def start(self):
            self.running = True

        def check(self):
            pass

        def device(self):
            return FakeDevice()

        def stop(self):
            self.running = False

    member = Started()
    monkeypatch.setattr(make, "read_fleet", lambda path: Fleet([member], stagger=0))
    envs = gym.make_vec("AndroidWorld-v0", 1, "vector_entry_point", device=str(file), suite=SUITE, screen_size=SIZE)
    _, infos = envs.reset(seed=0)
    assert "fault" not in infos and member.running
    envs.close()
    assert not member.running


def test_two_programs_never_drive_one_device():
    """Nor by another of its names; the end of a program, whatever its kind, frees its devices."""
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, "emulator-5990"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    for name in ("emulator-5990", "127.0.0.1:5991", "localhost:5991"):
        with pytest.raises(DeviceError, match=f"in use by process {other.pid}"):
            hold(name)
    hold("emulator-5992")()
    other.kill()
    other.wait()
    first, second = hold("emulator-5990"), hold("localhost:5991")  # one process may hold a device twice
    first()
    first()
    assert fleet_file.Part.own().rank == 0
    second()


def test_a_device_that_was_given_back_is_free():
    hold("emulator-5994")()
    script = HOLD.replace("input()", "")
    subprocess.run([sys.executable, "-c", script, "emulator-5994"], check=True, capture_output=True)
