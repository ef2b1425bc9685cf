"""An episode as a tree of tokens: one trunk of what happened, and short branches of the alternatives.

With the full history in the prompt, the prompt of step t is a prefix of the prompt of step t + 1. So the trunk (goal,
screenshots, executed responses) is computed once for all steps, and each other candidate adds only its own tokens:
`L + T (k - 1) R` tokens instead of `k * sum_t (P_t + R)`. A mask lets a branch see the trunk up to its prompt and
itself, and its positions continue there, so every token sees exactly what it would see in a sequence of its own.
`separate_tree` is that plain computation with one sequence per candidate. It has the same type, and tests hold the two
equal.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from coach_gym.agents.models.chatml import ImageInput, Segment, stack_images
from coach_gym.agents.models.devices import pass_device
from coach_gym.agents.models.history import History
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree_attention import NAME as TREE_ATTENTION
from coach_gym.agents.models.tree_attention import StepBranches, sliding_window, text_attention
from coach_gym.agents.models.trimmed import can_trim, trimmed_hidden_states
from coach_gym.episode import Candidate, Episode, Observation, Step

MAX_BRANCH_TOKENS = 8192
"""Tokens of branches in one pass: twice those of an episode of 16 steps, 4 candidates and 80 tokens per response."""

Candidates = Literal["all", "executed"]
Item = TypeVar("Item")


class Response(NamedTuple):
    """A candidate and its place in the episode.

    Attributes:
        step: Index of its step.
        candidate: Index among the packed candidates of its step.
        token_ids: Its tokens.
    """

    step: int
    candidate: int
    token_ids: tuple[int, ...]


@dataclass(frozen=True)
class Span:
    """The columns of one candidate's response in a packed sequence.

    Attributes:
        prompt_end: End of its prompt, which is columns [0, prompt_end).
        start: Column of its first token.
        length: Number of its tokens.
        step: Index of its step in the episode.
        candidate: Index among the packed candidates of its step.
    """

    prompt_end: int
    start: int
    length: int
    step: int
    candidate: int

    @property
    def stop(self) -> int:
        """The column after its last token."""
        return self.start + self.length

    def tokens(self) -> list[int]:
        """Returns the columns of the response's tokens."""
        return list(range(self.start, self.stop))

    def predictors(self) -> list[int]:
        """Returns the columns whose logits predict the response: the prompt's last, and all tokens but the last."""
        return [self.prompt_end - 1, *self.tokens()[:-1]]


