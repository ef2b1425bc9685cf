"""The expert that looks into pictures from the Files app: it reads `Screen.pixels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.files.expert import open_folder
from coach_gym.envs.apps.gallery.sight_expert import shown
from coach_gym.envs.tasks import looking
from coach_gym.envs.tasks.screen import Screen, expert


@expert("FilesDeletePicture")
def delete_picture(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from s.open("Files")
    yield from open_folder(s, "Download")
    found = False
    for row in [element for element in s.elements if ".png" in element.label]:
        yield s.tap(row)
        found = looking.caption_of(shown(s)) == p["what"]
        yield from s.open("Files")  # where it was left
        if found:
            yield s.long_press(row)
            yield s.tap("Delete")
            yield s.tap("OK")
            break
