"""Responses that the policy would never draw: its own, with another text from the screen or the instruction.

Most of what an agent types, opens and answers is to be read somewhere. A policy that has only seen the answers 1 and 3
draws no 2, however often it is asked; and a judge that has learned to compare an answer with the screen knows a 2.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from coach_gym.actions import ActionError
from coach_gym.agents.models.policy import Policy
from coach_gym.agents.playing.player import Situation
from coach_gym.episode import Candidate
from coach_gym.ui import parse_ui

VARIED = 4
"""Different responses of a state that are varied, the commonest first."""
MOST = 64
"""Variations of a state."""


def variations(
    policy: Policy, situation: Situation, drawn: Sequence[Candidate], max_new_tokens: int
) -> list[Candidate]:
    """Returns the drawn responses with other texts to type, to open or to answer.

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
    texts = _texts(situation)
    varied = [text for response, _ in known.most_common(VARIED) for text in _varied(policy, situation, response, texts)]
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


def _varied(policy: Policy, situation: Situation, response: str, texts: Iterable[str]) -> Iterator[str]:
    try:
        _, action = policy.dialect.parse(response, policy.frame(situation.observation))
    except ActionError:
        return
    if not action.content or action.content not in response:  # nothing to replace, or spelled with escapes
        return
    before, _, after = response.rpartition(action.content)
    for text in texts:
        if text.isdecimal() == action.content.isdecimal() and not re.search(r"['\"\\\n]", text):
            yield before + text + after

