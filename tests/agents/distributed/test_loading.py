"""What a process needs of the host's memory while it reads and shards models, and what it holds afterwards."""

import re
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import pytest
import torch

from coach_gym.agents import CoachAgent
from coach_gym.agents.distributed.parallel import _move_optimizer, whole_critic, whole_policy
from coach_gym.agents.generation.vllm.client import ServedGenerator
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.training.optimizers import make_optimizer
from tests.agents import tiny
from tests.agents.distributed.test_parallel import together

ADDRESS = "http://127.0.0.1:9"  # nobody answers there


def own_memory() -> int:
    """Bytes of memory of this process alone: what it maps from files belongs to all that map them."""
    return 1024 * int(re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text())[1])


class Peak:
    """The most memory that this process needs of its own within a `with` block, beyond what it had before."""

    def __enter__(self):
        self.before = self.most = own_memory()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self):
        while not self._over.wait(0.001):
            self.most = max(self.most, own_memory())

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self.needed = max(self.most, own_memory()) - self.before


class Unsent(ServedGenerator):
    """A server that takes every transfer."""

    def follow(self, dtype):
        pass


@pytest.fixture
def stored(tmp_path):
    """A model of 17 million weights in bfloat16, as models are published."""
    policy = tiny.policy(hidden=512, layers=4, intermediate_size=2048, std=0.02)
    policy.model.bfloat16()
    policy.save(tmp_path / "model")
    return tmp_path / "model"


def load_and_shard(folder, batch_size):
    warnings.filterwarnings("error", ".*round to nothing")  # not after `distribute`, which makes them float32
    with Peak() as peak:
        agent = CoachAgent(str(folder), None, batch_size=batch_size, generation=lambda policy: Unsent(policy, ADDRESS))
        built = own_memory() - peak.before
        agent.distribute()
    time.sleep(0)
    policy, critic = whole_policy(agent.policy).model, whole_critic(agent.critic)
    weights = {} if policy.device.type == "meta" else {"policy": policy.state_dict(), "critic": critic.state_dict()}
    return built, peak.needed, weights


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux")
@pytest.mark.parametrize("number", [2, 4])
def test_a_process_needs_little_more_than_its_share(stored, tmp_path, number):
    results = together(number, tmp_path, partial(load_and_shard, batch_size=number), stored)
    whole = Policy.load(stored, device="cpu").model
    share = 2 * 4 * sum(p.numel() for p in whole.parameters()) / number  # policy and critic in float32
    for built, needed, _ in results:
        assert built < 0.25 * share, "building maps the file"
        assert 0.9 * share < needed < 1.5 * share
    weights = results[0][2]
    assert all(weight.dtype == torch.float32 for part in weights.values() for weight in part.values())
    torch.testing.assert_close(weights["policy"], whole.state_dict(), rtol=0, atol=0)
    for name, weight in whole.model.state_dict().items():
        torch.testing.assert_close(weights["critic"][f"backbone.{name}"], weight, rtol=0, atol=0)


def test_the_cpus_step_stays_on_the_cpu():
    """On a GPU it would want `step` there, too, which checkpoints keep on the CPU."""
    weight, gpus = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2, device="meta"))
    model = torch.nn.ParameterList([weight])
    for shard, fused in ((torch.nn.Parameter(torch.ones(1)), True), (gpus, None)):
        optimizer = make_optimizer(model, 1e-3)
        _move_optimizer(optimizer, [weight], [shard])
        assert optimizer.param_groups[0]["fused"] is fused and optimizer.param_groups[0]["params"] == [shard]


def test_a_served_judge_is_a_view_of_its_file(stored):
    with Peak() as peak:
        prm = GenerativePRM.load(str(stored), generation=ADDRESS)
    weights = sum(p.nbytes for p in prm.policy.model.parameters())
    assert prm.policy.model.dtype == torch.bfloat16 and weights > 30e6
    assert peak.needed < 0.5 * weights
