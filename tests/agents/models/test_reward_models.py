"""The judge is asked about the right step, and only a clear verdict counts."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from coach_gym.agents.models.chatml import Segment, stack_images
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.reward_models import (
    SHIPPED_JUDGES,
    GenerativePRM,
    ProcessRewardModel,
    Question,
    Verdict,
    format_judgment,
    parse_judgment,
)
from coach_gym.agents.playing.rollout import observation_of
from coach_gym.dialects import UITars
from coach_gym.envs.android import AndroidEnv
from coach_gym.episode import Candidate, Observation
from tests.agents import tiny


class Scripted:
    """A generator that returns given answers in turn and records the prompts."""

    def __init__(self, policy: Policy, *answers: list[str]) -> None:
        self.policy = policy
        self.answers = list(answers)
        self.asked: list[tuple[list[Prompt], bool]] = []

    def sample(self, prompts: Sequence[Prompt], max_new_tokens: int, greedy: bool) -> list[list[Candidate]]:
        self.asked.append((list(prompts), greedy))
        answers = self.answers.pop(0)
        assert len(answers) == len(prompts)
        return [[self._candidate(text)] for text in answers]

    def _candidate(self, text: str) -> Candidate:
        tokens = [*self.policy.chat.encode_text(text), self.policy.eos]
        return Candidate(text, tokens, [-0.1] * len(tokens))


@pytest.fixture(scope="module")
def policy() -> Policy:
    return tiny.policy(dialect=UITars(28 * 28, 24 * 28 * 28))


def _steps(count: int) -> list[tuple[Observation, str]]:
    rng = np.random.default_rng(0)
    return [(tiny.observation(rng), f"Thought: number {t}\nAction: wait()") for t in range(count)]


def _judge(policy: Policy, *answers: list[str]) -> tuple[GenerativePRM, Scripted]:
    judge, generator = GenerativePRM(policy), Scripted(policy, *answers)
    judge.generator = generator  # type: ignore[assignment]
    return judge, generator


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ("<think>The icon is there.</think> judgment:True", 1.0),
        ("<think></think>\njudgment: False\n", 0.0),
        ("<think>judgment:True</think> judgment:False", 0.0),
        ("<think>a</think> b </think> judgment:true", 1.0),
        ("judgment:True", None),
        ("<think>so judgment:True", None),
        ("<think>a</think> judgment:True or False", None),
        ("<think>a</think> judgment:Perhaps", None),
        ("<think>a</think>", None),
        ("", None),
    ],
)
def test_verdicts(text: str, reward: float | None) -> None:
    assert parse_judgment(text) == reward


@pytest.mark.parametrize("good", [True, False])
def test_what_is_trained_is_what_is_read(good: bool) -> None:
    assert parse_judgment(format_judgment(good, "Two\nlines.")) == float(good)


def test_unclear_verdicts_are_asked_for_once_more_and_then_unknown(policy: Policy) -> None:
    good, bad = format_judgment(True), format_judgment(False)
    judge, generator = _judge(policy, [good, "?", bad, "?"], [bad, "??"])
    assert judge.score("Save", _steps(4)) == [1.0, 0.0, 0.0, None]
    (first, greedy), (second, again) = generator.asked
    assert greedy and not again
    assert second == [first[1], first[3]]


def test_a_verdict_knows_how_sure_the_judge_is() -> None:
    judge = GenerativePRM.load("pocket-judge")
    seen, _ = AndroidEnv(screen_size=(270, 600), tasks=("SystemWifiTurnOff",)).reset(seed=0)
    for action in ("Thought: open\nAction: open_app(app_name='Settings')", "press_back()", "wait()"):
        question = seen["goal"], [(observation_of(seen), action)]
        (verdict,) = judge.judge([question])
        assert isinstance(verdict, Verdict) and 0 < verdict.probability < 1
        assert (verdict.probability > 0.5) == bool(verdict)
        said = {good: _probability(judge, question, verdict.reasoning, good) for good in (True, False)}
        assert verdict.probability == pytest.approx(said[True] if verdict else 1 - said[False], rel=1e-3)


def _probability(judge: GenerativePRM, question: Question, reasoning: str, good: bool) -> float:
    """How likely the judge writes this verdict after its reasoning, by a plain pass."""
    policy = judge.policy
    whole, before = format_judgment(good, reasoning), format_judgment(good, reasoning).removesuffix(str(good))
    tokens, start = policy.chat.encode_text(whole), len(policy.chat.encode_text(before))
    sequence = judge.prompt(*question) + Segment(tokens)
    with torch.no_grad():
        logits = policy.model(
            input_ids=torch.tensor([sequence.input_ids]), position_ids=policy.position_ids(sequence)[0][:, None],
            **stack_images(sequence.images, policy.device),
        ).logits[0, -len(tokens) - 1 : -1]  # fmt: skip
    scored = policy.log_probs(logits).gather(1, torch.tensor(tokens)[:, None])[:, 0]
    return float(scored[start:].sum().exp())


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_probability_is_that_of_the_last_word(policy: Policy, end: str) -> None:
    judge, _ = _judge(policy, [format_judgment(True, "True: 2") + end, format_judgment(False) + end])
    good, bad = judge.score("Save", _steps(2))
    assert isinstance(good, Verdict) and isinstance(bad, Verdict)
    words = [len(policy.chat.encode_text(word + end)) for word in ("True", "False")]
    assert good.probability == pytest.approx(np.exp(-0.1 * words[0]))
    assert bad.probability == pytest.approx(1 - np.exp(-0.1 * words[1]))


def test_nothing_is_asked_twice_without_need(policy: Policy) -> None:
    judge, generator = _judge(policy, [format_judgment(True)] * 2)
    assert judge.score("Save", _steps(2)) == [1.0, 1.0]
    assert len(generator.asked) == 1


def test_a_prompt_shows_task_screenshot_and_answer(policy: Policy) -> None:
    steps = _steps(3)
    prompt = GenerativePRM(policy).prompt("Save the {response}", steps)
    text = policy.tokenizer.decode(prompt.input_ids)
    assert "Save the {response}" in text  # a placeholder in a value stays
    assert "number 2" in text and "number 1" not in text
    assert len(prompt.images) == 1
    expected = policy.chat.encode_image(steps[2][0].screenshot, policy.frame(steps[2][0]))
    assert np.array_equal(prompt.images[0].pixel_values, expected.pixel_values)
    assert text.endswith("<|im_start|>assistant\n")


def test_a_judge_that_reads_the_screen_as_text_gets_it() -> None:
    policy = tiny.policy()
    observation = tiny.observation(np.random.default_rng(0), '<Button text="Save" bounds="[2,4][40,60]"/>')
    prompt = GenerativePRM(policy).prompt("Keep it", [(observation, "Thought: Save")])
    assert "Save 21 32" in policy.tokenizer.decode(prompt.input_ids)


def test_a_template_may_ask_for_history(policy: Policy, tmp_path) -> None:
    template = tmp_path / "judge.txt"
    template.write_text("{instruction}|{history}|{screenshot}|{response}\n", "utf-8")
    prompt = GenerativePRM(policy, template).prompt("Save", _steps(3))
    text = policy.tokenizer.decode(prompt.input_ids)
    assert text.index("Save|") < text.index("number 0") < text.index("number 1") < text.index("number 2")
    assert "\nSave|" in text and "wait()|" in text


def test_a_model_of_noise_says_nothing(policy: Policy) -> None:
    judge: ProcessRewardModel = GenerativePRM(policy, max_new_tokens=4)
    assert judge.score("Save", _steps(2)) == [None, None]


def test_loads_from_a_directory(policy: Policy, tmp_path) -> None:
    policy.save(tmp_path)
    loaded = GenerativePRM.load(tmp_path)
    steps = _steps(1)
    assert loaded.prompt("Save", steps).input_ids == GenerativePRM(policy).prompt("Save", steps).input_ids


def test_a_pocket_judge_is_cut_off_early(policy: Policy):
    """It sometimes repeats itself up to the limit, and a batch takes as long as its longest verdict."""
    assert all(GenerativePRM.load(name).max_new_tokens == 48 for name in SHIPPED_JUDGES)
    assert GenerativePRM(policy).max_new_tokens == 512
    assert GenerativePRM(policy, max_new_tokens=7).max_new_tokens == 7


def test_a_judge_with_a_template_of_its_own_has_time_to_reason(tmp_path):
    """This holds although it reads the screen as text, as the pocket judge does."""
    template = tmp_path / "judge.txt"
    template.write_text("{instruction} {screenshot}{screen} {response} Reason at length.", "utf-8")
    policy = tiny.policy(dialect=UITars(28 * 28, 24 * 28 * 28, ui_text=True))
    assert GenerativePRM(policy, template).max_new_tokens == 512
    assert GenerativePRM(policy).max_new_tokens == 48
