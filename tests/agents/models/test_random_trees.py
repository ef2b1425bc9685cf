"""Random episodes on random models of every architecture: a tree computes what separate sequences do.

The reference here is the plain model, called once for every candidate of every step; nothing of the tree's code.
"""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from coach_gym.agents.models.architectures import ARCHITECTURES, untrained_model
from coach_gym.agents.models.chatml import Segment, stack_images
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree, build_tree, log_probs, separate_tree
from coach_gym.dialects import UITars
from coach_gym.episode import Candidate, Episode, Observation, Step
from tests.agents import tiny

NO_ACTIONS = ["click(", "I cannot do that.", "Action:", "<|image_pad|>"]


@dataclass
class Model:
    """The dimensions in which models of one architecture differ."""

    seed: int
    layers: int
    key_value_heads: int
    groups: int
    head_dim: int
    hidden: int
    sections: tuple[float, float]
    tied: bool
    unused_tokens: int
    sliding_window: int | None
    vision_layers: int
    vision_heads: int
    full_attention: int
    window: int
    deepstack: int
    eager: bool
    checkpointing: str | None

    def policy(self, architecture: str, max_prompt_length: int) -> Policy:
        tok = tiny.tokenizer()
        half = self.head_dim // 2
        first, second = sorted(1 + int(share * (half - 3)) for share in self.sections)
        sections = [first, second - first + 1, half - second - 1]
        text: dict[str, Any] = dict(
            num_attention_heads=self.key_value_heads * self.groups, num_key_value_heads=self.key_value_heads,
            vocab_size=len(tok) + self.unused_tokens,
            rope_parameters={"rope_type": "default", "rope_theta": 1e4, "mrope_section": sections},
        )  # fmt: skip
        if architecture == "qwen3_vl":
            hidden = self.hidden
            text["head_dim"] = self.head_dim
        else:
            hidden = self.key_value_heads * self.groups * self.head_dim
            text |= dict(
                use_sliding_window=self.sliding_window is not None, sliding_window=self.sliding_window,
                max_window_layers=self.layers // 2,
            )  # fmt: skip
        config = tiny.config(tok, hidden, self.layers, architecture=architecture, **text)
        config.tie_word_embeddings = self.tied
        vision, layers = config.vision_config, range(self.vision_layers)
        vision.depth, vision.num_heads = self.vision_layers, self.vision_heads
        if architecture == "qwen2_5_vl":
            vision.window_size = self.window
            vision.fullatt_block_indexes = [i for i in layers if self.full_attention >> i & 1]
        elif architecture == "qwen3_vl":
            vision.deepstack_visual_indexes = [i for i in layers if self.deepstack >> i & 1]
        torch.manual_seed(self.seed)
        model = untrained_model(config)
        if self.eager:
            model.set_attn_implementation("eager")
        dialect = UITars(min_pixels=28 * 28, max_pixels=24 * 28 * 28, ui_text=True)
        return Policy(model, tok, tiny.image_processor(architecture), dialect, max_prompt_length)

    def checkpoint(self, model: nn.Module) -> None:
        if self.checkpointing:
            model.train()
            model.gradient_checkpointing_enable({"use_reentrant": self.checkpointing == "reentrant"})
            if self.checkpointing == "reentrant":
                model.enable_input_require_grads()


models = st.builds(
    Model,
    seed=st.integers(0, 999),
    layers=st.integers(1, 3),
    key_value_heads=st.integers(1, 3),
    groups=st.integers(1, 4),
    head_dim=st.sampled_from([8, 12, 16]),
    hidden=st.sampled_from([16, 24, 40]),
    sections=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    tied=st.booleans(),
    unused_tokens=st.sampled_from([0, 1, 70]),
    sliding_window=st.sampled_from([None, None, None, 5, 60]),
    vision_layers=st.integers(1, 3),
    vision_heads=st.sampled_from([1, 2, 4]),
    full_attention=st.integers(0, 7),
    window=st.sampled_from([28, 56, 112]),
    deepstack=st.integers(0, 7),
    eager=st.booleans(),
    checkpointing=st.sampled_from([None, None, "reentrant", "not reentrant"]),
)

# a candidate: how many random tokens and whether the turn ends, or text that is no action, or a candidate before it
candidates = st.one_of(
    st.tuples(st.integers(1, 9), st.booleans()), st.sampled_from(NO_ACTIONS), st.integers(0, 3).map(lambda i: -i)
)
steps = st.lists(candidates, min_size=1, max_size=5)
episodes = st.lists(
    st.tuples(st.lists(steps, min_size=1, max_size=4), st.sampled_from([(112, 168), (56, 84), (168, 112)])),
    min_size=1,
    max_size=2,
)


def make_episode(policy: Policy, drawn: list[list[Any]], size: tuple[int, int], rng: np.random.Generator) -> Episode:
    episode = Episode("Save the note", outcome=1.0)
    for described in drawn:
        responses: list[Candidate] = []
        for one in described:
            responses.append(make_candidate(policy, one, responses, rng))
        screen = rng.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
        observation = Observation(screen, f'<Button text="{rng.integers(1000)}" bounds="[2,4][40,60]"/>')
        episode.steps.append(Step(observation, responses, int(rng.integers(len(responses))), ""))
    return episode


