"""The plugin that vLLM loads in each of its processes (entry point `vllm.general_plugins`)."""

BACKEND = "coach_gym"


def register() -> None:
    """Registers the weight transfer backend; imports little, because it runs in processes that may not need it."""
    from vllm.distributed.weight_transfer.factory import WeightTransferEngineFactory

    if BACKEND not in WeightTransferEngineFactory._registry:
        WeightTransferEngineFactory.register_engine(
            BACKEND, "coach_gym.agents.generation.vllm.weights", "PolicyWeights"
        )
