"""AdamW with moments of 8 bits (Dettmers et al. 2021, arXiv 2110.02861), by torchao, which knows FSDP2's shards.

Moments are quantized in blocks of 256 numbers, each with a scale of its own; a shard of fewer than 4096 numbers, or of
another number than whole blocks, keeps them in float32. State dicts have all moments in float32, as AdamW's: a
checkpoint can be continued by any number of processes, and by either optimizer.
"""

from typing import Any

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor
from torch.utils._pytree import tree_map
from torchao import optim as torchao
from torchao.optim.quant_utils import quantize_8bit_with_qmap
from torchao.optim.subclass_8bit import OptimState8bit

_MOMENTS = {"exp_avg": True, "exp_avg_sq": False}  # whether they have a sign


class AdamW8bit(torchao.AdamW8bit):
    """torchao's AdamW with moments of 8 bits, whose state dicts are those of torch's AdamW."""

    def state_dict(self) -> dict[str, Any]:
        """Returns moments and settings as torch's AdamW does."""
        packed = super().state_dict()
        groups = [{**group, "lr": float(group["lr"])} for group in packed["param_groups"]]
        return {"state": tree_map(_unpacked, packed["state"]), "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Reads a state dict of this optimizer or of torch's AdamW."""
        super().load_state_dict(state_dict)
        for group in self.param_groups:
            group["lr"] = torch.as_tensor(group["lr"], dtype=torch.float32)
        self.compact()

    @torch.no_grad()
    def compact(self) -> None:
        """Quantizes the moments that something has put into `state` in float32."""
        for parameter, state in self.state.items():
            for name, signed in _MOMENTS.items():
                packed, value = self._new_buffer(parameter, signed), _local(state[name])
                target = _local(packed)
                if isinstance(target, OptimState8bit) and not isinstance(value, OptimState8bit):
                    _quantize(target, value)
                    state[name] = packed


@OptimState8bit.implements(torch.ops.aten.clone.default)
def _clone(_: Any, __: Any, arguments: tuple[Any, ...], ___: Any) -> OptimState8bit:
    """What torchao lacks to keep a copy of an optimizer."""
    value = arguments[0]
    return OptimState8bit(value.codes.clone(), value.scale.clone(), value.qmap, value.signed, value.dtype)


def _quantize(packed: OptimState8bit, value: Tensor) -> None:
    """Quantizes numbers; those that were quantized before get their codes and scales back.

    torchao divides a block by its largest magnitude, although the most negative code stands for -0.993 and the most
    positive one for 1: a block that reaches further down would shrink every time it is written and read.
    """
    blocks = value.reshape(-1, packed.block_size)
    scales = blocks.amax(1, keepdim=True) / packed.qmap[-1]
    if packed.signed:
        scales = torch.maximum(scales, blocks.amin(1, keepdim=True) / packed.qmap[0])
    scales = scales.clamp(min=1e-12)
    packed.codes.copy_(quantize_8bit_with_qmap((blocks / scales).flatten(), packed.qmap).view(packed.shape))
    packed.scale.copy_(scales[:, 0])


def _unpacked(value: Any) -> Any:
    """Returns a moment in float32, sharded as it was; anything else as it is."""
    if not isinstance(value, Tensor) or not isinstance(_local(value), OptimState8bit):
        return value
    if not isinstance(value, DTensor):
        return value.dequantize()
    return DTensor.from_local(
        _local(value).dequantize(), value.device_mesh, value.placements, run_check=False, shape=value.shape,
        stride=value.stride(),
    ).to(value.device)  # fmt: skip


def _local(value: Tensor) -> Tensor:
    return value.to_local() if isinstance(value, DTensor) else value
