"""Simple Gallery Pro shows the pictures of the shared storage, folder by folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from coach_gym.envs.phone.app import App, Confirm, Dialog, Menu, Screen
from coach_gym.envs.phone.folders import (
    SHARED,
    Entry,
    FolderScreen,
    by_date,
    by_name,
    by_size,
    copy_into,
    entries,
    move_into,
    renamed,
    size_text,
)
from coach_gym.envs.phone.intents import CATEGORY, VIEW, Intent
from coach_gym.envs.phone.media import pictures
from coach_gym.envs.phone.paths import real
from coach_gym.envs.phone.screens.documents import Destination
from coach_gym.envs.phone.storage import Storage
from coach_gym.envs.phone.toolkit import theme
from coach_gym.envs.phone.toolkit.view import View
from coach_gym.envs.phone.toolkit.widgets import (
    Column,
    Empty,
    Grid,
    Icon,
    IconButton,
    ListItem,
    ListView,
    Picture,
    Scaffold,
    Text,
    TextField,
)

NEWEST_FIRST = (by_date, True)
ORDERS = {  # by label: what is compared, and whether the largest comes first
    "Date, newest first": NEWEST_FIRST,
    "Date, oldest first": (by_date, False),
    "Name": (by_name, False),
    "Size": (by_size, True),
}
FOLDER_SIDE, PICTURE_SIDE = 160, 106  # dp: two and three side by side on a screen of 360
FRAME = (3, 3, 3, 4)  # dp around a thumbnail
GREY, CHOSEN = "#202124", "#a8c7fa"


class Gallery(App):
    """The gallery of the phone's pictures."""

    package = "com.simplemobiletools.gallery.pro"
    activity = "com.simplemobiletools.gallery.pro.activities.MainActivity"
    role = f"{CATEGORY}APP_GALLERY"
    label = "Simple Gallery Pro"
    icon = "image_multiple_outline"
    color = "#f57c00"

    def main(self) -> Screen:
        """Opens the list of folders."""
        return Folders()

    def open(self, intent: Intent) -> bool:
        """Shows the picture of a `file:` link."""
        path = real(intent.path)
        if intent.action != VIEW or path.rpartition(".")[2].lower() not in pictures.EXTENSIONS:
            return False
        self.phone.open_screen(self.package, Viewer(path))
        return True


def albums(storage: Storage) -> dict[str, list[Entry]]:
    """Returns the pictures of the shared storage by folder, the newest first."""
    paths = {path.rpartition("/")[0] for path in storage.files_below(SHARED) if _is_shown(path[len(SHARED) :])}
    found = {path: album(storage, path) for path in paths}
    return dict(sorted(found.items(), key=lambda folder: folder[1][0].modified, reverse=True))


def album(storage: Storage, folder: str) -> list[Entry]:
    """Returns the pictures of a folder, the newest first."""
    files = sorted(filter(_is_picture, entries(storage, folder)), key=by_name)
    return sorted(files, key=by_date, reverse=True)


def _is_shown(path: str) -> bool:
    """Returns whether a file is a picture that is neither hidden nor private to an app."""
    hidden = "/." in path or path.startswith("/Android/")
    return not hidden and path.rpartition(".")[2].lower() in pictures.EXTENSIONS


def _is_picture(entry: Entry) -> bool:
    return entry.extension in pictures.EXTENSIONS


class Folders(Screen):
    """All folders with pictures, each shown by its newest one."""

    def build(self) -> View:
        """Shows a cell for each folder, by name."""
        cells = [self._cell(path, found) for path, found in sorted(albums(self.phone.storage).items(), key=_name_of)]
        grid = Grid(cells, self.columns(2), gap=8, pad=10)
        body = ListView([grid]) if cells else Empty("No media files have been found.")
        return Scaffold(Gallery.label, body)

    def _cell(self, path: str, found: list[Entry]) -> View:
        picture = thumbnail(self, found[0].path, FOLDER_SIDE)
        name = Text(path.rpartition("/")[2], 14, bold=True, max_lines=1, id="dir_name")
        count = Text(str(len(found)), 12, theme.SECONDARY, id="photo_cnt")
        return View(
            "android.widget.RelativeLayout", [picture, name, count],
            on_tap=lambda: self.push(Pictures(path)), gap=1, pad=FRAME, bg=theme.SURFACE_VARIANT, id="dir_holder",
        )  # fmt: skip


