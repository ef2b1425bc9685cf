"""Kinds of screens that several apps have: lists to search in or select from, and forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from coach_gym.envs.phone.app import Confirm, Screen
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import IconButton, Scaffold, TextField

Item = TypeVar("Item")


class SearchPage(Screen):
    """A list whose title turns into a search field.

    Attributes:
        searching: Whether the search field is shown.
        query: What is typed there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.searching = False
        self.query = TextInput()

    @property
    def words(self) -> str:
        """The words searched for; empty while the field is not shown."""
        return self.query.text if self.searching else ""

    def search(self) -> None:
        """Shows an empty search field with the cursor in it, or the title again."""
        self.searching = not self.searching
        self.query.set("")
        if self.searching:
            self.focus(self.query)

    def title_or_field(self, title: str, id: str = "") -> str | View:
        """Returns what stands at the top: the title, or the search field with this id."""
        return TextField(self.query, "Search", id) if self.searching else title

    def search_button(self) -> View:
        """Returns the button that starts and ends a search."""
        icon, desc = ("close", "Close") if self.searching else ("magnify", "Search")
        return IconButton(icon, desc, self.search)

    def on_back(self) -> bool:
        """Ends the search."""
        searching, self.searching = self.searching, False
        return searching or super().on_back()


class SelectionPage(Screen, Generic[Item]):
    """A list in which a long touch selects an item, after which touches select more.

    Attributes:
        selected: The selected items, in the order in which they were touched.
    """

    def __init__(self) -> None:
        super().__init__()
        self.selected: list[Item] = []

    def toggle(self, item: Item) -> None:
        """Selects an item, or no longer."""
        if item in self.selected:
            self.selected.remove(item)
        else:
            self.selected.append(item)

    def unselect(self) -> None:
        """Selects nothing any more."""
        self.selected = []

    def selecting(self, body: View, actions: Sequence[View]) -> View:
        """Returns the page as it looks while something is selected."""
        return Scaffold(f"{len(self.selected)} selected", body, self.unselect, actions)

    def on_back(self) -> bool:
        """Ends the selection."""
        selected, self.selected = self.selected, []
        return bool(selected) or super().on_back()


class FormPage(Screen):
    """A form that makes a record or changes one. It writes only what was changed.

    A subclass sets its fields in `__init__` and then calls `opened`.

    Args:
        id: Key of the record; None for a new one.
    """

    stay = "Cancel"  # what the button says that leads back to an unsaved form

    def __init__(self, id: int | None = None) -> None:
        super().__init__()
        self.id = id
        self.stored: dict[str, Any] = {}

    def opened(self) -> None:
        """Remembers what the form says before any change."""
        self.stored = self.values()

    def values(self) -> dict[str, Any]:
        """Returns what the form says now, by column."""
        raise RuntimeError(f"{type(self).__name__} has no values")

    def changes(self) -> dict[str, Any]:
        """Returns the values to write: all of a new record, otherwise those that have changed."""
        values = self.values()
        return {column: v for column, v in values.items() if self.id is None or v != self.stored[column]}

    def unsaved(self) -> bool:
        """Returns whether leaving the form loses something, so that the user is asked first."""
        return False

    def on_back(self) -> bool:
        """Asks before changes are discarded."""
        asks = self.unsaved()
        if asks:
            self.push(Confirm("Discard changes?", "", "Discard", self.pop, self.stay))
        return asks
