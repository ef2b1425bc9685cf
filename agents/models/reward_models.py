"""Process rewards: a model that reasons first judges whether an action was a good next step (paper §3.2)."""

import math
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from coach_gym.agents.generation.frozen import frozen_generator
from coach_gym.agents.generation.generator import Generator
from coach_gym.agents.generation.make import Generation
from coach_gym.agents.generation.transformers import TransformersGenerator
from coach_gym.agents.generation.vllm.client import GenerationServerError, ServedGenerator
from coach_gym.agents.judging.question import ask_twice, reword
from coach_gym.agents.models.policy import POCKET, Policy, PolicySource, Prompt
from coach_gym.checks import require_whole
from coach_gym.dialects import IMAGE, Dialect, Frame, Part, UITars
from coach_gym.dialects.ui_tars import screen_lines
from coach_gym.episode import Candidate, Observation

PROMPTS = Path(__file__).parent / "prompts"
SHIPPED_JUDGES = {
    "pocket": POCKET.parent / "prm",
    "pocket-judge": POCKET.parent / "judge",
    "pocket-judge-demo": POCKET.parent / "judge_demo",
}
"""The process reward models that come with this package, by the names that users give."""
_PLACEHOLDER = re.compile(r"\{(instruction|screenshot|screen|history|response)\}")
_JUDGMENT = re.compile(r"\s*judgment:\s*(True|False)\s*", re.IGNORECASE)


Question = tuple[str, Sequence[tuple[Observation, str]]]
"""A goal and the steps so far, the last of which is judged: observations, and actions in pixels of the screenshots.

A judge writes the actions in its own dialect and coordinates, which may differ from the policy's.
"""


@runtime_checkable
class ProcessRewardModel(Protocol):
    """Judges the steps of an episode."""

    def score(self, goal: str, steps: Sequence[tuple[Observation, str]]) -> list[float | None]:
        """Judges all steps of an episode.

        Args:
            goal: The instruction.
            steps: Observation and executed action of every step; the action as the environment received it.

        Returns:
            For every step 1 (good), 0 (bad), or None if the model gave no usable verdict. Unknown is not 0: such a step
            is not learned from.
        """
        ...


@runtime_checkable
class StepwisePRM(ProcessRewardModel, Protocol):
    """A process reward model that can judge steps of many episodes at once, while the episodes are in progress."""

    def judge(self, questions: Sequence[Question]) -> list[float | None]:
        """Judges single steps, with the rewards of `score`."""
        ...


