"""Reasons for labels, from a model that is told the verdict (paper, appendix B and its last figure)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from coach_gym.agents.data.labels import Label
from coach_gym.agents.judging.question import JudgeModel, Question, reword
from coach_gym.dialects import IMAGE, Part
from coach_gym.episode import Episode

PROMPT = Path(__file__).parent / "prompts" / "reason.txt"
_PLACEHOLDER = re.compile(r"\{(instruction|history|screenshot|shown|response|verdict)\}")
NO_ANSWER, UNREADABLE, CONTRADICTS = (
    "no answer with a reason", "an unreadable answer instead of a reason", "a reason for the opposite verdict",
)  # fmt: skip


class Reasons:
    """Asks a model why labels are as they are.

    Args:
        model: The model, see `coach_gym.agents.judging.models.load_model`.
        template: Text file that replaces the prompt.
        max_new_tokens: Maximum length of an answer.
    """

    def __init__(self, model: JudgeModel, template: Path | None = None, max_new_tokens: int = 512) -> None:
        self.model = model
        self.template = (template or PROMPT).read_text("utf-8").removesuffix("\n")
        self.max_new_tokens = max_new_tokens

    def ask(self, asked: Sequence[tuple[Label, Episode]]) -> list[tuple[str, str]]:
        """Asks about labels in one batch; what has no good answer is asked for once more.

        Args:
            asked: Labels and their episodes.

        Returns:
            For every label the reason and `""`, or `""` and why there is none.
        """
        questions = [self.question(label, episode) for label, episode in asked]
        found = self._read(questions, [label for label, _ in asked], greedy=True)
        missing = [index for index, (reason, _) in enumerate(found) if not reason]
        if missing:
            again = self._read([questions[i] for i in missing], [asked[i][0] for i in missing], greedy=False)
            for index, each in zip(missing, again, strict=True):
                found[index] = each
        return found

    def _read(self, questions: Sequence[Question], labels: Sequence[Label], greedy: bool) -> list[tuple[str, str]]:
        answers = self.model.answer(questions, self.max_new_tokens, greedy)
        return [read_reason(answer, label.good) for answer, label in zip(answers, labels, strict=True)]

    def question(self, label: Label, episode: Episode) -> Question:
        """Returns the question about a label; actions are in the model's dialect and coordinates."""
        step = episode.steps[label.step]
        frame = self.model.frame(step.observation.screenshot)
        said = [reword(each.action, self.model.dialect, frame) for each in episode.steps[: label.step + 1]]
        values: dict[str, Part] = {
            "instruction": episode.goal, "screenshot": IMAGE, "history": "\n".join(said[:-1]) or "(nothing)",
            "shown": said[-1], "response": reword(label.action, self.model.dialect, frame),
            "verdict": str(int(label.good)),
        }  # fmt: skip
        pieces = _PLACEHOLDER.split(self.template)  # alternates between text and the names of placeholders
        parts: list[Part] = [values[piece] if index % 2 else piece for index, piece in enumerate(pieces)]
        return Question(parts, [step.observation.screenshot])


def read_reason(answer: str | None, good: bool) -> tuple[str, str]:
    """Returns the reason in an answer and `""`, or `""` and why there is none."""
    if answer is None:
        return "", NO_ANSWER
    try:
        told = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])
        reason, result = " ".join(str(told["reason"]).split()), int(told["result"])
    except (ValueError, TypeError, KeyError):
        return "", UNREADABLE
    if result != int(good):
        return "", CONTRADICTS
    return (reason, "") if reason else ("", UNREADABLE)
