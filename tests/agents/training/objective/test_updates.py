"""The shared gradient steps equal plain computations, and ignore unknown returns."""

import copy
import warnings
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from coach_gym.agents import GRPOAgent
from coach_gym.agents.generation.vllm.generator import VllmGenerator
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.tree import Tree, build_tree, log_probs, separate_log_probs, separate_tree
from coach_gym.agents.training.objective import updates
from coach_gym.agents.training.objective.updates import (
    CriticSample,
    explained_variance,
    minimize_policy_loss,
    minimize_value_loss,
)
from coach_gym.episode import Episode
from tests.agents import tiny
from tests.agents.warm_start import answers_to, letter


def test_an_unknown_return_changes_nothing_and_spoils_nothing():
    policy = tiny.policy()
    one = answers_to("red", [letter(policy, "a")])
    episode = copy.deepcopy(one)
    episode.steps = [*one.steps, *copy.deepcopy(one.steps)]
    critic = Critic.from_policy(policy)
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    tree = build_tree(policy, episode, candidates="executed")
    returns = torch.tensor([1.0, float("nan")])
    sample = CriticSample(tree, returns, ~returns.isnan())

    def estimate(tree):
        return torch.cat(critic.q_values(tree))

    minimize_value_loss(critic, optimizer, estimate, [[sample]])
    assert all(parameter.isfinite().all() for parameter in critic.parameters())
    assert estimate(tree)[0] > 0, "the known return was learned from"


def made(policy: Policy, *shapes: tuple[int, int]) -> list[Episode]:
    """Returns episodes of given numbers of steps and candidates, sampled from a slightly different policy."""
    episodes = [tiny.episode(policy, steps, k, seed) for seed, (steps, k) in enumerate(shapes or [(2, 2), (1, 3)], 1)]
    for episode in episodes:
        with torch.no_grad():
            scored = separate_log_probs(policy, episode)
        for step, step_scored in zip(episode.steps, scored, strict=True):
            for candidate, old in zip(step.candidates, step_scored, strict=True):
                candidate.logprobs = (old + 0.3 * torch.randn(len(old))).tolist()
    return episodes


CHUNKS = partial(build_tree, max_branch_tokens=4)


def gradients(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.grad.flatten() for p in module.parameters() if p.grad is not None])


@pytest.mark.parametrize("level", ["token", "sequence", "action"])
def test_policy_update_is_the_mean_over_all_tokens_of_a_mini_batch(level):
    """The reference: one sequence per candidate, one mean over all losses, one backward pass."""
    torch.manual_seed(0)
    policy = tiny.policy()
    episodes = made(policy)
    advantages = [torch.randn(2, 2), torch.randn(1, 3)]
    losses, n_tokens = [], 0
    for episode, advantage in zip(episodes, advantages, strict=True):
        for step, scored, values in zip(episode.steps, separate_log_probs(policy, episode), advantage, strict=True):
            for candidate, new, value in zip(step.candidates, scored, values, strict=True):
                moved = new - torch.tensor(candidate.logprobs)
                pooled = {"token": moved, "sequence": moved.mean().repeat(len(new)), "action": moved.sum()[None]}
                ratio = pooled[level].exp()
                losses.append(-torch.minimum(ratio * value, ratio.clamp(0.8, 1.2) * value))
                n_tokens += len(new)
    (torch.cat(losses).sum() / n_tokens).backward()
    expected = gradients(policy.model)

    agent = GRPOAgent(policy, None, batch_size=4)
    trees = [build_tree(policy, episode) for episode in episodes]
    samples = [agent.policy_sample(e, t, a) for e, t, a in zip(episodes, trees, advantages, strict=True)]
    optimizer = torch.optim.SGD(policy.model.parameters(), lr=0.0)
    means = minimize_policy_loss(
        policy, optimizer, [samples], clip_range=0.2, max_grad_norm=1e9, importance_sampling_level=level
    )
    torch.testing.assert_close(gradients(policy.model), expected, rtol=1e-4, atol=1e-6)
    if level != "action":  # whose loss is repeated for every token of a response
        assert means["policy_gradient_loss"] == pytest.approx(torch.cat(losses).mean().item(), abs=1e-5)
    assert means["grad_norm"] == pytest.approx(expected.norm().item(), rel=1e-4)
    assert 0 < means["clip_fraction"] < 1 and means["approx_kl"] > 0


