"""Architecture and tokenizer of the pocket model: a Qwen2.5-VL small enough to train on one CPU core."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from coach_gym.agents.policy import Policy
from coach_gym.dialects import UITars

VOCABULARY = Path(__file__).parent / "vocabulary.txt"
MIN_PIXELS, MAX_PIXELS = 28 * 28 * 8, 28 * 28 * 10
"""A 270x600 screen becomes 56x112: eight visual tokens, and coordinates below 112."""

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
            "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>")
ROLES = ("<|im_start|>user\n", "<|im_start|>assistant\n", "<|im_start|>system\n")
GRAMMAR = ("Thought:", "\nAction: click(start_box='(", "\nAction: long_press(start_box='(",
           "\nAction: scroll(start_box='(", "\nAction: drag(start_box='(", "\nAction: type(content='",
           "\nAction: open_app(app_name='", "\nAction: finished(content='", "\nAction: press_back()",
           "\nAction: press_home()", "\nAction: press_enter()", "\nAction: wait()", ")', direction='",
           ")', end_box='(", ")')", "')", "<think>", "</think>", " judgment:")
"""Frequent chunks of the action grammar, one token each: fewer tokens to sample, fewer to get wrong."""

NUMBER = r" ?(?<![0-9])(?:2[0-4][0-9]|25[0-5]|1[0-9][0-9]|[0-9]{1,2})(?![0-9])| ?(?<![0-9])[0-9]{1,2}|[0-9]{1,2}"
WORD = r" ?[\p{L}\p{M}]+"
OTHER = r" ?[^\s\p{L}\p{M}0-9]|\s"
SPACE = "Ġ"
"""How byte-level BPE writes a space."""
MERGES = 900
SCREEN_LINES = 22
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{% if c.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif c.type == 'text' %}{{ c.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def vocabulary_words() -> list[str]:
    """Words of screens and goals five times, names once: the former become whole tokens first."""
    lines = VOCABULARY.read_text(encoding="utf-8").splitlines()
    return [word for line in lines[:SCREEN_LINES] for word in line.split()] * 5 + [
        word for line in lines[SCREEN_LINES:] for word in line.split()]


def _word_merges(words: list[str]) -> list[tuple[str, str]]:
    """Ordinary BPE merges of `words`, each taken without its space."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(vocab_size=256 + MERGES, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator(words, trainer)
    import json

    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def _number_merges() -> list[tuple[str, str]]:
    """00 to 99 and 100 to 255 as single tokens: coordinates, hours, groups of phone digits."""
    digits = "0123456789"
    return [(a, b) for a in digits for b in digits] + [(str(n)[:2], str(n)[2]) for n in range(100, 256)]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE in which " word" is always the pieces of "word" with the space on the first one.

    Spaces merge last, so a name is cut the same way in a goal (" Anna"), a label ("Anna") and a typed
    text ('Anna'), which is what copying by a small model needs.
    """
    words = vocabulary_words()
    merges = _word_merges(words) + _number_merges()
    pieces = sorted(pre_tokenizers.ByteLevel.alphabet()) + list(dict.fromkeys(a + b for a, b in merges))
    space = "Ġ"
    probe = _assemble(pieces, merges)
    initials = {probe.encode(word).tokens[0] for word in words}
    initials |= {p for p in pieces if p.isascii() and (len(p) == 1 or p.isdigit())} - {space}
    merges += [(space, piece) for piece in pieces if piece in initials]
    pieces += [space + piece for piece in pieces if piece in initials]
    core = _assemble(pieces, merges)
    core.add_tokens([AddedToken(text, normalized=False, special=False) for text in GRAMMAR])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left",
        additional_special_tokens=[SPECIALS[1], *SPECIALS[3:]], model_max_length=32768,
        clean_up_tokenization_spaces=False)
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def _assemble(pieces: list[str], merges: list[tuple[str, str]]) -> Tokenizer:
    vocabulary = {text: index for index, text in enumerate((*SPECIALS, *pieces))}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    split = pre_tokenizers.Split(Regex(f"{NUMBER}|{WORD}|{OTHER}"), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def build_image_processor() -> Qwen2VLImageProcessorPil:
    return Qwen2VLImageProcessorPil(size={"shortest_edge": MIN_PIXELS, "longest_edge": MAX_PIXELS})


def build_config(tokenizer: PreTrainedTokenizerFast, hidden: int = 128, layers: int = 4, heads: int = 4,
                 intermediate: int = 256) -> Qwen2_5_VLConfig:
    """Untied embeddings (vLLM reloads tied ones wrongly) and a large initial scale (0.02 does not learn)."""
    token = tokenizer.convert_tokens_to_ids
    return Qwen2_5_VLConfig(
        text_config=dict(
            vocab_size=len(tokenizer), hidden_size=hidden, intermediate_size=intermediate,
            num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=heads,
            max_position_embeddings=32768, rms_norm_eps=1e-6, initializer_range=0.05,
            bos_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id, use_sliding_window=False, tie_word_embeddings=False,
            rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": [4, 6, 6]}),
        vision_config=dict(
            depth=1, hidden_size=64, intermediate_size=128, num_heads=2, out_hidden_size=hidden,
            patch_size=14, spatial_merge_size=2, temporal_patch_size=2, window_size=112,
            fullatt_block_indexes=[0], initializer_range=0.1),
        image_token_id=token("<|image_pad|>"), video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"), vision_end_token_id=token("<|vision_end|>"),
        tie_word_embeddings=False)


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int = 0, **size: int) -> Qwen2_5_VLForConditionalGeneration:
    """A model from nothing whose output rows start equal to its input rows, " word" equal to "word".

    Both only at the start (the matrices are untied): copying then needs no dictionary learned first.
    """
    torch.manual_seed(seed)
    config = build_config(tokenizer, **size)
    config._attn_implementation = "sdpa"
    model = Qwen2_5_VLForConditionalGeneration(config)
    _plant_copying(model, tokenizer)
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    return model


def _plant_copying(model: Qwen2_5_VLForConditionalGeneration, tokenizer: PreTrainedTokenizerFast) -> None:
    """Starts the model with an induction circuit: find what followed the last token before, and copy it."""
    text = model.model.language_model
    hidden, head = text.config.hidden_size, 32
    basis = torch.linalg.qr(torch.randn(hidden, hidden))[0]
    own, one, two = basis[: hidden // 2], basis[hidden // 2 : hidden // 2 + head], basis[-head:]
    rows = torch.randn(text.config.vocab_size, hidden // 2) @ own * 0.07
    shift = torch.randn(hidden // 2) @ own * 0.03
    vocabulary = tokenizer.get_vocab()
    for token, index in vocabulary.items():
        if token.startswith("Ġ") and token[1:] in vocabulary:
            rows[index] = rows[vocabulary[token[1:]]] + shift
    text.embed_tokens.weight.data.copy_(rows)
    model.lm_head.weight.data.copy_(rows)
    for layer in text.layers:
        layer.self_attn.o_proj.weight.data /= 4
        layer.mlp.down_proj.weight.data /= 4
    first, second = text.layers[0].self_attn, text.layers[1].self_attn
    frequencies = 1e6 ** (-torch.arange(head // 2) / (head // 2))
    for index, (offset, target) in enumerate(((1, one), (2, two))):
        span = slice(index * head, (index + 1) * head)
        first.q_proj.weight.data[span] = 0
        first.k_proj.weight.data[span] = 0
        first.q_proj.bias.data[span] = 6 * torch.cat(
            [torch.cos(offset * frequencies), -torch.sin(offset * frequencies)])
        first.k_proj.bias.data[span] = 6 * torch.cat([torch.ones(head // 2), torch.zeros(head // 2)])
        first.v_proj.weight.data[span] = own[:head]
        first.o_proj.weight.data[:, span] = 0.05 * target.T
    slow = torch.cat([torch.arange(6, 16), torch.arange(22, 32)])     # turn too slowly to blur contents
    n = len(slow)
    for index, pairs in enumerate((((own, one, n),), ((own, one, n // 2), (one, two, n // 2)))):
        span = slice(index * head, (index + 1) * head)
        for projection in (second.q_proj, second.k_proj):
            projection.weight.data[span] = 0
        used = 0
        for query, key, count in pairs:
            at = index * head + slow[torch.arange(used, used + count)]
            second.q_proj.weight.data[at] = 2 * query[:count]
            second.k_proj.weight.data[at] = 2 * key[:count]
            used += count
        second.v_proj.weight.data[span] = own[index * head : (index + 1) * head]
        second.o_proj.weight.data[:, span] = 0.15 * own[index * head : (index + 1) * head].T


def build_policy(seed: int = 0) -> Policy:
    """An untrained pocket policy, with its dialect and frame."""
    tokenizer = build_tokenizer()
    dialect = UITars(MIN_PIXELS, MAX_PIXELS, ui_text=True)
    return Policy(build_model(tokenizer, seed), tokenizer, build_image_processor(), dialect)
