"""vLLM in this process: takes prompts and weights as tensors, returns tokens and log-probabilities."""

import gc
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from coach_gym.agents.distributed import processes
from coach_gym.agents.generation.vllm.plugin import BACKEND, register
from coach_gym.agents.generation.vllm.protocol import Drawn, Sampling
from coach_gym.agents.generation.vllm.several import pieces
from coach_gym.agents.generation.vllm.wire import image_hash
from coach_gym.agents.models.chatml import ChatML, ImageInput
from coach_gym.agents.models.policy import Policy, Prompt

IMPOSSIBLE = -1e30
"""Bias of banned tokens: their probability is 0 in float32."""


def require_vllm() -> None:
    """Checks that vLLM is installed, before anything slow begins.

    Raises:
        ImportError: It is not.
    """
    if find_spec("vllm") is None:
        raise ImportError("vLLM is not installed: pip install 'coach-gym[vllm]'")


class LocalEngine:
    """vLLM in this process.

    It starts with random weights of the policy's configuration. The first transfer brings the real ones, so they are
    never written to disk.

    Args:
        policy: The policy whose architecture, tokenizer and precision the engine takes.
        options: vLLM's `EngineArgs`, which override ours.

    Attributes:
        engine: vLLM's engine.
        dtype: Precision of its passes.
        can_sleep: Whether `sleep` has an effect.
        counts: Totals so far: `responses`, `drawn_tokens`, `prompt_tokens`, and `cached_tokens`, the part of the prompt
            tokens that the prefix cache held.

    Raises:
        ValueError: Several processes train, and `tensor_parallel_size` would spread an engine over them.
    """

    def __init__(self, policy: Policy, **options: Any) -> None:
        among = among_processes(options) if processes.size() > 1 else {}
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")  # tensors are passed by reference
        from vllm import EngineArgs, LLMEngine

        register()
        gc.collect()  # an engine that nobody uses any more takes the process groups of all engines along when it goes
        with TemporaryDirectory() as directory, torch.random.fork_rng():
            write_description(policy, directory)
            arguments = {**engine_options(policy), **among, "model": directory, **options}
            self.engine = LLMEngine.from_engine_args(EngineArgs(**arguments))
        self.chat = policy.chat
        self.dtype = self.engine.model_config.dtype
        self.can_sleep = bool(arguments.get("enable_sleep_mode"))
        self.counts: Counter[str] = Counter()
        self._asleep = False
        self._numbers = map(str, count())

    # ---- drawing ----------------------------------------------------------------------------------------------

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling,
        version: str,
        on_first: Callable[[int, Drawn], None],
    ) -> list[list[Drawn]]:
        """Draws responses in one continuous batch with torch's random numbers. See `Engine.generate`."""
        finished: dict[str, list[Drawn]] = {}
        firsts = self.submit(prompts, replace(sampling, k=1))
        others: list[str] = []
        try:
            if sampling.k > 1:
                others = self.submit(prompts, replace(sampling, k=sampling.k - 1))
            while self.busy:
                for number, drawn in self.step().items():
                    finished[number] = drawn
                    if number in firsts:
                        on_first(firsts.index(number), drawn[0])
        except BaseException:
            self.engine.abort_request(firsts + others)  # the next call must not find them
            raise
        rest = [finished[number] for number in others] or [[]] * len(prompts)
        return [finished[number] + row for number, row in zip(firsts, rest, strict=True)]

    def submit(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[str]:
        """Adds prompts to the batch.

        Returns:
            The engine's names of the prompts.

        Raises:
            ValueError: vLLM refuses a prompt, for example because it is too long; then none is added.
        """
        from vllm.exceptions import VLLMClientError

        self._wake()
        parameters = sampling_parameters(sampling)
        numbers: list[str] = []
        try:
            for prompt in prompts:
                numbers.append(next(self._numbers))
                self.engine.add_request(numbers[-1], engine_input(prompt, self.chat), parameters)
        except BaseException as error:
            self.engine.abort_request(numbers)
            if isinstance(error, VLLMClientError):
                raise ValueError(str(error)) from error
            raise
        return numbers

    @property
    def busy(self) -> bool:
        """Whether responses are in progress."""
        return self.engine.has_unfinished_requests()

    def step(self) -> dict[str, list[Drawn]]:
        """Draws another token of every response and returns the responses of finished prompts by name."""
        outputs = self.engine.step()
        for output in outputs:
            self.counts["responses"] += len(output.outputs)
            self.counts["drawn_tokens"] += sum(len(one.token_ids) for one in output.outputs)
            self.counts["prompt_tokens"] += len(output.prompt_token_ids)
            self.counts["cached_tokens"] += output.num_cached_tokens or 0
        return {output.request_id: [_drawn(one) for one in output.outputs] for output in outputs}

    # ---- weights ----------------------------------------------------------------------------------------------

    def load(self, weights: Iterable[tuple[str, Tensor]], version: str) -> None:
        """Replaces the weights, copying them only into vLLM's own tensors. See `Engine.load`."""
        self.begin_update()
        for piece in pieces(weights):
            self.update(piece)
        self.finish_update(version)

    def begin_update(self) -> None:
        """Prepares for new weights; nothing can be drawn until `finish_update`."""
        self._wake()
        self.engine.collective_rpc("start_weight_update")

    def update(self, weights: Mapping[str, Tensor]) -> None:
        """Receives some of the weights by their names in the transformers model."""
        self.engine.collective_rpc("update_weights", kwargs={"update_info": {"tensors": dict(weights)}})

    def finish_update(self, version: str) -> None:
        """Starts using the new weights under a name, and drops everything computed with the old ones."""
        self.engine.collective_rpc("finish_weight_update")
        self.engine.set_weight_version(version)
        self.engine.reset_prefix_cache()
        self.engine.reset_encoder_cache()

    # ---- memory -----------------------------------------------------------------------------------------------

    def sleep(self) -> None:
        """Moves weights to main memory and drops the key-value cache; does nothing without `enable_sleep_mode`."""
        if self.can_sleep and not self._asleep:
            self.engine.sleep()
            self._asleep = True

    def _wake(self) -> None:
        if self._asleep:
            self.engine.wake_up()
            self._asleep = False


def among_processes(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the `EngineArgs` of an engine in each of several trainers, which start theirs together.

    vLLM then uses their process group. Engines draw each for itself, so none spreads over several processes: those
    would have to ask for the same prompts at the same time.

    Args:
        options: The user's `EngineArgs`.

    Raises:
        ValueError: They spread an engine.
    """
    for name in ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"):
        if options.get(name, 1) > 1:
            raise ValueError(
                f"{name}={options[name]} spreads an engine over processes that draw at different times; leave it out, "
                f"or start `coach-gym serve --{name} {options[name]}` and pass its address, "
                f"generation='http://127.0.0.1:8100'"
            )
    local = torch.cuda.current_device() if torch.cuda.is_available() else processes.rank()
    os.environ.setdefault("RANK", str(processes.rank()))  # which vLLM reads, and torchrun has set
    os.environ.setdefault("LOCAL_RANK", str(local))
    return {"distributed_executor_backend": "external_launcher"}


def write_description(policy: Policy, directory: str) -> None:
    """Writes everything that vLLM needs besides weights: configuration, tokenizer, image processor."""
    policy.model.config.save_pretrained(directory)
    policy.tokenizer.save_pretrained(directory)
    policy.image_processor.save_pretrained(directory)


def engine_options(policy: Policy) -> dict[str, Any]:
    """Returns the `EngineArgs` that make vLLM sample as the policy does."""
    cuda = torch.cuda.is_available()  # vLLM's platform, wherever the policy's weights wait
    return {
        "dtype": str(policy.model.dtype).removeprefix("torch."),
        "hf_overrides": {"architectures": [type(policy.model).__name__.removeprefix("FSDP")]},  # which sharding adds
        "load_format": "dummy",
        "generation_config": "vllm",  # rather than the checkpoint's, which may have a repetition penalty
        "logprobs_mode": "processed_logprobs",  # those of the distribution that is sampled
        "limit_mm_per_prompt": {"video": 0},
        "mm_processor_cache_gb": 0,  # images come preprocessed,
        "mm_device_do_normalize": False,  # and normalised
        "weight_transfer_config": {"backend": BACKEND},
        "enable_sleep_mode": cuda,
        "gpu_memory_utilization": 0.4,  # the trainer lives on the same accelerator
        "enforce_eager": not cuda,
        "disable_log_stats": True,
    }


def sampling_parameters(sampling: Sampling) -> Any:
    """Converts `Sampling` to vLLM's parameters."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    return SamplingParams(
        n=sampling.k,
        temperature=sampling.temperature,
        max_tokens=sampling.limit,
        stop_token_ids=[sampling.end],
        ignore_eos=True,  # the checkpoint's own; ours is in the line above
        logit_bias={token: IMPOSSIBLE for token in sampling.banned},
        logprobs=0,  # only the drawn token's
        detokenize=False,
        output_kind=RequestOutputKind.FINAL_ONLY,
    )


def engine_input(prompt: Prompt, chat: ChatML) -> Any:
    """Converts a prompt with its preprocessed images to the input of vLLM's engine."""
    from vllm.inputs import mm_input, tokens_input
    from vllm.multimodal.inputs import PlaceholderRange

    if not prompt.images:
        return tokens_input(prompt.input_ids)
    features = [image_features(image) for image in prompt.images]
    ranges = [PlaceholderRange(offset, length) for offset, length in image_ranges(prompt, chat)]
    hashes = [image_hash(image) for image in prompt.images]
    return mm_input(prompt.input_ids, {"image": features}, {"image": hashes}, {"image": ranges})


def image_features(image: ImageInput) -> Any:
    """Converts an image to the forward arguments of vLLM's model."""
    from vllm.multimodal.inputs import MultiModalFieldConfig, MultiModalKwargsItems

    inputs = {"pixel_values": image.pixel_values, "image_grid_thw": torch.tensor([image.grid])}
    sizes = inputs["image_grid_thw"].prod(-1)
    fields = {
        "pixel_values": MultiModalFieldConfig.flat_from_sizes("image", sizes),
        "image_grid_thw": MultiModalFieldConfig.batched("image", keep_on_cpu=True),
    }
    return MultiModalKwargsItems.from_hf_inputs(inputs, fields)["image"][0]


def image_ranges(prompt: Prompt, chat: ChatML) -> list[tuple[int, int]]:
    """Returns start and length of each image's run of placeholder tokens."""
    ranges, cursor = [], 0
    for image in prompt.images:
        start, length = prompt.input_ids.index(chat.image_pad, cursor), math.prod(image.grid) // chat.merge_size**2
        ranges.append((start, length))
        cursor = start + length
    return ranges


def _drawn(output: Any) -> Drawn:
    token_ids = list(output.token_ids)
    logprobs = [position[token].logprob for token, position in zip(token_ids, output.logprobs, strict=True)]
    spans = output.weight_versions or []
    return Drawn(token_ids, logprobs, spans[0].version if len(spans) == 1 else None)
