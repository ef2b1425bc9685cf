"""Transfers the policy's weights into vLLM, as its weight transfer backend "coach_gym".

vLLM's own backends need NCCL or CUDA IPC. This one takes tensors from the same process, all at once or in pieces.
"""

from dataclasses import dataclass, field

from torch import Tensor, nn
from vllm.distributed.weight_transfer.base import (
    WeightTransferEngine,
    WeightTransferInitInfo,
    WeightTransferUpdateInfo,
)
from vllm.model_executor.layers.utils import dispatch_cpu_unquantized_gemm
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload


@dataclass
class NoInfo(WeightTransferInitInfo):
    """Empty: there is nothing to agree on before the first transfer."""


@dataclass
class Weights(WeightTransferUpdateInfo):
    """Some of the weights, or all.

    Attributes:
        tensors: The weights by their names in the transformers model.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)


class PolicyWeights(WeightTransferEngine[NoInfo, Weights]):
    """Loads weights as vLLM loads checkpoints, into layers that are laid out for its kernels."""

    init_info_cls = NoInfo
    update_info_cls = Weights

    def init_transfer_engine(self, init_info: NoInfo) -> None:
        """Does nothing: there is no connection to open."""

    def start_weight_update(self) -> None:
        """Restores the layers' shapes of a checkpoint."""
        initialize_layerwise_reload(self.model)

    def receive_weights(self, update_info: Weights) -> None:
        """Loads the given weights."""
        self.model.load_weights(update_info.tensors.items())

    def finish_weight_update(self) -> None:
        """Restores the layers' layout for the kernels."""
        finalize_layerwise_reload(self.model, self.model_config)
        if self.device.type == "cpu":
            _repack_embeddings(self.model)

    def shutdown(self) -> None:
        """Does nothing: there is no connection to close."""


def _repack_embeddings(model: nn.Module) -> None:
    """Renews the CPU kernels' own copy of the output layer, which a reload misses if embeddings are tied."""
    for layer in model.modules():
        if isinstance(layer, VocabParallelEmbedding) and hasattr(layer, "cpu_linear"):
            dispatch_cpu_unquantized_gemm(layer, remove_weight=False)
