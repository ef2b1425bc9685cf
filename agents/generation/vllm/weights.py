"""The policy's weights on their way into vLLM; registered there as the weight transfer backend "coach_gym".

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
    """Nothing is to be agreed on before the first transfer."""


@dataclass
class Weights(WeightTransferUpdateInfo):
    """Some of the weights, or all.

    Attributes:
        tensors: the weights by the names of the transformers model.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)


class PolicyWeights(WeightTransferEngine[NoInfo, Weights]):
    """Loads weights as vLLM loads checkpoints, into the layers as they are laid out for its kernels."""

    init_info_cls = NoInfo
    update_info_cls = Weights

    def init_transfer_engine(self, init_info: NoInfo) -> None:
        """Does nothing: there is no connection to open."""

    def start_weight_update(self) -> None:
        """Gives the layers back the shapes of a checkpoint."""
        initialize_layerwise_reload(self.model)

    def receive_weights(self, update_info: Weights) -> None:
        """Loads them."""
        self.model.load_weights(update_info.tensors.items())

    def finish_weight_update(self) -> None:
        """Lays the layers out for the kernels again."""
        finalize_layerwise_reload(self.model, self.model_config)
        if self.device.type == "cpu":
            _repack_embeddings(self.model)

    def shutdown(self) -> None:
        """Does nothing: there is no connection to close."""


def _repack_embeddings(model: nn.Module) -> None:
    """The CPU kernels have their own copy of the output layer, which a reload forgets if embeddings are tied."""
    for layer in model.modules():
        if isinstance(layer, VocabParallelEmbedding) and hasattr(layer, "cpu_linear"):
            dispatch_cpu_unquantized_gemm(layer, remove_weight=False)
