"""An episode as a tree of tokens: one trunk of what happened, short branches of what else could have.

With the full history in the prompt, the prompt of step t is a prefix of the prompt of step t + 1. So the trunk
(goal, screenshots, executed responses) is computed once for all steps, and each of the other candidates adds only
its own tokens: `L + T (k - 1) R` tokens in place of `k * sum_t (P_t + R)`. A mask lets a branch see the trunk up to
its prompt and itself, and its positions continue there, so that every token sees exactly what it would see in a
sequence of its own. `separate_log_probs` is that plain computation, and the tests hold the two equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from coach_gym.episode import Candidate, Episode

from .chatml import ImageInput, Segment, stack_images
from .history import History
from .policy import Policy
from .tree_attention import NAME as TREE_ATTENTION
from .tree_attention import StepBranches, text_attention

Candidates = Literal["all", "executed"]


@dataclass(frozen=True)
class Span:
    """Where one candidate's response lies in a packed sequence.

    Attributes:
        prompt_end: columns [0, prompt_end) are its prompt.
        start: column of its first token.
        length: number of its tokens.
    """

    prompt_end: int
    start: int
    length: int

    @property
    def stop(self) -> int:
        """Column after its last token."""
        return self.start + self.length

    def tokens(self) -> list[int]:
        """Columns of the response's tokens."""
        return list(range(self.start, self.stop))

    def predictors(self) -> list[int]:
        """Columns whose logits predict the response's tokens: the prompt's last, then all tokens but the last."""
        return [self.prompt_end - 1, *self.tokens()[:-1]]


@dataclass
class Trunk:
    """A run of steps whose prompts extend one another, packed in one sequence of L tokens.

    Attributes:
        input_ids: (1, L): the trunk, then the branches in the order of their steps.
        position_ids: (3, 1, L), the rotary positions.
        images: the screenshots, in order.
        length: tokens of the trunk itself.
        branches: for each step that has any, its branches.
        spans: for each step of the run, for each candidate, where its response lies.
    """

    input_ids: Tensor
    position_ids: Tensor
    images: list[ImageInput]
    length: int
    branches: list[list[Span]]
    spans: list[list[Span]]

    def forward_arguments(self, model: Any) -> dict[str, Any]:
        """Arguments of a forward pass of `model`, a Qwen2.5-VL, over the sequence."""
        return {
            "input_ids": self.input_ids.to(model.device),
            "position_ids": self.position_ids.to(model.device),
            "use_cache": False,
            **stack_images(self.images, model.device),
            **self._attention(model),
        }

    def _attention(self, model: Any) -> dict[str, Any]:
        if not self.branches:
            return {"attention_mask": None}
        if text_attention(model) != TREE_ATTENTION:
            return {"attention_mask": _additive(self.mask(), model)}
        branches = [StepBranches(*_bounds(step), _additive(_step_mask(step), model)) for step in self.branches]
        return {"attention_mask": None, "branches": branches, "trunk_length": self.length}

    def mask(self) -> Tensor:
        """Who sees whom, (1, 1, L, L) bool, True where a token (row) sees another (column)."""
        length = self.input_ids.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        for span in (span for step in self.branches for span in step):
            mask[span.start : span.stop, span.prompt_end : span.start] = False
        return mask[None, None]


def _bounds(step: list[Span]) -> tuple[int, int, int]:
    return step[0].prompt_end, step[0].start, step[-1].stop


def _step_mask(step: list[Span]) -> Tensor:
    """Who of a step's branches sees what of their prompt and of each other, (1, 1, tokens, prompt + tokens) bool."""
    prompt_end, start, stop = _bounds(step)
    among = torch.block_diag(*[torch.ones(span.length, span.length) for span in step]).bool().tril()
    return torch.cat([torch.ones(stop - start, prompt_end, dtype=torch.bool), among], dim=1)[None, None]


def _additive(mask: Tensor, model: Any) -> Tensor:
    """A boolean mask as what is added to the scores, which all attention implementations understand alike."""
    shut = torch.zeros(mask.shape, dtype=model.dtype).masked_fill_(~mask, torch.finfo(model.dtype).min)
    return shut.to(model.device)


@dataclass
class Tree:
    """An episode's trunks in order: one, or one more for every time that the history was cut."""

    trunks: list[Trunk]


