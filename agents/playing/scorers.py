"""What the candidates of a state are worth: Q of the critic, or how sure the process reward model is of them."""

from collections.abc import Callable, Sequence

import torch

from coach_gym.agents.models.critic import Critic
from coach_gym.agents.models.policy import Policy, Prompt
from coach_gym.agents.models.reward_models import Question, Verdict
from coach_gym.agents.models.tree import prompt_tree
from coach_gym.agents.playing.player import Situation
from coach_gym.episode import Candidate

UNKNOWN = 0.5
"""What a candidate without a verdict counts: between bad and good, and good enough to be executed."""


class CriticScorer:
    """Scores candidates by Q.

    Args:
        policy: Reads the responses.
        critic: Estimates Q; of a policy that is not distributed over processes.
        malformed_is_worst: Prefers every action to a response that is none. Pass False for environments that read other
            texts than the dialect's actions.
    """

    def __init__(self, policy: Policy, critic: Critic, malformed_is_worst: bool = True) -> None:
        self.policy = policy
        self.critic = critic
        self.malformed_is_worst = malformed_is_worst

    def __call__(
        self, situations: Sequence[Situation], prompts: Sequence[Prompt], drawn: Sequence[list[Candidate]]
    ) -> list[list[float]]:
        """Scores the candidates. See `Scorer`."""
        return [
            self._q(situation, prompt, candidates)
            for situation, prompt, candidates in zip(situations, prompts, drawn, strict=True)
        ]

    @torch.no_grad()
    def _q(self, situation: Situation, prompt: Prompt, candidates: list[Candidate]) -> list[float]:
        if len({candidate.text for candidate in candidates}) == 1:
            return [0.0] * len(candidates)  # nothing to choose
        (q,) = self.critic.q_values(prompt_tree(self.policy, prompt, candidates))
        if self.malformed_is_worst:
            frame = self.policy.frame(situation.observation)
            malformed = [not self.policy.is_action(candidate.text, frame) for candidate in candidates]
            q = q.masked_fill(torch.tensor(malformed, device=q.device), float("-inf"))
        return [float(value) for value in q]


class VerdictScorer:
    """Scores candidates by a vote of the draws, each weighted by how sure the process reward model is that it is good.

    What it holds for bad comes after all others, with a score below 0. How sure it is (`Verdict.probability`, or the
    verdict where that is not known) is noted as their Q. Equal responses of a state share a question, and no candidate
    is asked about twice.

    Args:
        policy: Reads the responses.
        ask: Judges the last steps of some transcripts (`StepwisePRM.judge`).
        malformed_is_worthless: Gives responses that are no action a 0 without asking.
    """

    def __init__(
        self,
        policy: Policy,
        ask: Callable[[list[Question]], Sequence[float | None]],
        malformed_is_worthless: bool = True,
    ) -> None:
        self.policy = policy
        self.ask = ask
        self.malformed_is_worthless = malformed_is_worthless

    def __call__(
        self, situations: Sequence[Situation], prompts: Sequence[Prompt], drawn: Sequence[list[Candidate]]
    ) -> list[list[float]]:
        """Scores the candidates. See `Scorer`."""
        self.judge(situations, drawn)
        return [_votes(candidates) for candidates in drawn]

    def judge(self, situations: Sequence[Situation], drawn: Sequence[Sequence[Candidate]]) -> None:
        """Sets Q of all candidates that have none, from 0 (bad) to 1 (good), or leaves it None if unknown."""
        asked: dict[tuple[int, str], Question] = {}
        for number, (situation, candidates) in enumerate(zip(situations, drawn, strict=True)):
            frame = self.policy.frame(situation.observation)
            past = [(step.observation, step.action) for step in situation.episode.steps]
            known = {candidate.text: candidate.q for candidate in candidates if candidate.q is not None}
            for candidate in candidates:
                candidate.q = known.get(candidate.text)
                if candidate.q is not None or (number, candidate.text) in asked:
                    continue
                if self.malformed_is_worthless and not self.policy.is_action(candidate.text, frame):
                    candidate.q = 0.0
                    continue
                action = self.policy.parse(candidate.text, frame)
                question = situation.episode.goal, [*past, (situation.observation, action)]
                asked[number, candidate.text] = question
        answers = map(_graded, self.ask(list(asked.values()))) if asked else ()
        verdicts = dict(zip(asked, answers, strict=True))
        for number, candidates in enumerate(drawn):
            for candidate in candidates:
                if candidate.q is None:
                    candidate.q = verdicts[number, candidate.text]


def _votes(candidates: Sequence[Candidate]) -> list[float]:
    """The share of the draws that are this response, times how sure the judge is that it is good; 1 less if bad."""
    texts = [candidate.text for candidate in candidates]
    shares = [texts.count(each.text) / len(texts) for each in candidates]
    return [share * sureness(c) - (sureness(c) < UNKNOWN) for share, c in zip(shares, candidates, strict=True)]


def sureness(judged: Candidate) -> float:
    """Returns how sure the judge is that a candidate is good, from 0 to 1; `UNKNOWN` where it said nothing."""
    return UNKNOWN if judged.q is None else judged.q


def _graded(verdict: float | None) -> float | None:
    """Returns the probability of a good step, with the judge's reasoning, where it is known."""
    return Verdict.of(verdict.probability, verdict.reasoning) if isinstance(verdict, Verdict) else verdict
