"""What travels between trainers and a generation server: a line of JSON, then tensors as safetensors. No pickle.

Screenshots travel preprocessed, because a screenshot that is preprocessed twice need not give the same numbers twice.
They are named by their content, and each travels once: later prompts that show it give its name.
"""

import hashlib
import json
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

from coach_gym.agents.models.chatml import ImageInput
from coach_gym.agents.models.policy import Prompt

CONTENT_TYPE = "application/x-coach-gym"
"""Of every request; a web page can send it to none but the host that it came from, and servers know their names."""
KEY = "COACH_GYM_KEY"
"""Environment variable with the key that a server asks for."""


def pack(head: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None) -> bytes:
    """A message."""
    return json.dumps(head).encode() + b"\n" + save(dict(tensors or {}))


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The head and the tensors of a message.

    Raises:
        ValueError: It is none.
    """
    head, _, tensors = message.partition(b"\n")
    try:
        return json.loads(head), load(tensors)
    except Exception as error:  # safetensors has an error class of its own
        raise ValueError(f"the request cannot be read: {error}") from error


def pack_prompts(head: Mapping[str, Any], prompts: Sequence[Prompt], sent: Mapping[str, ImageInput]) -> bytes:
    """A message with prompts; of their screenshots, `sent` travel with it."""
    rows = [{"tokens": prompt.input_ids, "images": list(map(image_hash, prompt.images))} for prompt in prompts]
    grids = {name: image.grid for name, image in sent.items()}
    tensors = {name: image.pixel_values for name, image in sent.items()}
    return pack({**head, "prompts": rows, "grids": grids}, tensors)


def unpack_images(head: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> dict[str, ImageInput]:
    """The screenshots that travelled with a message, by their names.

    Raises:
        ValueError: One has another's name.
    """
    images = {name: ImageInput(pixels, tuple(head["grids"][name])) for name, pixels in tensors.items()}
    for name, image in images.items():
        if image_hash(image) != name:
            raise ValueError(f"the screenshot {name} is another one, {image_hash(image)}")
    return images


_hashes: weakref.WeakKeyDictionary[ImageInput, str] = weakref.WeakKeyDictionary()


def image_hash(image: ImageInput) -> str:
    """Names an image by its content: the key of vLLM's caches. Computed once an image."""
    if image not in _hashes:
        content = image.pixel_values.numpy().tobytes()
        _hashes[image] = hashlib.blake2b(content, digest_size=16, key=str(tuple(image.grid)).encode()).hexdigest()
    return _hashes[image]
