"""Cantook: a library of books (EPUB files), and a reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from coach_gym.envs.apps.cantook.data import DATABASE, FILES, PACKAGE, SCHEMA, Library, Shelved
from coach_gym.envs.phone.app import App, Choice, Confirm, Prompt, Screen
from coach_gym.envs.phone.folders import SHARED, Entry, entries
from coach_gym.envs.phone.media import epub
from coach_gym.envs.phone.screens.pages import SearchPage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    BottomNavigation,
    Button,
    Column,
    Empty,
    Fab,
    Header,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Row,
    Scaffold,
    Space,
    Tabs,
    Text,
)

SECTIONS = (("home_outline", "Home"), ("bookshelf", "My Books"), ("dots_horizontal", "More"))
TABS = ("Books", "Authors", "Categories", "Collections")
RECENT = 4  # books in each list of the home page
PAGE = 6  # paragraphs on a page
COVERS = ("#5c6bc0", "#00838f", "#6d4c41", "#ad1457", "#2e7d32", "#ef6c00")
NEW = "New collection"


class Cantook(App):
    """The Cantook app."""

    package = PACKAGE
    activity = "com.aldiko.android.ui.MainActivity"
    label = "Cantook"
    icon = "book_open_page_variant"
    color = "#00838f"

    def install(self) -> None:
        """Makes the database and the folder of books."""
        self.phone.storage.create_database(DATABASE, SCHEMA)
        self.phone.storage.mkdir(FILES)

    def main(self) -> Screen:
        """Opens the home page."""
        return Main()

    @property
    def library(self) -> Library:
        """The books of the phone."""
        return Library(self.phone.storage)


def cover(book: Shelved, width: float) -> View:
    """Returns a book's cover: its initials on a color that depends on the title."""
    color = COVERS[sum(map(ord, book.title)) % len(COVERS)]
    initials = "".join(word[0] for word in book.title.split() if word[0].isupper())[:3]
    letters = Text(initials, width * 0.3, "#ffffff", bold=True, important=False)
    return View(
        "android.widget.ImageView", [letters], bg=color, radius=4, width=width, height=width * 1.4, align="center",
        justify="center", important=False,
    )  # fmt: skip


class BookList(Screen):
    """A screen with books to open."""

    app: Cantook

    def rows(self, books: Sequence[Shelved]) -> list[View]:
        """Returns a row for every book: a touch opens it, a long touch shows its details."""
        return [self._book(book) for book in books]

    def _book(self, book: Shelved) -> View:
        def tell() -> None:
            self.push(Details(book.id))

        more = IconButton("dots_vertical", f"Options of {book.title}", tell)
        progress = Row([Text(book.progress, 13, theme.SECONDARY), more], gap=2)
        return ListItem(book.title, book.author, partial(self._read, book.id), tell, cover(book, 34), progress)

    def _read(self, id: int) -> None:
        self.app.library.open(id, self.now)
        self.push(Reader(id))


