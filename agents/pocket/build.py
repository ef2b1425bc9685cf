"""Architecture and tokenizer of the pocket model: a Qwen2.5-VL small enough to train on one CPU core."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import PreTrainedTokenizerFast, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from coach_gym.agents.models.policy import Policy
from coach_gym.dialects import UITars
from coach_gym.envs.tasks import words as pools

Pasts = tuple[tuple[Tensor, Tensor, int], ...]
"""Subspaces of a head's queries and keys, and the number of their dimensions that it compares."""

VOCABULARY = Path(__file__).parent / "vocabulary.txt"
MIN_PIXELS, MAX_PIXELS = 28 * 28 * 32, 28 * 28 * 36
"""A 270x600 screen becomes 112x224: 32 visual tokens, and coordinates below 224."""

SPECIALS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
            "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>")
GRAMMAR = ("Thought:", "\nAction: click(start_box='(", "\nAction: long_press(start_box='(",
           "\nAction: scroll(start_box='(", "\nAction: drag(start_box='(", "\nAction: type(content='",
           "\nAction: open_app(app_name='", "\nAction: finished(content='", "\nAction: press_back()",
           "\nAction: press_home()", "\nAction: press_enter()", "\nAction: wait()", ")', direction='",
           ")', end_box='(", ")')", "')", "<think>", "</think>", " judgment:")
"""Frequent chunks of the action grammar, one token each, which leaves fewer tokens to sample and to get wrong."""

FILE_ENDINGS = (".md", ".txt", ".png", ".jpg", ".pdf", ".mp4", ".mp3", ".wav", ".zip", ".csv", ".html")
"""One token each, so that what tells one file from another stands close to its end."""

