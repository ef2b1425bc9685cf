"""Books as EPUB 3 files (https://www.w3.org/TR/epub-33/): title, author, subject and plain text."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from coach_gym.envs.phone.caching import cached

EXTENSIONS = ("epub",)
MOST_BYTES = 20_000_000  # of a book, unpacked
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal books are equal files
_CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
_PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">{id}</dc:identifier><dc:title>{title}</dc:title>
<dc:creator>{author}</dc:creator><dc:subject>{subject}</dc:subject><dc:language>en</dc:language>
<meta property="dcterms:modified">1980-01-01T00:00:00Z</meta></metadata><manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="text" href="text.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="text"/></spine></package>"""
_PAGE = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{title}</title></head>
<body>{body}</body></html>"""
_BLOCKS = {"p", "h1", "h2", "h3", "h4", "li"}


class Book(NamedTuple):
    """What a reader shows of a book."""

    title: str
    author: str
    subject: str
    paragraphs: tuple[str, ...]


@cached(8)
def write(book: Book) -> bytes:
    """Returns a book as an EPUB file; equal books give equal files."""
    title, author, subject = (escape(text) for text in book[:3])
    text = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in book.paragraphs)
    contents = f'<nav epub:type="toc"><ol><li><a href="text.xhtml">{title}</a></li></ol></nav>'
    parts = {
        "mimetype": "application/epub+zip",  # first and uncompressed, so that it is at a fixed place
        "META-INF/container.xml": _CONTAINER,
        "OEBPS/book.opf": _PACKAGE.format(id=f"urn:{author}:{title}", title=title, author=author, subject=subject),
        "OEBPS/nav.xhtml": _PAGE.format(title=title, body=contents),
        "OEBPS/text.xhtml": _PAGE.format(title=title, body=text),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
    return file.getvalue()


@cached(8)
def read(data: bytes) -> Book | None:
    """Returns the book in a file, or None if it is no EPUB or is broken."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _book(archive)
    except (zipfile.BadZipFile, zlib.error, ElementTree.ParseError, LookupError, ValueError, RuntimeError, EOFError):
        return None


def _book(archive: zipfile.ZipFile) -> Book:
    if sum(part.file_size for part in archive.infolist()) > MOST_BYTES:
        raise ValueError("the book is too large")
    root = next(_all(_parsed(archive, "META-INF/container.xml"), "rootfile"), None)
    path = "" if root is None else root.get("full-path", "")
    package = _parsed(archive, path)
    files = {item.get("id"): item.get("href", "") for item in _all(package, "item")}
    folder = posixpath.dirname(path)
    paragraphs: list[str] = []
    for id in dict.fromkeys(item.get("idref") for item in _all(package, "itemref")):  # each page once
        page = _parsed(archive, posixpath.join(folder, files[id]))
        paragraphs += [text for block in page.iter() if _name(block) in _BLOCKS and (text := _text(block))]
    title, author, subject = (_first(package, name) for name in ("title", "creator", "subject"))
    return Book(title or "Untitled", author, subject, tuple(paragraphs))


def _parsed(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(archive.read(name))


def _all(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (element for element in root.iter() if _name(element) == name)


def _name(element: ElementTree.Element) -> str:
    """Returns a tag without its namespace; comments have none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(element: ElementTree.Element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def _first(package: ElementTree.Element, name: str) -> str:
    return next((_text(element) for element in _all(package, name)), "")
