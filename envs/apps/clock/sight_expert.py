"""The expert that sets an alarm by the picture of a clock: it reads `Screen.pixels`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import time
from typing import Any

from coach_gym.envs.apps.clock.expert import open_tab
from coach_gym.envs.apps.gallery import expert as gallery
from coach_gym.envs.apps.gallery.sight_expert import time_shown
from coach_gym.envs.tasks.pickers import pick_time
from coach_gym.envs.tasks.screen import Screen, expert


@expert("ClockAlarmOfPicture")
def _alarm_of_picture(s: Screen, p: Mapping[str, Any]) -> Iterator[str]:
    yield from gallery.look_at(s, p["name"])
    hour, minute = map(int, time_shown(s).split(":"))
    yield from open_tab(s, "Alarm")
    yield s.tap("Add alarm")
    yield from pick_time(s, time(hour, minute))
