"""Labels by the paper's rule, with reasons by a server that fails."""

import json

import numpy as np
import pytest

from coach_gym.__main__ import main
from coach_gym.agents.data.label import Labelling, label, unusable
from coach_gym.agents.data.labels import LabelFolder
from coach_gym.agents.data.reasons import Reasons, read_reason
from coach_gym.agents.judging.chat import ChatClient
from coach_gym.agents.judging.models import ServedModel
from coach_gym.data.folder import EpisodeFolder
from coach_gym.episode import Candidate, Episode, Observation, Step
from tests.agents import tiny
from tests.agents.data.demonstrations import Scripted, episodes, tally
from tests.agents.judging.scripted_server import said, serving

NEAR, FAR, END = "Thought: Save\nAction: click(start_box='(40,70)')", "click(start_box='(90,70)')", "finished()"
NOISE = "I do not know"


@pytest.fixture(scope="module")
def policy():
    return tiny.policy()


@pytest.fixture
def shown(tmp_path):
    return episodes(tmp_path / "shown")


def settings(**changes):
    return Labelling(**{"policy": "tiny", "candidates": 5, **changes})


def test_labels_are_balanced_and_everything_dropped_is_counted(policy, shown, tmp_path):
    generator = Scripted(policy, NEAR, FAR, NEAR, END, NOISE)
    summary = label([shown], policy, generator, tmp_path / "labels", settings())
    assert (summary.episodes, summary.states, summary.good, summary.bad, summary.kept) == (4, 8, 8, 24, 16)
    assert summary.dropped == {"responses: the same text again": 8, "responses: more bad ones than needed": 16}
    read = LabelFolder(tmp_path / "labels")
    good = tally(each for each in read.labels if each.good)
    assert good == {(0, NEAR, True): 4, (1, END, True): 4}
    assert sum(not each.good for each in read.labels) == 8
    kept = next(each for each in read.labels if each.response == NEAR and each.good)
    assert kept.action == NEAR and read.episode(kept).goal.startswith("Save note")
    assert {each.action for each in read.labels if each.response == NOISE} <= {NOISE}
    fewer = label([shown], policy, Scripted(policy), tmp_path / "labels", settings(samples=6))
    assert fewer.kept == 6, "nothing is drawn again"


def test_an_interrupted_call_goes_on_to_the_same_labels(policy, tmp_path):
    shown = episodes(tmp_path / "shown", number=10)
    texts = NEAR, FAR, END
    label([shown], policy, Scripted(policy, *texts), tmp_path / "whole", settings())
    stopped = Scripted(policy, *texts)
    stopped.fails_at = 1
    with pytest.raises(KeyboardInterrupt):
        label([shown], policy, stopped, tmp_path / "parts", settings())
    with (tmp_path / "parts" / "candidates.jsonl").open("a") as file:
        file.write('{"folder": 0, "epis')  # the line that was being written
    rest = Scripted(policy, *texts)
    label([shown], policy, rest, tmp_path / "parts", settings())
    assert sum(rest.calls) == 2 * 2, "only the last two episodes"
    assert (tmp_path / "parts" / "labels.jsonl").read_bytes() == (tmp_path / "whole" / "labels.jsonl").read_bytes()
    with pytest.raises(ValueError, match=r"made with \{'near': 0.14\}"):
        label([shown], policy, rest, tmp_path / "parts", settings(near=0.2))


