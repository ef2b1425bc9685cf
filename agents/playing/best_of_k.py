"""Acting by choice: of k drawn responses, the one that scores highest is executed."""

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from coach_gym.actions import Action, ActionError
from coach_gym.agents.generation.generator import Generator, OnFirst
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.playing.player import PolicyPlayer, Situation
from coach_gym.agents.playing.variations import variations
from coach_gym.dialects import Frame
from coach_gym.episode import Candidate, Episode, Step


class Scorer(Protocol):
    """Says what the candidates of some states are worth (`scorers.py`)."""

    def __call__(
        self, situations: Sequence[Situation], prompts: Sequence[Prompt], drawn: Sequence[list[Candidate]]
    ) -> list[list[float]]:
        """Returns a score for every candidate of every state: more is better, and less than 0 is bad.

        Args:
            situations: The states.
            prompts: Their prompts.
            drawn: Their candidates.
        """
        ...


class BestOfK(PolicyPlayer):
    """Executes the best of k responses; of equally good ones the commonest, and of those the first.

    It moves the best response to the front, where the others keep their order. The k together are still independent
    draws of the policy; the executed one is not.

    Args:
        policy: Writes the prompts and reads the responses.
        generator: Draws the responses.
        temperature: Sampling temperature.
        max_new_tokens: Length at which a response is cut off.
        score: Scores the responses.
        k: Responses drawn in every state.
        max_k: Responses up to which more are drawn, k at a time, in states where all so far are bad; None for k.
        vary_answers: Tries other answers in states where all k are bad, before more are drawn (`variations.py`).
    """

    def __init__(
        self, policy: Policy, generator: Generator, temperature: float, max_new_tokens: int, score: Scorer, k: int,
        max_k: int | None = None, vary_answers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(policy, generator, temperature, max_new_tokens)
        self.score = score
        self.k = k
        self.max_k = max_k or k
        self.vary_answers = vary_answers

    def draw(self, situations: Sequence[Situation], on_first: OnFirst | None = None) -> list[list[Candidate]]:
        """Draws k candidates in every state, the best one first; `on_first` receives it once all are scored.

        Of a state where more were drawn, the best one and the k - 1 drawn first are returned.
        """
        drawn, scores = self._draw_until_good(situations, self.prompts(situations))
        ordered = [
            _best_first(candidates, of_state)[: self.k] for candidates, of_state in zip(drawn, scores, strict=True)
        ]
        if on_first is not None:
            for number, candidates in enumerate(ordered):
                on_first(number, candidates[0])
        return ordered

    def _draw_until_good(
        self, situations: Sequence[Situation], prompts: Sequence[Prompt]
    ) -> tuple[list[list[Candidate]], list[list[float]]]:
        """Returns the candidates of every state and their scores."""
        drawn = self.explore(prompts, self.k)
        scores = self.score(situations, prompts, drawn)

        def try_more(more_of: Callable[[list[int]], Sequence[list[Candidate]]]) -> None:
            """Adds further candidates where all so far are bad."""
            poor = [number for number, of_state in enumerate(scores) if max(of_state) < 0]
            if not poor:
                return
            for number, more in zip(poor, more_of(poor), strict=True):
                drawn[number] = [*drawn[number], *more]
            again = self.score([situations[n] for n in poor], [prompts[n] for n in poor], [drawn[n] for n in poor])
            for number, of_state in zip(poor, again, strict=True):
                scores[number] = of_state

        if self.vary_answers:
            try_more(lambda poor: [self._variations(situations[n], drawn[n]) for n in poor])
        for _ in range(self.k, self.max_k, self.k):
            try_more(lambda poor: self.explore([prompts[n] for n in poor], self.k))
        return drawn, scores

    def _variations(self, situation: Situation, drawn: list[Candidate]) -> list[Candidate]:
        return variations(self.policy, situation, drawn, self.max_new_tokens)

    def respond(self, situations: Sequence[Situation], deterministic: bool) -> list[list[Candidate]]:
        """Draws as for a roll-out in either case: of the most likely response alone there is no choice."""
        return self.draw(situations)

    def own_success(self, episode: Episode) -> float:
        """Returns how far an episode was solved by the policy alone, and not by choosing.

        This is the chance that another draw in every state would have done what was executed, as the states' other
        candidates tell. How many of them a judge likes would tell less: it dislikes right actions of some families.
        """
        return super().own_success(episode) * math.prod(map(self._own_share, episode.steps))

    def _own_share(self, step: Step) -> float:
        """The share of a step's other candidates that do what was executed; 1 if there are none."""
        frame = self.policy.frame(step.observation)
        executed, *others = (self._deed(candidate, frame) for candidate in step.candidates)
        return others.count(executed) / len(others) if others else 1.0

    def _deed(self, candidate: Candidate, frame: Frame) -> Action | str:
        """What a response does, whatever it thinks; one that does nothing is returned as it is."""
        try:
            return self.policy.dialect.parse(candidate.text, frame)[1]
        except ActionError:
            return candidate.text


def _best_first(candidates: list[Candidate], scores: Sequence[float]) -> list[Candidate]:
    texts = [candidate.text for candidate in candidates]
    best = max(range(len(texts)), key=lambda number: (scores[number], texts.count(texts[number])))
    return [candidates[best], *candidates[:best], *candidates[best + 1 :]]
