"""Broccoli: a book of recipes."""

from __future__ import annotations

from functools import partial

from coach_gym.envs.phone.app import Choice, Confirm, DatabaseApp, Menu, Screen
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
SEARCHED = " || char(10) || ".join(f"coalesce({column}, '')" for column in FIELDS)
SORTS = {"Title": "title COLLATE NOCASE, recipeId", "Newest first": "recipeId DESC"}


class Broccoli(DatabaseApp):
    package = PACKAGE
    activity = "com.flauschcode.broccoli.MainActivity"
    label = "Broccoli"
    icon = "pot_steam_outline"
    color = "#558b2f"
    path = DATABASE
    schema = SCHEMA

    def main(self) -> Screen:
        return Recipes()

    def recipe(self, id: int) -> dict[str, str]:
        """The form's columns of a recipe; empty texts if it is gone."""
        row = self.db.execute(f"SELECT {', '.join(FIELDS)} FROM recipes WHERE recipeId = ?", (id,)).fetchone()
        return {column: value or "" for column, value in zip(FIELDS, row or [""] * len(FIELDS), strict=True)}


class Recipes(Screen):
    """All recipes, or those that match what is searched for."""

    app: Broccoli

    def __init__(self) -> None:
        super().__init__()
        self.searching = False
        self.query = TextInput()
        self.sort = "Title"

    def build(self) -> View:
        rows = self.app.db.execute(
            f"SELECT recipeId, title, description FROM recipes WHERE instr(lower({SEARCHED}), lower(?)) "
            f"ORDER BY {SORTS[self.sort]}",
            (self.query.text if self.searching else "",),
        )
        items = [ListItem(title or "", description or "", partial(self._open, id)) for id, title, description in rows]
        title: str | View = TextField(self.query, "Search", "search_src_text") if self.searching else "Recipes"
        actions = [
            IconButton("close" if self.searching else "magnify", "Close" if self.searching else "Search", self._search),
            IconButton("sort", "Sort", self._choose_sort),
        ]
        body = ListView(items) if items else Empty("No recipes", "silverware_variant")
        return Scaffold(title, body, actions=actions, fab=Fab("plus", "New recipe", self._new))

    def on_back(self) -> bool:
        searching, self.searching = self.searching, False
        return searching

    def _search(self) -> None:
        self.searching = not self.searching
        self.query.set("")
        if self.searching:
            self.focus(self.query)

    def _choose_sort(self) -> None:
        self.push(Choice("Sort by", list(SORTS), self._sorted_by, self.sort))

    def _sorted_by(self, sort: str) -> None:
        self.sort = sort

    def _open(self, id: int) -> None:
        self.push(Recipe(id))

    def _new(self) -> None:
        self.push(Form())


class Recipe(Screen):
    """One recipe, to read."""

    app: Broccoli

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        recipe = self.app.recipe(self.id)
        parts: list[View] = [Text(recipe.pop("title"), 20, bold=True, pad=(16, 4, 16, 4), id="title")]
        for column, text in recipe.items():
            if text:
                parts += [Header(FIELDS[column][0]), Text(text, 15, pad=(16, 0, 16, 4))]
        actions = [
            IconButton("pencil_outline", "Edit", self._edit),
            IconButton("dots_vertical", "More options", self._menu),
        ]
        return Scaffold("", ListView(parts), on_back=self.pop, actions=actions)

    def _edit(self) -> None:
        self.push(Form(self.id))

    def _menu(self) -> None:
        self.push(Menu([("Delete", self._ask)]))

    def _ask(self) -> None:
        self.push(Confirm("Delete recipe?", "", "Delete", self._delete))

    def _delete(self) -> None:
        self.app.db.execute("DELETE FROM recipes WHERE recipeId = ?", (self.id,))
        self.pop()


class Form(Screen):
    """A new recipe, or (with `id`) one to edit."""

    app: Broccoli

    def __init__(self, id: int | None = None) -> None:
        super().__init__()
        self.id = id
        self.inputs = {column: TextInput() for column in FIELDS}
        self.loaded = id is None

    def build(self) -> View:
        if not self.loaded and self.id is not None:
            for column, text in self.app.recipe(self.id).items():
                self.inputs[column].set(text)
            self.loaded = True
        fields = [
            TextField(self.inputs[column], hint, column, lines=lines) for column, (hint, lines) in FIELDS.items()
        ]
        save = IconButton("content_save_outline", "Save", self._save, "button_save_recipe", theme.PRIMARY)
        title = "New recipe" if self.id is None else "Edit recipe"
        return Scaffold(title, ListView([Column(fields, gap=8, pad=(16, 4, 16, 16))]), self._leave, [save])

    def on_back(self) -> bool:
        self._leave()
        return True

    def _leave(self) -> None:
        if any(field.text for field in self.inputs.values()):
            self.push(Confirm("Discard changes?", "", "Discard", self.pop))
        else:
            self.pop()

    def _save(self) -> None:
        values = [field.text.strip() for field in self.inputs.values()]
        if not values[0]:
            self.notify("A recipe needs a title")
            return
        if self.id is None:
            columns, marks = ", ".join(FIELDS), ", ".join("?" * len(FIELDS))
            self.app.db.execute(f"INSERT INTO recipes({columns}, imageName) VALUES ({marks}, '')", values)
        else:
            columns = ", ".join(f"{column} = ?" for column in FIELDS)
            self.app.db.execute(f"UPDATE recipes SET {columns} WHERE recipeId = ?", (*values, self.id))
        self.pop()


APP = Broccoli
