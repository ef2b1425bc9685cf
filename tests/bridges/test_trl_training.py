"""TRL's own GRPOTrainer trains the pocket policy on the embedded phone."""

from functools import partial

import pytest
import torch

pytest.importorskip("trl", reason="trl is in the environment of make test-bridges")

from datasets import Dataset
from transformers import AutoModelForImageTextToText
from trl import GRPOConfig, GRPOTrainer

from coach_gym.agents.models.policy import POCKET, Policy
from coach_gym.bridges.trl import OVER, TRLEnvironment, task_rows
from coach_gym.bridges.trl_text import text_action_processor
from coach_gym.envs.devices.phone import PhoneDevice

SIZE = (270, 600)
GROUP = 4


class Loses(PhoneDevice):
    """A phone whose first action is its last."""

    def __init__(self):
        super().__init__(*SIZE)

    def perform(self, action):
        raise ConnectionError("the cable is out")


@pytest.fixture(scope="module")
def policy():
    return Policy.load("pocket")


def trainer(policy, folder, make=TRLEnvironment, **settings):
    settings = {"env": "AndroidWorld/SystemWifiTurnOn-v0", "dialect": policy.dialect, "screen_size": SIZE} | settings
    args = GRPOConfig(
        output_dir=str(folder), max_steps=2, num_generations=GROUP, per_device_train_batch_size=GROUP,
        learning_rate=1e-4, temperature=1.3, max_completion_length=600, max_tool_calling_iterations=7,
        generation_kwargs={"suppress_tokens": policy.banned}, use_cpu=True, bf16=False, report_to="none",
        save_strategy="no", logging_steps=1, disable_tqdm=True, seed=0,
    )  # fmt: skip
    return GRPOTrainer(
        AutoModelForImageTextToText.from_pretrained(POCKET, dtype=torch.float32),
        args=args,
        train_dataset=Dataset.from_list(task_rows(seeds=range(4), **settings)),
        processing_class=text_action_processor(POCKET),
        environment_factory=partial(make, **settings),
    )


def test_grpo_learns_from_episodes_on_the_phone(policy, tmp_path):
    grpo = trainer(policy, tmp_path)
    before = [parameter.detach().clone() for parameter in grpo.model.parameters()]
    grpo.train()
    rewards = [each["rewards/TRLEnvironment/mean"] for each in grpo.state.log_history if "reward" in each]
    spread = [each["reward_std"] for each in grpo.state.log_history if "reward" in each]
    assert len(rewards) == 2 and max(spread) > 0
    moved = [
        float((now.detach() - then).abs().max()) for now, then in zip(grpo.model.parameters(), before, strict=True)
    ]
    assert 0 < max(moved) < 1e-2
    failures = [each["tools/failure_frequency"] for each in grpo.state.log_history if "reward" in each]
    assert failures == [0.0] * 2
    for completion in grpo._logs["completion"]:  # one closing turn after the end, and then no call
        told = [message["content"] for message in completion if message["role"] == "tool"]
        assert OVER not in told[:-1] and not (OVER in told and completion[-1].get("tool_calls"))


def test_a_fault_has_no_advantage_and_no_part_in_the_baseline(policy, tmp_path):
    made = []

    def make(**settings):
        made.append(TRLEnvironment(**settings, **({"device": Loses} if len(made) == 1 else {})))
        return made[-1]

    grpo = trainer(policy, tmp_path, make)
    grpo.args.max_steps = 1
    grpo.train()
    rewards = torch.tensor(list(grpo._logs["rewards"]["TRLEnvironment"]))
    advantages = torch.tensor(list(grpo._logs["advantages"]))
    assert torch.isnan(rewards).tolist() == [False, True, False, False]
    assert advantages[1] == 0
    mean = rewards.nanmean()
    assert torch.equal(advantages.sign().nan_to_num(), (rewards - mean).sign().nan_to_num())
