"""The critic: the policy's architecture with a value head in place of the language head."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoModel

from coach_gym.agents.models.architectures import read_config
from coach_gym.agents.models.lora import backbone_twin, name_base, save_model
from coach_gym.agents.models.policy import POCKET, Policy, as_device, base_of
from coach_gym.agents.models.tree import Tree, Trunk
from coach_gym.agents.models.tree_attention import enable_tree_attention
from coach_gym.agents.models.vision_layers import speed_up_vision

_HEAD = "value_head.safetensors"


class Critic(nn.Module):
    """Q(s, a) and V(s) from the last hidden states of a backbone of its own.

    Q of a response is the mean of the value head over the response's tokens; V of a state is its value at the prompt's
    last token. The head is one linear layer that starts at zero, so that an untrained critic has no preference.

    Args:
        backbone: Model without language head, such as `Qwen2_5_VLModel`.
        value_head: Linear layer to one value; None makes a new one.
    """

    def __init__(self, backbone: Any, value_head: nn.Linear | None = None) -> None:
        super().__init__()
        enable_tree_attention(backbone)
        speed_up_vision(backbone)
        self.backbone = backbone
        if value_head is None:
            value_head = nn.Linear(backbone.config.get_text_config().hidden_size, 1)
            nn.init.zeros_(value_head.weight)
            nn.init.zeros_(value_head.bias)
        self.value_head = value_head.to(backbone.device)

    @classmethod
    def from_policy(cls, policy: Policy) -> "Critic":
        """Makes a critic that starts from a copy of the policy's weights; of frozen ones, it shares the policy's."""
        return cls(backbone_twin(policy.model))

    @classmethod
    def load(
        cls,
        source: str | Path,
        device: str | torch.device = "cpu",
        dtype: torch.dtype | Literal["auto"] = torch.float32,
    ) -> "Critic":
        """Loads a critic.

        Args:
            source: A directory that `save` wrote, or `"pocket"` for the shipped one. The directory or hub id of a
                policy or of a process reward model gives a critic that starts from its weights, with a head at zero.
            device: Device of the weights.
            dtype: Precision of the backbone, as in `Policy.load`; the head is in float32.

        Raises:
            ValueError: There is no such device. Nothing has been loaded by then.
        """
        device = as_device(device)
        directory = POCKET.parent / "critic" if source == "pocket" else Path(source)
        backbone = AutoModel.from_pretrained(directory, config=read_config(base_of(str(directory))), dtype=dtype)
        name_base(backbone, directory)
        critic = cls(backbone)
        if (directory / _HEAD).is_file():
            head = {name: tensor.float() for name, tensor in load_file(directory / _HEAD).items()}
            critic.value_head.load_state_dict(head)
        return critic.to(device)

    def save(self, directory: str | Path) -> None:
        """Writes the backbone in transformers' format, and the head beside it."""
        save_model(self.backbone, directory)
        head = {name: tensor.contiguous() for name, tensor in self.value_head.state_dict().items()}
        save_file(head, Path(directory) / _HEAD)

    def forward(self, trunk: Trunk, read: Sequence[int]) -> Tensor:
        """Returns the values, (n,) float32, of n columns of a packed sequence."""
        hidden = trunk.hidden_states(self.backbone, torch.tensor(read, dtype=torch.long))
        values = self.value_head(hidden.to(self.value_head.weight.dtype))[:, 0].float()
        return values.clone()  # FSDP's hooks need a tensor that is not a view

    def q_values(self, tree: Tree) -> list[Tensor]:
        """Returns Q of every response with a span in the tree: a tensor (k,) per step, k = 1 without branches."""
        means = (value for trunk in tree.trunks for value in self._response_values(trunk))
        return [torch.stack(step) for step in tree.by_step(means)]

    def response_q_values(self, tree: Tree) -> Tensor:
        """Returns Q of all N responses of a tree, in order, (N,); without branches, of the T executed actions."""
        return torch.cat(self.q_values(tree))

    def _response_values(self, trunk: Trunk) -> list[Tensor]:
        distinct = {span.start: span for span in trunk.responses}  # equal responses lie in the same columns
        values = self(trunk, [column for span in distinct.values() for column in span.tokens()])
        pieces = values.split([span.length for span in distinct.values()])
        means = {start: piece.mean() for start, piece in zip(distinct, pieces, strict=True)}
        return [means[span.start] for span in trunk.responses]

    def state_values(self, tree: Tree) -> Tensor:
        """Returns V of every step, (T,)."""
        return torch.cat([self(trunk, trunk.prompt_ends) for trunk in tree.trunks])

    def token_values(self, tree: Tree) -> Tensor:
        """Returns V before each token of all responses, in order, (N,): of the state and the tokens drawn so far."""
        spans = [[column for span in trunk.responses for column in span.predictors()] for trunk in tree.trunks]
        return torch.cat([self(trunk, columns) for trunk, columns in zip(tree.trunks, spans, strict=True)])
