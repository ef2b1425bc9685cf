"""What is rehearsed is imitated in every iteration beside the agent's own successes, and so is not unlearned."""

from pathlib import Path

import pytest
import torch
from gymnasium.vector import SyncVectorEnv

from coach_gym.agents import CoachAgent, FilteredCloningAgent
from coach_gym.agents.distributed import processes
from coach_gym.agents.training.remembered import successes_in
from coach_gym.data.folder import EpisodeFolder
from tests.agents.training.test_cloning import episode, likelihood, make, weights
from tests.agents.trivial_env import ButtonEnv
from tests.agents.warm_start import warm_policy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three successes and a failure of another task."""
    path, agent = tmp_path_factory.mktemp("rehearsal"), make()
    episodes = EpisodeFolder(path, {"source": "test"})
    for seed, outcome in enumerate((1.0, 0.0, 1.0, 1.0)):
        one = episode(agent, "cb", outcome, seed)
        one.goal = f"other {seed}"
        episodes.write(f"{seed:06d}", one)
    return path


GIVEN = {"batch_size": 2, "mini_batch_size": 2, "max_new_tokens": 3, "seed": 0}


def buttons() -> SyncVectorEnv:
    return SyncVectorEnv([ButtonEnv] * 2)


def cloning(**arguments) -> FilteredCloningAgent:
    return FilteredCloningAgent(warm_policy(), buttons(), 1e-3, **GIVEN, **arguments)


def coach(**arguments) -> CoachAgent:
    return CoachAgent(warm_policy(), buttons(), 1e-3, k=2, self_imitation=0, **GIVEN, **arguments)


def test_a_folder_s_successes_are_read_and_its_failures_left(folder):
    assert [each.episode().goal for each in successes_in(folder, warm_policy())] == ["other 0", "other 2", "other 3"]


def test_experts_responses_are_encoded_and_another_policy_s_anew(tmp_path):
    policy, shown = warm_policy(), episode(make(), "cb", 1.0)
    for step, ids in zip(shown.steps, ([], [1, 2, 3, 4, 5]), strict=False):
        step.candidates[0].token_ids[:] = ids
    EpisodeFolder(tmp_path, {"source": "experts"}).write("0", shown)
    (read,) = successes_in(tmp_path, policy)
    for step in read.episode().steps:
        assert step.candidates[0].token_ids == [*policy.chat.encode_text(step.action), policy.eos]


@pytest.mark.parametrize("agent", [cloning, coach])
def test_every_iteration_imitates_what_is_rehearsed_beside_its_own_successes(agent, folder):
    trained = agent(rehearsal=folder)
    trained.learn(6, log_interval=None)  # so that the log keeps its latest entry
    own = sum(bool(success) for success in list(trained.ep_success_buffer)[-2:])
    assert len(trained.rehearsed) == 3
    assert trained.logger.name_to_value["train/imitated"] == 3 + own


@pytest.mark.parametrize("agent", [cloning, coach])
def test_no_more_of_it_than_asked_and_all_take_turns(agent, folder):
    trained = agent(rehearsal=folder, max_rehearsed=1)
    trained.rehearsed = successes_in(folder, warm_policy())
    drawn = [trained._turn(trained.rehearsed, trained.max_rehearsed) for _ in range(30)]
    assert {len(turn) for turn in drawn} == {1}
    assert {id(turn[0]) for turn in drawn} == set(map(id, trained.rehearsed))


def test_what_is_rehearsed_stays_likely_while_something_else_is_learned(folder):
    def after_practice(rehearsal: Path | None) -> tuple[float, float]:
        agent = make(rehearsal=rehearsal)
        agent.rehearsed = () if rehearsal is None else successes_in(rehearsal, warm_policy())
        other, practised = successes_in(folder, warm_policy())[0].episode(), episode(agent, "aa", 1.0, seed=9)
        before = likelihood(agent, other).sum(), likelihood(agent, practised).sum()
        for _ in range(12):
            agent.train([[practised]])
        after = likelihood(agent, other).sum(), likelihood(agent, practised).sum()
        return (after[0] - before[0]).item(), (after[1] - before[1]).item()

    other, practised = after_practice(None)
    assert other < 0 < practised, "it is unlearned"
    rehearsed, practised = after_practice(folder)
    assert rehearsed > 0 < practised


def test_without_rehearsal_trainings_draw_the_same_randomness(folder):
    agent = make(replay=2)
    state = str(agent.rng.bit_generator.state)
    assert agent._turn(agent.rehearsed, agent.max_rehearsed) == []
    assert str(agent.rng.bit_generator.state) == state


def test_processes_share_what_is_rehearsed(folder, monkeypatch):
    rehearsed = []
    for rank in range(2):
        agent = cloning(rehearsal=folder)
        with monkeypatch.context() as patched:
            patched.setattr(processes, "rank", lambda rank=rank: rank)
            patched.setattr(processes, "size", lambda: 2)
            agent._read_rehearsal()
        rehearsed.append([each.episode().goal for each in agent.rehearsed])
    assert rehearsed == [["other 0", "other 3"], ["other 2"]]


def test_a_saved_agent_rehearses_on_and_plays_without_the_folder(folder, tmp_path):
    moved = tmp_path / "episodes"
    moved.symlink_to(folder)
    trained = cloning(rehearsal=moved, max_rehearsed=1)
    trained.learn(2)
    trained.save(tmp_path / "agent")
    again = FilteredCloningAgent.load(tmp_path / "agent", env=buttons())
    assert torch.equal(weights(again), weights(trained))
    again.learn(2, reset_num_timesteps=False)
    assert len(again.rehearsed) == 3 and again.max_rehearsed == 1
    moved.unlink()
    FilteredCloningAgent.load(tmp_path / "agent")
    with pytest.raises(ValueError, match="episodes holds no episodes; make some with coach-gym data"):
        again.learn(2)


def test_a_folder_of_a_run_is_told_apart(tmp_path):
    (tmp_path / "episodes").mkdir()
    (tmp_path / "episodes/index.jsonl").touch()
    with pytest.raises(ValueError, match="holds episodes as runs and evaluations keep them, of another format; make"):
        cloning(rehearsal=tmp_path).learn(2)


def test_a_folder_without_a_success_is_refused_before_anything_is_played(tmp_path):
    EpisodeFolder(tmp_path, {"source": "test"}).write("0", episode(make(), "a", 0.0))
    agent = cloning(rehearsal=tmp_path)
    with pytest.raises(ValueError, match="rehearsal=.*none of its 1 episodes is solved; choose tasks"):
        agent.learn(2)
    assert agent.num_timesteps == 0
