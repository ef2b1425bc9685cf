"""An episode as a tree of tokens: one trunk of what happened, short branches of what else could have.

With the full history in the prompt, the prompt of step t is a prefix of the prompt of step t + 1. So the trunk
(goal, screenshots, executed responses) is computed once for all steps, and each of the other candidates adds only
its own tokens: `L + T (k - 1) R` tokens in place of `k * sum_t (P_t + R)`. A mask lets a branch see the trunk up to
its prompt and itself, and its positions continue there, so that every token sees exactly what it would see in a
sequence of its own. `separate_tree` is that plain computation, one sequence for every candidate: what takes a tree
takes it too, and the tests hold the two equal.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeVar

import torch
from torch import Tensor

from coach_gym.agents.models.chatml import ImageInput, Segment, stack_images
from coach_gym.agents.models.history import History
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree_attention import NAME as TREE_ATTENTION
from coach_gym.agents.models.tree_attention import StepBranches, sliding_window, text_attention
from coach_gym.episode import Candidate, Episode, Step

MAX_BRANCH_TOKENS = 8192
"""Tokens of branches in one pass: twice what an episode of 16 steps, 4 candidates, 80 tokens a response has."""

Candidates = Literal["all", "executed"]
Item = TypeVar("Item")


class Response(NamedTuple):
    """A candidate and its place in the episode: number of the step, number among those of its step that are packed."""

    step: int
    candidate: int
    token_ids: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """Where one candidate's response lies in a packed sequence.

    Attributes:
        prompt_end: columns [0, prompt_end) are its prompt.
        start: column of its first token.
        length: number of its tokens.
        step: number of its step in the episode.
        candidate: its number among those of its step that are packed.
    """

    prompt_end: int
    start: int
    length: int
    step: int
    candidate: int

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
    """A run of steps whose prompts extend one another, packed in one sequence of L tokens: what one pass computes.

    Attributes:
        input_ids: (1, L): the trunk, then the branches in the order of their steps.
        position_ids: (3, 1, L), the rotary positions.
        images: the screenshots, in order.
        length: tokens of the trunk itself.
        branches: for each step that has any, its branches.
        spans: for each step of the run, for each of its candidates that belong here, where its response lies.
    """

    input_ids: Tensor
    position_ids: Tensor
    images: list[ImageInput]
    length: int
    branches: list[list[Span]]
    spans: list[list[Span]]

    @property
    def responses(self) -> list[Span]:
        """All spans, in order."""
        return [span for step in self.spans for span in step]

    @property
    def prompt_ends(self) -> list[int]:
        """Last column of every step's prompt; of a step that several trunks share, in the first of them."""
        return [span.prompt_end - 1 for span in self.responses if span.candidate == 0]

    def without(self, first: int) -> "Trunk":
        """The same sequence, of whose steps the `first` leading candidates are not asked for."""
        return replace(self, spans=[[span for span in step if span.candidate >= first] for step in self.spans])

    def forward_arguments(self, model: Any) -> dict[str, Any]:
        """Arguments of a forward pass of `model`, with or without language head, over the sequence."""
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
        window = sliding_window(model)
        if text_attention(model) != TREE_ATTENTION or window is not None:
            mask: Any = _additive(self.mask(), model)
            if window is not None:
                mask = {"full_attention": mask, "sliding_attention": _additive(self.mask(window), model)}
            return {"attention_mask": mask}
        branches = [StepBranches(*_bounds(step), _additive(_step_mask(step), model)) for step in self.branches]
        return {"attention_mask": None, "branches": branches, "trunk_length": self.length}

    def mask(self, window: int | None = None) -> Tensor:
        """Who sees whom, (1, 1, L, L) bool, True where a token (row) sees another (column).

        Args:
            window: how many tokens of its own sequence, itself included, a token sees; None for all.
        """
        length = self.input_ids.shape[1]
        mask, places = torch.ones(length, length, dtype=torch.bool).tril(), torch.arange(length)
        for span in (span for step in self.branches for span in step):
            mask[span.start : span.stop, span.prompt_end : span.start] = False
            places[span.start : span.stop] = span.prompt_end + torch.arange(span.length)
        if window is not None:
            mask &= places[:, None] - places < window
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
    """An episode's trunks in order: one, and one more wherever the history was cut or the branches became too many."""

    trunks: list[Trunk]

    def by_step(self, values: Iterable[Item]) -> list[list[Item]]:
        """Groups one value a response, in order, by step."""
        spans = [span for trunk in self.trunks for span in trunk.responses]
        pairs = groupby(zip(spans, values, strict=True), key=lambda pair: pair[0].step)
        return [[value for _, value in step] for _, step in pairs]


def build_tree(
    policy: Policy, episode: Episode, candidates: Candidates = "all", max_branch_tokens: int = MAX_BRANCH_TOKENS
) -> Tree:
    """Packs an episode.

    Args:
        policy: renders and tokenises the prompts; also for a critic, which reads the same tokens.
        episode: at least one step, with all candidates' token ids.
        candidates: which responses get a span: every candidate of every step, or the executed ones only.
        max_branch_tokens: bounds the memory of a pass. More branches than that, or a longer one, are spread over
            several trunks, of which each repeats the history of its steps: a pass more, with its images.
    """
    history = policy.history(episode.goal, episode.steps)
    starts = history.starts(policy.max_prompt_length)
    chunks = _chunks(episode, _responses(episode, candidates), starts, max_branch_tokens)
    return Tree([_pack(policy, history, episode, chunk, starts[chunk[0].step]) for chunk in chunks])


