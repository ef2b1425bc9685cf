"""A critic is pre-trained on labels or roll-outs, and starts from any model's weights."""

import pytest
import torch

from coach_gym.__main__ import main
from coach_gym.agents.data.critic import from_labels, from_rollouts
from coach_gym.agents.data.label import Labelling, label
from coach_gym.agents.data.labels import LabelFolder
from coach_gym.agents.models.critic import Critic
from coach_gym.agents.training.critic.school import teach
from coach_gym.data.folder import EpisodeFolder
from tests.agents import tiny
from tests.agents.data.demonstrations import Scripted, episodes

GOOD, BAD, NOISE = "click(start_box='(40,70)')", "type(content='88')", "no idea"


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    policy = tiny.policy()
    shown = episodes(folder / "shown", number=12)
    label([shown], policy, Scripted(policy, GOOD, BAD, NOISE), folder, Labelling(candidates=3))
    return LabelFolder(folder)


@pytest.fixture
def a_third(monkeypatch):
    monkeypatch.setattr("coach_gym.agents.data.labels.HELD_OUT", 3)
    monkeypatch.setattr("coach_gym.agents.data.critic.HELD_OUT", 3)


def test_good_labels_are_worth_1_and_bad_ones_0(labels, a_third):
    policy = tiny.policy()
    taught, held = from_labels(policy, labels)
    assert len(taught) > len(held) > 1
    counted = 0
    for lesson in (*taught, *held):
        for step in lesson().steps:
            shown, *others = step.candidates
            assert shown.return_ is None, "nobody labelled what was shown"
            for candidate in others:
                assert candidate.return_ == {GOOD: 1.0, BAD: 0.0, NOISE: 0.0}[candidate.text]
                assert policy.chat.decode(candidate.token_ids) == candidate.text
                counted += 1
    assert counted == len(labels.labels)


def test_a_critic_learns_from_labels_what_it_was_not_taught(labels, a_third):
    policy = tiny.policy()
    torch.manual_seed(0)
    _, reports = teach(policy, from_labels(policy, labels), learning_rate=3e-3, max_epochs=6, patience=6)
    best = min(reports, key=lambda report: report.loss)
    assert best.loss < 0.6 * reports[0].loss and best.within > 0.6


def test_rollouts_teach_their_discounted_outcomes(tmp_path, a_third):
    policy = tiny.policy()
    folder = EpisodeFolder(tmp_path, {"source": "a test"})
    for number in range(9):
        episode = tiny.episode(policy, steps=2, k=1, seed=number)
        episode.outcome = [1.0, 0.0, None][number % 3]
        folder.write(f"{number:06d}", episode)
    taught, held = from_rollouts(policy, [tmp_path], gamma=0.9)
    found = sorted(tuple(step.return_ for step in lesson().steps) for lesson in (*taught, *held))
    assert found == [(0.0, 0.0)] * 3 + [(0.9, 1.0)] * 3
    assert all(step.candidates[0].return_ == step.return_ for lesson in taught for step in lesson().steps)


def test_any_models_weights_start_a_critic(tmp_path):
    judge = tiny.policy(seed=3)
    judge.save(tmp_path)
    critic = Critic.load(tmp_path)
    expected = judge.model.model.state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in critic.backbone.state_dict().items())
    assert not critic.value_head.weight.any() and not critic.value_head.bias.any()


@pytest.mark.parametrize(("given", "expected"), [([], 1e-5), (["--learning_rate", "1e-4"], 1e-4)])
def test_the_command_teaches_at_the_papers_learning_rate(given, expected, labels, tmp_path, monkeypatch):
    def teach(*_, learning_rate, **others):
        raise ValueError(f"at {learning_rate}")

    monkeypatch.setattr("coach_gym.agents.training.critic.school.teach", teach)
    tiny.policy().save(tmp_path)
    with pytest.raises(SystemExit, match=f"at {expected}"):
        main(["critic", "--policy", str(tmp_path), "--labels", str(labels.path), *given])


def test_the_command_teaches_a_critic_from_a_judges_weights_and_labels(labels, tmp_path, capsys, a_third):
    tiny.policy().save(tmp_path / "tiny")
    tiny.policy(seed=3).save(tmp_path / "prm")
    start = ["critic", "--policy", str(tmp_path / "tiny"), "--critic", str(tmp_path / "prm"), "--max_epochs", "1"]
    main([*start, "--labels", str(labels.path), "--out", str(tmp_path / "school")])
    assert "epoch 1: held-out loss" in capsys.readouterr().out
    Critic.load(tmp_path / "school" / "critic")
    with pytest.raises(SystemExit, match="holds no labels.jsonl"):
        main([*start, "--labels", str(tmp_path), "--out", str(tmp_path / "school")])