def build_tree(policy: Policy, episode: Episode, candidates: Candidates = "all") -> Tree:
    """Packs an episode.

    Args:
        policy: renders and tokenises the prompts; also for a critic, which reads the same tokens.
        episode: at least one step, with all candidates' token ids.
        candidates: which responses get a span: every candidate of every step, or the executed ones only.
    """
    history = policy.history(episode.goal, episode.steps)
    starts = history.starts(policy.max_prompt_length)
    trunks, first = [], 0
    for step in range(1, len(starts) + 1):
        if step == len(starts) or starts[step] != starts[first]:
            trunks.append(_pack(policy, history, episode, range(first, step), starts[first], candidates))
            first = step
    return Tree(trunks)


def _pack(policy: Policy, history: History, episode: Episode, run: range, start: int, candidates: Candidates) -> Trunk:
    """Packs the steps of `run`, whose prompts all show the history from step `start` on."""
    steps = [episode.steps[t] for t in run]
    executed = [step.candidates[step.executed].token_ids for step in steps]
    whole = history.prompt(start, run[-1]) + Segment(executed[-1])
    input_ids, branches, spans = list(whole.input_ids), [], []
    for step, end, token_ids in zip(steps, history.prompt_lengths(start, run), executed, strict=True):
        # Equal responses share their tokens, and the executed one is on the trunk already.
        known = {tuple(token_ids): Span(end, end, len(token_ids))}
        chosen = step.candidates if candidates == "all" else [step.candidates[step.executed]]
        added = []
        for response in dict.fromkeys(tuple(candidate.token_ids) for candidate in chosen):
            if response not in known:
                known[response] = Span(end, len(input_ids), len(response))
                added.append(known[response])
                input_ids += response
        branches += [added] if added else []
        spans.append([known[tuple(candidate.token_ids)] for candidate in chosen])
    position_ids = _positions(policy.position_ids(whole)[0], branches)
    return Trunk(torch.tensor([input_ids]), position_ids, whole.images, len(whole), branches, spans)


def _positions(trunk: Tensor, branches: list[list[Span]]) -> Tensor:
    """Positions (3, 1, L): a branch begins where the trunk's own response to its prompt begins."""
    starts = [trunk[:, span.prompt_end, None] + torch.arange(span.length) for step in branches for span in step]
    return torch.cat([trunk, *starts], dim=1)[:, None]


def log_probs(policy: Policy, tree: Tree, temperature: float = 1.0) -> list[list[Tensor]]:
    """Log-probabilities of all responses of a tree, in one forward pass a trunk.

    Args:
        policy: scores with its current weights; gradients flow.
        tree: of `build_tree`.
        temperature: that of the sampling.

    Returns:
        For every step and candidate the log-probabilities of its tokens, float32 of shape (R,).
    """
    return [step for trunk in tree.trunks for step in _trunk_log_probs(policy, trunk, temperature)]


def _trunk_log_probs(policy: Policy, trunk: Trunk, temperature: float) -> list[list[Tensor]]:
    spans = [span for step in trunk.spans for span in step]
    predictors = torch.tensor([column for span in spans for column in span.predictors()])
    tokens = trunk.input_ids[0, [column for span in spans for column in span.tokens()]]
    arguments = trunk.forward_arguments(policy.model)
    logits = policy.model(**arguments, logits_to_keep=predictors.to(policy.device)).logits[0]
    scored = policy.log_probs(logits, temperature).gather(1, tokens.to(policy.device)[:, None])[:, 0]
    return group(scored.split([span.length for span in spans]), trunk.spans)


def group(values: Sequence[Tensor], like: Sequence[Sequence[Span]]) -> list[list[Tensor]]:
    """Regroups one value a span, in order, by step."""
    remaining = iter(values)
    return [[next(remaining) for _ in step] for step in like]


def separate_log_probs(policy: Policy, episode: Episode, temperature: float = 1.0) -> list[list[Tensor]]:
    """The reference: what `log_probs` computes, with one sequence for every candidate of every step."""
    scored = []
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
        scored.append([sequence_log_probs(policy, prompt, candidate, temperature) for candidate in step.candidates])
    return scored


def sequence_log_probs(policy: Policy, prompt: Segment, candidate: Candidate, temperature: float = 1.0) -> Tensor:
    """Log-probabilities (R,) of one response after its prompt, in a sequence of their own."""
    sequence = prompt + Segment(candidate.token_ids)
    positions, _ = policy.position_ids(sequence)
    tokens = torch.tensor(candidate.token_ids, device=policy.device)
    logits = policy.model(
        input_ids=torch.tensor([sequence.input_ids], device=policy.device),
        position_ids=positions[:, None].to(policy.device),
        use_cache=False,
        logits_to_keep=len(tokens) + 1,
        **stack_images(sequence.images, policy.device),
    ).logits[0, :-1]
    return policy.log_probs(logits, temperature).gather(1, tokens[:, None])[:, 0]
