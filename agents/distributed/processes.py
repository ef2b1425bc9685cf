"""Small exchanges between the processes of a training: their number, sums, votes. One process exchanges nothing.

Numbers travel through the CPU over gloo, whatever carries the weights: they are few, and no device has to wait.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

Item = TypeVar("Item")


def size() -> int:
    """Returns the number of processes that train together; 1 if `torch.distributed` is not initialised."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Returns the number of this process, from 0."""
    return dist.get_rank() if dist.is_initialized() else 0


def share(total: int) -> int:
    """Returns this process's part of a number of things, as even as possible: the first processes may get one more."""
    return total // size() + (rank() < total % size())


def gather(item: Item) -> list[Item]:
    """Returns the items of all processes by rank. All processes must call it, like every function below."""
    if size() == 1:
        return [item]
    items: list[Any] = [None] * size()
    dist.all_gather_object(items, item, group=control_group())
    return items


def any_of(flag: bool) -> bool:
    """Returns whether `flag` is true in any process."""
    if size() == 1:
        return flag
    votes = torch.tensor(int(flag))
    dist.all_reduce(votes, dist.ReduceOp.MAX, group=control_group())
    return bool(votes)


def mean(value: float) -> float:
    """Returns the mean over processes."""
    return sum(gather(value)) / size()


def concatenate(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenates the tensors of all processes on this process's device; some processes may have none."""
    if size() == 1:
        return torch.cat(list(tensors))
    everyones = gather([tensor.cpu() for tensor in tensors])
    joined = torch.cat([tensor for mine in everyones for tensor in mine])
    return joined.to(tensors[0].device) if tensors else joined


def barrier() -> None:
    """Waits until all processes have called it."""
    if size() > 1:
        dist.barrier(group=control_group())


def control_group() -> Any:
    """Returns the process group of these exchanges."""
    return _gloo(dist.group.WORLD)


@cache
def _gloo(world: Any) -> Any:
    return world if dist.get_backend(world) == "gloo" else dist.new_group(backend="gloo")