def separate_tree(policy: Policy, episode: Episode, candidates: Candidates = "all") -> Tree:
    """The reference: a sequence of its own for every candidate of every step. Arguments as of `build_tree`."""
    history = policy.history(episode.goal, episode.steps)
    starts = history.starts(policy.max_prompt_length)
    responses = _responses(episode, candidates)
    return Tree([_sequence(policy, history.prompt(starts[one.step], one.step), one) for one in responses])


def _sequence(policy: Policy, prompt: Segment, response: Response) -> Trunk:
    """A response after its prompt, and nothing else."""
    whole = prompt + Segment(list(response.token_ids))
    span = Span(len(prompt), len(prompt), len(response.token_ids), response.step, response.candidate)
    positions, _ = policy.position_ids(whole)
    return Trunk(torch.tensor([whole.input_ids]), positions[:, None], whole.images, len(whole), [], [[span]])


def _responses(episode: Episode, candidates: Candidates) -> list[Response]:
    """What a tree is to have, step by step."""
    chosen = [step.candidates if candidates == "all" else [step.candidates[step.executed]] for step in episode.steps]
    return [
        Response(step, number, tuple(candidate.token_ids))
        for step, packed in enumerate(chosen)
        for number, candidate in enumerate(packed)
    ]


def _executed(step: Step) -> tuple[int, ...]:
    return tuple(step.candidates[step.executed].token_ids)


def _chunks(
    episode: Episode, responses: list[Response], starts: list[int], max_branch_tokens: int
) -> Iterator[list[Response]]:
    """Cuts the responses where the history is cut, and where branches would become more than `max_branch_tokens`."""
    chunk: list[Response] = []
    size = 0
    for response in responses:
        added = 0 if response.token_ids == _executed(episode.steps[response.step]) else len(response.token_ids)
        full = size > 0 and added > 0 and size + added > max_branch_tokens
        if chunk and (full or starts[response.step] != starts[chunk[0].step]):
            yield chunk
            chunk, size = [], 0
        chunk.append(response)
        size += added
    yield chunk


def _pack(policy: Policy, history: History, episode: Episode, chunk: list[Response], start: int) -> Trunk:
    """Packs consecutive responses, whose prompts all show the history from step `start` on."""
    run = range(chunk[0].step, chunk[-1].step + 1)
    whole = history.prompt(start, run[-1]) + Segment(list(_executed(episode.steps[run[-1]])))
    ends = history.prompt_lengths(start, run)
    input_ids = list(whole.input_ids)
    branches: list[list[Span]] = []
    spans: list[list[Span]] = []
    for (t, responses), end in zip(groupby(chunk, key=lambda response: response.step), ends, strict=True):
        # Equal responses share their tokens, and the executed one is on the trunk already.
        columns = {_executed(episode.steps[t]): end}
        branches.append([])
        spans.append([])
        for _, candidate, token_ids in responses:
            span = Span(end, columns.get(token_ids, len(input_ids)), len(token_ids), t, candidate)
            if token_ids not in columns:
                columns[token_ids] = span.start
                input_ids += token_ids
                branches[-1].append(span)
            spans[-1].append(span)
    branches = [step for step in branches if step]
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
        tree: of `build_tree` or `separate_tree`.
        temperature: that of the sampling.

    Returns:
        For every step and candidate the log-probabilities of its tokens, float32 of shape (R,).
    """
    return tree.by_step(response for trunk in tree.trunks for response in _trunk_log_probs(policy, trunk, temperature))


def _trunk_log_probs(policy: Policy, trunk: Trunk, temperature: float) -> tuple[Tensor, ...]:
    distinct = {span.start: span for span in trunk.responses}  # equal responses lie in the same columns
    predictors = torch.tensor([column for span in distinct.values() for column in span.predictors()])
    tokens = trunk.input_ids[0, [column for span in distinct.values() for column in span.tokens()]]
    arguments = trunk.forward_arguments(policy.model)
    logits = policy.model(**arguments, logits_to_keep=predictors.to(policy.device)).logits[0]
    scored = policy.log_probs(logits, temperature).gather(1, tokens.to(policy.device)[:, None])[:, 0]
    pieces = dict(zip(distinct, scored.split([span.length for span in distinct.values()]), strict=True))
    return tuple(pieces[span.start] for span in trunk.responses)


def separate_log_probs(policy: Policy, episode: Episode, temperature: float = 1.0) -> list[list[Tensor]]:
    """The reference: what `log_probs` computes, with one sequence for every candidate of every step."""
    return log_probs(policy, separate_tree(policy, episode), temperature)


def sequence_log_probs(policy: Policy, prompt: Segment, candidate: Candidate, temperature: float = 1.0) -> Tensor:
    """Log-probabilities (R,) of one response after its prompt, in a sequence of their own."""
    sequence = _sequence(policy, prompt, Response(0, 0, tuple(candidate.token_ids)))
    return _trunk_log_probs(policy, sequence, temperature)[0]
