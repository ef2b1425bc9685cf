"""vLLM draws from a policy's adapters, merged into its weights."""

from functools import partial

import torch

from coach_gym.agents.generation.vllm.generator import VllmGenerator
from coach_gym.agents.models.lora import add_lora
from coach_gym.agents.models.tree import sequence_log_probs
from tests.agents import tiny

random_policy = partial(tiny.policy, hidden=128)  # vLLM's CPU kernels need heads of 32 or more


@torch.no_grad()
def test_responses_follow_the_adapters():
    policy = random_policy()
    episode = tiny.episode(policy)
    prompt = policy.prompt(episode.goal, episode.steps[:-1], episode.steps[-1].observation)
    add_lora(policy.model, 4, 8.0)
    generator = VllmGenerator(policy)
    before = generator.sample([prompt], 1, 1.0, 8)[0][0]
    for name, parameter in policy.model.named_parameters():
        if name.endswith("lora_B.default.weight"):
            torch.nn.init.normal_(parameter, std=0.3)
    (after,) = generator.sample([prompt], 1, 1.0, 8)[0]  # verifies the transfer
    rescored = [sequence_log_probs(policy, prompt, each) for each in (before, after)]
    torch.testing.assert_close(rescored[1], torch.tensor(after.logprobs), rtol=0, atol=1e-3)
    assert (rescored[0] - torch.tensor(before.logprobs)).abs().max() > 0.1
