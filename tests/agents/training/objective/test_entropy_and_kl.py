"""The entropy bonus and the KL penalty, against sums over all that the policy can answer."""

import pytest
import torch
from gymnasium.vector import SyncVectorEnv
from torch.distributions import Categorical

from coach_gym.agents import CoachAgent, GRPOAgent
from coach_gym.agents.models.tree import build_tree, log_probs, log_probs_and_entropies, separate_tree
from coach_gym.agents.training.objective.losses import kl_penalty
from tests.agents import few_responses, tiny
from tests.agents.trivial_env import ButtonEnv


def test_k3_and_its_gradient_by_hand():
    torch.manual_seed(0)
    old, reference = torch.randn(2, 9, dtype=torch.double)
    new = (old + 0.3 * torch.randn(9, dtype=torch.double)).requires_grad_()
    k3 = (reference - new).exp() - (reference - new) - 1  # as TRL's GRPO has it
    penalty = kl_penalty(new, old, reference)
    torch.testing.assert_close(penalty, k3)
    (expected,) = torch.autograd.grad(((new - old).exp() * k3).sum(), new)
    (found,) = torch.autograd.grad(penalty.sum(), new)
    torch.testing.assert_close(found, expected)


def test_entropies_are_those_of_the_distributions():
    """Candidates that are equal, and so share their columns, have theirs each."""
    policy = tiny.policy()
    episode = tiny.episode(policy, steps=2, k=2)
    episode.steps[0].candidates.append(episode.steps[0].candidates[1])
    tree = build_tree(policy, episode)
    with torch.no_grad():
        scored, entropies = log_probs_and_entropies(policy, tree, temperature=0.7)
        torch.testing.assert_close(scored, torch.cat(sum(log_probs(policy, tree, temperature=0.7), [])))
        expected = []
        for trunk in separate_tree(policy, episode).trunks:  # one for each candidate
            logits = policy.model(**trunk.forward_arguments(policy.model)).logits[0, trunk.responses[0].predictors()]
            logits[:, policy.banned] = float("-inf")
            expected.append(Categorical(logits=logits / 0.7).entropy())
    torch.testing.assert_close(entropies, torch.cat(expected), rtol=1e-4, atol=1e-5)


def expected_gradients(policy, reference):
    """Returns the gradients of entropy and KL of the next token, summed over where the policy's responses lead."""

    def of_places(which):
        """Log-probabilities of a, b and the end at the start, after a and after b."""
        tree = build_tree(which, few_responses.state(few_responses.responses(policy)))
        end, *longer = log_probs(which, tree)[0]
        start = torch.stack([longer[0][0], longer[3][0], end[0]])
        return torch.stack([start, *(torch.stack([r[1] for r in longer[i : i + 3]]) for i in (0, 3))])

    mine, theirs = of_places(policy), of_places(reference).detach()
    reached = torch.cat([torch.ones(1), mine[0, :2].detach().exp()])
    entropy = -(mine.exp() * mine).sum(1) @ reached
    divergence = (mine.exp() * (mine - theirs)).sum(1) @ reached
    found = []
    for value in (entropy, divergence):
        policy.model.zero_grad()
        value.backward(retain_graph=True)
        found.append(few_responses.gradient(policy))
    return found, entropy.item(), divergence.item()


@pytest.mark.parametrize("coefs", [(1.0, 0.0), (0.0, 1.0), (0.5, 2.0)])
def test_an_update_follows_entropy_and_kl_in_the_mean(coefs):
    """Also where all advantages are zero, as in a state whose candidates are all equal."""
    policy, reference = few_responses.policy(), few_responses.policy(seed=1)
    agent = CoachAgent(
        policy, None, 0.0, k=1, batch_size=1, max_grad_norm=1e9, entropy_coef=coefs[0], kl_coef=coefs[1],
        reference=reference if coefs[1] else None, malformed_is_worthless=False,
    )  # fmt: skip
    (entropy, divergence), *values = expected_gradients(policy, reference)
    found, logged = torch.zeros_like(entropy), torch.zeros(2)
    responses = few_responses.responses(policy)
    for response, likely in zip(responses, few_responses.probabilities(responses), strict=True):
        found += likely * few_responses.learned(agent, [response], [0.0])
        names = agent.logger.name_to_value
        terms = torch.tensor([names.get("train/token_entropy", 0.0), names.get("train/kl", 0.0)])
        assert names["train/loss"] == pytest.approx(float(coefs[1] * terms[1] - coefs[0] * terms[0]), abs=1e-6)
        logged += likely * terms * len(response.token_ids)
    expected = coefs[0] * entropy - coefs[1] * divergence
    assert expected.norm() > 0.1
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
    if coefs[0] and coefs[1]:
        assert logged.tolist() == pytest.approx(values, rel=1e-3)


def weights(policy):
    return torch.cat([parameter.detach().flatten() for parameter in policy.model.parameters()])


def test_the_reference_is_the_policy_of_the_start_and_is_saved(tmp_path):
    envs = SyncVectorEnv([lambda: ButtonEnv()] * 4)
    agent = GRPOAgent(tiny.policy(), envs, 1e-2, batch_size=4, max_new_tokens=2, kl_coef=0.1, entropy_coef=0.01, seed=0)
    start = weights(agent.policy)
    agent.learn(4)
    assert not torch.equal(weights(agent.policy), start) and torch.equal(weights(agent.reference), start)
    agent.save(tmp_path / "agent")
    loaded = GRPOAgent.load(tmp_path / "agent")
    assert (loaded.kl_coef, loaded.entropy_coef) == (0.1, 0.01)
    assert torch.equal(weights(loaded.reference), start)
    assert torch.equal(weights(loaded.policy), weights(agent.policy))
    assert not any(parameter.requires_grad for parameter in loaded.reference.model.parameters())
    assert loaded.get_parameters().keys() == {"policy", "policy.optimizer"}
    assert GRPOAgent.load(tmp_path / "agent", kl_coef=0.0).reference is None
    agent.save_shards(tmp_path / "shards")
    assert torch.equal(weights(GRPOAgent.load(tmp_path / "shards").reference), start)


@pytest.mark.parametrize("coef", ["entropy_coef", "kl_coef"])
def test_sequences_learn_what_trees_do_where_the_executed_response_is_left_out(coef):
    learned = []
    for trees in (True, False):
        envs = SyncVectorEnv([lambda: ButtonEnv()] * 4)
        settings = {"batch_size": 4, "max_new_tokens": 2, "learn_from_executed": False, "seed": 0, coef: 0.1}
        settings |= {"reference": tiny.policy(seed=1)} if coef == "kl_coef" else {}
        agent = CoachAgent(tiny.policy(), envs, 1e-2, k=2, trajectory_trees=trees, **settings)
        agent.learn(4)
        learned.append(weights(agent.policy))
    torch.testing.assert_close(learned[0], learned[1], rtol=1e-3, atol=1e-4)


def test_coefficients_are_checked():
    with pytest.raises(ValueError, match="kl_coef=-1.0 must not be negative"):
        GRPOAgent(tiny.policy(), None, kl_coef=-1.0)
    assert GRPOAgent(tiny.policy(), None).reference is None