def test_reasons_come_from_a_server_that_fails_and_are_asked_for_again(policy, shown, tmp_path):
    def answer(number, request):
        if number % 3 == 0:
            return 400
        text = said(request)
        assert text.count("What the person did: ") == 1 and text.count("[picture]") == 1
        verdict = int(text.rpartition("Verdict: ")[2])
        if number % 5 == 0:
            verdict = 1 - verdict
        return f'Sure: {{"result": {verdict}, "reason": "Because of {verdict}."}}'

    with serving(answer) as server:
        reasons = Reasons(ServedModel(ChatClient("m", server.url, retries=0), policy.dialect))
        generator = Scripted(policy, NEAR, FAR, END)
        with pytest.warns(UserWarning, match="got no answer"):
            first = label([shown], policy, generator, tmp_path / "labels", settings(), reasons)
        assert 0 < first.kept < 16
        assert {key for key in first.dropped if key.startswith("labels: ")} & {
            "labels: no answer with a reason", "labels: a reason for the opposite verdict"
        }  # fmt: skip
        for _ in range(4):
            last = label([shown], policy, generator, tmp_path / "labels", settings(), reasons)
    assert last.kept == 16 and len(generator.calls) == 1
    read = LabelFolder(tmp_path / "labels").labels
    assert sum(each.good for each in read) == 8
    assert all(each.reason == f"Because of {int(each.good)}." for each in read)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"result": 1, "reason": " It opens\\nthe app. "}', ("It opens the app.", "")),
        ('```json\n{"result": 1, "reason": "x"}\n```', ("x", "")),
        ('{"result": 0, "reason": "x"}', ("", "a reason for the opposite verdict")),
        ('{"result": 1, "reason": ""}', ("", "an unreadable answer instead of a reason")),
        ("It is good.", ("", "an unreadable answer instead of a reason")),
        ('{"result": [1], "reason": "x"}', ("", "an unreadable answer instead of a reason")),
        (None, ("", "no answer with a reason")),
    ],
)
def test_only_a_reason_for_the_verdict_counts(answer, expected):
    assert read_reason(answer, good=True) == expected


def played(*actions, outcome=1.0, fault=None, screens=None):
    pixels = [np.full((4, 4, 3), number, np.uint8) for number in screens or range(len(actions))]
    steps = [Step(Observation(shot), [Candidate(action, [], [])], 0, action)
             for shot, action in zip(pixels, actions, strict=True)]  # fmt: skip
    return Episode("goal", steps, outcome, fault)


@pytest.mark.parametrize(
    ("episode", "reason"),
    [
        (played("press_back()", "finished()"), ""),
        (played("press_back()", "press_back()"), ""),  # on different screens
        (played("wait()", "wait()", screens=[0, 0]), ""),
        (played("press_back()", "Thought: again\nAction: press_back()", screens=[0, 0]), "a step that is repeated"),
        (played("twirl()"), "a response that is no action"),
        (played("finished()", outcome=0.5), "not solved"),
        (played("finished()", fault="no device"), "not solved"),
        (played("finished()", outcome=None), "not solved"),
    ],
)
def test_only_solved_episodes_without_repetitions_are_demonstrations(episode, reason):
    assert unusable(episode) == reason


def test_a_verifier_drops_episodes_and_one_that_fails_leaves_them_for_later(policy, shown, tmp_path):
    class Judge:
        def __init__(self, *verdicts):
            self.verdicts = list(verdicts)

        def verify(self, asked):
            return [self.verdicts.pop(0) for _ in asked]

    generator = Scripted(policy, NEAR, FAR, END)
    first = label([shown], policy, generator, tmp_path / "a", settings(), verifier=Judge(1.0, 0.0, None, 1.0))
    assert first.episodes == 2 and first.dropped["episodes: not solved"] == 1
    again = label([shown], policy, generator, tmp_path / "a", settings(), verifier=Judge(1.0))
    assert again.episodes == 3


def test_the_command_says_what_is_missing(policy, shown, tmp_path):
    policy.save(tmp_path / "tiny")
    command = ["label", str(shown), "--policy", str(tmp_path / "tiny"), "--max-new-tokens", "3", "--candidates", "2"]
    with pytest.raises(SystemExit, match="(?s)4 episodes, 8 states.*0% good.*nothing to balance"):
        main([*command, "--out", str(tmp_path / "labels")])
    kept = [json.loads(line) for line in (tmp_path / "labels" / "candidates.jsonl").read_text().splitlines()]
    assert [entry["episode"] for entry in kept] == EpisodeFolder(shown).names
    with pytest.raises(SystemExit, match="holds no episodes"):
        main(["label", str(tmp_path / "tiny"), "--policy", str(tmp_path / "tiny")])
