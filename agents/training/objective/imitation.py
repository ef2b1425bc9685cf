"""Imitation of given responses: the gradient update of filtered cloning."""

from collections.abc import Iterable

import torch
from torch.optim import Optimizer

from coach_gym.agents.distributed import processes
from coach_gym.agents.distributed.parallel import clip_gradients, in_step
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree, log_probs
from coach_gym.agents.training.objective.updates import Means


def minimize_imitation_loss(
    policy: Policy, optimizer: Optimizer, batches: Iterable[list[Tree]], max_grad_norm: float, temperature: float
) -> dict[str, float]:
    """Minimises the mean negative log-likelihood of the tokens of all responses of a mini-batch.

    Args:
        policy: The policy in training.
        optimizer: Optimizer of its parameters.
        batches: One mini-batch of episodes per optimizer step, packed with the responses to imitate.
        max_grad_norm: Norm to which larger gradients are scaled down.
        temperature: Temperature at which the policy acts, and at which its likelihood is taken.

    Returns:
        Means over all batches by their names in the log.
    """
    means = Means()

    def score(tree: Tree) -> torch.Tensor:
        return torch.cat(sum(log_probs(policy, tree, temperature), []))

    for batch in batches:
        trunks = [trunk for tree in batch for trunk in tree.trunks]
        n_tokens = processes.mean(sum(span.length for trunk in trunks for span in trunk.responses))
        optimizer.zero_grad(set_to_none=True)
        with in_step(policy.model, score):
            for trunk in trunks:
                losses = -score(Tree([trunk]))
                (losses.sum() / n_tokens).backward()
                means.add(len(losses), imitation_loss=losses.mean().item())
        norm = clip_gradients(optimizer, max_grad_norm)
        optimizer.step()
        means.add(1, imitation_grad_norm=norm)
    return means.result()
