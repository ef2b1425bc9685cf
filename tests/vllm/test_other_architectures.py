"""With Qwen2-VL and Qwen3-VL, vLLM generates what the policy would, before and after an update."""

import pytest
import torch

from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.generation.vllm.generator import VllmGenerator
from tests.agents import tiny
from tests.vllm.test_vllm import errors, prompts_of


@pytest.mark.parametrize("architecture", ["qwen2_vl", "qwen3_vl"])
def test_log_probs_are_the_policys(architecture: str):
    policy = tiny.policy(hidden=128, architecture=architecture)  # vLLM's CPU kernels need heads of 32 or more
    generator, prompts = VllmGenerator(policy), prompts_of(policy)
    for _ in range(2):
        assert errors(policy, prompts, generator.sample(prompts, 4, max_new_tokens=12)).max() < 2e-5
        ours = generator.sample(prompts, max_new_tokens=20, greedy=True)
        theirs = TransformersGenerator(policy).sample(prompts, max_new_tokens=20, greedy=True)
        assert [c.token_ids for (c,) in ours] == [c.token_ids for (c,) in theirs]
        with torch.no_grad():
            for parameter in policy.model.parameters():
                parameter += 0.05 * torch.randn_like(parameter)
