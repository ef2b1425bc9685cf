"""The loop that the agents share: collecting, learning, acting."""

import inspect
from collections import Counter
from itertools import islice

import gymnasium as gym
import numpy as np
import pytest
import stable_baselines3
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, FilteredCloningAgent, GRPOAgent, PPOAgent, RLOOAgent, evaluate_policy
from coach_gym.agents.models.tree import build_tree, separate_log_probs
from coach_gym.agents.training.batching import FIRST_TRAINING_SEED
from coach_gym.agents.training.online import OnlineAgent
from coach_gym.episode import Episode
from tests.agents import tiny
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import warm_policy

METHODS = [CoachAgent, PPOAgent, GRPOAgent, RLOOAgent, FilteredCloningAgent]


def make(method=CoachAgent, envs=None, **arguments) -> OnlineAgent:
    envs = envs or SyncVectorEnv([lambda: ButtonEnv(steps=2)] * 4)
    arguments = {"batch_size": 8, "max_new_tokens": 3, "seed": 0, **arguments}
    if method is CoachAgent:
        arguments.setdefault("malformed_is_worthless", False)  # the environment reads letters
    return method(arguments.pop("policy", None) or warm_policy(), envs, 1e-3, **arguments)


def weights(agent: OnlineAgent) -> torch.Tensor:
    return torch.cat([p.detach().flatten().clone() for p in agent.policy.model.parameters()])


# ---- roll-outs --------------------------------------------------------------------------------------------------


def test_a_rollout_holds_what_was_drawn_and_executed():
    agent = make(k=3)
    episodes = [episode for group in agent.collect_rollouts() for episode in group]
    assert len(episodes) == 8
    assert agent.num_timesteps == sum(episode.length for episode in episodes)
    for step in (step for episode in episodes for step in episode.steps):
        assert len(step.candidates) == 3
        assert step.action == step.candidates[step.executed].text
        assert all(len(c.logprobs) == len(c.token_ids) for c in step.candidates)
    assert len({episode.length for episode in episodes}) > 1


def test_the_samplers_log_probabilities_are_the_policys():
    agent = make(temperature=0.7)
    episode = max((e for (e,) in agent.collect_rollouts()), key=lambda e: e.length)
    with torch.no_grad():
        scored = separate_log_probs(agent.policy, episode, temperature=0.7)
    for step, step_scored in zip(episode.steps, scored, strict=True):
        for candidate, tensor in zip(step.candidates, step_scored, strict=True):
            torch.testing.assert_close(torch.tensor(candidate.logprobs), tensor, atol=1e-4, rtol=1e-4)


def test_training_seeds_are_reproducible_and_leave_room_for_held_out_ones():
    seeds = [list(islice(make(seed=s).task_seeds(0), 8)) for s in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]
    assert list(islice(make(seed=0).task_seeds(5), 3)) == seeds[0][5:]
    assert len(set(seeds[0])) == 8 and min(seeds[0]) >= FIRST_TRAINING_SEED


def test_groups_attempt_the_same_instance():
    env = ButtonEnv()
    agent = make(GRPOAgent, SyncVectorEnv([lambda: env]), group_size=4)
    groups = agent.collect_rollouts()
    assert [len(group) for group in groups] == [4, 4]
    seeds = [seed for seed in env.resets if seed is not None]
    assert seeds[:4] == seeds[:1] * 4 and seeds[4:] == seeds[4:5] * 4 and seeds[0] != seeds[4]


# ---- faults -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_faulted_episodes_are_never_learned_from(method):
    agent = make(method, SyncVectorEnv([lambda: ButtonEnv(faulty=[])] * 4))
    before = weights(agent)
    agent.learn(16)
    torch.testing.assert_close(weights(agent), before, rtol=0, atol=0)
    assert agent.num_timesteps == 16 and agent.n_updates == 0
    assert not agent.ep_success_buffer and not agent.ep_info_buffer


