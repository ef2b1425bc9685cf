"""The expert that tells a color: it reads `Screen.pixels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.gallery import expert as gallery
from coach_gym.envs.apps.gallery.sight_expert import shown
from coach_gym.envs.apps.messages.expert import send, write_to
from coach_gym.envs.tasks import looking
from coach_gym.envs.tasks.screen import Screen, expert


@expert("SmsColorOfPicture")
def tell_color(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    """Looks at the picture and sends the color."""
    yield from gallery.look_at(s, p["name"])
    color = looking.color_of(shown(s))
    yield from write_to(s, p["number"])
    yield from send(s, color)
