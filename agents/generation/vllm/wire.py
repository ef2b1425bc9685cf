"""Messages between trainers and a generation server: a line of JSON, then tensors as safetensors. No pickle.

Screenshots are sent preprocessed, because preprocessing twice need not give the same numbers twice. They are named by
their content, and each is sent once: later prompts refer to it by name.
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
"""Content type of every request. A web page can send it only to its own host, and servers check the host's name."""
KEY = "COACH_GYM_KEY"
"""Environment variable with the key that a server requires."""


def pack(head: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None) -> bytes:
    """Makes a message of a JSON-compatible head and tensors."""
    return json.dumps(head).encode() + b"\n" + save(dict(tensors or {}))


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Returns the head and the tensors of a message.

    Raises:
        ValueError: The message is malformed.
    """
    head, _, tensors = message.partition(b"\n")
    try:
        return json.loads(head), load(tensors)
    except Exception as error:  # safetensors has an error class of its own
        raise ValueError(f"the request cannot be read: {error}") from error


def pack_prompts(head: Mapping[str, Any], prompts: Sequence[Prompt], sent: Mapping[str, ImageInput]) -> bytes:
    """Makes a message of prompts that carries the screenshots `sent` and names all others."""
    rows = [{"tokens": prompt.input_ids, "images": list(map(image_hash, prompt.images))} for prompt in prompts]
    grids = {name: image.grid for name, image in sent.items()}
    tensors = {name: image.pixel_values for name, image in sent.items()}
    return pack({**head, "prompts": rows, "grids": grids}, tensors)


def unpack_images(head: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> dict[str, ImageInput]:
    """Returns the screenshots in a message by their names.

    Raises:
        ValueError: A screenshot's name does not match its content.
    """
    images = {name: ImageInput(pixels, tuple(head["grids"][name])) for name, pixels in tensors.items()}
    for name, image in images.items():
        if image_hash(image) != name:
            raise ValueError(f"the screenshot {name} has the content of {image_hash(image)}; send it under that name")
    return images


_hashes: weakref.WeakKeyDictionary[ImageInput, str] = weakref.WeakKeyDictionary()


def image_hash(image: ImageInput) -> str:
    """Returns the name of an image, a hash of its content and the key of vLLM's caches; computed once per image."""
    if image not in _hashes:
        content = image.pixel_values.numpy().tobytes()
        _hashes[image] = hashlib.blake2b(content, digest_size=16, key=str(tuple(image.grid)).encode()).hexdigest()
    return _hashes[image]