class Main(SearchPage, BookList):
    """The sections Home, My Books and More."""

    def __init__(self) -> None:
        super().__init__()
        self.section, self.tab = "Home", TABS[0]

    def build(self) -> View:
        """Shows the section that is chosen."""
        bottom = BottomNavigation(SECTIONS, self.section, self._select)
        if self.section == "Home":
            return Scaffold("Cantook", self._home(), bottom=bottom)
        if self.section == "More":
            return Scaffold("More", self._more(), bottom=bottom)
        ask = Prompt(NEW, self._create, hint="Collection name", yes="Create")
        fab = Fab("plus", NEW, lambda: self.push(ask)) if self.tab == "Collections" else None
        return Scaffold(
            self.title_or_field("My Books"), self._shelf(), actions=[self.search_button()], fab=fab, bottom=bottom,
            tabs=Tabs(TABS, self.tab, self._turn),
        )  # fmt: skip

    def on_back(self) -> bool:
        """Ends the search, then leads home."""
        if super().on_back():
            return True
        away, self.section = self.section != "Home", "Home"
        return away

    def _select(self, section: str) -> None:
        self.section, self.searching = section, False

    def _turn(self, tab: str) -> None:
        self.tab, self.searching = tab, False

    def search(self) -> None:
        """Searches among the books."""
        super().search()
        self.tab = TABS[0]

    # home

    def _home(self) -> View:
        library = self.app.library
        if not (added := library.books("added")):
            return Empty("No books yet", "bookshelf")
        read = [book for book in library.books("opened") if book.opened is not None]
        rows = [Header("Recently read"), *self.rows(read[:RECENT])] if read else []
        return ListView([*rows, Header("Recently added"), *self.rows(added[:RECENT])], key="home")

    # shelves

    def _shelf(self) -> View:
        contents: dict[str, Callable[[], list[View]]] = {
            "Books": self._books,
            "Authors": partial(self._groups, "author"),
            "Categories": partial(self._groups, "category"),
            "Collections": self._collections,
        }
        rows = contents[self.tab]()
        return ListView(rows, key=self.tab) if rows else Empty("Nothing here", "bookshelf")

    def _books(self) -> list[View]:
        words = self.words.strip().casefold()
        books = [book for book in self.app.library.books() if words in f"{book.title}\n{book.author}".casefold()]
        return self.rows(books)

    def _groups(self, kind: str) -> list[View]:
        sizes = Counter(getattr(book, kind) for book in self.app.library.books())
        return [self._group(kind, name, sizes[name]) for name in sorted(sizes, key=str.casefold)]

    def _group(self, kind: str, name: str, size: int) -> View:
        icon = {"author": "account_outline", "category": "tag_outline"}.get(kind, "folder_outline")
        books = f"{size} book{'' if size == 1 else 's'}"
        ask = Confirm(f"Delete {name}?", "Its books stay.", "Delete", lambda: self._delete(name))
        delete = (lambda: self.push(ask)) if kind == "collection" else None
        return ListItem(name or "Unknown", books, lambda: self.push(Shelf(kind, name)), delete, Icon(icon))

    def _collections(self) -> list[View]:
        library = self.app.library
        return [self._group("collection", name, len(library.collected(name))) for _, name in library.collections()]

    def _create(self, name: str) -> None:
        name = name.strip()
        if not name or not self.app.library.create(name):
            self.notify("A collection of that name exists already" if name else "A collection needs a name")

    def _delete(self, name: str) -> None:
        ids = {name: id for id, name in self.app.library.collections()}
        self.app.library.delete_collection(ids[name])

    # more

    def _more(self) -> View:
        help = Icon("help_circle_outline")
        return ListView([
            ListItem(
                "Import files", "EPUB files of this phone", lambda: self.push(Import()),
                leading=Icon("file_import_outline"),
            ),
            ListItem("Help", "Reading, importing, collections", lambda: self.push(Help()), leading=help),
            ListItem("About", "Cantook by Aldiko", leading=Icon("information_outline")),
        ], key="more")  # fmt: skip


class Shelf(BookList):
    """The books of an author, a category or a collection."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__()
        self.kind, self.name = kind, name

    def build(self) -> View:
        """Lists the books of the shelf."""
        library = self.app.library
        if self.kind == "collection":
            books = library.collected(self.name)
        else:
            books = [book for book in library.books() if getattr(book, self.kind) == self.name]
        body = ListView(self.rows(books)) if books else Empty("No books here", "bookshelf")
        return Scaffold(self.name or "Unknown", body, on_back=self.pop)


class Details(BookList):
    """The details of a book, and what can be done with it."""

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the book with what can be done with it."""
        book = self.app.library.book(self.id)
        if book is None:
            return Scaffold("Info", Empty("The book is gone", "bookshelf"), on_back=self.pop)
        texts = [
            Text(book.title, 18, bold=True),
            Text(book.author, 14, theme.SECONDARY),
            Text(book.category, 14, theme.SECONDARY),
            Text(book.progress, 14, theme.PRIMARY, bold=True),
        ]
        mark, position = ("Mark as unread", 0) if book.read else ("Mark as read", book.length)
        move = partial(self.app.library.move, book, position)
        ask = Confirm("Delete book?", f"{book.title} is removed from this phone.", "Delete", self._delete)
        rows = [
            Row([cover(book, 84), Column(texts, gap=5, flex=1)], gap=16, pad=(16, 8, 16, 14)),
            Column([Button("Read", partial(self._read, book.id))], pad=(16, 0, 16, 10)),
            ListItem(mark, on_tap=move, leading=Icon("check_circle_outline")),
            ListItem("Add to collection", on_tap=self._choose, leading=Icon("folder_plus_outline")),
            ListItem("Delete", on_tap=lambda: self.push(ask), leading=Icon("delete_outline")),
        ]
        return Scaffold("Info", ListView(rows), on_back=self.pop)

    def _choose(self) -> None:
        names = [name for _, name in self.app.library.collections()]
        self.push(Choice("Add to collection", [NEW, *names], self._chose))

    def _chose(self, name: str) -> None:
        if name == NEW:
            self.push(Prompt(NEW, self._create, hint="Collection name", yes="Create"))
            return
        self.app.library.collect(name, self.id)
        self.notify(f"Added to {name}")

    def _create(self, name: str) -> None:
        if name := name.strip():
            self.app.library.create(name)
            self._chose(name)

    def _delete(self) -> None:
        if (book := self.app.library.book(self.id)) is not None:
            self.app.library.remove(book)
        self.pop()


