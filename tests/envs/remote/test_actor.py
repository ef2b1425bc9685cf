"""Environments as actors of a real Ray cluster: two nodes on this machine, one of which is killed.

Ray is an extra, and these tests are skipped without it: `make test-ray` runs them in an environment of their own.
"""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

from coach_gym.envs.android import AndroidEnv  # noqa: E402
from coach_gym.envs.errors import UsageError  # noqa: E402
from coach_gym.envs.remote import host  # noqa: E402
from coach_gym.envs.vector import AndroidVectorEnv  # noqa: E402
from tests.envs.fake_device import SIZE, SUITE, FakeDevice  # noqa: E402
from tests.envs.remote.test_process import Mischief, await_end  # noqa: E402

EXAMPLE = Path(__file__).parents[3] / "examples" / "ray_cluster.py"
SAVE_ADA = {"task": "SaveName", "params": {"name": "Ada"}}


class Placed(Mischief):
    """Says on which node it lives."""

    def reset(self, **kwargs):
        observation, info = super().reset(**kwargs)
        return observation, {**info, "node": ray.get_runtime_context().get_node_id()}


def make_env():
    return Placed(AndroidEnv(device=FakeDevice, screen_size=SIZE, suite=SUITE))


@pytest.fixture(scope="module")
def cluster():
    """Two machines with one phone each."""
    os.environ["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    os.environ |= {"RAY_raylet_start_wait_time_s": "300", "RAY_worker_niceness": "0"}  # on a busy machine
    machine = {"num_cpus": 1, "resources": {"phone": 1}, "include_dashboard": False}
    quickly = {"health_check_period_ms": 1000}  # how soon the death of a machine is known
    cluster = Cluster(True, head_node_args={**machine, "_system_config": quickly})
    cluster.add_node(**machine)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


actors = partial(AndroidVectorEnv, workers="ray", actor_options={"resources": {"phone": 1}})


def test_actors_go_where_phones_are_and_faults_stay_with_one(cluster, monkeypatch):
    monkeypatch.setattr(host, "GRACE", 0.2)
    envs = actors([make_env] * 2, step_timeout=10.0)
    observations, infos = envs.reset(seed=0, options=SAVE_ADA)
    assert set(infos["node"]) == {machine.node_id for machine in cluster.list_all_nodes()}
    assert observations in envs.observation_space and observations["screenshot"].flags.writeable
    observations, *_ = envs.step(["type(content='Grüße')", "wait()"])
    assert "Grüße" in observations["ui"][0]
    with pytest.raises(UsageError, match="no task 'Nope'"):
        envs.reset(options={"task": "Nope"})
    envs.reset(options=SAVE_ADA)
    for mischief, fault in (("raise", "Unpicklable: lost and found"), ("kill", "actor died"), ("hang", "TimeoutError")):
        envs.step_timeout = 1.0 if mischief == "hang" else 10.0
        _, _, _, truncations, infos = envs.step(["wait()", mischief])
        assert infos["fault"][0] is None and fault in infos["fault"][1] and truncations.tolist() == [False, True]
        _, infos = envs.reset(options=SAVE_ADA)
        assert "fault" not in infos
    envs.close()
    for pid in infos["pid"]:
        await_end(pid)


def test_the_example_trains_with_a_phone_of_each_machine(cluster, tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), '{"resources": {"phone": 1}}'], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "RAY_ADDRESS": cluster.address}, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "machines: 2 steps: 4" in done.stdout


def test_a_machine_that_dies_costs_one_episode_and_its_environment_moves(cluster):
    envs = actors([make_env] * 2)
    _, infos = envs.reset(seed=0, options=SAVE_ADA)
    (dying,) = cluster.worker_nodes
    lost = infos["node"].tolist().index(dying.node_id)
    cluster.remove_node(dying, allow_graceful=False)
    os.kill(infos["pid"][lost], signal.SIGKILL)  # a machine takes its processes with it
    _, _, _, truncations, infos = envs.step(["wait()"] * 2)
    assert truncations.tolist() == [env_id == lost for env_id in range(2)]
    assert "actor died" in infos["fault"][lost]
    spare = cluster.add_node(num_cpus=1, resources={"phone": 2})
    _, infos = envs.reset(options=SAVE_ADA)
    assert "fault" not in infos and infos["node"][lost] == spare.node_id
    assert not envs.step(["wait()"] * 2)[3].any()
    envs.close()
    envs = actors([make_env] * 3)  # devices are the limit, not the one processor of each machine
    _, infos = envs.reset(seed=0, options=SAVE_ADA)
    assert "fault" not in infos and infos["node"].tolist().count(spare.node_id) == 2
    envs.close()
