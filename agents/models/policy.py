"""The policy: a vision-language model, the tokens it reads, and its dialect."""

import json
import weakref
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoModelForImageTextToText, AutoTokenizer
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from coach_gym.actions import ActionError, format_action
from coach_gym.agents.models.architectures import check_architecture, read_config
from coach_gym.agents.models.chatml import VISION_PAD, ChatML, Segment, join
from coach_gym.agents.models.devices import pass_device
from coach_gym.agents.models.history import History
from coach_gym.agents.models.lora import ADAPTER, merged_model, name_base, save_model
from coach_gym.agents.models.mrope import rope_index
from coach_gym.agents.models.training_settings import read_training_settings, write_training_settings
from coach_gym.agents.models.tree_attention import enable_tree_attention
from coach_gym.agents.models.vision_layers import speed_up_vision
from coach_gym.checks import WrongType, require_whole
from coach_gym.dialects import Dialect, Frame, pictures
from coach_gym.dialects.names import choose_dialect, settings_of, store_dialect, stored_settings
from coach_gym.episode import Candidate, Observation, Step

Prompt = Segment
"""All tokens before one response, and the screenshots they show."""

_WEIGHTS = Path(__file__).parents[1] / "pocket" / "weights"
POCKET = _WEIGHTS / "policy"
SHIPPED = {"pocket": POCKET, "pocket-sight": _WEIGHTS / "sight"}
"""The policies that come with this package, by the names that users give."""


