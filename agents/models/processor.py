"""What `AutoProcessor` loads where torchvision is missing, which transformers wants for videos alone."""

from __future__ import annotations

from typing import Any

from transformers import AutoProcessor, Qwen2_5_VLConfig, Qwen2VLConfig, Qwen3VLConfig
from transformers.models.qwen2_vl.processing_qwen2_vl import Qwen2VLProcessor
from transformers.utils import is_torchvision_available


class PicturesOnlyProcessor(Qwen2VLProcessor):
    """Qwen-VL's processor of texts and pictures, without the part for videos.

    transformers reads from the arguments what the processor is made of.

    Args:
        image_processor: Processor of the pictures; `AutoProcessor` takes Pillow's.
        tokenizer: Tokenizer of the texts.
        chat_template: Template of conversations, in Jinja.
    """

    def __init__(self, image_processor: Any = None, tokenizer: Any = None, chat_template: str | None = None) -> None:
        super().__init__(image_processor, tokenizer, chat_template=chat_template)


def load_without_torchvision() -> None:
    """Makes `AutoProcessor` load Qwen-VL models for which no other processor can be made here."""
    if not is_torchvision_available():
        for config in (Qwen2VLConfig, Qwen2_5_VLConfig, Qwen3VLConfig):
            AutoProcessor.register(config, PicturesOnlyProcessor, exist_ok=True)
