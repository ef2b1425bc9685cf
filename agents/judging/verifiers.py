"""Outcome verifiers: they judge whole episodes, after these are over (the paper's appendix A.1)."""

import re
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, runtime_checkable

from coach_gym.agents.generation.make import Generation
from coach_gym.agents.generation.vllm.client import GenerationServerError
from coach_gym.agents.judging import trajectory
from coach_gym.agents.judging.models import load_model
from coach_gym.agents.judging.question import JudgeModel, Question, ask_twice
from coach_gym.agents.judging.trouble import JudgeErrors, verdicts_of
from coach_gym.checks import require_whole
from coach_gym.episode import Episode

PROMPT = Path(__file__).parent / "prompts" / "outcome.txt"
RULES = "rules"
_VERDICT = re.compile(r"</?ans>\s*\[?\s*(true|false)\s*\]?\s*</ans>", re.IGNORECASE)


@runtime_checkable
class OutcomeVerifier(Protocol):
    """Judges episodes that are over."""

    def verify(self, episodes: Sequence[Episode]) -> list[float | None]:
        """Judges episodes.

        Args:
            episodes: Finished episodes without a fault; `outcome` is the environment's verdict.

        Returns:
            For every episode the outcome, from 0 (failed) to 1 (solved), or None if the verifier does not know. Unknown
            is not 0: such an episode is not learned from.
        """
        ...


class Rules(OutcomeVerifier):
    """The verdicts of the environment, whose tasks read them off the device by their rules."""

    def verify(self, episodes: Sequence[Episode]) -> list[float | None]:
        """Returns the environment's verdicts; None where it gave none."""
        return [episode.outcome for episode in episodes]


class FirstVerdict(OutcomeVerifier):
    """Asks each verifier about the episodes on which those before it gave no verdict.

    `FirstVerdict(Rules(), judge)` asks a judge only about tasks without a rule. If one is in trouble, a warning names
    it, the next one is asked, and the verdicts of the others count.
    """

    def __init__(self, *verifiers: OutcomeVerifier) -> None:
        self.verifiers = verifiers

    def verify(self, episodes: Sequence[Episode]) -> list[float | None]:
        """Judges episodes. See `OutcomeVerifier.verify`."""
        return self.ask(episodes, "raise")

    def ask(self, episodes: Sequence[Episode], errors: JudgeErrors) -> list[float | None]:
        """Judges episodes; `errors` is as in `ask_verifier`, for each verifier by itself."""
        verdicts: list[float | None] = [None] * len(episodes)
        for verifier in self.verifiers:
            open_ = [index for index, verdict in enumerate(verdicts) if verdict is None]
            found = ask_verifier(verifier, [episodes[index] for index in open_], errors)
            for index, verdict in zip(open_, found, strict=True):
                verdicts[index] = verdict
        return verdicts


class ModelVerifier(OutcomeVerifier):
    """A model that reads a whole episode and writes `<analysis>…</analysis> <ans>True</ans>`, or False.

    An answer without a clear verdict is drawn once more. What then has none, or gets no answer, is unknown.

    Args:
        model: The judge, see `load_model`.
        template: Text file that replaces the prompt; it contains `{instruction}` and `{history}`.
        pictures: Shows the screenshots instead of the screens' text; a screen without text is always a picture.
        max_new_tokens: Maximum length of an answer.

    Raises:
        ValueError: The template lacks one of its two places.
    """

    def __init__(
        self, model: JudgeModel, template: Path | None = None, pictures: bool = False, max_new_tokens: int = 1024
    ) -> None:
        require_whole(1, max_new_tokens=max_new_tokens)
        self.model = model
        self.template = (template or PROMPT).read_text("utf-8").removesuffix("\n")
        for place in ("{instruction}", "{history}"):
            if place not in self.template:
                raise ValueError(f"{template} has no {place}, so the judge would not see it; add it where it belongs")
        self.pictures = pictures
        self.max_new_tokens = max_new_tokens

    def verify(self, episodes: Sequence[Episode]) -> list[float | None]:
        """Judges episodes in parallel. See `OutcomeVerifier.verify`."""
        asked = [trajectory.question(self.template, episode, self.model, self.pictures) for episode in episodes]
        short = [question for question in asked if question is not None]
        if len(short) < len(asked):
            warnings.warn(
                f"{len(asked) - len(short)} of {len(asked)} episodes are too long for the judge, even without their "
                f"screens, and stay without a verdict; use a judge with a longer context",
                stacklevel=2,
            )
        try:
            verdicts = iter(ask_twice(self._ask, short))
        except GenerationServerError as error:
            warnings.warn(f"the judge gave no verdict on {len(short)} episodes: {error}", stacklevel=2)
            return [None] * len(episodes)
        return [None if question is None else next(verdicts) for question in asked]

    def _ask(self, questions: Sequence[Question], greedy: bool) -> list[float | None]:
        answers = self.model.answer(questions, self.max_new_tokens, greedy)
        return [None if answer is None else parse_outcome(answer) for answer in answers]


def ask_verifier(
    verifier: OutcomeVerifier, episodes: Sequence[Episode], errors: JudgeErrors = "raise"
) -> list[float | None]:
    """Asks a verifier about episodes that are over. `verdicts_of` says what becomes of its exceptions."""
    if not episodes:
        return []
    ask = partial(verifier.verify, episodes)
    if type(verifier) is FirstVerdict:  # a subclass may have a `verify` of its own
        ask = partial(verifier.ask, episodes, errors)
    return verdicts_of(f"outcome verifier {type(verifier).__name__}", ask, len(episodes), "episodes", errors)


def parse_outcome(text: str) -> float | None:
    """Returns 1 for a verdict of True, 0 for False, and None unless the text ends with exactly one verdict.

    Verdicts inside the analysis, such as quotations from a screen, do not count.
    """
    _, _, verdict = text.rpartition("</analysis>")
    found = _VERDICT.fullmatch(verdict.strip())
    return None if found is None else float(found[1].lower() == "true")


def load_verifier(source: OutcomeVerifier | str, generation: Generation = "transformers") -> OutcomeVerifier:
    """Loads an outcome verifier.

    Args:
        source: `"rules"` for the environment's verdicts; the name of a model as in `load_model` for one that judges
            every episode; `"rules+"` and the name of a model for one that judges where there is no rule; or a verifier.
        generation: What draws the answers of a model in this process.

    Raises:
        ChatServerError: The judge is behind a server that does not answer, or refuses.
        ValueError: There is no such model, or its server has no such address.
    """
    if not isinstance(source, str):
        return source
    if source == RULES:
        return Rules()
    name = source.removeprefix(f"{RULES}+")
    if not name.strip():
        raise ValueError(
            f"outcome_verifier={source!r} names no model; pass 'rules', 'openai:MODEL' or 'rules+openai:MODEL'"
        )
    judge = ModelVerifier(load_model(name, generation))
    return FirstVerdict(Rules(), judge) if source.startswith(f"{RULES}+") else judge
