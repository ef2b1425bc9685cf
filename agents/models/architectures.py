"""The architectures that a policy and its critic can have, and models of them without trained weights.

Their differences are in transformers' models and in a checkpoint's config.json. Trees, prompts and sampling rely on
what they share: ChatML, one token per square of `merge_size` patches a side, and the positions of `mrope`.
"""

from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from transformers import AutoConfig, AutoModel, AutoModelForImageTextToText, PreTrainedConfig

from coach_gym.hub import require_model

ARCHITECTURES = {"qwen2_vl": "Qwen2-VL", "qwen2_5_vl": "Qwen2.5-VL", "qwen3_vl": "Qwen3-VL"}
"""Names by the `model_type` in config.json."""


def check_architecture(model_type: str | None, source: object) -> None:
    """Refuses models of another architecture.

    Args:
        model_type: The `model_type` in the model's config.json.
        source: Name of the model in the error.

    Raises:
        ValueError: The architecture is not one of `ARCHITECTURES`.
    """
    if model_type not in ARCHITECTURES:
        if isinstance(source, str | Path) and (inside := Path(source) / "actor").is_dir():
            raise ValueError(f"{source} is a saved agent and no model: read it with load(), or pass {inside} as policy")
        *others, last = ARCHITECTURES.values()
        found = f"has the architecture {model_type!r}" if model_type else "has no config.json with a model_type"
        raise ValueError(
            f"{source} {found}; a policy can be a {', '.join(others)} or {last} "
            f"(model_type {', '.join(ARCHITECTURES)} in config.json)"
        )


def read_config(path: str | Path) -> Any:
    """Reads the configuration of a directory or hub id.

    Raises:
        ValueError: There is no such model, its architecture is not one of `ARCHITECTURES`, or the configuration is
            damaged.
    """
    require_model(str(path))
    try:
        described, _ = PreTrainedConfig.get_config_dict(path)
        check_architecture(described.get("model_type"), path)
        return AutoConfig.from_pretrained(path)
    except OSError as error:  # also for a config.json that is no JSON
        raise ValueError(
            f"the model {path} cannot be loaded: its config.json cannot be read "
            f"({' '.join(str(error).split())[:200]}); restore it, or pass another model"
        ) from error
    except (AttributeError, TypeError, LookupError, StrictDataclassError) as error:  # whatever comes of wrong types
        raise ValueError(
            f"the config.json of {path} is damaged ({type(error).__name__}: {error}); restore it"
        ) from error


def untrained_model(config: Any, dtype: torch.dtype = torch.float32) -> Any:
    """Makes a model with language head, to be filled with weights; in evaluation mode."""
    return AutoModelForImageTextToText.from_config(config, dtype=dtype).eval()


def untrained_backbone(config: Any, dtype: torch.dtype = torch.float32) -> Any:
    """Makes a model without language head, to be filled with weights; in evaluation mode."""
    return AutoModel.from_config(config, dtype=dtype).eval()
