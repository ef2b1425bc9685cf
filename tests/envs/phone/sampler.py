"""An app that any test can fill: it shows whatever screen it is given."""

from coach_gym.envs.phone.app import App, Screen
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.toolkit.widgets import Column
from tests.envs.hands import Hands

PACKAGE = "org.example.sampler"


class Blank(Screen):
    def build(self):
        return Column([])


class Sampler(App):
    package, label = PACKAGE, "Sampler"

    def main(self):
        return Blank()


def showing(screen, size=(270, 600)):
    """Hands on a phone that shows a screen; the app's blank one lies below."""
    hands = Hands(PACKAGE, phone=Phone(*size, apps=[Sampler]))
    hands.phone.push(hands.phone.apps[PACKAGE], screen)
    return hands
