"""`coach-gym label`: labels a policy's responses to the states of demonstrations, for judge and critic.

coach-gym label runs/data/androidcontrol --policy ByteDance-Seed/UI-TARS-1.5-7B --reasons openai:gpt-4o

The same command continues what was interrupted, and asks again for reasons that did not come.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from coach_gym.checks import require_whole
from coach_gym.cli.refusals import path, refusing
from coach_gym.files import require_folders
from coach_gym.hub import require_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of the command."""
    parser.add_argument("episodes", type=path, nargs="+", help="folders that coach-gym data wrote")
    parser.add_argument("--policy", default="pocket", help="'pocket', a directory or a hub id (default: %(default)s)")
    parser.add_argument("--generation", default="transformers", help="'transformers', 'vllm' or a server's address")
    parser.add_argument("--candidates", type=int, default=8, help="responses in every state (default: %(default)s)")
    parser.add_argument("--temperature", type=float, default=1.0, help="of the responses (default: %(default)s)")
    parser.add_argument("--max-new-tokens", type=int, default=512, help="of a response (default: %(default)s)")
    parser.add_argument("--max-prompt-length", type=int, default=32_768, help="in tokens (default: %(default)s)")
    parser.add_argument(
        "--near", type=float, default=0.14, help="same place, as a share of the screen's width (default: %(default)s)"
    )
    parser.add_argument("--samples", type=int, default=20_000, help="labels to keep at most (default: %(default)s)")
    parser.add_argument("--reasons", help="model that says why: openai:MODEL, openai:MODEL@URL (default: no reasons)")
    parser.add_argument("--verifier", help="judge that checks the demonstrations: openai:MODEL (default: no check)")
    parser.add_argument("--seed", type=int, default=0, help="of draws and choices (default: %(default)s)")
    parser.add_argument("--out", type=path, default=Path("runs/labels"), help="folder (default: %(default)s)")
    parser.set_defaults(run=label)


def label(
    episodes: Sequence[Path],
    policy: str,
    generation: str,
    candidates: int,
    temperature: float,
    max_new_tokens: int,
    max_prompt_length: int,
    near: float,
    samples: int,
    reasons: str | None,
    verifier: str | None,
    seed: int,
    out: Path,
) -> None:
    """Labels responses; the options are those of the command line."""
    with refusing():
        require_model(policy)

    from coach_gym.agents.data.label import Labelling
    from coach_gym.agents.data.label import label as make_labels
    from coach_gym.agents.data.reasons import Reasons
    from coach_gym.agents.generation.make import make_generator
    from coach_gym.agents.judging.chat import spent
    from coach_gym.agents.judging.models import load_model
    from coach_gym.agents.judging.verifiers import load_verifier
    from coach_gym.agents.models.policy import Policy

    with refusing():
        require_whole(1, max_prompt_length=max_prompt_length)
        require_folders(out=out)
        settings = Labelling(policy, candidates, temperature, max_new_tokens, near, samples, seed)
        why = None if reasons is None else Reasons(load_model(reasons))
        judge = None if verifier is None else load_verifier(verifier)
        actor = Policy.load(policy)
        actor.max_prompt_length = max_prompt_length
        generator = make_generator(generation, actor)
        summary = make_labels(episodes, actor, generator, out, settings, why, judge, progress_bar=True)
    print(summary)
    if (usage := spent()).requests:
        print(f"{usage.requests} questions, {usage.failures} without an answer, {usage.prompt_tokens} tokens sent, "
              f"{usage.completion_tokens} received")  # fmt: skip
    print(f"labels are in {out}")