@dataclass
class Trunk:
    """A run of steps whose prompts extend one another, packed in one sequence of L tokens for one pass.

    Attributes:
        input_ids: Tokens of the trunk, then of the branches in the order of their steps, (1, L).
        position_ids: Rotary positions, (3, 1, L).
        images: The screenshots, in order.
        length: Number of tokens of the trunk itself.
        branches: The branches of each step that has any.
        spans: For each step of the run, the spans of its candidates.
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
        """The last column of every step's prompt; the first trunk has it if several share a step."""
        return [span.prompt_end - 1 for span in self.responses if span.candidate == 0]

    def without(self, first: int) -> "Trunk":
        """Returns the same sequence without the spans of the `first` leading candidates of every step."""
        return replace(self, spans=[[span for span in step if span.candidate >= first] for step in self.spans])

    def forward_arguments(self, model: Any) -> dict[str, Any]:
        """Returns the arguments of a forward pass of `model`, which may have a language head or not."""
        return {
            "input_ids": self.input_ids.to(pass_device(model)),
            "position_ids": self.position_ids.to(pass_device(model)),
            "use_cache": False,
            **stack_images(self.images, pass_device(model)),
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
        """Returns the attention mask, (1, 1, L, L) bool, True where a token (row) sees another (column).

        Args:
            window: Number of tokens of its own sequence that a token sees, including itself; None for all.
        """
        columns = torch.arange(self.input_ids.shape[1])
        mask, places = self.visible(columns), columns.clone()
        for span in (span for step in self.branches for span in step):
            places[span.start : span.stop] = span.prompt_end + torch.arange(span.length)
        if window is not None:
            mask &= places[:, None] - places < window
        return mask[None, None]

    def visible(self, read: Tensor) -> Tensor:
        """Returns which columns some tokens see, (n, L) bool, for their columns `read`, (n,)."""
        columns = torch.arange(self.input_ids.shape[1])
        prompt_ends, starts = torch.full_like(columns, len(columns)), torch.zeros_like(columns)
        for span in (span for step in self.branches for span in step):
            prompt_ends[span.start : span.stop], starts[span.start : span.stop] = span.prompt_end, span.start
        own = (columns < prompt_ends[read, None]) | (columns >= starts[read, None])
        return own & (columns <= read[:, None])

    def hidden_states(self, backbone: Any, read: Tensor) -> Tensor:
        """Computes the last hidden states, (n, hidden size), of columns `read`, (n,), by a model without head."""
        arguments = self.forward_arguments(backbone)
        if len(read) and can_trim(backbone):
            return trimmed_hidden_states(backbone, arguments, read.to(pass_device(backbone)), self.visible(read))
        return backbone(**arguments).last_hidden_state[0, read.to(pass_device(backbone))]


def _bounds(step: list[Span]) -> tuple[int, int, int]:
    return step[0].prompt_end, step[0].start, step[-1].stop


def _step_mask(step: list[Span]) -> Tensor:
    """The mask of a step's branches over their prompt and each other, (1, 1, tokens, prompt + tokens) bool."""
    prompt_end, start, stop = _bounds(step)
    among = torch.block_diag(*[torch.ones(span.length, span.length) for span in step]).bool().tril()
    return torch.cat([torch.ones(stop - start, prompt_end, dtype=torch.bool), among], dim=1)[None, None]


def _additive(mask: Tensor, model: Any) -> Tensor:
    """Converts a boolean mask to one that is added to the scores, which all attention implementations accept."""
    shut = torch.zeros(mask.shape, dtype=model.dtype).masked_fill_(~mask, torch.finfo(model.dtype).min)
    return shut.to(pass_device(model))


@dataclass
class Tree:
    """A packed episode.

    Attributes:
        trunks: The trunks in order: one, and another wherever the history is cut or the branches become too many.
    """

    trunks: list[Trunk]

    @property
    def nbytes(self) -> int:
        """Bytes of its pictures, beside which its tokens do not count."""
        return sum(image.pixel_values.nbytes for trunk in self.trunks for image in trunk.images)

    def by_step(self, values: Iterable[Item]) -> list[list[Item]]:
        """Groups values, one per response in order, by step."""
        spans = [span for trunk in self.trunks for span in trunk.responses]
        pairs = groupby(zip(spans, values, strict=True), key=lambda pair: pair[0].step)
        return [[value for _, value in step] for _, step in pairs]


def build_tree(
    policy: Policy, episode: Episode, candidates: Candidates = "all", max_branch_tokens: int = MAX_BRANCH_TOKENS
) -> Tree:
    """Packs an episode.

    Args:
        policy: Renders and tokenises the prompts, also for a critic, which reads the same tokens.
        episode: An episode of at least one step.
        candidates: Which responses get a span: all candidates of every step, or the executed ones only.
        max_branch_tokens: Bounds the memory of a pass. Further branches go to additional trunks, each of which repeats
            the history of its steps.
    """
    history = policy.history(episode.goal, episode.steps)
    starts = policy.starts(history)
    chunks = _chunks(episode, _responses(episode, candidates), starts, max_branch_tokens)
    return Tree([_pack(policy, history, episode, chunk, starts[chunk[0].step]) for chunk in chunks])


def prompt_tree(policy: Policy, prompt: Segment, candidates: Sequence[Candidate]) -> Tree:
    """Packs a single state: its prompt, and after it all candidates."""
    state = Step(Observation(np.zeros((0, 0, 3), np.uint8)), list(candidates), 0, "")
    episode = Episode("", [state])  # only its tokens are packed
    history = History(prompt, [Segment()], [Segment(list(_executed(state)))])
    return Tree([_pack(policy, history, episode, _responses(episode, "all"), 0)])


def separate_tree(policy: Policy, episode: Episode, candidates: Candidates = "all") -> Tree:
    """Packs an episode as the reference does: one sequence per candidate. Arguments are those of `build_tree`."""
    history = policy.history(episode.goal, episode.steps)
    starts = policy.starts(history)
    responses = _responses(episode, candidates)
    return Tree([_sequence(policy, history.prompt(starts[one.step], one.step), one) for one in responses])


def _sequence(policy: Policy, prompt: Segment, response: Response) -> Trunk:
    """Packs a response after its prompt, and nothing else."""
    whole = prompt + Segment(list(response.token_ids))
    span = Span(len(prompt), len(prompt), len(response.token_ids), response.step, response.candidate)
    positions, _ = policy.position_ids(whole)
    return Trunk(torch.tensor([whole.input_ids]), positions[:, None], whole.images, len(whole), [], [[span]])


def _responses(episode: Episode, candidates: Candidates) -> list[Response]:
    """The responses that a tree contains, step by step."""
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
    """Splits the responses where the history is cut, and where branches would exceed `max_branch_tokens`."""
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
    """Packs consecutive responses whose prompts show the history from step `start` on."""
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
    """Computes the log-probabilities of all responses of a tree, in one forward pass per trunk.

    Args:
        policy: The policy; gradients flow to its weights.
        tree: A tree from `build_tree` or `separate_tree`.
        temperature: Temperature at which the responses were sampled.

    Returns:
        The log-probabilities of the tokens of every candidate of every step, each of shape (R,) in float32.
    """
    return tree.by_step(response for trunk in tree.trunks for response in _trunk_log_probs(policy, trunk, temperature))


def _trunk_log_probs(policy: Policy, trunk: Trunk, temperature: float) -> tuple[Tensor, ...]:
    every, tokens = _predictions(policy, trunk, temperature)
    return _by_response(trunk, every.gather(1, tokens[:, None])[:, 0])


def log_probs_and_entropies(policy: Policy, tree: Tree, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
    """Computes the log-probabilities of all tokens, and the entropies of the distributions that they are draws of.

    Arguments are those of `log_probs`. An entropy needs as much memory as its distribution, so ask only if needed.

    Returns:
        Log-probabilities and entropies in nats, both (N,) in float32: all candidates of all steps in order.
    """
    both: list[Tensor] = []
    for trunk in tree.trunks:
        every, tokens = _predictions(policy, trunk, temperature)
        entropies = -(every.exp() * every.masked_fill(every.isneginf(), 0.0)).sum(-1)  # what is banned adds nothing
        both += _by_response(trunk, torch.stack([every.gather(1, tokens[:, None])[:, 0], entropies], dim=1))
    scored, entropies = torch.cat(both).unbind(1)
    return scored, entropies


def _distinct(trunk: Trunk) -> dict[int, Span]:
    """Spans by their first column: equal responses lie in the same columns."""
    return {span.start: span for span in trunk.responses}


def _predictions(policy: Policy, trunk: Trunk, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probabilities of all that could follow, (M, vocabulary), and what does, (M,), in the distinct responses."""
    distinct = _distinct(trunk).values()
    predictors = torch.tensor([column for span in distinct for column in span.predictors()])
    tokens = trunk.input_ids[0, [column for span in distinct for column in span.tokens()]]
    if can_trim(policy.model.model):
        logits = policy.model.lm_head(trunk.hidden_states(policy.model.model, predictors))
    else:  # as a whole, because a sharded model gathers its parts in its own forward pass
        arguments = trunk.forward_arguments(policy.model)
        logits = policy.model(**arguments, logits_to_keep=predictors.to(policy.device)).logits[0]
    return policy.log_probs(logits, temperature), tokens.to(policy.device)


def _by_response(trunk: Trunk, values: Tensor) -> tuple[Tensor, ...]:
    """Values of the tokens of the distinct responses, (M, ...), as one tensor for each response."""
    distinct = _distinct(trunk)
    pieces = dict(zip(distinct, values.split([span.length for span in distinct.values()]), strict=True))
    return tuple(pieces[span.start] for span in trunk.responses)


def separate_log_probs(policy: Policy, episode: Episode, temperature: float = 1.0) -> list[list[Tensor]]:
    """Computes the same as `log_probs` with one sequence per candidate; the reference in tests."""
    return log_probs(policy, separate_tree(policy, episode), temperature)


def sequence_log_probs(policy: Policy, prompt: Segment, candidate: Candidate, temperature: float = 1.0) -> Tensor:
    """Computes the log-probabilities, (R,), of one response after its prompt, in a sequence of their own."""
    sequence = _sequence(policy, prompt, Response(0, 0, tuple(candidate.token_ids)))
    return _trunk_log_probs(policy, sequence, temperature)[0]
