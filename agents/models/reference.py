"""A frozen policy that another one is kept near to."""

from copy import copy
from pathlib import Path

from coach_gym.agents.models.lora import twin
from coach_gym.agents.models.policy import Policy, PolicySource


def frozen_reference(policy: Policy, source: PolicySource | None) -> Policy:
    """Returns a policy with weights of its own that are never trained.

    Args:
        policy: Reads and writes the same tokens.
        source: Where the weights come from, a model of the same architecture; None copies those of `policy`.
    """
    reference = copy(policy)
    if source is None:
        reference.model = twin(policy.model)
    else:
        loaded = Policy.load(source, device=policy.device, dtype=policy.model.dtype).model
        reference.model = loaded if isinstance(source, str | Path) else twin(loaded)
    reference.model.requires_grad_(False).eval()
    return reference
