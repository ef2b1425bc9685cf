"""Seeds of task instances."""

import hashlib


def instance_seed(seed: int, task: str, instance: int) -> int:
    """Returns the seed of an instance's parameters, by the formula of AndroidWorld's runner, below 2**31."""
    digest = hashlib.sha256(f"{seed}_{task}_{instance}".encode()).hexdigest()
    return int(digest, 16) % (1 << 31)
