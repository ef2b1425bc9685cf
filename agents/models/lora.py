"""Low-rank adapters (LoRA) by `peft`, in the text layers of a policy or a critic's backbone.

The model remains an ordinary transformers model whose linear layers have a frozen weight W beside a trained product:
W x + alpha / rank * B A x, where B starts at zero. Vision tower, embeddings and language head are frozen.

Frozen weights are in the precision of the passes, since nothing is ever added to them; A and B are in float32. Models
that start from the same weights share the frozen ones, see `twin`.
"""

from collections.abc import Iterator
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from coach_gym.agents.models.architectures import untrained_model
from coach_gym.checks import require_at_most

ADAPTER = "adapter_config.json"
"""File that tells a directory of adapters from one of whole weights; `peft` defines it."""
_LAYERS = r".*language_model\.layers\.\d+\..*_proj"
_NAME = "default"
_BASE, _DOWN, _UP = ".base_layer", f".lora_A.{_NAME}.weight", f".lora_B.{_NAME}.weight"


def add_lora(model: Any, rank: int, alpha: float, dtype: torch.dtype | None = None) -> None:
    """Adds adapters to a model, or makes those that it has trainable, and freezes all other weights.

    Args:
        model: Model of one of the `ARCHITECTURES`, with or without language head.
        rank: Rank of the adapters.
        alpha: Scale of the adapters, times `rank`.
        dtype: Precision of the frozen weights; None leaves it as it is.

    Raises:
        ImportError: `peft` is not installed.
        ValueError: The rank is greater than that of the weights, or the model has adapters of another rank or scale.
    """
    if find_spec("peft") is None:
        raise ImportError("lora_rank needs peft, which is not installed: pip install 'coach-gym[lora]'")
    from peft import LoraConfig

    wanted = LoraConfig(r=rank, lora_alpha=alpha, target_modules=_LAYERS)  # type: ignore[arg-type]  # any number
    if has_lora(model):
        found = model.peft_config[_NAME]
        if (found.r, found.lora_alpha) != (rank, alpha):
            raise ValueError(
                f"the model has adapters of rank {found.r} and alpha {found.lora_alpha:g}; pass lora_rank={found.r} "
                f"and lora_alpha={found.lora_alpha:g}, or merge them first with Policy.merged()"
            )
    else:
        require_at_most(model.config.get_text_config().hidden_size, lora_rank=rank)
        model.add_adapter(wanted, _NAME)
    for name, parameter in model.named_parameters():
        trained = name.endswith((_DOWN, _UP))
        parameter.requires_grad_(trained)
        parameter.data = parameter.data.to(torch.float32 if trained else dtype or parameter.dtype)


def add_like(model: Any, other: Any) -> None:
    """Adds adapters to a model if another one of the same architecture has some."""
    if has_lora(other):
        model.add_adapter(deepcopy(other.peft_config[_NAME]), _NAME)


def has_lora(model: Any) -> bool:
    """Returns whether a model has adapters."""
    return any(name.endswith(_DOWN) for name, _ in model.named_parameters())


def twin(model: Any) -> Any:
    """Returns a copy that shares the frozen weights of a model with adapters, and has all others of its own."""
    shared = {id(p): p for p in model.parameters() if not p.requires_grad} if has_lora(model) else {}
    return deepcopy(model, {**shared})


def backbone_twin(model: Any) -> Any:
    """Returns the `twin` of a model without its language head."""
    backbone = twin(model.model)
    if has_lora(model):
        backbone.peft_config = deepcopy(model.peft_config)
        backbone._hf_peft_config_loaded = True  # transformers marks only the model that adapters were added to
    backbone.name_or_path = model.name_or_path
    return backbone


