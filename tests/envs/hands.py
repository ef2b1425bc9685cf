"""Hands for tests of apps: they find things on a phone's screen by their names and touch them."""

from coach_gym.envs.profiles import world_phone
from coach_gym.ui import compress, parse_ui

SCREENS = [(270, 600), (540, 1200), (1080, 2400), (800, 1280)]


class Hands:
    """Works one app of a phone, from its main screen on."""

    def __init__(self, package, size=(270, 600), phone=None):
        self.phone = phone or world_phone(*size)
        self.storage = self.phone.storage
        if package:
            self.phone.launch(package)

    @property
    def ui(self):
        return compress(self.phone.ui())

    @property
    def elements(self):
        return parse_ui(self.ui)

    @property
    def rows(self):
        """Names in the list, without what stands below them."""
        return [element.label.split(", ")[0] for element in self.elements if element.long_clickable]

    def find(self, label):
        found = [e for e in self.elements if label in (e.label, e.desc, e.hint, e.label.split(", ")[0])]
        assert found, f"{label!r} is not among {[e.label for e in self.elements]}"
        return found[0]

    def shows(self, label):
        return any(label in (e.label, e.desc, e.hint, e.label.split(", ")[0]) for e in self.elements)

    def tap(self, *labels):
        for label in labels:
            self.phone.tap(*self.find(label).center)

    def hold(self, label):
        self.phone.long_press(*self.find(label).center)

    def select_text(self, field):
        """Selects all that a text field holds; the field itself, or its label."""
        self.phone.long_press(*(self.find(field) if isinstance(field, str) else field).center)
        if self.shows("Select all"):
            self.tap("Select all")

    def type(self, text):
        self.phone.type(text)

    def back(self):
        self.phone.key("BACK")
