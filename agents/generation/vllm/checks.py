"""Checks of what clients send to a generation server: what is malformed would bring down the engine for all of them."""

import math
from collections.abc import Mapping, Sequence

from coach_gym.agents.generation.vllm.engine import image_ranges
from coach_gym.agents.generation.vllm.protocol import Sampling
from coach_gym.agents.models.policy import Policy, Prompt

MOST_RESPONSES = 4096
"""Responses to one prompt."""


def check_prompt(prompt: Prompt, policy: Policy) -> None:
    """Refuses a prompt that the model cannot read, which would bring down the engine for all clients.

    Raises:
        ValueError: The prompt is malformed.
    """
    if not prompt.input_ids:
        raise ValueError("a prompt has no tokens")
    config = policy.model.config
    size = config.get_text_config().vocab_size
    if strange := [token for token in prompt.input_ids if type(token) is not int or not 0 <= token < size]:
        raise ValueError(f"{strange[0]!r} is not a token; tokens of this model are integers from 0 to {size - 1}")
    vision, merge = config.vision_config, policy.chat.merge_size
    patch = vision.in_channels * vision.temporal_patch_size * vision.patch_size**2
    for image in prompt.images:
        if len(image.grid) != 3 or not all(type(side) is int and side > 0 for side in image.grid):
            raise ValueError(f"a screenshot has the grid {image.grid}, which is not three positive integers")
        shape = (math.prod(image.grid), patch)
        if tuple(image.pixel_values.shape) != shape or any(side % merge for side in image.grid[1:]):
            patches = tuple(image.pixel_values.shape)
            raise ValueError(f"a screenshot has patches of shape {patches}, which do not fit its grid {image.grid}")
        if not image.pixel_values.isfinite().all():
            raise ValueError("a screenshot has pixels that are not finite")
    pads = prompt.input_ids.count(policy.chat.image_pad)
    wanted = sum(math.prod(image.grid) // merge**2 for image in prompt.images)
    if pads != wanted:
        raise ValueError(f"a prompt has {pads} image tokens, but its {len(prompt.images)} screenshots need {wanted}")
    for start, length in image_ranges(prompt, policy.chat):
        if set(prompt.input_ids[start : start + length]) != {policy.chat.image_pad}:
            raise ValueError(f"the {length} image tokens of a screenshot are not contiguous from position {start} on")


def check_sampling(sampling: Sampling, policy: Policy) -> None:
    """Refuses what no response can be drawn with, which would bring down the engine for all clients.

    Raises:
        ValueError: A setting is malformed.
    """
    size = policy.model.config.get_text_config().vocab_size
    if type(sampling.k) is not int or not 1 <= sampling.k <= MOST_RESPONSES:
        raise ValueError(f"{sampling.k!r} responses were asked for; there can be 1 to {MOST_RESPONSES} to a prompt")
    if type(sampling.limit) is not int or sampling.limit < 1:
        raise ValueError(f"a response cannot have {sampling.limit!r} tokens; it has 1 or more")
    if type(sampling.temperature) not in (int, float) or not 0 <= sampling.temperature < math.inf:
        raise ValueError(f"a temperature is a number from 0 on, not {sampling.temperature!r}")
    for token in (sampling.end, *sampling.banned):
        if type(token) is not int or not 0 <= token < size:
            raise ValueError(f"{token!r} is not a token; tokens of this model are integers from 0 to {size - 1}")
    if len({*sampling.banned}) >= size:
        raise ValueError("all tokens are banned, so there are no responses")


def check_shapes(theirs: Mapping[str, Sequence[int]], ours: Mapping[str, Sequence[int]]) -> None:
    """Refuses weights of another architecture, which would be loaded in part or break the engine.

    Raises:
        ValueError: Names or shapes differ.
    """
    if not isinstance(theirs, Mapping):
        raise ValueError(f"the shapes of the weights are given by their names, not as {theirs!r:.60}")
    different = [name for name in sorted(theirs.keys() | ours.keys()) if theirs.get(name) != ours.get(name)]
    if different:
        name = different[0]
        raise ValueError(
            f"the trainer's model differs from the server's in {len(different)} weights, such as {name}: "
            f"{theirs.get(name)} there and {ours.get(name)} here; start the server with the trainer's --policy"
        )
