"""Sampling with vLLM: tokens and preprocessed screenshots in, tokens and log-probabilities out.

vLLM never sees text, nor does it preprocess a screenshot: both are done once, by the policy, so that trainer and
sampler read the same numbers. What it adds is its kernels, its paged prefix cache, and batches that never wait for
their longest member. Its weights follow the policy's before anything is drawn from them, and its word is not taken for
it: after every transfer it draws a response that the policy scores.
"""

import hashlib
import math
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import torch
import torch.distributed as dist
from torch import Tensor

from coach_gym.episode import Candidate

from ..chatml import ChatML, ImageInput
from ..policy import Policy, Prompt
from ..tree import sequence_log_probs
from .transformers import weights_version
from .vllm_plugin import BACKEND, register

IMPOSSIBLE = -1e30
"""Bias of banned tokens: their probability is 0 in float32, and JSON has no infinity."""
PROBE_TOKENS = 16
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.1, torch.float16: 0.03}
"""Mean difference in log-probability, a token, that rounding explains. Tiny models differ by 1e-6 and 3e-3."""


class WeightMismatchError(RuntimeError):
    """vLLM draws from other weights than the policy's."""


@dataclass
class Drawn:
    """One response as an engine returns it.

    Attributes:
        token_ids: its tokens, the end-of-turn token included.
        logprobs: of each token, under the distribution that it was drawn from.
        version: of the weights that drew it; None if they changed meanwhile.
    """

    token_ids: list[int]
    logprobs: list[float]
    version: str | None


class Engine(Protocol):
    """Where vLLM runs."""

    dtype: torch.dtype

    def generate(self, prompts: Sequence[Prompt], sampling: dict[str, Any]) -> list[list[Drawn]]:
        """Draws responses to every prompt, by arguments of `SamplingParams`."""
        ...

    def load(self, weights: Mapping[str, Tensor], version: str) -> None:
        """Replaces the weights, by the names of the transformers model, and forgets what the old ones computed."""
        ...

    def sleep(self) -> None:
        """Gives its accelerator memory to the trainer until the next call of another method."""
        ...


class VllmGenerator:
    """Draws candidate responses; takes the place of `TransformersGenerator`.

    Args:
        policy: whose current weights are sampled from.
        engine: a server, for instance; None starts vLLM in this process.
        options: vLLM's `EngineArgs` of an engine in this process, `gpu_memory_utilization=0.4` for instance.
    """

    def __init__(self, policy: Policy, engine: Engine | None = None, **options: Any) -> None:
        if engine is None and find_spec("vllm") is None:
            raise ImportError("vLLM is not installed: pip install 'coach-gym[vllm]'")
        self.policy = policy
        self.version = ""
        self._make_engine = partial(LocalEngine, policy, **options) if engine is None else lambda: engine
        self._weights: tuple[int, int] | None = None
        self._transfers = 0

    @cached_property
    def engine(self) -> Engine:
        """vLLM, started when it is first needed."""
        return self._make_engine()

    @torch.no_grad()
    def sample(
        self,
        prompts: Sequence[Prompt],
        k: int = 1,
        temperature: float = 1.0,
        max_new_tokens: int = 512,
        greedy: bool = False,
    ) -> list[list[Candidate]]:
        """Draws k independent responses to every prompt from the current policy.

        Args:
            prompts: of any lengths.
            k: responses a prompt.
            temperature: divides the logits; also of the returned log-probabilities.
            max_new_tokens: where a response is cut that does not end by itself.
            greedy: takes the likeliest token instead of drawing one; log-probabilities are then at temperature 1.

        Returns:
            For every prompt its k candidates. Log-probabilities are those of the distribution that was drawn
            from, the end-of-turn token included.

        Raises:
            WeightMismatchError: vLLM has other weights than the policy.
        """
        if not prompts:
            return []
        self._follow(prompts[0])
        drawn = self._draw(prompts, k, 0.0 if greedy else temperature, max_new_tokens)
        return [[self.policy.candidate(one.token_ids, one.logprobs) for one in row] for row in drawn]

    def sleep(self) -> None:
        """Gives accelerator memory to the trainer until the next `sample`."""
        if "engine" in vars(self):
            self.engine.sleep()

    def _draw(self, prompts: Sequence[Prompt], k: int, temperature: float, limit: int) -> list[list[Drawn]]:
        sampling = {
            "n": k,
            "temperature": temperature,
            "max_tokens": limit,
            "stop_token_ids": [self.policy.eos],
            "ignore_eos": True,  # the checkpoint's idea of an end; ours is the line above
            "logit_bias": {token: IMPOSSIBLE for token in self.policy.banned},
            "logprobs": 0,  # none but the drawn token's
            "detokenize": False,
        }
        drawn = self.engine.generate(prompts, sampling)
        versions = {one.version for row in drawn for one in row}
        if versions != {self.version}:
            raise WeightMismatchError(
                f"the responses were drawn with weights {', '.join(sorted(map(str, versions)))}, the policy's are "
                f"{self.version}: somebody else updates this engine. An engine belongs to one policy"
            )
        return drawn

    def _follow(self, probe: Prompt) -> None:
        """Brings the policy's weights into the engine if they have changed, and verifies that they are in force."""
        weights = weights_version(self.policy.model)
        if weights == self._weights:
            return
        state = self.policy.model.state_dict()
        self._transfers += 1
        self.version = f"{self._transfers}-{fingerprint(state)}"
        self.engine.load(state, self.version)
        self._verify(probe)
        self._weights = weights

    def _verify(self, prompt: Prompt) -> None:
        """Scores a drawn response with the policy."""
        with torch.random.fork_rng():  # whether weights have changed is not to change what is drawn
            ((drawn,),) = self._draw([prompt], 1, 1.0, PROBE_TOKENS)
        training = self.policy.model.training
        self.policy.model.eval()
        try:
            scored = sequence_log_probs(self.policy, prompt, Candidate("", drawn.token_ids, drawn.logprobs))
        finally:
            self.policy.model.train(training)
        difference = (scored.cpu() - torch.tensor(drawn.logprobs)).abs().mean().item()
        tolerance = TOLERANCE[self.engine.dtype]
        if not difference <= tolerance:  # nor NaN
            raise WeightMismatchError(
                f"after the transfer of weights {self.version} vLLM's log-probabilities differ from the policy's by "
                f"{difference:.2g} a token, where {self.engine.dtype} explains {tolerance}: the weights did not "
                f"arrive, or vLLM runs another model"
            )


