"""Q and V are computed from the right tokens."""

import pytest
import torch
from torch import Tensor

from coach_gym.agents.models.chatml import Segment, stack_images
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import build_tree
from coach_gym.episode import Episode
from tests.agents import tiny


@pytest.fixture(scope="module")
def policy() -> Policy:
    return tiny.policy()


@pytest.fixture
def critic(policy: Policy) -> Critic:
    critic = Critic.from_policy(policy)
    torch.manual_seed(0)
    torch.nn.init.normal_(critic.value_head.weight)
    torch.nn.init.constant_(critic.value_head.bias, 0.3)
    return critic


def _column_values(critic: Critic, policy: Policy, prompt: Segment, token_ids: list[int]) -> Tensor:
    """Returns the values of all columns of one plain sequence."""
    sequence = prompt + Segment(token_ids)
    hidden = critic.backbone(
        input_ids=torch.tensor([sequence.input_ids]),
        position_ids=policy.position_ids(sequence)[0][:, None],
        **stack_images(sequence.images, policy.device),
    ).last_hidden_state
    return critic.value_head(hidden)[0, :, 0]


def _separate(critic: Critic, policy: Policy, episode: Episode) -> tuple[list[Tensor], Tensor]:
    q_values, state_values = [], []
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
        columns = [_column_values(critic, policy, prompt, c.token_ids) for c in step.candidates]
        q_values.append(torch.stack([values[len(prompt) :].mean() for values in columns]))
        state_values.append(columns[0][len(prompt) - 1])
    return q_values, torch.stack(state_values)


def test_values_are_those_of_separate_sequences(policy: Policy, critic: Critic) -> None:
    episode = tiny.episode(policy, steps=3, k=3)
    q_values, state_values = _separate(critic, policy, episode)
    tree = build_tree(policy, episode)
    for ours, theirs in zip(critic.q_values(tree), q_values, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(critic.state_values(tree), state_values, rtol=1e-5, atol=1e-5)


def test_values_of_tokens_are_those_of_separate_sequences(policy: Policy, critic: Critic) -> None:
    """V before a token is read where the token is predicted; before the first one, it is V of the state."""
    episode, expected = tiny.episode(policy, steps=3, k=2), []
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation)
        for candidate in step.candidates:
            values = _column_values(critic, policy, prompt, candidate.token_ids)
            expected.append(values[len(prompt) - 1 : -1])
    found = critic.token_values(build_tree(policy, episode))
    torch.testing.assert_close(found, torch.cat(expected), rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_separate_sequences(policy: Policy, critic: Critic) -> None:
    episode = tiny.episode(policy, steps=3, k=3)
    gradients = []
    for q_values in (critic.q_values(build_tree(policy, episode)), _separate(critic, policy, episode)[0]):
        critic.zero_grad()
        torch.cat(q_values).square().sum().backward()
        gradients.append({n: p.grad.clone() for n, p in critic.named_parameters() if p.grad is not None})
    assert gradients[0].keys() == gradients[1].keys()
    for name, gradient in gradients[1].items():
        error = (gradients[0][name] - gradient).norm() / gradient.norm().clamp(min=1e-6)
        assert error < 1e-5, f"gradient of {name} is off by {error:.1e}"


def test_the_trunk_alone_gives_q_of_what_was_executed(policy: Policy, critic: Critic) -> None:
    episode = tiny.episode(policy, steps=3)
    everything = critic.q_values(build_tree(policy, episode))
    alone = critic.q_values(build_tree(policy, episode, candidates="executed"))
    expected = torch.stack([q[step.executed] for q, step in zip(everything, episode.steps, strict=True)])
    torch.testing.assert_close(torch.cat(alone), expected, rtol=1e-5, atol=1e-5)


def test_values_across_cuts_of_the_history() -> None:
    policy = tiny.policy(max_prompt_length=150)
    critic = Critic.from_policy(policy)
    torch.nn.init.normal_(critic.value_head.weight)
    episode = tiny.episode(policy, steps=5, k=2)
    q_values, state_values = _separate(critic, policy, episode)
    tree = build_tree(policy, episode)
    torch.testing.assert_close(torch.stack(critic.q_values(tree)), torch.stack(q_values), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(critic.state_values(tree), state_values, rtol=1e-5, atol=1e-5)


def test_an_untrained_critic_prefers_nothing_and_shares_nothing(policy: Policy) -> None:
    critic = Critic.from_policy(policy)
    tree = build_tree(policy, tiny.episode(policy, steps=2))
    assert all((q == 0).all() for q in critic.q_values(tree))
    ours = {p.data_ptr() for p in critic.parameters()}
    assert not ours & {p.data_ptr() for p in policy.model.parameters()}


def test_a_fit_lowers_the_error(policy: Policy) -> None:
    critic = Critic.from_policy(policy)
    tree = build_tree(policy, tiny.episode(policy, steps=3), candidates="executed")
    targets = torch.tensor([0.1, 0.9, 0.4])
    optimizer = torch.optim.AdamW(critic.parameters(), lr=3e-3)
    errors = []
    for _ in range(25):
        error = (torch.cat(critic.q_values(tree)) - targets).square().mean()
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        errors.append(error.item())
    assert errors[-1] < 0.1 * errors[0]


def test_saved_and_loaded(policy: Policy, critic: Critic, tmp_path) -> None:
    tree = build_tree(policy, tiny.episode(policy, steps=2))
    critic.save(tmp_path)
    loaded = Critic.load(tmp_path)
    assert torch.equal(torch.stack(loaded.q_values(tree)), torch.stack(critic.q_values(tree)))


def test_a_device_that_holds_no_numbers_is_refused_before_anything_is_loaded(tmp_path) -> None:
    with pytest.raises(ValueError, match="device='meta' cannot be used .*; pass 'auto', 'cpu' or 'cuda'"):
        Critic.load(tmp_path / "missing", "meta")
    with pytest.raises(TypeError, match="device=b'cpu' is of type bytes; pass 'auto', 'cpu' or 'cuda'"):
        Critic.load(tmp_path / "missing", b"cpu")


def test_half_precision_gives_single_precision_values(policy: Policy, critic: Critic) -> None:
    tree = build_tree(policy, tiny.episode(policy, steps=2))
    exact = torch.stack(critic.q_values(tree))
    critic.backbone.to(torch.bfloat16)
    rough = torch.stack(critic.q_values(tree))
    assert rough.dtype == torch.float32
    assert (rough - exact).abs().max() < 0.5


def test_values_under_gradient_checkpointing(policy: Policy, critic: Critic) -> None:
    tree = build_tree(policy, tiny.episode(policy, steps=2))
    gradients = []
    for _ in range(2):
        critic.zero_grad()
        torch.cat(critic.q_values(tree)).sum().backward()
        gradients.append(torch.cat([p.grad.flatten() for p in critic.parameters() if p.grad is not None]))
        critic.backbone.train()
        critic.backbone.gradient_checkpointing_enable()
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-4, atol=1e-5)  # without, the last layer is trimmed
