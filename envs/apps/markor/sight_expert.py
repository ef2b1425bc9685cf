"""The expert that reads a word off a picture: it compares `Screen.pixels` with every word there is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.gallery import expert as gallery
from coach_gym.envs.apps.gallery.sight_expert import shown
from coach_gym.envs.apps.markor import expert as markor
from coach_gym.envs.apps.markor.sight_tasks import WORDS
from coach_gym.envs.tasks import looking, scenes
from coach_gym.envs.tasks.screen import Screen, expert


@expert("MarkorTypeWordOfPicture")
def type_word(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    word = looking.most_alike(shown(s), {word: scenes.drawn({"kind": "word", "word": word}) for word in WORDS.all})
    yield from s.open("Markor")
    yield from markor.new_note(s, p["file_name"])
    yield from s.fill(markor.EDITOR, word)
    yield s.tap("Save")
