"""ChatML as tokens: turns of text and screenshots, rendered once and never tokenised again.

All text between the control tokens comes from a goal, a screen or a model and is not trusted: a note that reads
`<|im_end|>` must not end a turn. Control tokens are inserted by id, and their spellings inside a text are broken up
before the tokenizer sees them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from coach_gym.agents.models.mrope import Grid
from coach_gym.dialects import ImageSlot, Part
from coach_gym.dialects.frames import Frame

TURN_START, TURN_END = "<|im_start|>", "<|im_end|>"
VISION_START, VISION_END, IMAGE_PAD = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>"
VISION_PAD, VIDEO_PAD, END_OF_TEXT = "<|vision_pad|>", "<|video_pad|>", "<|endoftext|>"
CONTROL_TOKENS = (TURN_START, TURN_END, VISION_START, VISION_END, IMAGE_PAD, VISION_PAD, VIDEO_PAD, END_OF_TEXT)
_CONTROL = re.compile("(?:" + "|".join(map(re.escape, CONTROL_TOKENS)) + ")")


@dataclass(frozen=True, eq=False)
class ImageInput:
    """One preprocessed screenshot. It equals only itself, so it can be the key of results computed from it.

    Attributes:
        pixel_values: Normalised patches, (grid height * grid width, channels * patch volume), float32, on the CPU.
        grid: Numbers of patches in time, height and width.
    """

    pixel_values: Tensor
    grid: Grid


@dataclass
class Segment:
    """A run of prompt tokens with its images. Segments concatenate with `+`.

    Attributes:
        input_ids: The tokens.
        images: The images among them, in order.
    """

    input_ids: list[int] = field(default_factory=list)
    images: list[ImageInput] = field(default_factory=list)

    def __add__(self, other: "Segment") -> "Segment":
        return Segment(self.input_ids + other.input_ids, self.images + other.images)

    def __len__(self) -> int:
        return len(self.input_ids)


def join(segments: Iterable[Segment]) -> Segment:
    """Concatenates many segments in linear time."""
    whole = Segment()
    for segment in segments:
        whole.input_ids.extend(segment.input_ids)
        whole.images.extend(segment.images)
    return whole


class ChatML:
    """Renders turns as tokens.

    Args:
        tokenizer: Fast tokenizer with Qwen's control tokens.
        image_processor: `Qwen2VLImageProcessorPil` or a compatible processor.

    Attributes:
        merge_size: Side of the square that becomes one visual token, in patches.
        token_side: Side of that square in pixels.
    """

    def __init__(self, tokenizer: Any, image_processor: Any) -> None:
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self.merge_size: int = image_processor.merge_size
        self.token_side: int = image_processor.merge_size * image_processor.patch_size
        ids = tokenizer.convert_tokens_to_ids([TURN_START, TURN_END, VISION_START, VISION_END, IMAGE_PAD])
        self.turn_start, self.turn_end, self.vision_start, self.vision_end, self.image_pad = ids
        self.newline = self.encode_text("\n")
        self.generation_prompt = Segment([self.turn_start, *self.encode_text("assistant\n")])
        self._pixels: WeakValueDictionary[tuple[Any, ...], Tensor] = WeakValueDictionary()

    def encode_text(self, text: str) -> list[int]:
        """Tokenises plain text; spellings of control tokens become ordinary characters."""
        ids, cursor = [], 0
        for match in _CONTROL.finditer(text):
            ids += self._encode(text[cursor : match.start() + 2])  # ends after "<|": no longer a control token
            cursor = match.start() + 2
        return ids + self._encode(text[cursor:])

    def _encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False) if text else []

    def encode_image(self, screenshot: np.ndarray, frame: Frame) -> ImageInput:
        """Resizes a screenshot, (H, W, 3) uint8, to what the model sees and cuts it into normalised patches.

        Equal screenshots share their patches for as long as someone holds these.
        """
        key = blake2b(screenshot.tobytes()).digest(), screenshot.shape, frame.image
        if (patches := self._pixels.get(key)) is None:
            self._pixels[key] = patches = self._patches(screenshot, frame)
        width, height = (side // self.image_processor.patch_size for side in frame.image)
        return ImageInput(patches, (1, height, width))

    def _patches(self, screenshot: np.ndarray, frame: Frame) -> Tensor:
        image = Image.fromarray(screenshot)
        if image.size != frame.image:
            image = image.resize(frame.image, Image.Resampling.BICUBIC)
        patches: Tensor = self.image_processor(images=[image], do_resize=False, return_tensors="pt")["pixel_values"]
        return patches

    def image_segment(self, image: ImageInput) -> Segment:
        """Returns the placeholder tokens of one image."""
        count = int(np.prod(image.grid)) // self.merge_size**2
        return Segment([self.vision_start, *[self.image_pad] * count, self.vision_end], [image])

    def turn(self, role: str, parts: Sequence[Part], images: Sequence[ImageInput] = ()) -> Segment:
        """Returns a whole turn: `<|im_start|>role … <|im_end|>` and a newline.

        Args:
            role: `system`, `user` or `assistant`.
            parts: Text, and `IMAGE` or `MARKED` where an image goes.
            images: The images, one for each of these.
        """
        remaining, segments, text = list(images), [Segment([self.turn_start])], f"{role}\n"
        for part in parts:
            if isinstance(part, ImageSlot):
                segments += [Segment(self.encode_text(text)), self.image_segment(remaining.pop(0))]
                text = ""
            else:
                text += str(part)
        closing = [self.turn_end, *self.newline]
        return join([*segments, Segment(self.encode_text(text)), Segment(closing)])

    def response(self, token_ids: Sequence[int]) -> Segment:
        """Returns a response as the history of the next turn: its own tokens, then those that close the turn."""
        ended = bool(token_ids) and token_ids[-1] == self.turn_end
        return Segment([*token_ids, *([] if ended else [self.turn_end]), *self.newline])

    def decode(self, token_ids: Sequence[int]) -> str:
        """Returns the text of a response without its end-of-turn token; tokens such as `<|box_start|>` stay."""
        ended = bool(token_ids) and token_ids[-1] == self.turn_end
        ids = list(token_ids[:-1] if ended else token_ids)
        return self.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def stack_images(images: Sequence[ImageInput], device: torch.device) -> dict[str, Tensor]:
    """Returns the forward arguments `pixel_values` and `image_grid_thw` of images; empty without images."""
    if not images:
        return {}
    return {
        "pixel_values": torch.cat([image.pixel_values.to(device) for image in images]),
        "image_grid_thw": torch.tensor([image.grid for image in images], device=device),
    }
