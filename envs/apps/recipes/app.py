"""Broccoli: a book of recipes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Menu, Screen
from coach_gym.envs.phone.records import Table
from coach_gym.envs.phone.screens.pages import FormPage, SearchPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import TextInput, View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Empty,
    Fab,
    Header,
    IconButton,
    ListItem,
    ListView,
    Scaffold,
    Text,
    TextField,
)

PACKAGE = "com.flauschcode.broccoli"
DATABASE = f"/data/data/{PACKAGE}/databases/broccoli"
SCHEMA = """
CREATE TABLE recipes (
    recipeId INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, title TEXT, imageName TEXT, description TEXT, servings TEXT,
    preparationTime TEXT, source TEXT, ingredients TEXT, directions TEXT, favorite INTEGER NOT NULL DEFAULT 0
);
"""
FIELDS = {  # column: what the form calls it, lines
    "title": ("Title", 1),
    "description": ("Description", 1),
    "servings": ("Servings", 1),
    "preparationTime": ("Preparation time", 1),
    "source": ("Source", 1),
    "ingredients": ("Ingredients", 2),
    "directions": ("Directions", 2),
}
TABLE = Table("recipes", "recipeId")
SEARCHED = " || char(10) || ".join(f"coalesce({column}, '')" for column in FIELDS)
SORTS = {"Title": "title COLLATE NOCASE, recipeId", "Newest first": "recipeId DESC"}


class Broccoli(DatabaseApp):
    """The Broccoli app."""

    package = PACKAGE
    activity = "com.flauschcode.broccoli.MainActivity"
    label = "Broccoli"
    icon = "pot_steam_outline"
    color = "#558b2f"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        """Opens the list of recipes."""
        return Recipes()


class Recipes(SearchPage):
    """All recipes, or those that the search finds."""

    app: Broccoli

    def __init__(self) -> None:
        super().__init__()
        self.sort = "Title"

    def build(self) -> View:
        """Lists the recipes."""
        rows = self.app.db.execute(
            f"SELECT recipeId, title, description FROM recipes WHERE instr(lower({SEARCHED}), lower(?)) "
            f"ORDER BY {SORTS[self.sort]}",
            (self.words,),
        )
        items = [self._item(*row) for row in rows]
        body = ListView(items) if items else Empty("No recipes", "silverware_variant")
        actions = [self.search_button(), IconButton("sort", "Sort", self._choose_sort)]
        new = Fab("plus", "New recipe", lambda: self.push(Form()))
        return Scaffold(self.title_or_field("Recipes", "search_src_text"), body, actions=actions, fab=new)

    def _item(self, id: int, title: str | None, description: str | None) -> View:
        return ListItem(title or "", description or "", lambda: self.push(Recipe(id)))

    def _choose_sort(self) -> None:
        self.push(Choice("Sort by", list(SORTS), partial(setattr, self, "sort"), self.sort))


class Recipe(Screen):
    """One recipe, to read."""

    app: Broccoli

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the recipe's texts below their headings."""
        recipe = TABLE.read(self.app.db, self.id)
        parts: list[View] = [Text(recipe.get("title") or "", 20, bold=True, pad=(16, 4, 16, 4), id="title")]
        for column, (heading, _) in list(FIELDS.items())[1:]:
            if text := recipe.get(column):
                parts += [Header(heading), Text(text, 15, pad=(16, 0, 16, 4))]
        ask = Confirm("Delete recipe?", "", "Delete", self._delete)
        menu = Menu([("Delete", lambda: self.push(ask))])
        actions = [
            IconButton("pencil_outline", "Edit", lambda: self.push(Form(self.id, recipe))),
            IconButton("dots_vertical", "More options", lambda: self.push(menu)),
        ]
        return Scaffold("", ListView(parts), on_back=self.pop, actions=actions)

    def _delete(self) -> None:
        TABLE.delete(self.app.db, self.id)
        self.pop()


class Form(FormPage):
    """A new recipe, or (with `id`) one to edit, which is stored as `recipe`."""

    app: Broccoli

    def __init__(self, id: int | None = None, recipe: Mapping[str, Any] | None = None) -> None:
        super().__init__(id)
        self.inputs = {column: TextInput((recipe or {}).get(column) or "") for column in FIELDS}
        self.opened()

    def build(self) -> View:
        """Shows a field for each column."""
        fields = [TextField(self.inputs[column], hint, column, lines=lines) for column, (hint, lines) in FIELDS.items()]
        save = IconButton("content_save_outline", "Save", self._save, "button_save_recipe", theme.PRIMARY)
        title = "New recipe" if self.id is None else "Edit recipe"
        return Scaffold(title, ListView([Column(fields, gap=8, pad=(16, 4, 16, 16))]), self.leave, [save])

    def values(self) -> dict[str, Any]:
        """Returns the columns that the form shows."""
        return {column: field.text.strip() for column, field in self.inputs.items()}

    def unsaved(self) -> bool:
        """Returns whether there is any text."""
        return any(field.text for field in self.inputs.values())

    def _save(self) -> None:
        changes = self.changes()
        if not self.values()["title"]:
            self.notify("A recipe needs a title")
            return
        if self.id is None:
            TABLE.insert(self.app.db, {**changes, "imageName": ""})
        else:
            TABLE.update(self.app.db, self.id, changes)
        self.pop()


APP = Broccoli
