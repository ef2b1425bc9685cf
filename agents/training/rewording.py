"""Successes in other words: the same episode, with other names and numbers in instruction, screens and responses.

Imitated again and again, an instance is learned by heart, and what it wants typed is then recalled instead of read. In
other words it can only be read. What belongs to the instance is known from its parameters (`info["params"]`). Pictures
stay as they are, so this is for policies that read the screen's text.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coach_gym.actions import KINDS, ActionError, format_action
from coach_gym.agents.models.policy import Policy
from coach_gym.episode import Candidate, Episode, Step

WORD = re.compile(r"[^\W\d_]{2,}")
PART = re.compile(rf"{WORD.pattern}|[0-9]+")
SHOWN = re.compile(r'(?<= (?:text|desc|hint)=")[^"]+')
"""What the screen's text says, in the attributes of `coach_gym.ui.compress`."""
FILE_NAME = re.compile(r"(?<=[^\W_]\.)[a-z0-9]{2,4}\b")
"""The ending of a file's name."""
GRAMMAR = frozenset(WORD.findall(" ".join(KINDS)))
KNOWN = 0.4
"""Share of new words that come from other episodes; the others are made up of pieces of two of these."""


def words_of(episodes: Iterable[Episode]) -> list[str]:
    """Returns all words in the parameters of some episodes, as `reworded` takes them."""
    return sorted({word for episode in episodes for text in _texts(episode.params) for word in WORD.findall(text)})


def reworded(policy: Policy, episode: Episode, words: Sequence[str], rng: random.Random) -> Episode:
    """Returns an episode in other words.

    Words and numbers of the parameters are replaced wherever they stand, numbers by as long ones. Words that the
    instruction says besides, and endings of files, stay.

    Args:
        policy: Reads and writes the responses.
        episode: Its steps have the executed responses alone.
        words: Where new words come from, at least the episode's own.
        rng: Source of randomness.
    """
    new = _others(_own(episode), words, rng)

    def change(text: str, parts: re.Pattern[str] = PART) -> str:
        return parts.sub(lambda found: new.get(found[0], found[0]), text)

    def step_of(step: Step) -> Step:
        observation = replace(step.observation, ui=SHOWN.sub(lambda shown: change(shown[0]), step.observation.ui))
        response, canonical = step.candidates[step.executed].text, step.action
        frame = policy.frame(observation)
        try:
            thought, action = policy.dialect.parse(response, frame)
        except ActionError:
            response = change(response, WORD)
        else:  # numbers in a thought may be coordinates
            thought, action = change(thought, WORD), replace(action, content=change(action.content))
            response, canonical = policy.dialect.format(action, thought, frame), format_action(action, thought)
        candidate = Candidate(response, [*policy.chat.encode_text(response), policy.eos], [])
        return replace(step, observation=observation, candidates=[candidate], executed=0, action=canonical)

    return replace(episode, goal=change(episode.goal), steps=[step_of(step) for step in episode.steps])


def _own(episode: Episode) -> list[str]:
    """The words and numbers that belong to an instance, in a fixed order."""
    texts = list(_texts(episode.params))
    template = episode.goal
    for text in sorted(filter(None, texts), key=len, reverse=True):
        template = template.replace(text, " ")
    kept = GRAMMAR | {part for text in (template, *FILE_NAME.findall(" ".join(texts))) for part in PART.findall(text)}
    return sorted({part for text in texts for part in PART.findall(text)} - kept)


def _texts(value: Any) -> Iterator[str]:
    """All strings in a mapping's values, with the keys of mappings in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
            if isinstance(each, Mapping):
                yield from each
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _others(parts: Iterable[str], words: Sequence[str], rng: random.Random) -> dict[str, str]:
    """A new word for each word, all different, and for each number another of as many digits."""
    new: dict[str, str] = {}
    for part in parts:
        if part.isdigit():
            new[part] = str(rng.randrange(10 ** (len(part) - 1), 10 ** len(part)))
            continue
        while (word := _word(part, words, rng)) in new.values():
            pass
        new[part] = word
    return new


def _word(old: str, words: Sequence[str], rng: random.Random) -> str:
    """A word, with a capital if the old one has it."""
    word, other = rng.choice(words), rng.choice(words)
    if rng.random() >= KNOWN:
        word = word[: rng.randint(1, 4)] + other[-rng.randint(1, 4) :]
    return word.capitalize() if old[0].isupper() else word.lower()