NUMBER = r" ?(?<![0-9])(?:2[0-4][0-9]|25[0-5]|1[0-9][0-9]|[0-9]{1,2})(?![0-9])| ?(?<![0-9])[0-9]{1,2}|[0-9]{1,2}"
WORD = r" ?[\p{L}\p{M}]+"
ENDING = rf"(?:{'|'.join(FILE_ENDINGS)})(?![\p{{L}}0-9])".replace(".", r"\.")
LETTERS = re.compile(r"[^\W\d_]+")
OTHER = r" ?[^\s\p{L}\p{M}0-9]|\s"
SPACE = "Ġ"
"""The space in byte-level BPE."""
MERGES = 2600  # enough to make a token of every known word
SCREEN_LINES = 22
SHOWN = (
    pools.FIRST_NAMES, pools.LAST_NAMES, pools.NOUNS, pools.ADJECTIVES, pools.CITIES, pools.STREETS, pools.EVENTS,
    pools.TODOS, pools.PURCHASES, pools.DISHES, pools.MESSAGES, pools.SENTENCES,
)  # fmt: skip
"""What training instances are made of; the words of validation and test are not known."""
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{% if c.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif c.type == 'text' %}{{ c.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def vocabulary_words() -> list[str]:
    """Returns the words of screens and goals five times and others once, so that the former become tokens first."""
    lines = VOCABULARY.read_text(encoding="utf-8").splitlines()
    screens, names = " ".join(lines[:SCREEN_LINES]).split(), " ".join(lines[SCREEN_LINES:]).split()
    return screens * 5 + names + [word for pool in SHOWN for entry in pool.train for word in LETTERS.findall(entry)]


def _word_merges(words: list[str]) -> list[tuple[str, str]]:
    """BPE merges of `words`, each without its space."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(vocab_size=256 + MERGES, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator(words, trainer)
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def _number_merges() -> list[tuple[str, str]]:
    """Merges for single tokens of 0 to 99, 00 to 99 and most of 100 to 255: coordinates, hours, phone digits."""
    digits = "0123456789"
    return [(a, b) for a in digits for b in digits] + [(str(n)[:2], str(n)[2]) for n in range(100, 256)]


def build_tokenizer() -> PreTrainedTokenizerFast:
    """Makes a byte-level BPE in which " word" has the pieces of "word", with the space on the first one.

    Spaces merge last and with every piece, so a name is split the same way in a goal (" Anna"), a label ("Anna") and a
    typed text ('Anna'). A small model needs that to copy.
    """
    merges = _word_merges(vocabulary_words() + list(FILE_ENDINGS) * 5) + _number_merges()
    pieces = sorted(pre_tokenizers.ByteLevel.alphabet()) + list(dict.fromkeys(a + b for a, b in merges))
    initials = [piece for piece in pieces if piece.isascii() and piece not in FILE_ENDINGS]
    merges += [(SPACE, piece) for piece in initials]
    pieces += [SPACE + piece for piece in initials]
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
    split = pre_tokenizers.Split(Regex(f"{ENDING}|{NUMBER}|{WORD}|{OTHER}"), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def build_image_processor() -> Qwen2VLImageProcessorPil:
    """Makes the image processor with the pocket model's bounds on pixels."""
    return Qwen2VLImageProcessorPil(size={"shortest_edge": MIN_PIXELS, "longest_edge": MAX_PIXELS})


def build_config(tokenizer: PreTrainedTokenizerFast, hidden: int = 128, layers: int = 4, heads: int = 4,
                 intermediate: int = 256) -> Qwen2_5_VLConfig:
    """Makes a configuration with untied embeddings and a large initial scale.

    vLLM reloads tied embeddings wrongly, and a model of this size does not learn from an initial scale of 0.02.
    """
    token: Any = tokenizer.convert_tokens_to_ids
    return Qwen2_5_VLConfig(
        text_config=dict(
            vocab_size=len(tokenizer), hidden_size=hidden, intermediate_size=intermediate,
            num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=heads,
            max_position_embeddings=32768, rms_norm_eps=1e-6, initializer_range=0.05,
            bos_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id, use_sliding_window=False, tie_word_embeddings=False,
            rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": [4, 6, 6]}),
        vision_config=dict(
            depth=2, hidden_size=64, intermediate_size=128, num_heads=2, out_hidden_size=hidden,
            patch_size=14, spatial_merge_size=2, temporal_patch_size=2, window_size=112,
            fullatt_block_indexes=[0, 1], initializer_range=0.1),
        image_token_id=token("<|image_pad|>"), video_token_id=token("<|video_pad|>"),
        vision_start_token_id=token("<|vision_start|>"), vision_end_token_id=token("<|vision_end|>"),
        tie_word_embeddings=False)


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int = 0, **size: int) -> Qwen2_5_VLForConditionalGeneration:
    """Makes an untrained model of about 2.5 million weights, most of them embeddings, which stay as they are drawn."""
    torch.manual_seed(seed)
    config = build_config(tokenizer, **size)
    config._attn_implementation = "sdpa"
    model = Qwen2_5_VLForConditionalGeneration(config)
    _plant_copying(model, tokenizer)
    for codes in (model.model.language_model.embed_tokens, model.lm_head):
        codes.weight.requires_grad_(False)  # what is learned about copying then holds for all tokens, rare ones too
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    return model


HEAD = 32
"""Width of an attention head."""
PAST = 21
"""Dimensions in which a token notes one that stands before it."""
SLOW = 20
"""Dimensions of a head whose rotary frequencies are slow."""
SHARPNESS, MATCH, WRITE, COPY = 6.0, 2.0, 0.05, 0.15
"""Sharpness of looking back and of comparing contents; scale of what was looked up and of what is copied."""


CERTAINTY = 3.2
"""Scale of the output rows, at which one token can be nearly certain among thousands."""


def _plant_copying(model: Qwen2_5_VLForConditionalGeneration, tokenizer: PreTrainedTokenizerFast) -> None:
    """Initialises an induction circuit, which finds what followed the latest tokens earlier and copies it.

    Three heads of the first layer note at each token the three tokens before it. Three heads of the second layer look
    for places with the same past, of one, two and three tokens, and copy what follows there (Olsson et al. 2022,
    "In-context learning and induction heads"). Training from random weights must find this circuit first and stays at
    chance for a long time; from here it takes minutes. The circuit is trained like the rest afterwards.
    """
    text = model.model.language_model
    hidden = text.config.hidden_size
    basis = torch.linalg.qr(torch.randn(hidden, hidden))[0]
    own, pasts = basis[: hidden // 2], basis[hidden // 2 :].split(PAST)[:3]
    _embed(model, tokenizer, own)
    for layer in text.layers:  # quieter than the circuit
        layer.self_attn.o_proj.weight.data /= 4
        layer.mlp.down_proj.weight.data /= 4
    frequencies = text.rotary_emb.inv_freq
    for index, past in enumerate(pasts):
        _look_back(text.layers[0].self_attn, index, index + 1, frequencies, own[:PAST], past)
    steps = list(zip((own, *pasts), pasts, strict=False))  # what a query has at hand, and the key one token later
    for index, length in enumerate((1, 2, 3)):
        compared = tuple((query, key, SLOW // length) for query, key in steps[:length])
        content = own.roll(-index * HEAD, 0)[:HEAD]
        _compare(text.layers[1].self_attn, index, compared, content)


def _embed(model: Qwen2_5_VLForConditionalGeneration, tokenizer: PreTrainedTokenizerFast, space: Tensor) -> None:
    """Initialises embeddings within `space`: " word" near "word", and output rows equal to input rows.

    Copying then needs no dictionary. Neither matrix is trained: otherwise the rows of rare tokens are only ever pushed
    away, and a model that copies every frequent word does not copy those.
    """
    embedding, vocabulary = model.model.language_model.embed_tokens.weight, tokenizer.get_vocab()
    rows = 0.07 * torch.randn(len(embedding), len(space)) @ space
    shift = 0.03 * torch.randn(len(space)) @ space
    for token, index in vocabulary.items():
        if token.startswith(SPACE) and token[1:] in vocabulary:
            rows[index] = rows[vocabulary[token[1:]]] + shift
    embedding.data.copy_(rows)
    model.lm_head.weight.data.copy_(CERTAINTY * rows)


def _look_back(
    attention: Any, index: int, offset: int, frequencies: Tensor, source: Tensor, target: Tensor
) -> None:
    """Makes a head attend to the token `offset` places back and write its part in `source` to `target`.

    Query and key are constants, rotated against each other so that their product peaks at that distance.
    """
    rows = _clear(attention, index)
    angles = offset * frequencies
    attention.q_proj.bias.data[rows] = SHARPNESS * torch.cat([angles.cos(), -angles.sin()])
    attention.k_proj.bias.data[rows] = SHARPNESS * torch.cat([torch.ones_like(angles), torch.zeros_like(angles)])
    attention.v_proj.weight.data[rows] = 0
    attention.v_proj.weight.data[rows][: len(source)] = source
    attention.o_proj.weight.data[:, rows][:, : len(target)] = WRITE * target.T


def _compare(attention: Any, index: int, pasts: Pasts, content: Tensor) -> None:
    """Makes a head attend where the keys' past equals the queries', and copy `content`.

    Only the slow rotary pairs are used, because the fast ones would blur the comparison over distance.
    """
    rows = _clear(attention, index)
    fast = (HEAD - SLOW) // 2
    slow = torch.cat([torch.arange(fast, HEAD // 2), torch.arange(HEAD // 2 + fast, HEAD)])
    used = 0
    for query, key, count in pasts:
        at = index * HEAD + slow[used : used + count]
        attention.q_proj.weight.data[at] = MATCH * query[:count]
        attention.k_proj.weight.data[at] = MATCH * key[:count]
        used += count
    attention.v_proj.weight.data[rows] = content
    attention.o_proj.weight.data[:, rows] = COPY * content.T


def _clear(attention: Any, index: int) -> slice:
    """Sets a head's queries and keys to zero and returns its rows."""
    rows = slice(index * HEAD, (index + 1) * HEAD)
    attention.q_proj.weight.data[rows] = 0
    attention.k_proj.weight.data[rows] = 0
    return rows


def build_policy(seed: int = 0) -> Policy:
    """Makes an untrained pocket policy with its dialect."""
    tokenizer = build_tokenizer()
    dialect = UITars(MIN_PIXELS, MAX_PIXELS, ui_text=True)
    return Policy(build_model(tokenizer, seed), tokenizer, build_image_processor(), dialect)