def fingerprint(weights: Mapping[str, Tensor], samples: int = 64) -> str:
    """A short name of weights: processes that hold the same ones agree on it. Reads a few values of every tensor."""
    values = [tensor.flatten()[:: max(1, tensor.numel() // samples)].float() for tensor in weights.values()]
    return hashlib.blake2b(torch.cat(values).cpu().numpy().tobytes(), digest_size=8).hexdigest()


class LocalEngine:
    """vLLM in this process.

    It starts with random weights, made from the policy's configuration; the first transfer brings the real ones, so
    they are never written to disk.

    Args:
        policy: whose architecture, tokenizer and data type the engine takes.
        options: vLLM's `EngineArgs`, over ours.

    Raises:
        ValueError: There are several trainers.
    """

    def __init__(self, policy: Policy, **options: Any) -> None:
        if dist.is_initialized() and dist.get_world_size() > 1:
            raise ValueError("vLLM in the trainer's process allows one trainer; with several use transformers")
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")  # tensors are handed over as they are
        from vllm import EngineArgs, LLMEngine

        register()
        with TemporaryDirectory() as directory, torch.random.fork_rng():
            write_description(policy, directory)
            arguments = {**engine_options(policy), "model": directory, **options}
            self.engine = LLMEngine.from_engine_args(EngineArgs(**arguments))
        self.chat = policy.chat
        self.dtype = self.engine.model_config.dtype
        self._can_sleep = bool(arguments.get("enable_sleep_mode"))
        self._asleep = False

    def generate(self, prompts: Sequence[Prompt], sampling: dict[str, Any]) -> list[list[Drawn]]:
        """Draws responses, all of them in one continuous batch, with torch's random numbers."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        self._wake()
        parameters = SamplingParams(**sampling, output_kind=RequestOutputKind.FINAL_ONLY)
        finished: dict[str, list[Drawn]] = {}
        numbers = [str(number) for number in range(len(prompts))]
        try:
            for number, prompt in zip(numbers, prompts, strict=True):
                self.engine.add_request(number, engine_input(prompt, self.chat), parameters)
            while self.engine.has_unfinished_requests():
                for output in self.engine.step():
                    finished[output.request_id] = [_drawn(one) for one in output.outputs]
        except BaseException:
            self.engine.abort_request(numbers)  # the next call must not meet them
            raise
        return [finished[number] for number in numbers]

    def load(self, weights: Mapping[str, Tensor], version: str) -> None:
        """Replaces the weights; nothing is copied but into vLLM's own."""
        self._wake()
        rpc = self.engine.collective_rpc
        rpc("start_weight_update")
        rpc("update_weights", kwargs={"update_info": {"tensors": dict(weights)}})
        rpc("finish_weight_update")
        self.engine.set_weight_version(version)
        self.engine.reset_prefix_cache()
        self.engine.reset_encoder_cache()

    def sleep(self) -> None:
        """Moves weights to main memory and drops the key-value cache, with `enable_sleep_mode`; else does nothing."""
        if self._can_sleep and not self._asleep:
            self.engine.sleep()
            self._asleep = True

    def _wake(self) -> None:
        if self._asleep:
            self.engine.wake_up()
            self._asleep = False


def write_description(policy: Policy, directory: str) -> None:
    """Writes what vLLM needs beside weights: configuration, tokenizer, image processor."""
    policy.model.config.save_pretrained(directory)
    policy.tokenizer.save_pretrained(directory)
    policy.image_processor.save_pretrained(directory)


def engine_options(policy: Policy) -> dict[str, Any]:
    """`EngineArgs` that make vLLM sample as the policy does."""
    cuda = policy.device.type == "cuda"
    return {
        "dtype": str(policy.model.dtype).removeprefix("torch."),
        "hf_overrides": {"architectures": [type(policy.model).__name__]},
        "load_format": "dummy",
        "generation_config": "vllm",  # not the checkpoint's, which may have a repetition penalty
        "logprobs_mode": "processed_logprobs",  # of the distribution that is drawn from
        "limit_mm_per_prompt": {"video": 0},
        "mm_processor_cache_gb": 0,  # images come preprocessed,
        "mm_device_do_normalize": False,  # and normalised
        "weight_transfer_config": {"backend": BACKEND},
        "enable_sleep_mode": cuda,
        "gpu_memory_utilization": 0.4,  # the trainer lives on the same accelerator
        "enforce_eager": not cuda,
        "disable_log_stats": True,
    }


def engine_input(prompt: Prompt, chat: ChatML) -> Any:
    """A prompt as vLLM's engine takes it, its images preprocessed."""
    from vllm.inputs import mm_input, tokens_input
    from vllm.multimodal.inputs import PlaceholderRange

    if not prompt.images:
        return tokens_input(prompt.input_ids)
    features = [image_features(image) for image in prompt.images]
    ranges = [PlaceholderRange(offset, length) for offset, length in image_ranges(prompt, chat)]
    hashes = [image_hash(image) for image in prompt.images]
    return mm_input(prompt.input_ids, {"image": features}, {"image": hashes}, {"image": ranges})


def image_features(image: ImageInput) -> Any:
    """An image as the forward arguments of vLLM's Qwen2.5-VL."""
    from vllm.multimodal.inputs import MultiModalFieldConfig, MultiModalKwargsItems

    inputs = {"pixel_values": image.pixel_values, "image_grid_thw": torch.tensor([image.grid])}
    sizes = inputs["image_grid_thw"].prod(-1)
    fields = {
        "pixel_values": MultiModalFieldConfig.flat_from_sizes("image", sizes),
        "image_grid_thw": MultiModalFieldConfig.batched("image", keep_on_cpu=True),
    }
    return MultiModalKwargsItems.from_hf_inputs(inputs, fields)["image"][0]


def image_ranges(prompt: Prompt, chat: ChatML) -> list[tuple[int, int]]:
    """Start and length of each image's run of placeholder tokens."""
    ranges, cursor = [], 0
    for image in prompt.images:
        start, length = prompt.input_ids.index(chat.image_pad, cursor), math.prod(image.grid) // chat.merge_size**2
        ranges.append((start, length))
        cursor = start + length
    return ranges


_hashes: weakref.WeakKeyDictionary[ImageInput, str] = weakref.WeakKeyDictionary()


def image_hash(image: ImageInput) -> str:
    """Names an image by its content: the key of vLLM's caches. Computed once an image."""
    if image not in _hashes:
        content = image.pixel_values.numpy().tobytes()
        _hashes[image] = hashlib.blake2b(content, digest_size=16, key=str(image.grid).encode()).hexdigest()
    return _hashes[image]


def _drawn(output: Any) -> Drawn:
    token_ids = list(output.token_ids)
    logprobs = [position[token].logprob for token, position in zip(token_ids, output.logprobs, strict=True)]
    spans = output.weight_versions or []
    return Drawn(token_ids, logprobs, spans[0].version if len(spans) == 1 else None)
