"""The expert that switches what a sign says: it reads `Screen.pixels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coach_gym.envs.apps.gallery import expert as gallery
from coach_gym.envs.apps.gallery.sight_expert import shown
from coach_gym.envs.apps.settings.expert import bluetooth, wifi
from coach_gym.envs.apps.settings.sight_tasks import SWITCHED
from coach_gym.envs.tasks import looking
from coach_gym.envs.tasks.screen import Screen, expert


@expert("SettingsSwitchBySign")
def _switch_by_sign(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    on = SWITCHED[looking.shape_of(shown(s))]
    yield from s.open("Settings")
    if "wifi_on" in on:
        yield from wifi(s, True)
    if len(on) > 1:
        yield s.back()
        yield s.back()
    if "bluetooth_on" in on:
        yield from bluetooth(s, True)
