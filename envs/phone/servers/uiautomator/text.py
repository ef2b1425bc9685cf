"""uiautomator's methods about text: the clipboard, and the fields on the screen."""

from __future__ import annotations

from coach_gym.envs.phone.input.ime import enter_text, field_at
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.uiautomator.finder import Finder, Selector
from coach_gym.envs.phone.system.system import STEP


class Texts:
    """The clipboard and text fields.

    Args:
        phone: The phone.
        finder: Finds objects on its screen.
    """

    def __init__(self, phone: Phone, finder: Finder) -> None:
        self._phone, self._finder = phone, finder

    def setClipboard(self, label: str | None, text: str) -> None:
        """Replaces the clipboard."""
        self._phone.clipboard = str(text)

    def getClipboard(self) -> str:
        """Returns the clipboard."""
        return self._phone.clipboard

    def pasteClipboard(self) -> bool:
        """Inserts the clipboard at the cursor."""
        enter_text(self._phone, self._phone.clipboard)
        return True

    def clearInputText(self) -> bool:
        """Empties the field with the cursor."""
        if self._phone.focus is not None:
            self._phone.focus.set("")
        self._phone.elapse(STEP)
        return True

    def getText(self, selector: Selector) -> str:
        """Returns the text of an object."""
        return self._finder.node(selector).text

    def setText(self, selector: Selector, text: str) -> bool:
        """Replaces the text of a field. Returns False if the object is no text field."""
        field = field_at(self._phone, self._finder.node(selector))
        if field is not None and field.input is not None:
            field.input.set(str(text) if field.multiline else str(text).replace("\n", " "))
            self._phone.elapse(STEP)
        return field is not None

    def clearTextField(self, selector: Selector) -> bool:
        """Empties a field. Returns False if the object is no text field."""
        return self.setText(selector, "")