def test_faults_are_left_out_of_a_group_and_the_rest_is_learned_from():
    envs = SyncVectorEnv([ButtonEnv] * 3 + [lambda: ButtonEnv(faulty=[])])
    agent = make(GRPOAgent, envs, batch_size=4)
    seen = []
    agent.train = seen.append  # type: ignore[method-assign]
    agent.learn(4)
    ((group,),) = seen
    assert len(group) == 3 and all(episode.fault is None for episode in group)
    assert len(agent.ep_success_buffer) == 3


# ---- the method -------------------------------------------------------------------------------------------------


class Judge:
    """A judge that likes a and gives no verdict on c."""

    def score(self, goal, steps):
        return [{"a": 1.0, "c": None}.get(text[:1], 0.0) for _, text in steps]


def test_returns_of_judged_steps():
    agent = make(reward_model=Judge(), gamma=0.5)
    episodes = [e for (e,) in agent.collect_rollouts()]
    agent.assign_returns(episodes)
    judged = [step for episode in episodes for step in episode.steps]
    assert {step.process_reward for step in judged} == {1.0, 0.0, None}
    for episode in episodes:
        first, last = episode.steps[0], episode.steps[-1]
        if last.process_reward is None:
            assert last.return_ is None
            assert first is last or (first.return_ is None) == (first.process_reward is None)
        else:
            assert last.return_ == pytest.approx(0.2 * last.process_reward + episode.outcome)
            if episode.length == 2 and first.process_reward is not None:
                following = first.process_reward + 0.5 * last.process_reward
                assert first.return_ == pytest.approx(0.2 * following + episode.outcome)


def test_a_judge_that_says_nothing_leaves_the_critic_alone():
    class Silent:
        def score(self, goal, steps):
            return [None] * len(steps)

    agent = make(reward_model=Silent())
    before = [p.detach().clone() for p in agent.critic.parameters()]
    agent.learn(8)
    assert agent.n_updates >= 1
    for parameter, old in zip(agent.critic.parameters(), before, strict=True):
        torch.testing.assert_close(parameter.detach(), old, rtol=0, atol=0)


@pytest.mark.parametrize("method", METHODS)
def test_separate_sequences_learn_the_same(method):
    """Covers the slow reference path and branches in chunks."""
    coach = {"k": 3, "critic_warmup_ratio": 0.0}  # a critic that has learned nothing has no preference
    learned = []
    for options in ({}, {"trajectory_trees": False}, {"max_branch_tokens": 3}):
        torch.manual_seed(0)
        agent = make(method, SyncVectorEnv([ButtonEnv] * 4), **options, **(coach if method is CoachAgent else {}))
        before = weights(agent)
        agent.learn(8)
        learned.append(weights(agent) - before)
    size = learned[0].norm()
    assert size > 0.01
    assert (learned[1] - learned[0]).norm() < 1e-3 * size  # AdamW's first steps magnify what is nearly zero
    assert (learned[2] - learned[0]).norm() < 1e-3 * size


def test_resampling_draws_from_the_same_distribution():
    """Candidates of the roll-out and fresh ones of phase 4 have the same frequencies in the same state."""
    policy = warm_policy()
    envs = SyncVectorEnv([lambda: ButtonEnv(colours=["red"])] * 8)
    counts = []
    for resample in (False, True):
        agent = make(envs=envs, policy=policy, k=50, resample=resample)
        episodes = [e for (e,) in agent.collect_rollouts()]
        if resample:
            episodes = agent.draw_candidates(episodes, agent.k)
            assert all(len(step.candidates) == 51 for e in episodes for step in e.steps)
        first = 1 if resample else 0
        drawn = [c.text for e in episodes for step in e.steps for c in step.candidates[first:]]
        frequency = Counter(text if text in set("abc") else "other" for text in drawn)
        counts.append([frequency[name] for name in ("a", "b", "c", "other")])
    table = np.array(counts)
    assert table.sum(1).tolist() == [400, 400]
    expected = table.sum(0) / 2
    chi_squared = ((table - expected) ** 2 / expected).sum()
    assert chi_squared < 16.3  # 3 degrees of freedom, p = 0.001


