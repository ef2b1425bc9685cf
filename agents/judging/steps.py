"""A process reward model behind an OpenAI-compatible server."""

from collections.abc import Sequence
from pathlib import Path

from coach_gym.agents.generation.make import Generation
from coach_gym.agents.judging.models import SERVED, load_model
from coach_gym.agents.judging.question import JudgeModel, Question, ask_twice
from coach_gym.agents.models.reward_models import (
    PROMPTS,
    GenerativePRM,
    ProcessRewardModel,
    parse_judgment,
    read_template,
    step_parts,
)
from coach_gym.agents.models.reward_models import Question as StepQuestion
from coach_gym.checks import require_whole
from coach_gym.episode import Observation


class ServedPRM:
    """Judges steps by a model that writes `<think>…</think> judgment:True` or `judgment:False`.

    Unlike with `GenerativePRM`, the model's weights are the server's own business.

    Args:
        model: The judge, see `coach_gym.agents.judging.models.load_model`.
        template: Text file that replaces the prompt, as in `GenerativePRM`.
        max_new_tokens: Maximum length of a verdict.

    Raises:
        ValueError: The template has no place for the screenshot.
    """

    def __init__(self, model: JudgeModel, template: Path | None = None, max_new_tokens: int = 512) -> None:
        require_whole(1, max_new_tokens=max_new_tokens)
        self.model = model
        self.template = read_template(template or PROMPTS / "process_reward.txt")
        self.max_new_tokens = max_new_tokens

    def score(self, goal: str, steps: Sequence[tuple[Observation, str]]) -> list[float | None]:
        """Judges all steps of an episode. See `ProcessRewardModel.score`."""
        return self.judge([(goal, steps[: t + 1]) for t in range(len(steps))])

    def judge(self, questions: Sequence[StepQuestion]) -> list[float | None]:
        """Judges single steps in parallel. An unreadable verdict is drawn once more, and then unknown.

        Args:
            questions: Goals and steps so far, the last of which is judged.
        """
        return ask_twice(self._ask, [self._question(goal, steps) for goal, steps in questions])

    def _question(self, goal: str, steps: Sequence[tuple[Observation, str]]) -> Question:
        shown = steps[-1][0].screenshot
        parts = step_parts(self.template, goal, steps, self.model.dialect, self.model.frame(shown))
        return Question(parts, [shown])

    def _ask(self, questions: Sequence[Question], greedy: bool) -> list[float | None]:
        answers = self.model.answer(questions, self.max_new_tokens, greedy)
        return [None if answer is None else parse_judgment(answer) for answer in answers]


def load_prm(source: ProcessRewardModel | str, generation: Generation = "transformers") -> ProcessRewardModel:
    """Loads a process reward model.

    Args:
        source: `"openai:MODEL"` or `"openai:MODEL@http://127.0.0.1:8000/v1"` for a model behind an OpenAI-compatible
            server; otherwise a source for `GenerativePRM.load`, or a process reward model.
        generation: What draws the verdicts of a `GenerativePRM`.

    Raises:
        ChatServerError: The server does not answer, or refuses.
    """
    if not isinstance(source, str):
        return source
    if source.startswith(SERVED):
        return ServedPRM(load_model(source))
    return GenerativePRM.load(source, generation=generation)
