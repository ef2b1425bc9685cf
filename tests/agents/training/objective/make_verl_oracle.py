"""Computes verl_oracle.json, the results of verl's `core_algos`. Needs `pip install verl==0.9.1`."""

import json
from pathlib import Path

import numpy as np
import torch
from verl.trainer.ppo import core_algos  # type: ignore[import-not-found]
from verl.workers.config import ActorConfig  # type: ignore[import-not-found]

STATES, K, TOKENS = 6, 4, 50
LENGTHS = [1, 7, 12, 30]  # of responses, TOKENS in all


def main() -> None:
    torch.manual_seed(0)
    q = torch.randn(STATES, K)
    groups = np.repeat(np.arange(STATES), K)
    one_token = torch.ones(STATES * K, 1)
    rloo, _ = core_algos.compute_rloo_outcome_advantage(q.reshape(-1, 1), one_token, groups)
    outcomes = torch.randint(0, 2, (STATES, K)).float()
    grpo, _ = core_algos.compute_grpo_outcome_advantage(outcomes.reshape(-1, 1), one_token, groups)

    old, shift, advantages = torch.randn(3, 1, TOKENS)
    log_probs = old + 0.4 * shift
    mask = torch.ones(1, TOKENS)
    policy_loss, _, _, _ = core_algos.compute_policy_loss(
        old,
        log_probs,
        advantages,
        mask,
        cliprange=0.2,
        clip_ratio_c=1e9,  # without the dual clip
    )
    gspo = [
        _gspo(*parts) for parts in zip(*(each[0].split(LENGTHS) for each in (old, log_probs, advantages)), strict=True)
    ]
    gspo_losses, gspo_gradients = zip(*gspo, strict=True)

    old_values, returns = torch.randn(2, 1, TOKENS)
    values = old_values + shift
    value_loss, _ = core_algos.compute_value_loss(values, returns, old_values, mask, cliprange_value=0.5)

    rewards = torch.randn(1, 9)
    _, gae_returns = core_algos.compute_gae_advantage_return(
        rewards, old_values[:, :9], torch.ones(1, 9), gamma=0.95, lam=0.8
    )
    record = {
        "q": q, "rloo": rloo.reshape(STATES, K), "outcomes": outcomes, "grpo": grpo.reshape(STATES, K),
        "log_probs": log_probs, "old_log_probs": old, "advantages": advantages, "policy_loss": policy_loss,
        "values": values, "old_values": old_values, "returns": returns, "value_loss": value_loss,
        "lengths": torch.tensor(LENGTHS), "gspo_losses": torch.stack(gspo_losses),
        "gspo_gradients": torch.cat(gspo_gradients), "rewards": rewards, "gae_returns": gae_returns,
    }  # fmt: skip
    text = json.dumps({name: tensor.squeeze(0).tolist() for name, tensor in record.items()})
    Path(__file__).with_name("verl_oracle.json").write_text(text + "\n")


def _gspo(old: torch.Tensor, log_probs: torch.Tensor, advantages: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns a response's loss and its gradient; the advantage is that of its first token."""
    moving = log_probs[None].clone().requires_grad_()
    mask, config = torch.ones_like(moving), ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1)
    loss, *_ = core_algos.compute_policy_loss_gspo(
        old[None], moving, advantages[:1].expand(1, len(old)), mask, config=config
    )
    loss.backward()
    assert moving.grad is not None
    return loss.detach(), moving.grad[0]


if __name__ == "__main__":
    main()
