"""Answers that the policy would never draw: its own, with another text from the screen or the instruction.

Most answers can be read there. A policy that has only seen the answers 1 and 3 draws no 2, however often it is asked;
and a judge that has learned to compare an answer with the screen knows a 2. Texts to type and apps to open are not
varied: a judge seldom knows better than the policy what to type, and has led it astray there.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from coach_gym.actions import ActionError
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.player import Situation
from coach_gym.dialects import Frame
from coach_gym.episode import Candidate
from coach_gym.ui import parse_ui

VARIED = 4
"""Different responses of a state that are varied, the commonest first."""
MOST = 64
"""Variations of a state."""


def variations(
    policy: Policy, situation: Situation, drawn: Sequence[Candidate], max_new_tokens: int
) -> list[Candidate]:
    """Returns the drawn responses that answer, with other answers.

    A number is replaced by numbers alone. As variations are not drawn, their tokens have log-probability 0.

    Args:
        policy: Reads and writes the responses.
        situation: The state, whose screen text and instruction have the texts.
        drawn: The state's candidates.
        max_new_tokens: Length of the longest variation.

    Returns:
        At most `MOST` further candidates, all different.
    """
    known = Counter(candidate.text for candidate in drawn)
    texts, frame = _texts(situation), policy.frame(situation.observation)
    varied = [text for response, _ in known.most_common(VARIED) for text in _varied(policy, frame, response, texts)]
    new = [text for text in dict.fromkeys(varied) if text not in known]
    encoded = [[*policy.chat.encode_text(text), policy.eos] for text in new[:MOST]]
    return [policy.candidate(ids, [0.0] * len(ids)) for ids in encoded if len(ids) <= max_new_tokens]


def _texts(situation: Situation) -> list[str]:
    """What stands on the screen, as a whole and word by word, and the words of the instruction."""
    seen = list(_labels(situation.observation.ui))
    words = [word.strip(".,:;!?") for text in [*seen, situation.episode.goal] for word in text.split()]
    return [text for text in dict.fromkeys([*seen, *words]) if text]


def _labels(ui: str) -> Iterator[str]:
    try:
        elements = parse_ui(ui)
    except ValueError:  # some environments describe the screen in words of their own
        yield ui
        return
    for element in elements:
        yield from (element.label, element.value)


def _varied(policy: Policy, frame: Frame, response: str, texts: Iterable[str]) -> Iterator[str]:
    answer = _answer(policy, frame, response)
    if not answer or answer not in response:  # nothing to replace, or spelled with escapes
        return
    before, _, after = response.rpartition(answer)
    for text in texts:
        varied = before + text + after
        if text.isdecimal() == answer.isdecimal() and _answer(policy, frame, varied) == text:
            yield varied


def _answer(policy: Policy, frame: Frame, response: str) -> str:
    """What a response answers; "" if it is no answer."""
    try:
        action = policy.dialect.parse(response, frame)[1]
    except ActionError:
        return ""
    return action.content if action.kind == "finished" else ""
