"""Fine-tuning on transformers' Trainer."""

import copy
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from coach_gym.__main__ import main
from coach_gym.agents.data.examples import (
    IGNORED,
    Collator,
    DemonstrationExamples,
    VerdictExamples,
    learned_columns,
    token_loss,
)
from coach_gym.agents.data.label import Labelling, label
from coach_gym.agents.data.labels import LabelFolder
from coach_gym.agents.data.retelling import retell
from coach_gym.agents.data.sft import Settings, fine_tune
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.models.reward_models import GenerativePRM
from coach_gym.agents.models.tree import build_tree, log_probs
from coach_gym.data.folder import EpisodeFolder
from tests.agents import tiny
from tests.agents.data.demonstrations import CLICK, Scripted, episodes

GOOD, BAD, END = "click(start_box='(40,70)')", "type(content='88')", "finished()"
QUICK = Settings(learning_rate=3e-3, batch_size=8, epochs=1)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    return episodes(tmp_path_factory.mktemp("shown"), number=12)


@pytest.fixture(scope="module")
def labels(shown, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    policy = tiny.policy()
    label([shown], policy, Scripted(policy, GOOD, BAD, END), folder, Labelling(candidates=3))
    return LabelFolder(folder)


def prm(policy):
    return GenerativePRM(policy, max_new_tokens=24)


def test_a_demonstration_teaches_every_response_in_the_policys_own_prompts(shown):
    policy = tiny.policy()
    examples = DemonstrationExamples(policy, [shown], held_out=False)
    (example,) = examples[0]
    source, name = examples.episodes[0]
    episode = retell(policy, source.read(name))
    learned = [token for token in example.labels if token != IGNORED]
    assert learned == [token for step in episode.steps for token in step.candidates[0].token_ids]
    assert policy.chat.decode(episode.steps[0].candidates[0].token_ids) == (
        "Thought: Do part 0 of it\nAction: click(start_box='(35,70)')"
    )
    for t, step in enumerate(episode.steps):
        prompt = policy.prompt(episode.goal, episode.steps[:t], step.observation).input_ids
        assert example.input_ids[: len(prompt)] == prompt
        assert example.labels[len(prompt)] == example.input_ids[len(prompt)]


def test_long_episodes_are_taught_in_parts_and_each_response_once(tmp_path):
    folder = episodes(tmp_path, number=1, actions=[CLICK] * 6)
    policy = tiny.policy(max_prompt_length=260)
    source = EpisodeFolder(folder)
    episode = retell(policy, source.read(source.names[0]))
    for held_out in (False, True):
        examples = DemonstrationExamples(policy, [folder], held_out)
        parts = [part for index in range(len(examples)) for part in examples[index]]
        if parts:
            assert len(parts) > 1
            learned = [token for part in parts for token in part.labels if token != IGNORED]
            assert learned == [token for step in episode.steps for token in step.candidates[0].token_ids]
            starts = [index for part in parts for index, token in enumerate(part.labels) if token != IGNORED]
            assert min(starts) > 0


@pytest.mark.parametrize("turns", [1, 2, None])
def test_each_response_is_taught_after_the_turns_that_the_dialect_shows(turns, tmp_path):
    folder = episodes(tmp_path, number=1, actions=[CLICK] * 4)
    policy, source = tiny.policy(), EpisodeFolder(folder)
    policy.dialect.max_turns = turns
    examples = next(each for held in (False, True) if len(each := DemonstrationExamples(policy, [folder], held)))
    episode = retell(policy, source.read(source.names[0]))
    taught = {
        tuple(part.input_ids[:index])
        for part in examples[0]
        for index in range(1, len(part.labels))
        if part.labels[index] != IGNORED and part.labels[index - 1] == IGNORED
    }
    shown = {
        tuple(policy.prompt(episode.goal, episode.steps[:t], step.observation).input_ids)
        for t, step in enumerate(episode.steps)
    }
    assert taught == shown and len(shown) == episode.length


def test_the_loss_is_that_of_the_policys_own_likelihood(shown):
    policy = tiny.policy()
    policy.banned = []  # Trainer's softmax is over all tokens
    examples = DemonstrationExamples(policy, [shown], held_out=False)
    batch = Collator(policy)([examples[0], examples[1]])
    labels = batch.pop("labels")
    with torch.no_grad():
        loss = token_loss(policy.model(**batch), labels)
        logits = policy.model(**{**batch, "logits_to_keep": 0}).logits
    ours = []
    for index in (0, 1):
        source, name = examples.episodes[index]
        tree = build_tree(policy, retell(policy, source.read(name)))
        with torch.no_grad():
            ours += [of_tokens for step in log_probs(policy, tree) for of_tokens in step]
    assert loss.item() == pytest.approx(-torch.cat(ours).mean().item(), rel=1e-4)
    whole = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum")
    number = (labels != IGNORED).sum()
    assert (whole / number).item() == pytest.approx(loss.item(), rel=1e-4)
    assert 0 < len(learned_columns(labels)) < labels.shape[1]


def test_a_process_reward_model_learns_to_write_verdicts(labels, tmp_path, monkeypatch):
    monkeypatch.setattr("coach_gym.agents.data.labels.HELD_OUT", 3)
    policy = tiny.policy()
    judge = prm(policy)
    taught, held = (VerdictExamples(judge, labels, held_out) for held_out in (False, True))
    assert len(held) >= 4 and not {each.source for each in held.labels} & {each.source for each in taught.labels}
    summary = fine_tune(policy, taught, tmp_path / "prm", Settings(learning_rate=4e-3, batch_size=4, epochs=3), held)
    assert summary.losses[-1] < 0.7 * summary.losses[0] and summary.held_out[-1] < 0.8 * summary.held_out[0]
    again = prm(Policy.load(tmp_path / "prm"))
    assert all(torch.equal(a, b) for a, b in zip(judge.policy.model.state_dict().values(),
                                                 again.policy.model.state_dict().values(), strict=True))  # fmt: skip


@pytest.mark.parametrize("rank", [0, 4])
def test_an_interrupted_run_goes_on_to_the_same_weights(rank, shown, tmp_path):
    def run(out, settings):
        policy = tiny.policy()
        examples = DemonstrationExamples(policy, [shown], held_out=False)
        summary = fine_tune(policy, examples, out, settings)
        return summary, Policy.load(out).model.state_dict()

    settings = Settings(learning_rate=3e-3, batch_size=4, epochs=2, save_every=2, lora_rank=rank)
    whole, expected = run(tmp_path / "whole", settings)
    assert whole.steps > 4
    parts = tmp_path / "parts"
    policy = tiny.policy()
    examples = DemonstrationExamples(policy, [shown], held_out=False)

    class Interrupted(DemonstrationExamples):
        left = 11  # in the third step

        def __getitem__(self, index):
            Interrupted.left -= 1
            if not Interrupted.left:
                raise KeyboardInterrupt
            return super().__getitem__(index)

    with pytest.raises(KeyboardInterrupt):
        fine_tune(policy, Interrupted(policy, [shown], held_out=False), parts, settings)
    assert [each.name for each in (parts / "checkpoints").glob("checkpoint-*")] == ["checkpoint-2"]
    resumed, weights = run(parts, settings)
    assert resumed.steps == whole.steps
    assert all(torch.allclose(expected[name], tensor, atol=1e-6) for name, tensor in weights.items())
    with pytest.raises(ValueError, match=r"holds a run with \{'learning_rate': 0.003\}"):
        fine_tune(policy, examples, parts, replace(settings, learning_rate=1.0))


def test_lora_changes_only_the_language_model_and_is_merged(shown, tmp_path):
    policy = tiny.policy()
    before = copy.deepcopy(policy.model.state_dict())
    examples = DemonstrationExamples(policy, [shown], held_out=False)
    fine_tune(policy, examples, tmp_path, Settings(learning_rate=1e-2, batch_size=8, epochs=1, lora_rank=4))
    after = Policy.load(tmp_path).model.state_dict()
    assert before.keys() == after.keys()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed and all("language_model" in name and "proj" in name for name in changed)


def test_the_command_trains_a_judge_that_agents_take(labels, shown, tmp_path, capsys):
    tiny.policy().save(tmp_path / "tiny")
    model = ["--model", str(tmp_path / "tiny"), "--workers", "0", "--batch-size", "8", "--epochs", "1"]
    main(["sft", "prm", str(labels.path), *model, "--out", str(tmp_path / "prm")])
    assert "held-out verdicts" in capsys.readouterr().out
    GenerativePRM.load(tmp_path / "prm")
    main(["sft", "policy", str(shown), *model, "--lora-rank", "2", "--out", str(tmp_path / "policy")])
    assert "the model is in" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="holds no labels.jsonl; make it with coach-gym label"):
        main(["sft", "prm", str(shown), *model, "--out", str(tmp_path / "other")])


def test_two_processes_train_shards_to_the_weights_of_one(tmp_path):
    """The command under torchrun: FSDP2 over gloo, against the same command in one process."""
    tiny.policy().save(tmp_path / "tiny")
    shown = episodes(tmp_path / "shown", number=13)
    assert len(DemonstrationExamples(tiny.policy(), [shown], held_out=False)) == 12, "whole batches in both"
    command = [
        "sft", "policy", str(shown), "--model", str(tmp_path / "tiny"), "--workers", "0", "--batch-size", "4",
        "--epochs", "1", "--learning-rate", "3e-3",
    ]  # fmt: skip
    main([*command, "--out", str(tmp_path / "one")])
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    run = subprocess.run(
        [*torchrun, "-m", "coach_gym", *command, "--out", str(tmp_path / "two")],
        capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.count("the model is in") == 1
    before, one, two = (Policy.load(tmp_path / name).model.state_dict() for name in ("tiny", "one", "two"))
    assert one.keys() == two.keys()
    moved = torch.cat([(one[name] - before[name]).flatten() for name in one])
    apart = torch.cat([(two[name] - one[name]).flatten() for name in one])
    assert moved.norm() > 0.1 and apart.norm() < 0.02 * moved.norm(), (moved.norm(), apart.norm())