class GenerativePRM:
    """A vision-language model that writes `<think>…</think> judgment:True` or `judgment:False`.

    Args:
        policy: The judge; its dialect determines the resolution of screenshots. With `ui_text` and without a template,
            it receives the pocket judge's prompt: the bare step and the screen's text.
        template: Text file that replaces the prompt. It contains `{instruction}`, `{screenshot}` and `{response}`, and
            optionally `{screen}` (the screen as text) and `{history}` (the earlier actions).
        max_new_tokens: Maximum length of a verdict; None means 48 with the pocket judge's prompt and 512 otherwise.
        generator: Draws the verdicts; None for transformers.

    Raises:
        ValueError: The template has no place for the screenshot.
    """

    def __init__(
        self,
        policy: Policy,
        template: Path | None = None,
        max_new_tokens: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if max_new_tokens is not None:
            require_whole(1, max_new_tokens=max_new_tokens)
        self.policy = policy
        pocket = template is None and isinstance(policy.dialect, UITars) and policy.dialect.ui_text
        builtin = PROMPTS / ("process_reward_pocket.txt" if pocket else "process_reward.txt")
        self.template = read_template(template or builtin)
        self.max_new_tokens = max_new_tokens or (48 if pocket else 512)
        self.generator: Generator = generator or TransformersGenerator(policy, kept_tokens=0)
        self._failed = False

    @classmethod
    def load(
        cls, source: PolicySource, template: Path | None = None, generation: Generation = "transformers"
    ) -> "GenerativePRM":
        """Loads a frozen judge.

        Args:
            source: One of `SHIPPED_JUDGES`, a directory, a hub id, or a model. `"pocket@http://127.0.0.1:8101"` names
                a judge together with its server.
            template: As in the constructor.
            generation: What draws the verdicts, see `frozen_generator`.
        """
        if isinstance(source, str) and "@http" in source:
            source, generation = source.split("@", 1)
        if isinstance(source, str):
            source = str(SHIPPED_JUDGES.get(source, source))
        generator = frozen_generator(source, generation)
        return cls(generator.policy, template, generator=generator)

    def score(self, goal: str, steps: Sequence[tuple[Observation, str]]) -> list[float | None]:
        """Judges all steps of an episode. See `ProcessRewardModel.score`."""
        return self.judge([(goal, steps[: t + 1]) for t in range(len(steps))])

    def judge(self, questions: Sequence[Question]) -> list[float | None]:
        """Judges single steps in one batch. An unreadable verdict is drawn once more, and then unknown.

        If a server does not answer, all verdicts are unknown. After the first such failure, later calls only check
        whether the server is back, because devices must not wait for a judge that is gone.

        Args:
            questions: Goals and steps so far, the last of which is judged.
        """
        if self._failed and isinstance(self.generator, ServedGenerator) and not self.generator.answers():
            return [None] * len(questions)
        prompts = [self.prompt(goal, steps) for goal, steps in questions]
        try:
            rewards = ask_twice(self._judge, prompts)
        except GenerationServerError as error:
            self._failed = True
            problem = f"the judge gave no verdict on {len(prompts)} steps, and gives none until its server answers"
            warnings.warn(f"{problem}: {error}", stacklevel=2)
            return [None] * len(prompts)
        self._failed = False
        return rewards

    def _judge(self, prompts: Sequence[Prompt], greedy: bool) -> list[float | None]:
        drawn = self.generator.sample(prompts, max_new_tokens=self.max_new_tokens, greedy=greedy)
        return [self._read(judgment) for (judgment,) in drawn]

    def _read(self, judgment: Candidate) -> "Verdict | None":
        """Returns the verdict, with the probability that its last word had."""
        verdict = parse_judgment(judgment.text)
        if verdict is not None:
            word, tokens = judgment.text.rpartition(":")[2].strip(), judgment.token_ids
            first = len(tokens) - 1
            while word not in self.policy.chat.decode(tokens[first:]):
                first -= 1
            logprobs = zip(tokens[first:], judgment.logprobs[first:], strict=True)
            said = math.exp(sum(logprob for token, logprob in logprobs if token != self.policy.eos))
            verdict.probability = said if verdict else 1 - said
        return verdict

    def prompt(self, goal: str, steps: Sequence[tuple[Observation, str]]) -> Prompt:
        """Returns the prompt that asks about the last of `steps`."""
        observation, _ = steps[-1]
        frame = self.policy.frame(observation)
        parts = step_parts(self.template, goal, steps, self.policy.dialect, frame)
        image = self.policy.chat.encode_image(observation.screenshot, frame)
        return self.policy.chat.turn("user", parts, [image]) + self.policy.chat.generation_prompt


def read_template(path: Path) -> str:
    """Reads the prompt of a process reward model.

    Raises:
        ValueError: It has no place for the screenshot.
    """
    text = path.read_text("utf-8").removesuffix("\n")
    if "{screenshot}" not in text:
        raise ValueError(f"{path} has no {{screenshot}}, so the judge would see no screen; add it where it belongs")
    return text


def step_parts(
    template: str, goal: str, steps: Sequence[tuple[Observation, str]], dialect: Dialect, frame: Frame
) -> list[Part]:
    """Fills a template with a question about the last of `steps`; `IMAGE` stands where the screenshot goes.

    Args:
        template: The prompt of a process reward model.
        goal: The instruction.
        steps: As in `ProcessRewardModel.score`.
        dialect: The judge's dialect.
        frame: The frame in which the judge sees the screenshot.
    """
    observation, _ = steps[-1]
    said = [reword(action, dialect, frame) for _, action in steps]
    values: dict[str, Part] = {
        "instruction": goal, "screenshot": IMAGE, "history": "\n".join(said[:-1]), "response": said[-1],
    }  # fmt: skip
    if "{screen}" in template:
        values["screen"] = screen_lines(observation, frame, goal)
    # The split alternates between text and the names of placeholders.
    return [values[piece] if index % 2 else piece for index, piece in enumerate(_PLACEHOLDER.split(template))]


def format_judgment(good: bool, reasoning: str = "") -> str:
    """Returns the text that a judge is trained to write."""
    return f"<think>{reasoning}</think> judgment:{good}"


class Verdict(float):
    """A verdict, 1 or 0, with the reasoning that led to it; elsewhere a number like any other.

    Attributes:
        reasoning: What the judge wrote before.
        probability: With which it calls the step good after this reasoning; 1 or 0 where its tokens' probabilities are
            not known.
    """

    reasoning: str = ""
    probability: float

    @classmethod
    def of(cls, value: float, reasoning: str) -> "Verdict":
        """Returns a verdict with its reasoning."""
        verdict = cls(value)
        verdict.reasoning, verdict.probability = reasoning, value
        return verdict


def parse_judgment(text: str) -> Verdict | None:
    """Returns 1 for a verdict of True, 0 for False, and None for anything but one verdict after the reasoning."""
    reasoning, closed, verdict = text.rpartition("</think>")
    found = _JUDGMENT.fullmatch(verdict)
    if not closed or found is None:
        return None
    return Verdict.of(float(found[1].lower() == "true"), reasoning.replace("<think>", "").strip())