@pytest.mark.parametrize(
    ("dtype", "settings", "warned"),
    [
        (torch.bfloat16, {}, True),
        (torch.float16, {}, True),
        (torch.float32, {}, False),
        (torch.bfloat16, {"recompute_log_probs": True}, False),
        (torch.bfloat16, {"rollout_temperature": 1.5}, False),  # whose candidates are scored anew as well
    ],
)
def test_log_probabilities_of_a_16_bit_sampler_are_warned_of(dtype, settings, warned):
    policy = tiny.policy()
    (episode, _) = made(policy)
    agent = GRPOAgent(policy, None, batch_size=4, **settings)
    agent.player.generator = VllmGenerator(policy, SimpleNamespace(dtype=dtype))
    sample = agent.policy_sample(episode, build_tree(policy, episode), torch.ones(2, 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        agent.update_policy([sample])
    told = [str(each.message) for each in caught if "recompute_log_probs=True" in str(each.message)]
    assert bool(told) == warned, told


def test_gradients_are_clipped_and_nothing_is_spent_on_episodes_without_advantage(monkeypatch):
    policy = tiny.policy()
    (episode, other) = made(policy)
    agent = GRPOAgent(policy, None, batch_size=4)
    learned = agent.policy_sample(episode, build_tree(policy, episode), 100 * torch.ones(2, 2))
    idle = agent.policy_sample(other, build_tree(policy, other), torch.zeros(1, 3))
    scored = []
    monkeypatch.setattr(updates, "log_probs", lambda p, tree, t: scored.append(tree) or log_probs(p, tree, t))
    optimizer = torch.optim.SGD(policy.model.parameters(), lr=0.0)
    minimize_policy_loss(policy, optimizer, [[learned, idle]], max_grad_norm=0.5)
    assert gradients(policy.model).norm().item() == pytest.approx(0.5, rel=1e-3)
    assert [tree.trunks[0].images for tree in scored] == [learned.tree.trunks[0].images]
    before = [p.detach().clone() for p in policy.model.parameters()]
    minimize_policy_loss(policy, torch.optim.AdamW(policy.model.parameters(), lr=1.0), [[idle]])
    assert all(torch.equal(old, new) for old, new in zip(before, policy.model.parameters(), strict=True))


@pytest.mark.parametrize("advantage", [-1.0, 1.0])
def test_a_gradient_that_is_not_finite_changes_no_weight(advantage):
    """One of the sampler's log-probabilities is wrong by 100 nats."""
    policy = tiny.policy()
    (episode, _) = made(policy)
    episode.steps[0].candidates[0].logprobs[0] -= 100
    tree = build_tree(policy, episode)
    sample = GRPOAgent(policy, None, batch_size=4).policy_sample(episode, tree, torch.full((2, 2), advantage))
    before = flat(policy.model)
    with pytest.raises(FloatingPointError, match="norm of the gradient is (inf|nan).*recompute_log_probs=True"):
        minimize_policy_loss(policy, torch.optim.AdamW(policy.model.parameters(), lr=1e-3), [[sample]])
    assert torch.equal(flat(policy.model), before)


def test_critic_fit_is_the_mean_over_all_steps_of_a_mini_batch():
    torch.manual_seed(0)
    policy = tiny.policy()
    critic = Critic.from_policy(policy)
    torch.nn.init.normal_(critic.value_head.weight)
    trees = [build_tree(policy, episode, candidates="executed") for episode in made(policy)]
    returns = [torch.randn(2), torch.randn(1)]

    def estimate(tree):
        return torch.cat(critic.q_values(tree))

    values = torch.cat([estimate(tree) for tree in trees])
    (0.5 * (values - torch.cat(returns)) ** 2).mean().backward()
    expected = gradients(critic)
    samples = [CriticSample(t, r, torch.ones_like(r, dtype=torch.bool)) for t, r in zip(trees, returns, strict=True)]
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.0)
    minimize_value_loss(critic, optimizer, estimate, [samples], max_grad_norm=1e9)
    torch.testing.assert_close(gradients(critic), expected, rtol=1e-4, atol=1e-6)
    residual = (torch.cat(returns) - values).detach()
    explained = 1 - residual.var(correction=0) / torch.cat(returns).var(correction=0)
    assert explained_variance(samples) == pytest.approx(explained.item(), abs=1e-4)


@pytest.mark.parametrize("build", [build_tree, separate_tree])
def test_contrast_is_the_error_in_comparing_the_candidates_of_a_state(build):
    torch.manual_seed(0)
    policy = tiny.policy()
    (episode, _) = made(policy, (3, 4), (1, 1))
    returns = torch.randn(3, 4)
    known = torch.tensor([[1, 1, 1, 0], [0, 1, 0, 0], [1, 0, 0, 1]], dtype=torch.bool)
    sample = CriticSample(build(policy, episode), returns.flatten(), known.flatten())
    values = torch.randn(3, 4)
    expected = []
    for row, target, which in zip(values, returns, known, strict=True):
        error = (row - target)[which]
        expected += ((error - error.mean()) ** 2).tolist()
    torch.testing.assert_close(sample.contrast(values.flatten()), torch.tensor(expected))
    assert expected[3] == 0.0, "a single target has nothing to be compared with"
    nothing = CriticSample(sample.tree, sample.returns, torch.zeros_like(sample.known))
    assert nothing.contrast(values.flatten()).shape == (0,), "an episode in which nothing was measured"


@pytest.mark.parametrize("build", [build_tree, CHUNKS], ids=["tree", "chunks"])
def test_the_explained_variance_is_that_of_executed_actions(build):
    """Known returns of other candidates do not count, nor does what the fit has changed since."""
    torch.manual_seed(0)
    policy = tiny.policy()
    tree = build(policy, made(policy, (3, 2))[0])
    returns = torch.tensor([1.0, 0.0, 0.5, 0.0, 0.2, float("nan")])
    before = torch.tensor([0.9, 0.7, 0.4, -0.7, 0.3, 0.1])
    first = torch.tensor([True, False] * 3)
    sample = CriticSample(tree, returns, ~returns.isnan(), before, executed=first)
    expected = 1 - (returns - before)[first].var(correction=0) / returns[first].var(correction=0)
    assert explained_variance([sample]) == pytest.approx(expected.item(), abs=1e-6)


def test_values_are_clipped_around_those_before_the_update():
    """The second mini-batch is clipped around the critic's estimates before the first one moved it."""
    policy = tiny.policy()
    critic = Critic.from_policy(policy)
    tree = build_tree(policy, answers_to("red", [letter(policy, "a")]), candidates="executed")
    one, two = (CriticSample(tree, torch.tensor([1.0]), torch.tensor([True])) for _ in range(2))

    def estimate(tree):
        return torch.cat(critic.q_values(tree))

    minimize_value_loss(critic, torch.optim.SGD(critic.parameters(), lr=0.1), estimate, [[one], [two], [one, two]])
    assert one.old_values.item() == two.old_values.item() == 0.0
    assert estimate(tree).item() > 0.0


def flat(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def updated(build, first: int) -> list[torch.Tensor]:
    """Returns the weights of policy and critic before and after two epochs on trees that `build` makes."""
    torch.manual_seed(1)
    policy = tiny.policy(max_prompt_length=150)
    critic = Critic.from_policy(policy)
    torch.nn.init.normal_(critic.value_head.weight)
    before = [flat(policy.model), flat(critic)]
    episodes = made(policy, (5, 4), (2, 4), (1, 4))
    agent = GRPOAgent(policy, None, batch_size=4)
    samples = [agent.policy_sample(e, build(policy, e), torch.randn(e.length, 4 - first), first) for e in episodes]
    minimize_policy_loss(policy, torch.optim.SGD(policy.model.parameters(), lr=0.1), [samples[:2], samples[2:]] * 2)
    targets = [
        CriticSample(build(policy, e, "executed"), torch.randn(e.length), torch.arange(e.length) != 1) for e in episodes
    ]

    def estimate(tree: Tree) -> torch.Tensor:
        return torch.cat(critic.q_values(tree))

    minimize_value_loss(critic, torch.optim.SGD(critic.parameters(), lr=0.1), estimate, [targets[:2], targets[2:]] * 2)
    return [*before, flat(policy.model), flat(critic)]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("build", [build_tree, CHUNKS], ids=["tree", "chunks"])
def test_updates_are_those_of_separate_sequences(build, first):
    """Both paths end at the same weights, also with cut histories and without the first candidates."""
    *before, policy, critic = updated(separate_tree, first)
    for old, ours, theirs in zip(before, updated(build, first)[2:], [policy, critic], strict=True):
        learned, error = (theirs - old).norm() / old.norm(), (ours - theirs).norm() / theirs.norm()
        assert learned > 1e-3 and error < 1e-5 and error < 1e-3 * learned, (learned, error)


def test_every_pass_has_its_own_loss_and_keeps_the_limit(monkeypatch):
    """The memory is bounded, because one trunk with few branches is computed between two backward passes."""
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=3, k=4)
    tree = CHUNKS(policy, episode)
    sample = GRPOAgent(policy, None, batch_size=4).policy_sample(episode, tree, torch.randn(3, 4))
    seen = []
    monkeypatch.setattr(updates, "log_probs", lambda p, tree, t: seen.append(tree) or log_probs(p, tree, t))
    minimize_policy_loss(policy, torch.optim.SGD(policy.model.parameters(), lr=0.0), [[sample]])
    assert [len(part.trunks) for part in seen] == [1] * len(tree.trunks) and len(seen) > 3


def test_memory_is_reported_where_it_is_counted(monkeypatch):
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: 3_000_000_000)
    assert updates._peak_memory(torch.device("cuda")) == {"peak_memory_gb": 3.0}
    assert updates._peak_memory(torch.device("cpu")) == {}
