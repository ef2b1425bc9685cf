"""A critic that is taught by forks, without an expert."""

import copy
import json
from functools import partial

import pytest
import torch

from coach_gym.agents.distributed.parallel import whole_critic
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.training.critic.lessons import Plan, collect
from coach_gym.agents.training.critic.school import examine, teach
from coach_gym.envs.errors import UsageError
from coach_gym.envs.vector import AndroidVectorEnv
from coach_gym.recording.archive import read_episode
from tests.agents import tiny
from tests.agents.distributed.test_parallel import together
from tests.agents.trivial_env import LETTERS, ButtonEnv
from tests.agents.warm_start import warm_policy

PLAN = Plan(k=4, max_new_tokens=3, gamma=0.9, malformed_is_worthless=False)


class Buttons(ButtonEnv):
    def fork(self):
        return copy.deepcopy(self)


def envs(steps=2, make=Buttons):
    return AndroidVectorEnv([lambda: make(steps=steps)] * 2)


@pytest.fixture(scope="module")
def policy():
    return warm_policy()


@pytest.fixture(scope="module")
def school(policy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lessons")
    ledger = collect(policy, TransformersGenerator(policy), envs(), folder, 30, PLAN)
    return folder, ledger


def test_lessons_hold_the_return_of_every_candidate_of_one_state(school):
    folder, ledger = school
    paths = sorted(folder.glob("*.npz"))
    assert len(paths) == ledger.episodes == 30 and ledger.fork_steps > 0
    measured = 0
    for episode in map(read_episode, paths):
        several = [t for t, step in enumerate(episode.steps) if len(step.candidates) > 1]
        assert len(several) <= 1 and (not several or several == [episode.length - 1])
        for t, step in enumerate(episode.steps):
            assert len({candidate.text for candidate in step.candidates}) == len(step.candidates)
            for candidate in step.candidates:
                right = candidate.text[:1] == LETTERS[episode.goal]
                possible = [0.0] if not right else [1.0] if t == 1 else [0.0, 0.9]
                assert min(abs(candidate.return_ - each) for each in possible) < 1e-6
                measured += t in several and candidate is not step.candidates[step.executed]
    assert measured > 20


def test_an_interrupted_collection_goes_on_to_the_same_lessons(policy, school, tmp_path):
    for episodes in (4, 8):
        ledger = collect(policy, TransformersGenerator(policy), envs(), tmp_path, episodes, PLAN)
    assert ledger.episodes == 8 and json.loads((tmp_path / "lessons.json").read_text())["timesteps"] == ledger.timesteps
    for path in sorted(tmp_path.glob("*.npz")):
        ours, theirs = read_episode(path), read_episode(school[0] / path.name)
        assert [step.candidates for step in ours.steps] == [step.candidates for step in theirs.steps]


def test_lessons_of_another_plan_are_not_mixed(policy, school):
    with pytest.raises(ValueError, match="made with {'k': 4}"):
        collect(policy, TransformersGenerator(policy), envs(), school[0], 40, Plan(**{**vars(PLAN), "k": 6}))


def test_greedy_continuations_give_every_known_candidate_a_greedy_return(policy, tmp_path):
    plan = Plan(**{**vars(PLAN), "deterministic": True})
    collect(policy, TransformersGenerator(policy), envs(steps=1), tmp_path, 8, plan)
    for episode in map(read_episode, tmp_path.glob("*.npz")):
        (step,) = episode.steps
        for candidate in step.candidates if len(step.candidates) > 1 else []:
            assert candidate.return_ == float(candidate.text[:1] == LETTERS[episode.goal])


def test_a_critic_learns_which_candidate_of_a_state_is_better(policy, tmp_path):
    collect(policy, TransformersGenerator(policy), envs(steps=1), tmp_path, 40, PLAN)
    torch.manual_seed(0)
    critic, reports = teach(policy, tmp_path, learning_rate=3e-3, max_epochs=8, patience=8)
    best = min(reports, key=lambda report: report.loss)
    assert best.loss < 0.6 * reports[0].loss
    assert best.within > 0.5 and best.explained_variance > 0.2
    held = [partial(read_episode, path) for path in sorted(tmp_path.glob("*.npz")) if int(path.stem) % 5 == 0]
    assert examine(critic, policy, held).loss == pytest.approx(best.loss, rel=1e-4), "the best one is returned"


def test_a_fit_ends_when_held_out_lessons_get_worse(policy, school):
    critic = Critic.from_policy(policy)
    before = copy.deepcopy(critic.state_dict())
    _, reports = teach(policy, school[0], critic, learning_rate=3.0, max_epochs=9, patience=1)
    assert len(reports) == 2 and reports[1].loss > reports[0].loss
    assert all(torch.equal(before[name], tensor) for name, tensor in critic.state_dict().items())


def test_what_cannot_be_taught_is_refused(policy, tmp_path):
    with pytest.raises(UsageError, match="ButtonEnv cannot be forked"):
        collect(policy, TransformersGenerator(policy), envs(make=ButtonEnv), tmp_path, 4, PLAN)
    with pytest.raises(ValueError, match="0 lessons to teach.*collect more"):
        teach(policy, tmp_path)
    with pytest.raises(ValueError, match="k=1 leaves nothing"):
        Plan(k=1)
    for name in ("states", "max_new_tokens", "gamma", "seed", "deterministic"):
        with pytest.raises((TypeError, ValueError), match=f"{name}=.*; pass"):
            Plan(**{name: -0.5})


def taught_by_several(episodes):
    """Returns the weights and reports of a fit, whole; every process has its part of three lessons per batch."""
    torch.manual_seed(0)
    policy = tiny.policy()
    critic = Critic.from_policy(policy)
    torch.nn.init.constant_(critic.value_head.weight, 0.1)
    lessons = [partial(copy.deepcopy, episode) for episode in episodes]
    settings = {"learning_rate": 1e-3, "mini_batch_size": 3, "max_epochs": 2, "checkpoint_activations": True}
    critic, reports = teach(policy, (lessons[:4], lessons[4:]), critic, **settings)
    return whole_critic(critic).state_dict(), reports


def test_several_processes_teach_what_one_does(tmp_path):
    """The last mini-batch has one lesson, so one process has none; the critic is sharded."""
    episodes = [tiny.episode(tiny.policy(), steps=1 + number % 3, k=3, seed=number) for number in range(7)]
    for number, episode in enumerate(episodes):
        for t, step in enumerate(episode.steps):
            for place, candidate in enumerate(step.candidates):
                candidate.return_ = float((number + t + place) % 2)
    expected, reports = taught_by_several(episodes)
    (found, theirs), (_, others) = together(2, tmp_path, taught_by_several, episodes)
    assert reports[-1].loss < reports[0].loss
    for ours, each, other in zip(reports, theirs, others, strict=True):
        assert each == other
        assert (each.loss, each.within) == pytest.approx((ours.loss, ours.within), rel=1e-2, abs=1e-3)
    moved = torch.cat([(expected[name] - found[name]).abs().flatten() for name in expected])
    assert moved.mean() < 2e-5, "a fiftieth of a step"


def test_passes_in_16_bits_need_torchrun(policy):
    with pytest.raises(ValueError, match="bfloat16=True needs torch.distributed"):
        teach(policy, ([None], [None]), bfloat16=True)