def test_resampling_learns_from_the_fresh_candidates_only():
    agent = make(resample=True, k=3)
    samples = []
    agent.update_policy = samples.extend  # type: ignore[method-assign]
    groups = agent.collect_rollouts()
    agent.train(groups)
    steps = sum(e.length for (e,) in groups)
    scored = sum(len(step) for s in samples for trunk in s.tree.trunks for step in trunk.spans)
    assert scored == 4 * steps and all(sample.first == 1 for sample in samples)
    assert all(len(s.advantages) == len(s.old_log_probs) for s in samples)
    agent.learn(8)


def test_recomputed_log_probabilities_change_nothing_on_policy():
    results = []
    for recompute in (False, True):
        agent = make(recompute_log_probs=recompute)
        agent.learn(8)
        results.append(weights(agent))
    torch.testing.assert_close(*results, atol=1e-4, rtol=1e-3)


def test_advantages_of_one_episode_reach_the_right_tokens():
    agent = make(k=2)
    (episode,) = agent.collect_rollouts()[0]
    tree = build_tree(agent.policy, episode)
    advantages = torch.arange(2.0 * episode.length).reshape(-1, 2)
    sample = agent.policy_sample(episode, tree, advantages)
    expected = [
        float(2 * t + i)
        for t, step in enumerate(episode.steps)
        for i, candidate in enumerate(step.candidates)
        for _ in candidate.token_ids
    ]
    assert sample.advantages.tolist() == expected
    logprobs = [v for step in episode.steps for candidate in step.candidates for v in candidate.logprobs]
    assert sample.old_log_probs.tolist() == pytest.approx(logprobs)


def test_the_critics_learning_rate_warms_up_over_a_share_of_the_training():
    agent = make(critic_learning_rate=1e-2, critic_warmup_ratio=0.5, envs=SyncVectorEnv([ButtonEnv] * 8))
    rates = []
    agent.learn(32, callback=lambda *_: rates.append(agent.optimizers["critic.optimizer"].param_groups[0]["lr"]))
    rates.append(agent.optimizers["critic.optimizer"].param_groups[0]["lr"])
    assert rates[1:] == pytest.approx([0.5e-2, 1e-2, 1e-2, 1e-2])


def test_learning_rate_schedules_see_the_remaining_progress():
    seen = []
    agent = make(GRPOAgent, SyncVectorEnv([ButtonEnv] * 8))
    agent.learning_rate = lambda remaining: seen.append(remaining) or 1e-3
    agent.learn(16)
    assert seen == pytest.approx([0.5, 0.0])
    assert agent.optimizers["policy.optimizer"].param_groups[0]["lr"] == 1e-3


def test_mini_batches_cover_everything_once_an_epoch():
    agent = make(mini_batch_size=3)
    batches = agent.mini_batches(range(8), n_epochs=2)
    assert [len(batch) for batch in batches] == [3, 3, 2] * 2
    assert sorted(sum(batches[:3], [])) == sorted(sum(batches[3:], [])) == list(range(8))
    assert batches[:3] != batches[3:]


def test_warnings_name_the_remedy():
    with pytest.warns(UserWarning, match="batch_size=2.*num_envs=4.*pass batch_size=4"):
        make(policy=tiny.policy(), batch_size=2)
    half = tiny.policy()
    half.model.bfloat16()
    with pytest.warns(UserWarning, match="bfloat16.*model.float"):
        make(policy=half)


# ---- acting -----------------------------------------------------------------------------------------------------


def test_predict_on_one_environment_remembers():
    agent, env = make(), ButtonEnv(steps=3)
    observation, _ = env.reset(seed=0)
    action, state = agent.predict(observation, deterministic=True)
    assert action[:1] in "abc" and isinstance(action, str)
    _, second = agent.predict(observation, state)
    assert [len(episode.steps) for episode in (*state, *second)] == [1, 2]  # the old state is as it was
    _, fresh = agent.predict(observation, second, episode_start=True)
    assert len(fresh[0].steps) == 1