def _name_of(folder: tuple[str, list[Entry]]) -> str:
    return folder[0].rpartition("/")[2].casefold()


def thumbnail(screen: Screen, path: str, side: int) -> View:
    """Returns the middle of a picture as a square of `side` dp, or an icon if it cannot be decoded."""
    shown = pictures.thumbnail(screen.phone.storage.read(path) or b"", round(side * screen.phone.density))
    if shown is not None:
        return Picture(shown, height=side, important=False)
    sign = Icon("image_broken_variant", 32, theme.OUTLINE)
    return Column([sign], height=side, bg=theme.SURFACE_VARIANT, justify="center", align="center")


class Pictures(FolderScreen):
    """The pictures of one folder, and what can be done with those selected."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.sort_by(*NEWEST_FIRST)

    def listed(self) -> list[Entry]:
        """Returns the folder's pictures whose names contain the search words."""
        words = self.query.text.strip().casefold() if self.query else ""
        found = sorted(filter(_is_picture, entries(self.phone.storage, self.folder)), key=by_name)
        return sorted((e for e in found if words in e.name.casefold()), key=self.sort, reverse=self.descending)

    def build(self) -> View:
        """Shows the pictures in a grid, and buttons while some are selected."""
        cells = [self._cell(entry) for entry in self.listed()]
        grid = Grid(cells, self.columns(3), gap=4, pad=8)
        body = ListView([grid]) if cells else Empty("No media files have been found.")
        if self.selected:
            return Scaffold(f"{len(self.selected)} / {len(cells)}", body, self.unselect, self._selection_actions())
        if self.query is not None:
            return Scaffold(TextField(self.query, "Search"), body, self.end_search)
        actions = [
            IconButton("magnify", "Search", self.start_search, "search"),
            IconButton("sort", "Sort by", lambda: self.ask_order(ORDERS), "sort"),
        ]
        return Scaffold(self.folder.rpartition("/")[2], body, self.pop, actions)

    def _cell(self, entry: Entry) -> View:
        chosen = entry.path in self.selected
        name = Text(entry.name, 11, max_lines=2, id="medium_name", pad=(2, 2, 2, 0))
        return View(
            "android.widget.RelativeLayout", [thumbnail(self, entry.path, PICTURE_SIDE), name],
            on_tap=lambda: self._tap(entry.path), on_long=lambda: self.toggle(entry.path), selected=chosen,
            bg=CHOSEN if chosen else theme.SURFACE_VARIANT, pad=FRAME, id="media_item_holder",
        )  # fmt: skip

    def _tap(self, path: str) -> None:
        if self.selected:
            self.toggle(path)
        else:
            self.push(Viewer(path))

    def _selection_actions(self) -> list[View]:
        properties = IconButton("information_outline", "Properties", lambda: self.push(Properties(self.selected[0])))
        return [
            *([properties] if len(self.selected) == 1 else []),
            IconButton("delete_outline", "Delete", self._confirm_delete, "cab_delete"),
            IconButton("dots_vertical", "More options", self._more),
        ]

    def _more(self) -> None:
        items = [
            ("Copy to", lambda: self.push(SelectDestination(self.copy_selected))),
            ("Move to", lambda: self.push(SelectDestination(self.move_selected))),
            ("Select all", self.select_all),
        ]
        self.push(Menu(items + ([("Rename", self.ask_rename)] if len(self.selected) == 1 else [])))

    def _confirm_delete(self) -> None:
        what = self.selected[0].rpartition("/")[2] if len(self.selected) == 1 else f"{len(self.selected)} items"
        self.push(Confirm(f"Are you sure you want to delete {what}?", "", "Yes", self.delete_selected, "No"))