def whole_weights(model: nn.Module, dtype: torch.dtype | None = None) -> Iterator[tuple[str, Tensor]]:
    """Yields weights one by one as a model without adapters has them; tied ones once.

    Adapters are merged into the weights beside them. Sharded weights are gathered, so all processes must iterate.

    Args:
        model: The model.
        dtype: Precision to which they are rounded; None for that of each.
    """
    parameters = dict(model.named_parameters())
    for name, parameter in parameters.items():
        layer, base, kind = name.rpartition(_BASE + ".")
        if base and kind == "weight" and layer + _DOWN in parameters:
            up, down = (_whole(parameters[layer + part].detach().float()) for part in (_UP, _DOWN))
            scaling: Any = model.get_submodule(layer).scaling
            merged = _whole(parameter.detach()).float() + scaling[_NAME] * (up @ down)
            yield f"{layer}.weight", merged.to(dtype or parameter.dtype)
        elif not name.endswith((_DOWN, _UP)):
            yield name.replace(_BASE, ""), _whole(parameter.detach().to(dtype or parameter.dtype))


def whole_shapes(model: nn.Module) -> dict[str, list[int]]:
    """Returns the shapes of `whole_weights` by name."""
    named = model.named_parameters()
    return {name.replace(_BASE, ""): list(p.shape) for name, p in named if not name.endswith((_DOWN, _UP))}


def merged_model(model: Any) -> Any:
    """Returns a model with language head whose weights have the adapters merged in, on the CPU."""
    with torch.device("meta"):
        merged = untrained_model(model.config, model.dtype)
    weights = {name: weight.cpu() for name, weight in whole_weights(model)}
    merged.load_state_dict(weights, strict=False, assign=True)  # what is tied is missing
    merged.tie_weights()
    for name, buffer in model.named_buffers():
        owner, _, short = name.rpartition(".")
        setattr(merged.get_submodule(owner), short, buffer.cpu())
    return merged


def save_model(model: Any, directory: str | Path) -> None:
    """Writes a model for transformers and `peft`: whole, or its adapters and where the weights beside them are.

    The weights beside adapters are written too unless they are in a directory or hub repository that can be named.
    """
    directory = Path(directory)
    if not has_lora(model):
        model.save_pretrained(directory)
        return
    model.save_pretrained(directory)
    if _is_kept(model.name_or_path):
        return
    base = {name: weight for name, weight in model.state_dict().items() if not name.endswith((_DOWN, _UP))}
    with torch.device("meta"):
        plain = type(model)(model.config)
    plain.save_pretrained(directory, state_dict={name.replace(_BASE, ""): weight for name, weight in base.items()})


def load_adapters(model: Any, directory: str | Path) -> None:
    """Replaces the adapters of a model by those that `save_model` or a trainer's checkpoint holds."""
    from peft import set_peft_model_state_dict

    saved = load_file(Path(directory) / "adapter_model.safetensors")
    adapters = {name.removeprefix("base_model.model."): weight for name, weight in saved.items()}
    found: Any = set_peft_model_state_dict(model, adapters, adapter_name=_NAME)
    if found.unexpected_keys:
        raise ValueError(f"{directory} has adapters of other layers than the model's: {found.unexpected_keys[0]}")


def name_base(model: Any, path: str | Path) -> None:
    """Notes where the weights of a model were read, for `save_model`.

    Args:
        model: The model, as transformers has loaded it.
        path: The directory or hub id that was given.
    """
    path = Path(path)
    if (path / ADAPTER).is_file() and (path / "config.json").is_file():
        model.name_or_path = ""  # adapters and weights lie in one directory, and may be replaced together
    elif Path(model.name_or_path).is_dir():
        model.name_or_path = str(Path(model.name_or_path).resolve())


def _is_kept(name: str) -> bool:
    """Whether weights can be read again where a name says: in a hub repository, or a directory of nothing else."""
    path = Path(name)
    if not path.is_absolute():
        return bool(name)
    return (path / "config.json").is_file() and not (path.parent / "trainer_state.json").is_file()


def _whole(weight: Tensor) -> Tensor:
    return weight.full_tensor() if isinstance(weight, DTensor) else weight