def make_candidate(policy: Policy, described: Any, before: list[Candidate], rng: np.random.Generator) -> Candidate:
    if isinstance(described, str):
        return Candidate(described, [*policy.chat.encode_text(described), policy.eos], [])
    if isinstance(described, int):
        return before[described % len(before)] if before else Candidate("", [policy.eos], [])
    length, ended = described
    return Candidate("", [*rng.integers(0, 250, length).tolist(), *([policy.eos] if ended else [])], [])


def reference(policy: Policy, critic: Critic, episode: Episode) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Returns log-probabilities and Q of every candidate, and V of every step."""
    scored, q_values, state_values = [], [], []
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
        for number, candidate in enumerate(step.candidates):
            sequence = prompt + Segment(candidate.token_ids)
            arguments = {
                "input_ids": torch.tensor([sequence.input_ids]), "use_cache": False,
                "position_ids": policy.position_ids(sequence)[0][:, None],
                **stack_images(sequence.images, policy.device),
            }  # fmt: skip
            logits = policy.model(**arguments).logits[0, len(prompt) - 1 : -1]
            tokens = torch.tensor(candidate.token_ids)
            scored.append(policy.log_probs(logits).gather(1, tokens[:, None])[:, 0])
            values = critic.value_head(critic.backbone(**arguments).last_hidden_state)[0, :, 0]
            q_values.append(values[len(prompt) :].mean())
            if number == 0:
                state_values.append(values[len(prompt) - 1])
    return scored, q_values, state_values


def packed(policy: Policy, critic: Critic, tree: Tree) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    return sum(log_probs(policy, tree), []), [*torch.cat(critic.q_values(tree))], [*critic.state_values(tree)]


def weighted(outputs: list[Tensor]) -> Tensor:
    """Weights every number differently, so that no two can be confused."""
    flat = torch.cat([output.flatten() for output in outputs])
    return (flat * torch.linspace(-1, 1, len(flat)).add(0.1)).sum()


def gradient(models: list[nn.Module], loss: Tensor) -> Tensor:
    for model in models:
        model.zero_grad()
    loss.backward()
    parameters = [parameter for model in models for parameter in model.parameters()]
    return torch.cat([torch.zeros_like(p).flatten() if p.grad is None else p.grad.flatten() for p in parameters])


def assert_close(ours: Tensor, theirs: Tensor, what: str) -> None:
    # float32 rounding, which some of these models magnify to 5e-5
    error = (ours - theirs).norm() / theirs.norm().clamp(min=0.1)
    assert error < 2e-4, f"{what}: off by {error:.1e}"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@settings(
    max_examples=int(os.environ.get("COACH_EXAMPLES", "10")),  # of every architecture
    deadline=None,
    phases=[Phase.reuse, Phase.generate],  # an example takes a second, and shrinking takes hundreds
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    model=models,
    drawn=episodes,
    max_prompt_length=st.sampled_from([120, 200, 10_000]),
    limit=st.sampled_from([0, 1, 7, 20, 50]),
)
def test_a_tree_is_its_sequences(
    architecture: str, model: Model, drawn: list[Any], max_prompt_length: int, limit: int
) -> None:
    """Returns values and gradients of a batch in one tree per episode, in chunks, and in separate sequences."""
    policy = model.policy(architecture, max_prompt_length)
    critic = Critic.from_policy(policy)
    nn.init.normal_(critic.value_head.weight)
    rng = np.random.default_rng(model.seed)
    batch = [make_episode(policy, steps, size, rng) for steps, size in drawn]
    both = [policy.model, critic]
    expected = [reference(policy, critic, episode) for episode in batch]
    losses = [sum(map(weighted, outputs)) for outputs in expected]
    expected_gradient = gradient(both, sum(losses))
    model.checkpoint(policy.model)
    model.checkpoint(critic.backbone)
    builds = [build_tree, lambda *episode: build_tree(*episode, max_branch_tokens=limit), separate_tree]
    for build in builds:
        trees = [build(policy, episode) for episode in batch]
        actual = [packed(policy, critic, tree) for tree in trees]
        for ours, theirs in zip(actual, expected, strict=True):
            for name, a, b in zip(("log-probabilities", "Q", "V"), ours, theirs, strict=True):
                assert [one.shape for one in a] == [one.shape for one in b]
                assert_close(torch.cat([one.flatten() for one in a]), torch.cat([one.flatten() for one in b]), name)
        assert_close(gradient(both, sum(sum(map(weighted, o)) for o in actual)), expected_gradient, "gradient")
        if build is builds[1]:
            assert all(_within(trunk, limit) for tree in trees for trunk in tree.trunks)


def _within(trunk: Any, limit: int) -> bool:
    """A chunk stays within the limit, unless it has only one branch."""
    branches = [span for step in trunk.branches for span in step]
    return sum(span.length for span in branches) <= limit or len(branches) == 1
