"""Reading and replacing the weights and optimizer states of a learner, with Stable-Baselines3's conventions."""

from typing import Any

from torch import nn
from torch.optim import Optimizer

from coach_gym.agents.distributed.parallel import gather_state, is_sharded
from coach_gym.agents.models.learner import Learner

Parameters = dict[str, dict[str, Any]]
"""State dicts by the name of their part: `policy`, `policy.optimizer`, `critic`, `critic.optimizer`."""


def state_dicts(learner: Learner) -> Parameters:
    """Returns the state dicts of all models and optimizers.

    With several processes, the first one receives whole tensors on its CPU and the others receive empty ones.
    """
    return {name: gather_state(part.state_dict()) for name, part in _parts(learner).items()}


def load_state_dicts(learner: Learner, given: Parameters, exact_match: bool = True) -> None:
    """Loads what `state_dicts` returned.

    Args:
        learner: Receives the parameters.
        given: State dicts by the name of their part.
        exact_match: Requires every part, and every weight of each part.

    Raises:
        ValueError: Parts are missing or unknown, or the weights are sharded over processes.
    """
    if is_sharded(learner.policy.model):
        raise ValueError("the agent's weights are sharded over processes; set parameters before learn() does that")
    parts = _parts(learner)
    unknown, missing = sorted(given.keys() - parts.keys()), sorted(parts.keys() - given.keys())
    if unknown or (exact_match and missing):
        raise ValueError(
            f"parameters of {unknown} are unknown and those of {missing} are missing; this agent has {sorted(parts)} "
            f"(exact_match=False loads a subset)"
        )
    for name, state in given.items():
        part = parts[name]
        if isinstance(part, nn.Module):
            part.load_state_dict(state, strict=exact_match)
        else:
            part.load_state_dict(state)


def _parts(learner: Learner) -> dict[str, nn.Module | Optimizer]:
    return {**learner.models, **learner.optimizers}
