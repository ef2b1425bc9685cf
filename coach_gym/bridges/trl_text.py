"""Models that write actions as text, such as UI-TARS and the pocket policy, in TRL's loop of tool calls.

TRL plays environments by tool calls, which these models were not taught. Nothing about the model has to change: a chat
template writes what the tool returns as the next user turn, and a response template reads each whole answer as a
call of `act`. The model reads and writes the tokens of its own dialect, with the turns of `Policy.prompt`.
"""

from pathlib import Path
from typing import Any

from transformers import AutoTokenizer, ProcessorMixin, Qwen2_5_VLProcessor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from coach_gym.bridges.trl import OVER

_TURN = "<|im_start|>{{ 'user' if m.role == 'tool' else m.role }}\n"
_PARTS = (
    "{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{% if c.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ c.text }}{% endif %}"
    "{% endfor %}{% endif %}"
)
# A call of `act` is the text of an answer; TRL tests that templates write calls of other names, too.
_CALLS = (
    "{% for c in m.tool_calls or [] %}{% if c.function.name == 'act' and c.function.arguments.action %}"
    "{{ c.function.arguments.action }}{% else %}{{ c.function | tojson }}{% endif %}{% endfor %}"
)
CHAT_TEMPLATE = (
    "{% for m in messages %}" + _TURN + _PARTS + _CALLS + "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

# The parser begins after the last user header. If that turn says that the episode is over, the answer is mere content
# and ends TRL's loop; else all that the assistant says is one action.
RESPONSE_TEMPLATE: dict[str, Any] = {
    "defaults": {"role": "assistant", "content": ""},
    "start_anchor": "<|im_start|>user\n",
    "fields": {
        "content": {"open_pattern": rf"\A{OVER.replace('.', chr(92) + '.')}<\|im_end\|>\n<\|im_start\|>assistant\n"},
        "tool_calls": {
            "open": "<|im_start|>assistant\n",
            "close": "<|im_end|>",
            "repeats": True,
            "transform": {"type": "function", "function": {"name": "act", "arguments": {"action": "{content}"}}},
        },
    },
}


class PicturesOnlyProcessor(Qwen2_5_VLProcessor):
    """The processor of Qwen2.5-VL without videos, which alone need torchvision."""

    def __init__(self, image_processor: Any, tokenizer: Any, chat_template: str | None = None) -> None:
        self.image_token, self.video_token = "<|image_pad|>", "<|video_pad|>"
        self.image_token_id = tokenizer.convert_tokens_to_ids(self.image_token)
        self.video_token_id = tokenizer.convert_tokens_to_ids(self.video_token)
        ProcessorMixin.__init__(self, image_processor, tokenizer, chat_template=chat_template)

    @classmethod
    def get_attributes(cls) -> list[str]:
        """Returns the parts that a processor consists of."""
        return ["image_processor", "tokenizer"]


def text_action_processor(path: str | Path) -> PicturesOnlyProcessor:
    """Returns the `processing_class` with which `GRPOTrainer` trains a policy that writes actions as text.

    Args:
        path: Directory or hub id of a policy that speaks ChatML, of the Qwen2-VL or Qwen2.5-VL family.
    """
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.response_template = RESPONSE_TEMPLATE
    return PicturesOnlyProcessor(Qwen2VLImageProcessorPil.from_pretrained(path), tokenizer, CHAT_TEMPLATE)
