"""Judges of episodes and of steps behind vLLM's own server say what the same model says in this process."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import pytest
import torch

from benchmarks.judge_agreement import record
from coach_gym.agents import CoachAgent
from coach_gym.agents.judging import trajectory
from coach_gym.agents.judging.chat import ChatClient, ChatServerError
from coach_gym.agents.judging.models import LocalModel, ServedModel, load_model
from coach_gym.agents.judging.steps import ServedPRM, load_prm
from coach_gym.agents.judging.verifiers import ModelVerifier, load_verifier
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM, format_judgment
from coach_gym.agents.models.tree import sequence_log_probs
from coach_gym.envs.suites.pool import PoolTask
from coach_gym.episode import Episode, Observation
from tests.envs.ports import free_port


@pytest.fixture(scope="module")
def episodes() -> list[Episode]:
    """An episode that has succeeded, and one that has not."""
    return [episode for _, episode in record(["experts", "mistaken"], seed=0, number=2)]


def learner(episodes: list[Episode], **judges: str) -> CoachAgent:
    """An agent that plays one step of the same instances."""
    envs = gym.make_vec(
        "AndroidWorld-v0", 2, vectorization_mode="vector_entry_point", screen_size=(270, 600), max_steps=1,
        pool=[PoolTask("AndroidWorld-v0", each.task, each.params, each.goal) for each in episodes],
    )  # fmt: skip
    return CoachAgent("pocket", envs, k=2, batch_size=2, mini_batch_size=2, collection="rounds", seed=4, **judges)


@pytest.fixture(scope="module")
def played(episodes: list[Episode]) -> list[Episode]:
    """What the agent plays first, whoever judges it; it is to be called as good as the same instances above."""
    agent = learner(episodes)
    found = [episode for group in agent.collect_rollouts() for episode in group]
    agent.env.close()
    assert [episode.goal for episode in found] == [episode.goal for episode in reversed(episodes)]
    for episode, same in zip(found, reversed(episodes), strict=True):
        episode.outcome = same.outcome
    return found


@pytest.fixture(scope="module")
def judge(episodes: list[Episode], played: list[Episode]) -> Policy:
    """The shipped judge of steps, which has learned verdicts on these episodes and their first steps by heart."""
    policy = GenerativePRM.load("pocket").policy
    policy.model.requires_grad_(True)
    local, served = LocalModel(policy), ServedModel(ChatClient("judge", "http://127.0.0.1:1/v1"))
    template, lessons = ModelVerifier(served).template, []
    for episode in episodes + played:
        question = trajectory.question(template, episode, served, pictures=False)
        tokens = policy.chat.encode_text(f"<analysis>Seen.</analysis> <ans>{episode.success}</ans>")
        answer = policy.candidate([*tokens, policy.eos], [])
        lessons.append((local._prompt(question), answer))
        question = ServedPRM(served)._question(*first_step(episode))
        tokens = policy.chat.encode_text(format_judgment(bool(episode.success), "Seen."))
        lessons.append((local._prompt(question), policy.candidate([*tokens, policy.eos], [])))
    optimizer = torch.optim.AdamW(policy.model.parameters(), lr=1e-3)
    for _ in range(100):
        losses = [-sequence_log_probs(policy, *lesson).mean() for lesson in lessons]
        if max(loss.item() for loss in losses) < 0.02:
            break
        optimizer.zero_grad()
        sum(losses).backward()
        optimizer.step()
    policy.model.requires_grad_(False)
    assert max(loss.item() for loss in losses) < 0.1
    return policy


def first_step(episode: Episode) -> tuple[str, list[tuple[Observation, str]]]:
    """The question about an episode's first step, which the judge is taught to call as good as the episode."""
    return episode.goal, [(episode.steps[0].observation, episode.steps[0].action)]


@pytest.fixture(scope="module")
def address(judge: Policy, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of vLLM's server."""
    folder = tmp_path_factory.mktemp("judge")
    judge.save(folder)
    port = free_port()
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(folder), "--served-model-name",
        "judge", "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--max-model-len", "16384",
        "--generation-config", "vllm", "--enforce-eager", "--gpu-memory-utilization", "0.1",
    ]  # fmt: skip
    log = folder / "log"
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    while process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    raise AssertionError(log.read_text()[-3000:])


def test_the_outcome_verifier_gets_the_verdicts_of_the_model(address, judge, episodes):
    verifier = load_verifier(f"openai:judge@{address}")
    assert verifier.verify(episodes * 4) == [1.0, 0.0] * 4
    assert verifier.model.client.usage.requests == 8 and verifier.model.client.usage.failures == 0
    assert verifier.model.client.usage.prompt_tokens > 8 * 100


def test_the_process_reward_model_gets_the_verdicts_of_the_model(address, judge, episodes):
    """The same client as the outcome verifier's, with pictures; the reasons come along."""
    prm = load_prm(f"openai:judge@{address}")
    verdicts = prm.judge([first_step(episode) for episode in episodes] * 4)
    assert verdicts == [1.0, 0.0] * 4
    assert {verdict.reasoning for verdict in verdicts} == {"Seen."}
    assert prm.model.client.usage.requests == 8 and prm.model.client.usage.failures == 0


def test_a_training_gets_both_rewards_from_the_server(address, episodes, played):
    """One model judges steps and outcome of an iteration of CoachAgent."""
    name = f"openai:judge@{address}"
    agent = learner(episodes, reward_model=name, outcome_verifier=name)
    learned = []
    train = agent.train
    agent.train = lambda groups: learned.extend(episode for group in groups for episode in group) or train(groups)
    agent.learn(2)
    agent.env.close()
    asked = agent.prm.model.client.usage, agent.verifier.model.client.usage
    assert all(usage.requests == 2 and usage.failures == 0 for usage in asked)
    assert [episode.steps[0].action for episode in learned] == [episode.steps[0].action for episode in played]
    assert [episode.outcome for episode in learned] == [0.0, 1.0]
    assert [[step.process_reward for step in episode.steps] for episode in learned] == [[0.0], [1.0]]
    assert agent.n_updates == 1


def test_pictures_pass_through_the_servers_own_preprocessing(address, judge, episodes):
    """Every screen of the episodes as a picture; the answers are equal, whatever they say, or none where cut off."""
    served, local = ServedModel(ChatClient("judge", address), judge.dialect), LocalModel(judge)
    template = ModelVerifier(local).template
    questions = [trajectory.question(template, episode, local, pictures=True) for episode in episodes]
    assert all(len(question.screenshots) > 1 for question in questions)
    answers = served.answer(questions, 300, greedy=True)
    assert any(answers) and answers == local.answer(questions, 300, greedy=True)


def test_what_the_server_refuses_is_unknown_or_an_error_before_training(address, episodes):
    with pytest.raises(ChatServerError, match="nobody.*cannot be asked.*check its name"):
        load_model(f"openai:nobody@{address}")
    assert isinstance(load_prm(f"openai:judge@{address}"), ServedPRM)
    verifier = ModelVerifier(ServedModel(ChatClient("judge", address, retries=0)), max_new_tokens=100_000)
    with pytest.warns(UserWarning, match="got no answer"):
        assert verifier.verify(episodes) == [None, None]
