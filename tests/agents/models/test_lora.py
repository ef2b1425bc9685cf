"""Adapters: what they train, share, save and merge."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from transformers import AutoModelForImageTextToText

from coach_gym.agents import CoachAgent, GRPOAgent, evaluate
from coach_gym.agents.models.architectures import ARCHITECTURES
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.lora import add_lora, has_lora, whole_shapes, whole_weights
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import build_tree, log_probs
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import warm_policy

LORA = {"lora_rank": 4, "lora_alpha": 8.0}


def buttons(**kwargs: Any) -> SyncVectorEnv:
    return SyncVectorEnv([lambda: ButtonEnv(**kwargs)] * 4)


def make(policy: Any = None, **arguments: Any) -> CoachAgent:
    settings = {"batch_size": 8, "mini_batch_size": 4, "max_new_tokens": 3, "seed": 0, **LORA, **arguments}
    settings.setdefault("malformed_is_worthless", False)  # the answers are letters
    return CoachAgent(policy or warm_policy(), buttons(steps=2), 1e-2, critic_learning_rate=1e-2, **settings)


def adapted(architecture: str = "qwen2_5_vl") -> Policy:
    """Returns a policy with adapters that are not zero."""
    policy = tiny.policy(architecture=architecture)
    add_lora(policy.model, 4, 8.0)
    for name, parameter in policy.model.named_parameters():
        if name.endswith("lora_B.default.weight"):
            torch.nn.init.normal_(parameter, std=0.3)
    return policy


def weights(model: Any) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in model.named_parameters()}


def test_training_changes_the_adapters_alone_and_policy_and_critic_share_the_rest():
    agent = make()
    policy, critic = weights(agent.policy.model), weights(agent.critic)
    agent.learn(16)
    after = weights(agent.policy.model)
    changed = {name for name, before in policy.items() if not torch.equal(before, after[name])}
    assert changed and all("language_model.layers" in name and "lora_" in name for name in changed)
    assert {name for name in policy if "lora_" in name} == changed
    moved = {name for name, before in critic.items() if not torch.equal(before, agent.critic.get_parameter(name))}
    assert moved == {name for name in critic if "lora_" in name or "value_head" in name}
    stored = {id(p) for model in agent.learner.models.values() for p in model.parameters()}
    frozen = {id(p) for p in agent.critic.backbone.parameters() if not p.requires_grad}
    assert frozen == {id(p) for p in agent.policy.model.model.parameters() if not p.requires_grad}
    assert len(stored) == len(policy) + len(critic) - len(frozen)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_merged_weights_compute_what_adapters_do(architecture: str, tmp_path: Path):
    policy = adapted(architecture)
    episode = tiny.episode(policy)
    plain = tiny.policy(architecture=architecture)
    merged = policy.merged()
    assert [name for name, _ in merged.model.named_parameters()] == [name for name, _ in plain.model.named_parameters()]
    assert list(whole_shapes(policy.model)) == [name for name, _ in whole_weights(policy.model)]
    merged.save(tmp_path / "merged")
    with torch.no_grad():
        scored, of_merged, of_loaded, unlike = (
            torch.cat(sum(log_probs(each, build_tree(each, episode)), []))
            for each in (policy, merged, Policy.load(tmp_path / "merged", device="cpu"), plain)
        )
    torch.testing.assert_close(of_merged, scored, rtol=0, atol=1e-4)
    torch.testing.assert_close(of_loaded, of_merged, rtol=0, atol=1e-6)
    assert (unlike - scored).abs().max() > 0.1


def test_a_directory_has_the_adapters_and_the_name_of_the_weights_beside_them(tmp_path: Path):
    tiny.policy().save(tmp_path / "base")
    policy = Policy.load(tmp_path / "base", device="cpu")
    add_lora(policy.model, 4, 8.0)
    policy.save(tmp_path / "adapters")
    assert not (tmp_path / "adapters/model.safetensors").exists()
    assert (tmp_path / "adapters/adapter_model.safetensors").stat().st_size < 100_000
    again = Policy.load(tmp_path / "adapters", device="cpu")
    assert has_lora(again.model)
    torch.testing.assert_close(weights(again.model), weights(policy.model), rtol=0, atol=0)
    theirs = AutoModelForImageTextToText.from_pretrained(tmp_path / "adapters")
    torch.testing.assert_close(dict(theirs.state_dict()), dict(policy.model.state_dict()), rtol=0, atol=0)


def test_weights_without_a_name_are_saved_with_the_adapters(tmp_path: Path):
    """And they are kept with them when the folder that they were read from is gone."""
    policy = adapted()
    policy.save(tmp_path / "first")
    Policy.load(tmp_path / "first", device="cpu").save(tmp_path / "second")
    shutil.rmtree(tmp_path / "first")
    torch.testing.assert_close(weights(Policy.load(tmp_path / "second").model), weights(policy.model), rtol=0, atol=0)
    critic = Critic.from_policy(policy)
    critic.save(tmp_path / "critic")
    torch.testing.assert_close(weights(Critic.load(tmp_path / "critic")), weights(critic), rtol=0, atol=0)


def test_a_saved_agent_goes_on_where_it_stopped(tmp_path: Path):
    whole = make()
    whole.learn(8)
    whole.save(tmp_path / "agent")
    state = torch.get_rng_state()
    whole.learn(8, reset_num_timesteps=False)
    again = CoachAgent.load(tmp_path / "agent", buttons(steps=2))
    torch.set_rng_state(state)
    again.learn(8, reset_num_timesteps=False)
    assert again.num_timesteps == whole.num_timesteps
    torch.testing.assert_close(weights(again.policy.model), weights(whole.policy.model), rtol=0, atol=1e-6)
    torch.testing.assert_close(weights(again.critic), weights(whole.critic), rtol=0, atol=1e-6)


def test_adapters_learn():
    envs = buttons(colours=["red"])
    agent = GRPOAgent(warm_policy(), envs, 2e-2, batch_size=16, max_new_tokens=3, seed=0, lora_rank=4)
    before = evaluate(agent, envs, 24, deterministic=False).success_rate
    agent.learn(256)
    assert before < 0.6 and evaluate(agent, envs, 24, deterministic=True).success_rate == 1.0


def test_frozen_weights_are_in_the_precision_of_the_passes():
    agent = make(bfloat16=True)
    for model in (agent.policy.model, agent.critic.backbone):
        assert {(p.dtype, p.requires_grad) for p in model.parameters()} == {
            (torch.bfloat16, False), (torch.float32, True)
        }  # fmt: skip
    agent.learn(8)
    assert agent.n_updates == 1


def test_the_reference_is_the_policy_without_what_it_learns():
    agent = make(kl_coef=0.1)
    agent.learn(16, log_interval=None)
    assert agent.reference is not None
    shared = {id(p) for p in agent.reference.model.parameters()} & {id(p) for p in agent.policy.model.parameters()}
    assert len(shared) == sum(not p.requires_grad for p in agent.policy.model.parameters())
    assert agent.logger.name_to_value["train/kl"] > 0


def test_a_rank_above_that_of_the_weights_is_refused():
    with pytest.raises(ValueError, match=r"lora_rank=1000000000 is too large; pass \d+ or less"):
        make(tiny.policy(), lora_rank=10**9)


def test_another_rank_is_refused(tmp_path: Path):
    adapted().save(tmp_path / "policy")
    with pytest.raises(ValueError, match=r"rank 4 and alpha 8; pass lora_rank=4"):
        make(tmp_path / "policy", lora_rank=8)
    with pytest.raises(ValueError, match="weights of the model are frozen.*pass their lora_rank"):
        make(tmp_path / "policy", lora_rank=0)


def test_a_saved_agent_is_not_loaded_with_adapters_that_it_lacks_or_without_those_that_it_has(tmp_path: Path):
    whole, adapters = tmp_path / "whole", tmp_path / "adapters"
    GRPOAgent(tiny.policy(), None).save(whole)
    GRPOAgent(tiny.policy(), None, lora_rank=2).save(adapters)
    with pytest.raises(ValueError, match=r"optimizer states do not fit lora_rank=2; .*GRPOAgent\('.*whole/actor', "):
        GRPOAgent.load(whole, lora_rank=2)
    with pytest.raises(ValueError, match=r"trained with lora_rank=2.*Policy.load\('.*adapters/actor'\).merged\(\)"):
        GRPOAgent.load(adapters, lora_rank=0)
    assert GRPOAgent.load(adapters, lora_rank=2).lora_rank == 2
    GRPOAgent(tiny.policy(), None).save(whole, exclude=["optimizer"])
    assert GRPOAgent.load(whole, lora_rank=2).lora_rank == 2
