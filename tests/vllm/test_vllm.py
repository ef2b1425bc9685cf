"""vLLM generates what the policy would, with the same log-probabilities, before and after an update."""

from collections import Counter
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, evaluate
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.generation.vllm.engine import LocalEngine
from coach_gym.agents.generation.vllm.generator import VllmGenerator, WeightMismatchError
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.models.tree import sequence_log_probs
from coach_gym.agents.pocket.demonstrations import demonstrate
from coach_gym.episode import Candidate, Observation
from tests.agents import tiny, warm_start
from tests.agents.trivial_env import ButtonEnv

random_policy = partial(tiny.policy, hidden=128)  # vLLM's CPU kernels need heads of 32 or more; tied embeddings


@pytest.fixture(scope="module")
def generators() -> dict[str, VllmGenerator]:
    """One engine per architecture; tests change the weights freely."""
    return {"pocket": VllmGenerator(Policy.load("pocket")), "random": VllmGenerator(random_policy())}


@pytest.fixture(params=["pocket", "random"])
def generator(generators: dict[str, VllmGenerator], request: pytest.FixtureRequest):
    chosen = generators[request.param]
    weights = deepcopy(chosen.policy.model.state_dict())
    yield chosen
    chosen.policy.model.load_state_dict(weights)


@pytest.fixture
def random(generators: dict[str, VllmGenerator]):
    chosen = generators["random"]
    weights = deepcopy(chosen.policy.model.state_dict())
    yield chosen
    chosen.policy.model.load_state_dict(weights)


def prompts_of(policy: Policy, lengths: tuple[int, ...] = (1, 3, 2)) -> list[Prompt]:
    """Makes prompts of different lengths, with 1, 3 and 2 screenshots."""
    episodes = [tiny.episode(policy, steps=n, seed=n) for n in lengths]
    return [policy.prompt(e.goal, e.steps[:-1], e.steps[-1].observation) for e in episodes]


@torch.no_grad()
def errors(policy: Policy, prompts: list[Prompt], drawn: list[list[Candidate]], temperature: float = 1.0) -> np.ndarray:
    """Returns differences of log-probabilities from the policy's in float64."""
    exact = Policy(deepcopy(policy.model).double(), policy.tokenizer, policy.image_processor, policy.dialect)
    differences = []
    for prompt, row in zip(prompts, drawn, strict=True):
        for candidate in row:
            scored = sequence_log_probs(exact, prompt, candidate, temperature)
            differences.append(scored.numpy() - np.array(candidate.logprobs))
    return np.abs(np.concatenate(differences))


# ---- generation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_log_probs_are_the_policys(generator: VllmGenerator, temperature: float):
    policy = generator.policy
    prompts = prompts_of(policy)
    drawn = generator.sample(prompts, 4, temperature, 12)
    reference = TransformersGenerator(policy).sample(prompts, 4, temperature, 12)
    rounding = errors(policy, prompts, reference, temperature).max()
    assert errors(policy, prompts, drawn, temperature).max() < max(1e-5, 4 * rounding)
    assert rounding < 3e-4
    assert [len(row) for row in drawn] == [4, 4, 4]
    assert all(len(c.token_ids) == len(c.logprobs) for row in drawn for c in row)


def test_greedy_is_what_transformers_draws(generator: VllmGenerator):
    prompts = prompts_of(generator.policy)
    ours = generator.sample(prompts, max_new_tokens=20, greedy=True)
    theirs = TransformersGenerator(generator.policy).sample(prompts, max_new_tokens=20, greedy=True)
    assert [c.token_ids for (c,) in ours] == [c.token_ids for (c,) in theirs]
    assert [c.text for (c,) in ours] == [c.text for (c,) in theirs]
    assert len({tuple(c.token_ids) for (c,) in ours}) > 1


def test_candidates_are_independent_draws(generator: VllmGenerator):
    """The first tokens of 400 candidates of a prompt follow the model's probabilities; rare ones are not compared."""
    torch.manual_seed(0)
    (drawn,) = generator.sample(prompts_of(generator.policy, (1,)), k=400, max_new_tokens=1)
    counts = Counter(c.token_ids[0] for c in drawn)
    expected = {c.token_ids[0]: 400 * np.exp(c.logprobs[0]) for c in drawn}
    common = {token: number for token, number in expected.items() if number >= 5}
    assert common
    for token, number in common.items():
        assert abs(counts[token] - number) < 5 * np.sqrt(number)


