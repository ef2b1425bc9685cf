"""What processes tell each other: how many there are, sums, votes. One process needs none of it and is asked nothing.

Numbers go through the CPU, over gloo, whatever carries the weights: they are few, and no device has to wait.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

Item = TypeVar("Item")


def size() -> int:
    """Number of processes that train together; 1 where `torch.distributed` is not initialised."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Number of this process, from 0 on."""
    return dist.get_rank() if dist.is_initialized() else 0


def gather(item: Item) -> list[Item]:
    """What all processes have, in the order of their ranks. All of them have to call it, as all below."""
    if size() == 1:
        return [item]
    items: list[Any] = [None] * size()
    dist.all_gather_object(items, item, group=control_group())
    return items


def any_of(flag: bool) -> bool:
    """Whether it is true of any process."""
    if size() == 1:
        return flag
    votes = torch.tensor(int(flag))
    dist.all_reduce(votes, dist.ReduceOp.MAX, group=control_group())
    return bool(votes)


def mean(value: float) -> float:
    """The mean over processes."""
    return sum(gather(value)) / size()


def concatenate(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors of all processes in one, on this process' device; some processes may have none."""
    if size() == 1:
        return torch.cat(list(tensors))
    everyones = gather([tensor.cpu() for tensor in tensors])
    joined = torch.cat([tensor for mine in everyones for tensor in mine])
    return joined.to(tensors[0].device) if tensors else joined


def barrier() -> None:
    """Returns when all processes have got here."""
    if size() > 1:
        dist.barrier(group=control_group())


def control_group() -> Any:
    """The group that these numbers go through."""
    return _gloo(dist.group.WORLD)


@cache
def _gloo(world: Any) -> Any:
    return world if dist.get_backend(world) == "gloo" else dist.new_group(backend="gloo")
