"""Weights and optimizer states as each process holds them, in the format of torch.distributed.checkpoint.

Only tensors go in; everything else is in JSON beside them. So only the index of the tensors is unpickled, and only with
the classes that an index needs.
"""

import io
import pickle
from pathlib import Path
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
from torch import Tensor
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta
from torch.optim import Optimizer

from coach_gym.agents.distributed import processes
from coach_gym.agents.models.learner import CompactOptimizer, Learner

_INDEX = ".metadata"
_ALLOWED = {
    "torch.distributed.checkpoint.metadata": (
        "Metadata", "TensorStorageMetadata", "TensorProperties", "_MEM_FORMAT_ENCODING", "ChunkStorageMetadata",
        "MetadataIndex", "StorageMeta",
    ),
    "torch.distributed.checkpoint.filesystem": ("_StorageInfo",),
    "torch.serialization": ("_get_layout",),
    "torch": ("Size", "float64", "float32", "float16", "bfloat16"),
    "pathlib": ("Path", "PosixPath"),
}  # fmt: skip


def write_shards(learner: Learner, path: Path) -> None:
    """Writes this process's shards to `path`; all processes call it."""
    dcp.save(_tensors(learner), storage_writer=dcp.FileSystemWriter(path), **_group())


def read_shards(learner: Learner, path: Path) -> None:
    """Fills a learner, which may be sharded over another number of processes than the writer, or not at all."""
    reader = _Reader(path)
    _prepare_optimizers(learner, set(reader.read_metadata().state_dict_metadata))
    dcp.load(_tensors(learner), storage_reader=reader, **_group())
    for optimizer in learner.optimizers.values():
        if isinstance(optimizer, CompactOptimizer):
            optimizer.compact()


def _group() -> dict[str, Any]:
    return {"process_group": processes.control_group()} if processes.size() > 1 else {"no_dist": True}


def _tensors(learner: Learner) -> dict[str, Tensor]:
    """The learner's own tensors by name, which reading overwrites; of moments with fewer bits, copies in float32."""
    tensors = {}
    for part, model in learner.models.items():
        states = _states(learner.optimizer(part))
        for name, parameter in model.named_parameters():
            tensors[f"{part}/{name}"] = parameter.detach()
            for key, value in states.get(parameter, {}).items():
                tensors[f"{part}.optimizer/{name}/{key}"] = value
    if learner.reference is not None:
        weights = learner.reference.model.named_parameters()
        tensors |= {f"reference/{name}": parameter.detach() for name, parameter in weights}
    return tensors


def _states(optimizer: Optimizer) -> dict[Tensor, dict[str, Tensor]]:
    """An optimizer's states by parameter, as its state dict has them."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return {parameters[number]: state for number, state in optimizer.state_dict()["state"].items()}


def _prepare_optimizers(learner: Learner, stored: set[str]) -> None:
    """Allocates the AdamW states that are stored."""
    for part, model in learner.models.items():
        optimizer = learner.optimizer(part)
        for name, parameter in model.named_parameters():
            if f"{part}.optimizer/{name}/step" in stored:
                moments = {key: torch.zeros_like(parameter) for key in ("exp_avg", "exp_avg_sq")}
                optimizer.state[parameter] = {"step": torch.tensor(0.0), **moments}


class _Reader(dcp.FileSystemReader):
    """Reads the index without running code that someone may have put into it."""

    def read_metadata(self, *_: Any, **__: Any) -> Metadata:
        index = (Path(self.path) / _INDEX).read_bytes()
        metadata = _IndexUnpickler(io.BytesIO(index)).load()
        metadata.storage_meta = metadata.storage_meta or StorageMeta()
        metadata.storage_meta.load_id = self.load_id
        return metadata


class _IndexUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name not in _ALLOWED.get(module, ()):
            raise pickle.UnpicklingError(
                f"the index of a checkpoint has no business with {module}.{name}, so it is not read; use a checkpoint "
                f"that you trust"
            )
        return super().find_class(module, name)