class Policy:
    """Turns episodes into prompts, tokens into actions, and logits into log-probabilities.

    Any model of one of the `ARCHITECTURES` works. It remains an ordinary transformers model, with one additional
    attention implementation.

    Args:
        model: `Qwen2_5_VLForConditionalGeneration`, or the equivalent of another of the `ARCHITECTURES`.
        tokenizer: The model's tokenizer.
        image_processor: The model's image processor; Pillow's version needs no torchvision.
        dialect: Prompt, action grammar and coordinate frame of the model family. None means UI-TARS, with coordinates
            up to 1000 unless the model is a Qwen2.5-VL.
        max_prompt_length: Maximum number of prompt tokens (table 5 of the paper).

    Attributes:
        chat: Renders turns as tokens.
        eos: The end-of-turn token.
        banned: Tokens that no response may contain, because a prompt that quotes them would be a different prompt.
        training: Hyper-parameters to train it with, as they are saved beside its weights (`training_settings.py`).
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        image_processor: Any,
        dialect: Dialect | None = None,
        max_prompt_length: int = 32_768,
    ) -> None:
        require_whole(1, max_prompt_length=max_prompt_length)
        check_architecture(model.config.model_type, f"the {type(model).__name__}")
        enable_tree_attention(model)
        speed_up_vision(model)
        self.model = model
        self.tokenizer = tokenizer
        self.image_processor = image_processor
        self.dialect: Dialect = dialect or choose_dialect(None, _default_dialect(model.config))
        self.max_prompt_length = max_prompt_length
        self.chat = ChatML(tokenizer, image_processor)
        self.eos = self.chat.turn_end
        self.banned = _banned_ids(model.config, tokenizer, self.eos)
        self.training: Mapping[str, Any] = {}
        self._observations: dict[int, tuple[weakref.ref[Observation], Segment]] = {}

    @classmethod
    def load(
        cls,
        policy: "PolicySource",
        dialect: Dialect | str | None = None,
        device: str | torch.device = "auto",
        dtype: torch.dtype | Literal["auto"] | None = None,
        min_pixels: int | None = None,
        max_pixels: int | None = None,
    ) -> "Policy":
        """Loads a policy.

        Args:
            policy: One of `SHIPPED`, a directory, a hub id, a pair (model, processor), or a policy, which is moved to
                `device` and returned.
            dialect: Overrides the dialect that the directory names, by an object or a name of
                `coach_gym.dialects.DIALECTS`; the default is UI-TARS.
            device: Device of the weights. `"auto"` is CUDA if available, and leaves a policy where it is.
            dtype: Precision of the weights; None keeps the stored one on an accelerator and means float32 on a CPU.
                `"auto"` keeps it on a CPU too: the weights then are views of the file, of which all processes of a
                machine share one copy in memory.
            min_pixels: Overrides the dialect's lower bound of an image's area.
            max_pixels: Overrides the dialect's upper bound of an image's area.

        Raises:
            ValueError: The architecture is not one of `ARCHITECTURES`, or the dialect is unknown, or a policy has
                another one, or there is no such device. Nothing has been loaded by then.
            TypeError: A pair is none of a model and a processor.
        """
        if isinstance(policy, Policy):
            if dialect not in (None, policy.dialect, type(policy.dialect).__name__):
                named = dialect if isinstance(dialect, str) else f"{type(dialect).__name__}(...)"
                raise ValueError(
                    f"dialect={named} contradicts the {type(policy.dialect).__name__} of the Policy; make the policy "
                    f"with it: Policy(model, tokenizer, image_processor, dialect)"
                )
            choose_dialect(policy.dialect, {}, min_pixels, max_pixels)
            if device != "auto":
                policy.model.to(as_device(device))
            return policy
        require_source(policy=policy)
        device = as_device(device)
        if isinstance(policy, tuple):
            loaded, processor = policy
            default = _default_dialect(loaded.config)  # type: ignore[arg-type]
            chosen = choose_dialect(dialect, default, min_pixels, max_pixels)
            return cls(loaded.to(device), processor.tokenizer, processor.image_processor, chosen)
        path = str(SHIPPED.get(policy, policy) if isinstance(policy, str) else policy)
        kept: Any = dtype or (torch.float32 if device.type == "cpu" else "auto")
        config = read_config(base_of(path))
        stored = stored_settings(Path(path)) or _default_dialect(config)
        chosen = choose_dialect(dialect, stored, min_pixels, max_pixels)
        try:
            model: Any = AutoModelForImageTextToText.from_pretrained(path, config=config, dtype=kept)
        except SafetensorError as error:
            raise ValueError(f"the weights of {path} are damaged ({error}); restore them") from error
        name_base(model, path)
        return cls.around(model.to(device), path, chosen)

    @classmethod
    def around(cls, model: Any, path: str | Path, dialect: Dialect | str | None = None) -> "Policy":
        """Makes a policy of a model and everything else from a directory or hub id."""
        image_processor = Qwen2VLImageProcessorPil.from_pretrained(path)
        tokenizer = AutoTokenizer.from_pretrained(path)
        stored = stored_settings(Path(path)) or _default_dialect(model.config)
        made = cls(model, tokenizer, image_processor, choose_dialect(dialect, stored))
        made.training = read_training_settings(Path(path))
        return made

    def save(self, directory: str | Path) -> None:
        """Writes a directory that `load`, transformers and vLLM can read.

        Raises:
            ValueError: The dialect would not be found again (`coach_gym.dialects.names`); nothing has been written.
        """
        settings_of(self.dialect)
        save_model(self.model, directory)
        self.save_processor(directory)

    def save_processor(self, directory: str | Path) -> None:
        """Writes everything but the model: tokenizer, image processor, dialect and hyper-parameters."""
        directory = Path(directory)
        self.tokenizer._set_processor_class(None)  # AutoProcessor then chooses by the model, as `processor.py` has it
        self.tokenizer.save_pretrained(directory)
        self.image_processor.save_pretrained(directory)
        store_dialect(self.dialect, directory)
        write_training_settings(self.training, directory)

    def merged(self) -> "Policy":
        """Returns a copy, on the CPU, whose weights have the adapters merged in, as engines without peft need it."""
        whole = copy(self)
        whole.model = merged_model(self.model)
        enable_tree_attention(whole.model)
        speed_up_vision(whole.model)
        return whole

    @property
    def device(self) -> torch.device:
        """Device of the passes."""
        return pass_device(self.model)

    def frame(self, observation: Observation) -> Frame:
        """Returns the coordinate frame of an observation's screenshot."""
        height, width = observation.screenshot.shape[:2]
        return self.dialect.frame(width, height, self.chat.token_side).showing(observation.ui)

    def encode_opening(self, goal: str, frame: Frame) -> Segment:
        """Returns the tokens before the first observation."""
        return join(self.chat.turn(role, parts) for role, parts in self.dialect.opening(goal, frame))

    def encode_observation(self, goal: str, steps: Sequence[Step], observation: Observation) -> Segment:
        """Returns the tokens of the turn that shows `observation` after `steps`, and the start of the answer.

        Each observation is rendered, tokenised and preprocessed once.
        """
        key = id(observation)
        known = self._observations.get(key)
        if known is not None and known[0]() is observation:
            return known[1]
        frame = self.frame(observation)
        previous = [step.candidates[step.executed].text for step in steps]
        parts = self.dialect.observation(goal, observation, len(steps), frame, previous)
        images = [self.chat.encode_image(picture, frame) for picture in pictures(parts, observation)]
        segment = self.chat.turn("user", parts, images) + self.chat.generation_prompt
        forget = weakref.ref(observation, lambda _: self._observations.pop(key, None))
        self._observations[key] = (forget, segment)
        return segment

    def prompt(self, goal: str, steps: Sequence[Step], observation: Observation) -> Prompt:
        """Returns the prompt for `observation` after `steps`: opening, history, observation.

        The prompt of the previous step is its prefix, token for token, except where old steps are dropped to stay
        within `max_prompt_length` (`History.starts`).
        """
        history = self.history(goal, steps, observation)
        return history.prompt(self.starts(history)[-1], len(steps))

    def starts(self, history: History) -> list[int]:
        """Returns the first step shown in the prompt of each step (`History.starts`)."""
        return history.starts(self.max_prompt_length, self.dialect.max_turns)

    def history(self, goal: str, steps: Sequence[Step], observation: Observation | None = None) -> History:
        """Returns the segments of an episode.

        Args:
            goal: The instruction.
            steps: The steps so far.
            observation: The state after the last step, if the model is to answer it.
        """
        shown = [step.observation for step in steps] + ([] if observation is None else [observation])
        return History(
            opening=self.encode_opening(goal, self.frame(shown[0])),
            observations=[self.encode_observation(goal, steps[:t], seen) for t, seen in enumerate(shown)],
            responses=[self.chat.response(step.candidates[step.executed].token_ids) for step in steps],
        )

    def position_ids(self, segment: Segment, start: int = 0) -> tuple[Tensor, int]:
        """Returns the rotary positions, (3, L), of a segment that begins at position `start`, and the next one."""
        grids = [image.grid for image in segment.images]
        return rope_index(segment.input_ids, grids, self.chat.image_pad, self.chat.merge_size, start)

    def candidate(self, token_ids: list[int], logprobs: list[float]) -> Candidate:
        """Makes a candidate of the tokens of a response and their log-probabilities."""
        return Candidate(self.chat.decode(token_ids), token_ids, logprobs)

    def parse(self, text: str, frame: Frame) -> str:
        """Returns the canonical action text of a response, in screen pixels.

        A response that is not an action is returned unchanged, so that the environment reports the error to the agent.
        """
        try:
            thought, action = self.dialect.parse(text, frame)
        except ActionError:
            return text
        return format_action(action, thought)

    def is_action(self, text: str, frame: Frame) -> bool:
        """Returns whether a response is an action; the environment can only report any other text as an error."""
        try:
            self.dialect.parse(text, frame)
        except ActionError:
            return False
        return True

    def log_probs(self, logits: Tensor, temperature: float = 1.0) -> Tensor:
        """Computes the log-probabilities under which responses are drawn and scored.

        Args:
            logits: Logits of any precision, (..., vocabulary).
            temperature: Divides the logits.

        Returns:
            Log-probabilities in float32, of the same shape; -inf for banned tokens.
        """
        allowed = (logits.float() / temperature).index_fill(-1, self._banned_index(logits.device), float("-inf"))
        return allowed.log_softmax(-1)

    def _banned_index(self, device: torch.device) -> Tensor:
        return torch.tensor(self.banned, dtype=torch.long, device=device)


