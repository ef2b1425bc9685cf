from coach_gym.envs.phone.app import DatabaseApp, Prompt, Screen
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import Empty, Fab, ListItem, ListView, Scaffold

PATH = "/data/data/org.example.shopping/databases/items.db"


class Shopping(DatabaseApp):
    package = "org.example.shopping"
    label = "Shopping"  # what open_app(app_name='Shopping') means
    icon = "cart"  # a name of Material Design Icons
    path = PATH
    schema = "CREATE TABLE item (name TEXT NOT NULL);"

    def main(self) -> Screen:
        return Items()


class Items(Screen):
    app: Shopping

    def build(self) -> View:
        names = [name for (name,) in self.app.db.execute("SELECT name FROM item ORDER BY rowid")]
        body = ListView([ListItem(name) for name in names]) if names else Empty("Nothing to buy", "cart")
        return Scaffold("Shopping", body, fab=Fab("plus", "Add item", self.ask))

    def ask(self) -> None:
        self.push(Prompt("Add item", self.add, hint="Name", yes="Add"))

    def add(self, name: str) -> None:
        if name.strip():
            self.app.db.execute("INSERT INTO item VALUES (?)", (name.strip(),))


APP = Shopping