def test_the_first_candidates_are_told_while_others_are_drawn(random: VllmGenerator):
    told, under_way = {}, []

    def on_first(number: int, candidate: Candidate) -> None:
        told[number] = candidate
        under_way.append(random.engine.busy)

    with torch.no_grad():
        random.policy.model.lm_head.weight[random.policy.eos] *= 6  # responses of many lengths
    drawn = random.sample(prompts_of(random.policy), k=4, max_new_tokens=20, on_first=on_first)
    assert [told[number] for number in range(3)] == [row[0] for row in drawn]
    assert [len(row) for row in drawn] == [4, 4, 4] and any(under_way)


def test_the_others_share_the_prefill_of_the_first(random: VllmGenerator):
    """Even when prompts join in the same step, only what does not fill a cache block is computed again."""
    policy, engine = random.policy, random.engine
    block, (model,) = engine.engine.vllm_config.cache_config.block_size, engine.engine.collective_rpc(vllms_model)
    encoded: list[int] = []
    count = lambda _, pixels, keywords: encoded.append(len(keywords["grid_thw"]))  # noqa: E731
    hook = model.visual.register_forward_pre_hook(count, with_kwargs=True)
    observations = [tiny.observation(np.random.default_rng(seed)) for seed in (11, 12)]
    prompts = [policy.prompt(f"{n} {'Save it. ' * 99}", [], seen) for n, seen in enumerate(observations)]
    random.sample(prompts_of(policy, (1,)), max_new_tokens=2)  # sends the weights
    before = Counter(engine.counts)
    encoded.clear()
    random.sample(prompts, k=4, max_new_tokens=2)
    hook.remove()
    blocks = [(len(prompt) - 1) // block * block for prompt in prompts]
    assert min(blocks) > 0 and engine.counts["cached_tokens"] - before["cached_tokens"] == sum(blocks)
    assert sum(encoded) == 2


def vllms_model(worker):
    return worker.model_runner.model


def test_draws_follow_torchs_seed(random: VllmGenerator):
    prompts = prompts_of(random.policy)
    texts = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        texts.append([[c.token_ids for c in row] for row in random.sample(prompts, 2, max_new_tokens=8)])
    assert texts[0] == texts[1] != texts[2]
    assert texts[0][0][0] != texts[0][0][1]


def test_banned_tokens_are_never_drawn(random: VllmGenerator):
    """Even if the model prefers them to everything else."""
    policy = random.policy
    with torch.no_grad():
        policy.model.lm_head.weight[policy.banned] *= 30
    prompts = prompts_of(policy)
    drawn = random.sample(prompts, 20, max_new_tokens=10)
    assert not {token for row in drawn for c in row for token in c.token_ids} & set(policy.banned)
    assert errors(policy, prompts, drawn).max() < 1e-4
    banned, policy.banned = policy.banned, []
    try:
        free = random.sample(prompts, 20, max_new_tokens=10)
    finally:
        policy.banned = banned
    assert {token for row in free for c in row for token in c.token_ids} & set(banned)


def test_a_response_ends_with_the_turn_or_at_the_limit(random: VllmGenerator):
    policy = random.policy
    with torch.no_grad():
        policy.model.lm_head.weight[policy.eos] *= 8
    drawn = [c for row in random.sample(prompts_of(policy), 20, max_new_tokens=6) for c in row]
    ended = [c for c in drawn if policy.eos in c.token_ids]
    assert 0 < len(ended) < len(drawn)
    assert all(c.token_ids.index(policy.eos) == len(c.token_ids) - 1 for c in ended)
    assert all(len(c.token_ids) == 6 for c in drawn if c not in ended)


def test_an_interruption_leaves_nothing_behind(random: VllmGenerator, monkeypatch: pytest.MonkeyPatch):
    prompts, engine = prompts_of(random.policy), random.engine.engine
    expected = random.sample(prompts, max_new_tokens=6, greedy=True)
    steps = iter([engine.step, engine.step])
    with monkeypatch.context() as patch, pytest.raises(StopIteration):
        patch.setattr(engine, "step", lambda: next(steps)())
        random.sample(prompts[::-1], 3, max_new_tokens=6)
    assert random.sample(prompts, max_new_tokens=6, greedy=True) == expected


def test_nothing_is_drawn_for_nobody(random: VllmGenerator):
    assert random.sample([]) == []


# ---- weights ---------------------------------------------------------------------------------------------------


def disturb(policy: Policy, part: str) -> None:
    """Changes some of a model's weights."""
    with torch.no_grad():
        for name, parameter in policy.model.named_parameters():
            if part in name:
                parameter += 0.3 * parameter.std() * torch.randn_like(parameter)


@pytest.mark.parametrize("part", ["visual", "embed_tokens", "layers", ""])
def test_new_weights_are_in_force_at_once(generator: VllmGenerator, part: str):
    """Nothing computed with old weights is used again: no keys, values or image features."""
    policy, prompts = generator.policy, prompts_of(generator.policy)
    generator.sample(prompts, max_new_tokens=4)
    before = generator.version
    disturb(policy, part)
    drawn = generator.sample(prompts, 2, max_new_tokens=8)
    assert errors(policy, prompts, drawn).max() < 1e-3
    assert generator.version != before


def test_weights_travel_once_an_update(random: VllmGenerator):
    prompts = prompts_of(random.policy)
    random.sample(prompts, max_new_tokens=2)
    version = random.version
    random.sample(prompts, max_new_tokens=2)
    assert random.version == version


def test_weights_that_did_not_arrive_are_noticed(random: VllmGenerator, monkeypatch: pytest.MonkeyPatch):
    prompts = prompts_of(random.policy)
    random.sample(prompts, max_new_tokens=2)
    monkeypatch.setattr(random.engine, "load", lambda _, version: random.engine.engine.set_weight_version(version))
    disturb(random.policy, "visual")
    with pytest.raises(WeightMismatchError, match="weights did not arrive"):
        random.sample(prompts)


def test_weights_of_somebody_else_are_noticed(random: VllmGenerator):
    prompts = prompts_of(random.policy)
    random.sample(prompts, max_new_tokens=2)
    random.engine.load(random_policy(seed=1).model.state_dict().items(), "somebody's")
    try:
        with pytest.raises(WeightMismatchError, match="somebody's, but the policy's are"):
            random.sample(prompts)
    finally:
        random._weights = None  # transfers them again


# ---- agents ----------------------------------------------------------------------------------------------------


def test_coach_learns_with_vllm(monkeypatch: pytest.MonkeyPatch):
    """The screen has one colour; the agent must learn which of three answers is rewarded."""
    monkeypatch.setattr(tiny, "policy", random_policy)
    warm_start._warm_weights.cache_clear()
    versions, load = [], LocalEngine.load
    monkeypatch.setattr(LocalEngine, "load", lambda *arguments: versions.append(arguments[2]) or load(*arguments))
    envs = SyncVectorEnv([lambda: ButtonEnv(colours=["red"])] * 8)
    agent = CoachAgent(
        warm_start.warm_policy(), envs, 5e-4, critic_learning_rate=1e-3, critic_warmup_ratio=0.0, critic_epochs=2,
        batch_size=16, max_new_tokens=3, generation="vllm", seed=0,
        malformed_is_worthless=False,  # the buttons read letters
    )  # fmt: skip
    warm_start._warm_weights.cache_clear()
    agent.learn(256)
    assert agent.n_updates == 16
    assert 5 < len(set(versions)) <= 17  # updates change nothing where all candidates are alike
    assert evaluate(agent, envs, 24, deterministic=True).success_rate == 1.0


def demonstrated() -> tuple[str, list[tuple[Observation, str]]]:
    """An expert's goal and steps: of noise, many verdicts are unreadable and then drawn by chance."""
    (shown,) = demonstrate(Policy.load("pocket"), "AndroidWorld-v0", ["MarkorCreateFolder"], [0], (270, 600), slips=0.0)
    return shown.goal, [(observation, answer) for observation, answer, _ in shown.steps]


def test_the_judge_says_the_same():
    goal, steps = demonstrated()
    judge = GenerativePRM.load("pocket", generation="vllm")
    prompts = [judge.prompt(goal, steps[: t + 1]) for t in range(len(steps))]
    ours = judge.generator.sample(prompts, max_new_tokens=64, greedy=True)
    theirs = TransformersGenerator(judge.policy).sample(prompts, max_new_tokens=64, greedy=True)
    assert [c.text for (c,) in ours] == [c.text for (c,) in theirs]
    verdicts = GenerativePRM.load("pocket").score(goal, steps)
    again = judge.score(goal, steps)
    assert None not in verdicts and again == verdicts
    assert [each.probability for each in again] == pytest.approx([each.probability for each in verdicts], abs=1e-3)