@runtime_checkable
class Processor(Protocol):
    """What transformers' `AutoProcessor` loads for a vision-language model."""

    tokenizer: Any
    image_processor: Any


PolicySource = str | Path | tuple[nn.Module, Processor] | Policy
"""A source for `Policy.load`: one of `SHIPPED`, a directory, a hub id, (model, processor), or a policy."""


def require_source(**sources: object) -> None:
    """Checks that arguments can be sources of models, as far as that is seen before one is loaded.

    Raises:
        TypeError: A pair is none of a model and a processor.
        ValueError: A name is empty.
    """
    for name, source in sources.items():
        if isinstance(source, str) and not source.strip():
            raise ValueError(f"{name}={source!r} names no model; pass 'pocket', a directory or a hub id")
        if isinstance(source, tuple) and not _is_pair(source):
            raise WrongType(
                f"{name}={source!r:.60} is no pair of a model and its processor; pass both as transformers loads them: "
                f"(model, processor)"
            )


def _is_pair(source: tuple[Any, ...]) -> bool:
    return len(source) == 2 and isinstance(source[0], nn.Module) and isinstance(source[1], Processor)


def _banned_ids(config: Any, tokenizer: Any, eos: int) -> list[int]:
    """Tokens that stand for pixels or padding, except for the end of a turn."""
    vision = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id", "vision_token_id")
    ids: set[Any] = {getattr(config, name, None) for name in vision}
    ids |= {tokenizer.pad_token_id, tokenizer.convert_tokens_to_ids(VISION_PAD)}
    return sorted(token for token in ids if token not in (None, eos, tokenizer.unk_token_id))


def as_device(device: str | torch.device) -> torch.device:
    """Returns the device of a name; `"auto"` is CUDA if available.

    Raises:
        TypeError: It is no name of a device.
        ValueError: There is no such device, or it holds no numbers, as torch's meta device.
    """
    if not isinstance(device, str | torch.device):
        raise WrongType(f"device={device!r:.60} is of type {type(device).__name__}; pass 'auto', 'cpu' or 'cuda'")
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"device={str(device)!r} cannot be used ({reason}); pass 'auto', 'cpu' or 'cuda'") from error
    return torch.device(device)


def base_of(path: str) -> str:
    """Returns where a model's configuration is: beside its weights, or beside those that its adapters belong to."""
    if not (Path(path) / ADAPTER).is_file() or (Path(path) / "config.json").is_file():
        return path
    return json.loads((Path(path) / ADAPTER).read_text("utf-8"))["base_model_name_or_path"]


def _default_dialect(config: Any) -> dict[str, Any]:
    """UI-TARS, with coordinates up to 1000 unless the model is a Qwen2.5-VL."""
    return {"dialect": "UITars", "scale": None if config.model_type == "qwen2_5_vl" else 1000}