class Viewer(Screen):
    """One picture on the whole screen; swiping shows its neighbours."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path

    def build(self) -> View:
        """Shows the picture below its name."""
        name, show = self.path.rpartition("/")[2], lambda: self.push(Properties(self.path))
        properties = IconButton("information_outline", "Properties", show, "menu_properties")
        actions = [
            properties,
            IconButton("delete_outline", "Delete", self._confirm_delete, "bottom_delete"),
            IconButton("dots_vertical", "More options", self._more),
        ]
        return Scaffold(Text(name, 15, max_lines=2), self._picture(name), self.pop, actions)

    def _picture(self, name: str) -> View:
        shown = pictures.pixels(self.phone.storage.read(self.path) or b"", self.phone.width, self.phone.height)
        if shown is None:
            return Column([Empty("This picture can't be shown", "image_broken_variant")], on_swipe=self._swiped)
        return Picture(shown, name, whole=True, bg=GREY, on_swipe=self._swiped, id="gestures_view")

    def _swiped(self, way: str) -> None:
        paths = [entry.path for entry in album(self.phone.storage, self.path.rpartition("/")[0])]
        step = {"left": 1, "right": -1}.get(way, 0)
        if self.path in paths:
            self.path = paths[min(max(0, paths.index(self.path) + step), len(paths) - 1)]

    def _more(self) -> None:
        self.push(Menu([
            ("Copy to", lambda: self.push(SelectDestination(self._copy_into))),
            ("Move to", lambda: self.push(SelectDestination(self._move_into))),
            ("Rename", lambda: self.ask("Rename", self._rename, self.path.rpartition("/")[2], "Name")),
        ]))  # fmt: skip

    def _copy_into(self, folder: str) -> None:
        copy_into(self.phone.storage, [self.path], folder)
        self.notify("Files copied successfully")

    def _move_into(self, folder: str) -> None:
        move_into(self.phone.storage, [self.path], folder)
        self.pop()

    def _rename(self, name: str) -> None:
        self.path = renamed(self, self.path, name.strip())

    def _confirm_delete(self) -> None:
        name = self.path.rpartition("/")[2]
        self.push(Confirm(f"Are you sure you want to delete {name}?", "", "Yes", self._delete, "No"))

    def _delete(self) -> None:
        self.phone.storage.remove(self.path)
        self.pop()


class Properties(Dialog):
    """The facts about a picture."""

    def __init__(self, path: str) -> None:
        super().__init__("Properties")
        self.path = path

    def content(self) -> Sequence[View]:
        """Shows name, folder, size, resolution and time."""
        storage = self.phone.storage
        folder, _, name = self.path.rpartition("/")
        size = pictures.size(storage.read(self.path) or b"")
        facts = {
            "Name": name,
            "Path": folder,
            "Size": size_text(storage.size(self.path)),
            "Resolution": f"{size[0]} x {size[1]}" if size else "unknown",
            "Last modified": self.phone.local(storage.modified(self.path)).strftime("%d.%m.%Y %H:%M"),
        }
        return [ListItem(fact, value, min_height=40, pad=(20, 4, 20, 4)) for fact, value in facts.items()]

    def buttons(self) -> Sequence[View]:
        """Offers to close the dialog."""
        return [self.button("OK")]


class SelectDestination(Dialog):
    """Asks for a folder with pictures, or any other."""

    def __init__(self, then: Callable[[str], None]) -> None:
        super().__init__("Select destination")
        self.then = then

    def content(self) -> Sequence[View]:
        """Shows the folders with pictures."""
        rows = [self._row(path) for path in albums(self.phone.storage)]
        return [Column([ListView(rows)], height=min(264, 48 * len(rows)))]

    def _row(self, path: str) -> View:
        folder = path[len(SHARED) + 1 :] or "Internal"
        return ListItem(folder, "", lambda: self._chosen(path), leading=Icon("folder"), min_height=48)

    def _chosen(self, path: str) -> None:
        self.pop()
        self.then(path)

    def buttons(self) -> Sequence[View]:
        """Offers to cancel, or to choose any other folder."""
        return [self.button("Cancel"), self.button("Other folder", lambda: self.push(Destination("OK", self.then)))]


APP = Gallery