def test_predict_on_a_vector_starts_episodes_one_by_one():
    agent, envs = make(), SyncVectorEnv([ButtonEnv] * 3)
    observations, _ = envs.reset(seed=[0, 1, 2])
    actions, state = agent.predict(observations, deterministic=True)
    assert len(actions) == 3 and [e.goal for e in state] == list(observations["goal"])
    _, state = agent.predict(observations, state, episode_start=np.array([False, True, False]))
    assert [len(episode.steps) for episode in state] == [2, 1, 2]


def test_predict_reads_only_what_it_needs():
    agent = make()
    screen = np.zeros((56, 84, 3), np.uint8)
    action, (episode,) = agent.predict({"goal": "red", "screenshot": screen})
    assert isinstance(action, str) and isinstance(episode, Episode)


def test_greedy_actions_repeat_and_drawn_ones_vary():
    agent = make()
    observation, _ = ButtonEnv().reset(seed=0)
    assert len({agent.predict(observation, deterministic=True)[0] for _ in range(5)}) == 1
    assert len({agent.predict(observation)[0] for _ in range(30)}) > 1


# ---- the surface ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["learn", "predict", "save", "load", "set_parameters", "set_env", "set_random_seed"])
def test_signatures_are_stable_baselines(method):
    ours = list(inspect.signature(getattr(CoachAgent, method)).parameters)
    theirs = list(inspect.signature(getattr(stable_baselines3.PPO, method)).parameters)
    assert ours == theirs


def test_evaluate_policy_has_stable_baselines_signature():
    theirs = inspect.signature(stable_baselines3.common.evaluation.evaluate_policy)
    ours = inspect.signature(evaluate_policy)
    assert list(ours.parameters) == list(theirs.parameters)
    assert [p.default for p in ours.parameters.values()] == [p.default for p in theirs.parameters.values()]


def test_environments_by_id_and_alone():
    gym.register("Buttons-v0", entry_point=ButtonEnv)
    try:
        assert make(envs="Buttons-v0").get_env().num_envs == 8
    finally:
        del gym.registry["Buttons-v0"]
    agent = make(envs=ButtonEnv())
    agent.learn(8)
    assert agent.num_timesteps == 8


def test_without_an_environment_there_is_nothing_to_learn():
    agent = PPOAgent(tiny.policy(), None)
    assert agent.get_env() is None
    with pytest.raises(ValueError, match="set_env"):
        agent.learn(1)
    agent.set_env(ButtonEnv())
    assert agent.get_env().num_envs == 1


def test_counting_goes_on_or_starts_again():
    agent = make(envs=SyncVectorEnv([ButtonEnv] * 8))
    agent.learn(8)
    agent.learn(8, reset_num_timesteps=False)
    assert agent.num_timesteps == agent.total_timesteps == 16
    agent.learn(8)
    assert agent.num_timesteps == 8


def test_same_seed_same_training():
    runs = []
    for _ in range(2):
        agent = make(mini_batch_size=3)
        agent.learn(12)
        runs.append(weights(agent))
    torch.testing.assert_close(*runs, rtol=0, atol=0)


def test_the_log_of_an_iteration(tmp_path, capsys):
    agent = make(tensorboard_log=str(tmp_path), verbose=1)
    agent.learn(8, tb_log_name="run")
    shown = capsys.readouterr().out
    for key in ("ep_rew_mean", "success_rate", "fault_rate", "fps", "iterations", "n_updates", "token_ratio"):
        assert key in shown
    curves = tags(tmp_path / "run_1")
    assert {
        "rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/success_rate", "rollout/fault_rate", "time/fps",
        "time/generate", "time/env_wait", "time/critic", "time/update", "train/policy_gradient_loss",
        "train/value_loss", "train/entropy_loss", "train/approx_kl", "train/clip_fraction", "train/clip_range",
        "train/loss", "train/explained_variance", "train/learning_rate", "train/critic_learning_rate", "train/q_mean",
        "train/q_spread", "train/all_equal", "train/entropy", "train/advantage_std", "train/token_ratio",
        "train/grad_norm",
    } <= curves  # fmt: skip
    assert not curves & {"time/iterations", "time/time_elapsed", "time/total_timesteps", "train/n_updates"}


def tags(folder) -> set[str]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder))
    events.Reload()
    return set(events.Tags()["scalars"])
