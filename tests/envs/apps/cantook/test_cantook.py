"""Cantook by touch: the shelf is the app's database, and books are EPUB files."""

import io
import zipfile
from datetime import datetime, timedelta
from xml.etree import ElementTree

import numpy as np
import pytest

from coach_gym.envs.apps.cantook.app import PAGE
from coach_gym.envs.apps.cantook.data import DATABASE, FILES, PACKAGE, Library
from coach_gym.envs.phone.folders import SHARED
from coach_gym.envs.phone.media import epub
from tests.envs.hands import SCREENS, Hands
from tests.envs.records import add_record, changed, records

NOW = datetime(2023, 10, 15, 12)
SHELF = (("Waves", "Ada Moon", "Poetry"), ("apples & pears", "Bo Vale", "Novels"), ("Clouds", "Ada Moon", "Novels"))
BOOKS = [epub.Book(*book, tuple(f"{book[0]} {n}." for n in range(1, 21))) for book in SHELF]


@pytest.fixture(params=SCREENS, ids=str)
def hands(request):
    hands = Hands(PACKAGE, request.param)
    for days, book in enumerate(BOOKS):
        library(hands).add(epub.write(book), NOW + timedelta(hours=days))
    hands.phone.changed()
    return hands


def library(hands):
    return Library(hands.storage)


def titles(hands):
    return [e.label.split(", ")[0] for e in hands.elements if e.label.endswith("%") and e.long_clickable]


def progress(hands):
    return {book.title: book.progress for book in library(hands).books()}


# files


def test_an_epub_is_a_zip_of_well_formed_xml_with_its_kind_in_front():
    data = epub.write(BOOKS[1])
    assert data[30:58] == b"mimetypeapplication/epub+zip", "EPUB's magic number (OCF 3.3, 4.3)"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        roots = [ElementTree.fromstring(archive.read(name)).tag for name in archive.namelist()[1:]]
    assert roots[1] == "{http://www.idpf.org/2007/opf}package" and len(roots) == 4


def test_a_book_is_read_as_it_was_written():
    hostile = epub.Book("<b>&\"'", "]]>", "", ("a < b & c", "  spaces\n\tare joined  ", "…"))
    assert epub.read(epub.write(BOOKS[0])) == BOOKS[0]
    assert epub.read(epub.write(hostile)) == hostile._replace(paragraphs=("a < b & c", "spaces are joined", "…"))


def test_what_is_no_book_is_none():
    good = epub.write(BOOKS[0])
    assert [epub.read(data) for data in (b"", b"text", good[:200], good[:-30])] == [None] * 4
    for name, content in (("OEBPS/book.opf", b"<package"), ("OEBPS/text.xhtml", b"\xff\xfe\x00")):
        assert epub.read(_with(good, name, content)) is None
    assert epub.read(_without(good, "META-INF/container.xml")) is None


def test_what_unpacks_to_too_much_is_no_book():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _parts(epub.write(BOOKS[0])).items():
            archive.writestr(name, content)
        archive.writestr("OEBPS/zeros", bytes(epub.MOST_BYTES))
    assert len(file.getvalue()) < 100_000 and epub.read(file.getvalue()) is None


def test_damage_anywhere_raises_nothing():
    good = epub.write(BOOKS[0])
    for at in range(0, len(good), 37):
        epub.read(good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :])


def _with(data, name, content):
    return _packed({**_parts(data), name: content})


def _without(data, name):
    return _packed({part: content for part, content in _parts(data).items() if part != name})