class Reader(Screen):
    """A page of a book. A swipe to the left turns it."""

    app: Cantook

    def __init__(self, id: int) -> None:
        super().__init__()
        self.id = id

    def build(self) -> View:
        """Shows the page at which the book was left."""
        book = self.app.library.book(self.id)
        if book is None:
            return Scaffold("", Empty("The book is gone", "bookshelf"), on_back=self.pop)
        text = self.app.library.paragraphs(book)
        start = min(book.position, max(0, len(text) - PAGE)) if book.read else book.position
        page = [Text(paragraph, 16, pad=(24, 0, 24, 12)) for paragraph in text[start : start + PAGE]]
        body = ListView([Space(8), *page], key=f"page {start}", on_swipe=self._swiped)
        foot = Row(
            [
                IconButton("chevron_left", "Previous page", partial(self._turn, -1)),
                Text(book.progress, 13, theme.SECONDARY, align="center", flex=1),
                IconButton("chevron_right", "Next page", partial(self._turn, 1)),
            ],
            pad=(8, 2, 8, 2), bg=theme.SURFACE_VARIANT,
        )  # fmt: skip
        return Scaffold(book.title, body, self.pop, bottom=foot)

    def _swiped(self, way: str) -> None:
        if way in ("left", "right"):
            self._turn(1 if way == "left" else -1)

    def _turn(self, pages: int) -> None:
        """Back from the end leads to the page before the last."""
        book = self.app.library.book(self.id)
        if book is not None:
            here = max(0, book.length - PAGE) if book.read and pages < 0 else book.position
            self.app.library.move(book, here + pages * PAGE)


class Import(Screen):
    """The folders of the shared storage and the books in them."""

    app: Cantook

    def __init__(self) -> None:
        super().__init__()
        self.folder = SHARED

    def build(self) -> View:
        """Lists the folders and books of a folder."""
        found = [entry for entry in entries(self.phone.storage, self.folder) if entry.folder or _is_book(entry.name)]
        found.sort(key=lambda entry: (not entry.folder, entry.name.casefold()))
        rows = [self._row(entry) for entry in found]
        title = "Internal storage" if self.folder == SHARED else self.folder.rpartition("/")[2]
        body = ListView(rows, key=self.folder) if rows else Empty("No books in this folder", "folder_open_outline")
        return Scaffold(title, body, on_back=self.leave)

    def _row(self, entry: Entry) -> View:
        if entry.folder:
            return ListItem(entry.name, on_tap=partial(setattr, self, "folder", entry.path), leading=Icon("folder"))
        return ListItem(entry.name, on_tap=lambda: self._import(entry.path), leading=Icon("book_outline"))

    def on_back(self) -> bool:
        """Leads to the folder above."""
        below = self.folder != SHARED
        if below:
            self.folder = self.folder.rpartition("/")[0]
        return below

    def _import(self, path: str) -> None:
        book = self.app.library.add(self.phone.storage.read(path) or b"", self.now)
        if book is None:
            self.notify("This file cannot be read")
            return
        self.pop()
        self.notify("Imported into My Books")


def _is_book(name: str) -> bool:
    return name.rpartition(".")[2].lower() in epub.EXTENSIONS


class Help(Screen):
    """Answers to common questions."""

    app: Cantook

    def build(self) -> View:
        """Shows questions and answers."""
        answers = (
            ("How do I import a book?", "Choose Import files, open its folder and touch the file."),
            ("How do I turn pages?", "Move your finger to the left or to the right."),
            ("How do I mark a book as read?", "Hold the book, or touch the dots beside it."),
        )
        rows = [Column([Header(question), Text(answer, 15, pad=(16, 0, 16, 8))]) for question, answer in answers]
        return Scaffold("Help", ListView(rows), on_back=self.pop)


APP = Cantook
