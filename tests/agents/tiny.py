"""Random models of about 100,000 parameters, by default Qwen2.5-VL, and episodes for them; no downloads."""

from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoConfig, PreTrainedTokenizerFast
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from coach_gym.agents.models.architectures import untrained_model
from coach_gym.agents.models.chatml import CONTROL_TOKENS
from coach_gym.agents.models.policy import Policy
from coach_gym.dialects import Dialect, UITars
from coach_gym.episode import Candidate, Episode, Observation, Step

torch.set_num_threads(1)  # two threads on a busy machine are many times slower than one

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for c in m.content %}{% if c.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ c.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
GROUNDING_TOKENS = ["<|box_start|>", "<|box_end|>"]
CORPUS = ["Thought: Save Action: click(start_box='(77,12)') finished(content='') type press_back() 0123456789"] * 4
SCREEN = (112, 168)
"""Width and height of the test screens: 24 image tokens."""


def tokenizer() -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, initial_alphabet=alphabet, show_progress=False)
    backend.train_from_iterator(CORPUS, trainer)
    backend.add_special_tokens([*CONTROL_TOKENS, *GROUNDING_TOKENS])
    fast = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    fast.chat_template = CHAT_TEMPLATE
    return fast


def image_processor(architecture: str = "qwen2_5_vl") -> Qwen2VLImageProcessorPil:
    size = {"shortest_edge": 28 * 28, "longest_edge": 28 * 28 * 64}
    if architecture == "qwen3_vl":
        return Qwen2VLImageProcessorPil(size=size, patch_size=16, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    return Qwen2VLImageProcessorPil(size=size)


def config(
    tok: Any, hidden: int = 32, layers: int = 2, std: float = 0.1, architecture: str = "qwen2_5_vl", **text: Any
) -> Any:
    """Returns a configuration with four heads on two key-value heads and tied embeddings, like the real ones.

    Qwen2.5-VL's vision attends in windows; Qwen3-VL's enters a second layer of the text, whose heads are wider
    than its share of the hidden states.
    """
    token = tok.convert_tokens_to_ids
    text_config = dict(
        vocab_size=len(tok), hidden_size=hidden, intermediate_size=2 * hidden, num_hidden_layers=layers,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=4096,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": _sections(hidden // 8)},
        initializer_range=std, bos_token_id=None, eos_token_id=tok.eos_token_id, pad_token_id=tok.pad_token_id,
    )  # fmt: skip
    if architecture == "qwen3_vl":
        sections = {"mrope_section": _sections(hidden // 4), "mrope_interleaved": True}
        rope = {"rope_type": "default", "rope_theta": 1e6, **sections}
        text_config |= {"head_dim": hidden // 2, "rope_parameters": rope}
    else:
        text_config["use_sliding_window"] = False
    vision: dict[str, dict[str, Any]] = {
        "qwen2_vl": dict(embed_dim=32, hidden_size=hidden, mlp_ratio=2, patch_size=14),
        "qwen2_5_vl": dict(
            hidden_size=32, intermediate_size=64, out_hidden_size=hidden, patch_size=14, window_size=56,
            fullatt_block_indexes=[1],
        ),
        "qwen3_vl": dict(
            hidden_size=32, intermediate_size=64, out_hidden_size=hidden, patch_size=16, num_position_embeddings=16,
            deepstack_visual_indexes=[0],
        ),
    }  # fmt: skip
    shared = dict(depth=2, num_heads=4, spatial_merge_size=2, temporal_patch_size=2, initializer_range=std)
    return AutoConfig.for_model(
        architecture, text_config=text_config | text, vision_config=vision[architecture] | shared,
        tie_word_embeddings=True,
        image_token_id=token("<|image_pad|>"), video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"), vision_end_token_id=token("<|vision_end|>"),
    )  # fmt: skip


def _sections(half_head: int) -> list[int]:
    side = half_head * 3 // 8
    return [half_head - 2 * side, side, side]


def policy(
    seed: int = 0,
    dialect: Dialect | None = None,
    max_prompt_length: int = 32_768,
    architecture: str = "qwen2_5_vl",
    **kwargs: Any,
) -> Policy:
    tok = tokenizer()
    torch.manual_seed(seed)
    model = untrained_model(config(tok, architecture=architecture, **kwargs))
    dialect = dialect or UITars(min_pixels=28 * 28, max_pixels=24 * 28 * 28, ui_text=True)
    return Policy(model, tok, image_processor(architecture), dialect, max_prompt_length)


def observation(rng: np.random.Generator, ui: str = "") -> Observation:
    width, height = SCREEN
    label = "".join(rng.choice(list("abcdefgh"), 4))
    screen = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Observation(screen, ui or f'<Button text="{label}" bounds="[2,4][40,60]" clickable="1"/>')


def response(policy: Policy, rng: np.random.Generator, length: int | None = None) -> Candidate:
    """Returns random text tokens and the end of the turn, with made-up log-probabilities."""
    size = int(length if length is not None else rng.integers(2, 9))
    token_ids = [*rng.integers(0, 250, size).tolist(), policy.eos]
    return policy.candidate(token_ids, [-1.0] * len(token_ids))


def episode(policy: Policy, steps: int = 3, k: int = 3, seed: int = 0, goal: str = "Save the note") -> Episode:
    """Returns an episode of random states and candidates of random lengths, any of which is the executed one."""
    rng = np.random.default_rng(seed)
    made = Episode(goal, outcome=1.0, task="Tiny")
    for _ in range(steps):
        candidates = [response(policy, rng) for _ in range(k)]
        made.steps.append(Step(observation(rng), candidates, int(rng.integers(k)), "wait()"))
    return made