def _parts(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(parts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


# the shelf


def test_home_shows_what_came_last(hands):
    assert titles(hands) == ["Clouds", "apples & pears", "Waves"] and not hands.shows("Recently read")
    hands.tap("Waves")
    hands.back()
    assert titles(hands)[0] == "Waves" and hands.shows("Recently read")


def test_my_books_are_sorted_by_title_and_can_be_searched(hands):
    hands.tap("My Books")
    assert titles(hands) == ["apples & pears", "Clouds", "Waves"]
    hands.tap("Search")
    hands.type("MOON")
    assert titles(hands) == ["Clouds", "Waves"]
    hands.select_text("Search")
    hands.type("pride")
    assert titles(hands) == [] and hands.shows("Nothing here")


def test_authors_and_categories_count_their_books(hands):
    hands.tap("My Books", "Authors")
    assert hands.find("Ada Moon").label == "Ada Moon, 2 books" and hands.find("Bo Vale").label == "Bo Vale, 1 book"
    hands.tap("Categories", "Novels")
    assert titles(hands) == ["apples & pears", "Clouds"]
    hands.back()
    assert hands.find("Categories").selected and hands.shows("Poetry")


def test_back_leads_home_and_then_away(hands):
    hands.tap("My Books")
    hands.back()
    assert hands.shows("Recently added")
    hands.back()
    assert hands.phone.foreground != PACKAGE


def test_pages_are_turned_by_finger_and_by_button(hands):
    hands.tap("Waves")
    assert hands.shows("Waves 1.") and hands.shows("0.0%") and not hands.shows(f"Waves {PAGE + 1}.")
    width, height = hands.phone.width, hands.phone.height
    hands.phone.swipe((width * 3 // 4, height // 2), (width // 4, height // 2))
    assert hands.shows(f"Waves {PAGE + 1}.") and progress(hands)["Waves"] == "30.0%"
    hands.phone.swipe((width // 4, height // 2), (width * 3 // 4, height // 2))
    assert hands.shows("Waves 1.")
    for _ in range(5):
        hands.tap("Next page")
    assert progress(hands)["Waves"] == "100.0%" and hands.shows("Waves 20.")
    hands.tap("Previous page")
    assert hands.shows("Waves 9.") and progress(hands)["Waves"] == "40.0%"


def test_a_book_opens_where_it_was_left(hands):
    hands.tap("Waves", "Next page")
    hands.back()
    hands.tap("Waves")
    assert hands.shows(f"Waves {PAGE + 1}.")


def test_marking_as_read_and_unread(hands):
    hands.hold("Clouds")
    hands.tap("Mark as read")
    assert progress(hands) == {"Waves": "0.0%", "apples & pears": "0.0%", "Clouds": "100.0%"} and hands.shows("100.0%")
    hands.tap("Mark as unread")
    assert progress(hands)["Clouds"] == "0.0%" and hands.shows("Mark as read")


def test_deleting_a_book_asks_first_and_takes_the_file(hands):
    path = next(book.path for book in library(hands).books() if book.title == "Clouds")
    hands.tap("My Books", "Options of Clouds", "Delete", "Cancel")
    assert hands.storage.exists(path)
    hands.tap("Delete")
    hands.phone.tap(*[e for e in hands.elements if e.label == "Delete"][-1].center)
    assert titles(hands) == ["apples & pears", "Waves"] and not hands.storage.exists(path)


def test_collections_hold_books_and_go_without_them(hands):
    hands.tap("My Books", "Collections", "New collection", "Collection name")
    hands.type("Summer")
    hands.tap("Create")
    assert hands.find("Summer").label == "Summer, 0 books"
    hands.tap("Books", "Options of Waves", "Add to collection", "Summer")
    hands.back()
    hands.tap("Collections", "Summer")
    assert titles(hands) == ["Waves"]
    hands.back()
    hands.hold("Summer")
    hands.tap("Delete")
    assert library(hands).collections() == [] and len(library(hands).books()) == 3


def test_a_collection_needs_a_name_of_its_own(hands):
    hands.tap("My Books", "Collections")
    for name, made in ((" ", 0), ("Summer", 1), ("Summer", 1), ("Winter", 2)):
        hands.tap("New collection", "Collection name")
        hands.type(name)
        hands.tap("Create")
        assert len(library(hands).collections()) == made


def test_importing_copies_a_file_of_the_shared_storage(hands):
    book = epub.Book("Dunes", "Cy Reed", "Poetry", ("One.", "Two."))
    hands.storage.write(f"{SHARED}/Download/Ebooks/dunes.epub", epub.write(book))
    hands.storage.write(f"{SHARED}/Download/Ebooks/broken.epub", b"PK")
    hands.storage.write(f"{SHARED}/Download/Ebooks/notes.txt", b"no book")
    hands.tap("More", "Import files", "Download", "Ebooks")
    assert hands.shows("dunes.epub") and not hands.shows("notes.txt")
    hands.tap("broken.epub")
    assert hands.shows("This file cannot be read")
    hands.tap("dunes.epub", "Home")
    hands.storage.remove(f"{SHARED}/Download/Ebooks")
    assert titles(hands)[0] == "Dunes"
    hands.tap("Dunes")
    assert hands.shows("Two.")


def test_back_climbs_out_of_the_folders(hands):
    hands.tap("More", "Import files", "Download")
    hands.back()
    assert hands.shows("Internal storage")
    hands.back()
    assert hands.shows("Import files")


def test_a_snapshot_of_the_question_before_deleting_is_exact(hands):
    hands.tap("Options of Clouds", "Delete")
    saved, frame = hands.phone.snapshot(), hands.phone.screenshot()
    for _ in range(2):
        hands.phone.tap(*[e for e in hands.elements if e.label == "Delete"][-1].center)
        assert len(library(hands).books()) == 2
        hands.phone.restore(saved)
        assert len(library(hands).books()) == 3 and np.array_equal(hands.phone.screenshot(), frame)


@pytest.fixture
def shelf():
    """A phone with two books and two collections that hold both, all columns filled."""
    hands = Hands(PACKAGE, (540, 1200))
    db = hands.storage.database(DATABASE)
    for number, title in enumerate((" Waves", "Clouds")):
        hands.storage.write(f"{FILES}/{title}.epub", epub.write(BOOKS[number]))
        add_record(db, "books", title=title, path=f"{FILES}/{title}.epub", length=20, position=3 + number)
    for number, name in enumerate(("Calm", "Wild"), 1):
        add_record(db, "collections", name=name)
        db.executemany("INSERT INTO collected VALUES (?, ?)", [(number, 1), (number, 2)])
    hands.phone.changed()
    return hands, db


def everything(db):
    return [records(db, table) for table in ("books", "collections", "collected")]


def test_marking_a_book_as_read_changes_its_position_alone(shelf):
    hands, db = shelf
    books, *rest = everything(db)
    hands.tap("My Books", "Options of Clouds", "Mark as read")
    after, *others = everything(db)
    assert changed(books, after) == [{}, {"position": 20}] and others == rest


def test_reading_a_book_changes_when_it_was_opened_alone(shelf):
    hands, db = shelf
    books, *rest = everything(db)
    hands.tap("My Books", "Clouds")
    after, *others = everything(db)
    assert changed(books, after) == [{}, {"opened": after[1]["opened"]}] and others == rest
    hands.tap("Next page")
    assert changed(after, everything(db)[0]) == [{}, {"position": 10}]


def test_deleting_a_collection_keeps_its_books_and_the_other_collections(shelf):
    hands, db = shelf
    books, collections, collected = everything(db)
    hands.tap("My Books", "Collections")
    hands.hold("Calm")
    hands.tap("Delete")
    assert everything(db) == [books, collections[1:], [row for row in collected if row["collection"] == 2]]


def test_deleting_a_book_keeps_the_other_in_its_collections(shelf):
    hands, db = shelf
    books, collections, collected = everything(db)
    hands.tap("My Books", "Options of Clouds", "Delete", "Delete")
    assert everything(db) == [books[:1], collections, [row for row in collected if row["book"] == 1]]
    assert hands.storage.read(f"{FILES}/ Waves.epub") and not hands.storage.exists(f"{FILES}/Clouds.epub")
