"""The family of Simple SMS Messenger in which a color is told to somebody."""

from __future__ import annotations

import random
from typing import Any, ClassVar

from coach_gym.envs.apps.contacts import address_book
from coach_gym.envs.apps.messages.world_tasks import Key, SmsTask, inbox
from coach_gym.envs.phone.providers import telephony
from coach_gym.envs.phone.providers.telephony import SENT
from coach_gym.envs.tasks.scenes import COLORS, SHAPES
from coach_gym.envs.tasks.sight import GALLERY, PictureTask, SightTask, file_names, shapes
from coach_gym.envs.tasks.words import ParamRng


class SmsColorOfPicture(PictureTask, SmsTask):
    """The color of the things in a picture, sent to a number."""

    apps: ClassVar[tuple[str, ...]] = (GALLERY, "Simple SMS Messenger")
    template = (
        "Look at the picture {name} in Simple Gallery Pro (folder DCIM), and send the color of the shape in it to "
        "{number}, as a text message of just one of these words: red, green, blue, yellow, purple, black."
    )
    difficulty = "medium"
    budget = 24
    chance = 1 / len(COLORS)

    @classmethod
    def sample(cls, rng: ParamRng) -> dict[str, Any]:
        """Draws a number and two pictures of different colors."""
        number, *others = address_book.numbers(rng, rng.randint(1, 3))
        names, colors = file_names(rng, 2), rng.sample(tuple(COLORS), 2)
        shown = [shapes(rng, rng.choice(SHAPES), color, 1) for color in colors]
        return {
            "name": names[0], "other": names[1], "number": number, "messages": inbox(rng, others),
            "pictures": dict(zip(names, shown, strict=True)),
        }  # fmt: skip

    def sent(self) -> list[Key]:
        """Returns the message with the color."""
        color = self.params["pictures"][self.params["name"]]["color"]
        return [(telephony.line(self.params["number"]), color, SENT)]

    def near_miss(self, rng: random.Random) -> dict[str, Any]:
        """Returns the other picture."""
        return {**self.params, "name": self.params["other"]}


TASKS: tuple[type[SightTask], ...] = (SmsColorOfPicture,)
