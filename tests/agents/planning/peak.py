"""Measures the largest number of bytes that tensors take at one time."""

import weakref
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_PRODUCTS = {torch.ops.aten.mm.default, torch.ops.aten.addmm.default, torch.ops.aten.bmm.default}


class _Meter(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._seen: set[int] = set()

    def watch(self, made: Any, given: Any) -> None:
        before = {storage._cdata for storage in _storages(given)}  # results of operations in place are not new
        for storage in _storages(made):
            if storage._cdata not in self._seen and storage._cdata not in before:
                self._seen.add(storage._cdata)
                self.now += storage.nbytes()
                weakref.finalize(storage, self._forget, storage._cdata, storage.nbytes())
        self.peak = max(self.peak, self.now)

    def _forget(self, name: int, size: int) -> None:
        self._seen.discard(name)
        self.now -= size

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function in _PRODUCTS and args[0].dtype == torch.bfloat16:
            # up to 50 times as fast on a CPU without instructions for bfloat16, and the copies are not watched
            result = function(*(tensor.float() for tensor in args), **(kwargs or {})).bfloat16()
        else:
            result = function(*args, **(kwargs or {}))
        self.watch(result, (args, kwargs))
        return result


def _storages(values: Any) -> list[torch.UntypedStorage]:
    return [value.untyped_storage() for value in tree_leaves(values) if isinstance(value, torch.Tensor)]


def peak_bytes(run: Callable[[], object]) -> int:
    """Returns the most bytes that tensors made by `run` take at one time, beyond those that existed before."""
    meter = _Meter()
    with meter:
        run()
    return meter.peak


def allocated_peak(run: Callable[[], object]) -> int:
    """Returns the same as the allocator has it: with buffers that FSDP2 frees by resizing, and kernels' scratch."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as profiler:
        run()
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    return max(accumulate(event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())))
