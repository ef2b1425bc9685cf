"""Of k responses, the one with the highest Q is executed: in an evaluation, and in roll-outs."""

import pytest
import torch

from coach_gym.agents import CoachAgent, evaluate
from coach_gym.agents.models.tree import build_tree, prompt_tree
from coach_gym.agents.playing.rollout import Attempt
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.episode import Candidate, Episode, Step
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import letter, trained_critic, warm_policy

BACK, HOME, CUT = "Action: press_back()", "Action: press_home()", "Action: press_back("
SETTINGS = {"max_new_tokens": 3, "malformed_is_worthless": False, "seed": 0}


def test_a_state_alone_has_the_q_that_it_has_in_its_episode():
    policy = tiny.policy()
    agent = CoachAgent(policy, None)
    torch.nn.init.normal_(agent.critic.value_head.weight)
    episode = tiny.episode(policy, steps=3, k=3)
    *past, last = episode.steps
    prompt = policy.prompt(episode.goal, past, last.observation)
    with torch.no_grad():
        (alone,) = agent.critic.q_values(prompt_tree(policy, prompt, last.candidates))
        *_, within = agent.critic.q_values(build_tree(policy, episode))
    torch.testing.assert_close(alone, within)


@pytest.mark.parametrize(("q", "first"), [([0.1, 0.7, 0.3], HOME), ([0.1, -0.7, 2.0], BACK)])
def test_the_best_action_comes_first_and_a_response_that_is_none_last(q, first, monkeypatch):
    policy = tiny.policy()
    agent = CoachAgent(policy, None)
    player = agent.best_of(3)
    monkeypatch.setattr(agent.critic, "q_values", lambda tree: [torch.tensor(q)])
    candidates = [letter(policy, text) for text in (BACK, HOME, CUT)]
    monkeypatch.setattr(player.generator, "sample", lambda *arguments, **options: [candidates])
    state = Attempt(0, 0, Episode("red"), tiny.episode(policy, steps=1).steps[0].observation)
    told: list[Candidate] = []
    (drawn,) = player.draw([state], lambda number, candidate: told.append(candidate))
    assert drawn[0].text == first == told[0].text
    assert sorted(map(id, drawn)) == sorted(map(id, candidates))


def test_more_are_drawn_where_all_are_bad_and_nowhere_else(monkeypatch):
    policy = tiny.policy()
    player = CoachAgent(policy, None).best_of(2, max_k=6)
    drawn: list[int] = []

    def sample(prompts, k, *arguments, **options):
        drawn.append(len(prompts))
        return [[letter(policy, HOME if len(drawn) > 1 and n == 0 else BACK) for n in range(k)] for _ in prompts]

    def score(situations, prompts, candidates):
        liked = {"red": (BACK, HOME), "green": (HOME,), "blue": ()}  # at once, when drawn again, never
        return [
            [0.1 if each.text in liked[state.episode.goal] else -1.0 for each in of_state]
            for state, of_state in zip(situations, candidates, strict=True)
        ]

    monkeypatch.setattr(player.generator, "sample", sample)
    monkeypatch.setattr(player, "score", score)
    seen = tiny.episode(policy, steps=1).steps[0].observation
    told: list[int] = []
    states = [Attempt(n, n, Episode(goal), seen) for n, goal in enumerate(("red", "green", "blue"))]
    chosen = player.draw(states, lambda number, _: told.append(number))
    assert drawn == [3, 2, 1] and told == [0, 1, 2]
    assert [[each.text for each in of_state] for of_state in chosen] == [[BACK, BACK], [HOME, BACK], [BACK, BACK]]


@pytest.mark.parametrize(("outcome", "texts", "own"), [
    (1.0, [[BACK, BACK, HOME]], 1 / 2),
    (1.0, [[BACK, f"Thought: I go back.\n{BACK}", CUT]], 1 / 2),  # another thought, the same action
    (1.0, [[BACK, BACK, HOME], [HOME, CUT, HOME]], 1 / 4),  # another draw has to do the same in both states
    (1.0, [[BACK, BACK], [HOME, BACK]], 0.0),
    (0.5, [[BACK, BACK]], 0.0),
    (1.0, [[BACK]], 1.0),
])  # fmt: skip
@pytest.mark.parametrize("verdict", [None, 0.0])  # a judge that dislikes what solves the task takes nothing away
def test_a_chosen_success_is_the_policys_own_as_far_as_other_draws_do_the_same(outcome, texts, own, verdict):
    policy = tiny.policy()
    seen = tiny.episode(policy, steps=1).steps[0].observation
    steps = [Step(seen, [Candidate(text, [], [], q=verdict) for text in of_state], 0, "") for of_state in texts]
    episode = Episode("red", steps, outcome)
    agent = CoachAgent(policy, None)
    assert agent.best_of(2).own_success(episode) == pytest.approx(own)
    assert agent.rollout_player.own_success(episode) == (outcome == 1.0)


@pytest.fixture(scope="module")
def agent():
    torch.manual_seed(0)
    policy = warm_policy()
    return CoachAgent(policy, None, critic=trained_critic(policy), **SETTINGS)


def test_a_good_critic_finds_the_right_response_without_training(agent):
    envs = AndroidVectorEnv([ButtonEnv] * 4)
    base = evaluate(agent, envs, 60, deterministic=False).success_rate
    chosen = evaluate(agent.best_of(8), envs, 60).success_rate
    assert base < 0.7 and chosen > base + 0.2


def test_rollouts_execute_the_best_and_predict_stays_the_policys(agent):
    envs = AndroidVectorEnv([ButtonEnv] * 4)
    rates = {}
    for execute in ("first", "best"):
        torch.manual_seed(0)
        chosen = CoachAgent(agent.policy, envs, critic=agent.critic, k=8, execute=execute, batch_size=40, **SETTINGS)
        episodes = [episode for group in chosen.collect_rollouts() for episode in group]
        assert all(step.executed == 0 and len(step.candidates) == 8 for each in episodes for step in each.steps)
        rates[execute] = sum(episode.success for episode in episodes) / 40
        torch.manual_seed(1)
        rates[execute, "predict"] = evaluate(chosen, envs, 40, deterministic=False).success_rate
    assert rates["best"] > rates["first"] + 0.2
    assert rates["first", "predict"] == rates["best", "predict"]


@pytest.mark.parametrize("other", [{"outcome_correction": 1.0}, {"distinct": True}, {"resample": True}])
def test_a_chosen_action_does_not_go_with_what_needs_a_draw(other):
    with pytest.raises(ValueError, match="execute='best' chooses it"):
        CoachAgent(tiny.policy(), None, execute="best", **other)
