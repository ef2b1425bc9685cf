"""The menu that a long press on the power key opens."""

from __future__ import annotations

from collections.abc import Callable

from coach_gym.envs.phone.intents import DIAL, Intent
from coach_gym.envs.phone.system.host import SystemHost
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Column, Icon, Text

SHOWN = 3
"""What `shade` is while the menu is shown: like the shade, it covers the screen, and Back and Home put it away."""


def build(phone: SystemHost) -> View:
    """Returns the menu's buttons on a scrim that puts it away when touched."""

    def put_away() -> None:
        phone.shade = 0

    def stay() -> None:
        put_away()
        phone.snackbar("The embedded phone cannot be switched off")

    buttons = [
        _button("Emergency", "asterisk", lambda: phone.start(Intent(DIAL))),
        _button("Power off", "power", stay),
        _button("Restart", "restart", phone.restart),
    ]
    card = Column(buttons, bg=theme.SURFACE, radius=24, pad=(20, 16, 20, 16), gap=16, on_tap=lambda: None)
    return Column([card], justify="center", align="center", on_tap=put_away)


def _button(label: str, icon: str, then: Callable[[], object]) -> View:
    parts = [Icon(icon, 28, theme.TEXT), Text(label, 13, id="message")]
    return Column(parts, align="center", gap=6, width=110, pad=(8, 12, 8, 12), radius=16, on_tap=then)
