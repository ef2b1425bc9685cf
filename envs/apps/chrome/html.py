"""What this browser reads of an HTML file: its text in blocks, and its scripts and styles as they are written."""

from __future__ import annotations

from html.parser import HTMLParser

BLOCKS = ("p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "br", "body", "button")
HIDDEN = ("script", "style", "title")


class Document(HTMLParser):
    """A file of HTML taken apart.

    Attributes:
        title: What the tab shows.
        script: All scripts.
        style: All style sheets.
        hint: The placeholder of the last input.
        mobile: Whether the page fits itself to the width of the device.
        blocks: The visible text as (tag, text), block by block.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.hint = ""
        self.mobile = False
        self.blocks: list[tuple[str, str]] = []
        self._hidden = ""  # the tag whose text is not shown
        self._texts = {tag: "" for tag in HIDDEN}
        self._tag, self._words = "div", ""  # of the block that is being read
        self.feed(data.decode("utf-8", "replace"))
        self.close()
        self._end_block("div")
        self.title = " ".join(self._texts["title"].split())
        self.script, self.style = self._texts["script"], self._texts["style"]

    def labels(self, tag: str) -> list[str]:
        """Returns the texts of all elements of a tag."""
        return [text for known, text in self.blocks if known == tag]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begins a block or hidden text, or takes note of an input or the viewport."""
        values = dict(attrs)
        if tag in HIDDEN:
            self._hidden = tag
        elif tag in BLOCKS:
            self._end_block(tag)
        elif tag == "input":
            self.hint = values.get("placeholder") or ""
        elif tag == "meta" and "width=device-width" in (values.get("content") or ""):
            self.mobile = True

    def handle_endtag(self, tag: str) -> None:
        """Ends a block or hidden text."""
        if tag == self._hidden:
            self._hidden = ""
        elif tag in BLOCKS:
            self._end_block("div")

    def handle_data(self, data: str) -> None:
        """Adds to the block or to the hidden text."""
        if self._hidden:
            self._texts[self._hidden] += data
        else:
            self._words += data

    def _end_block(self, following: str) -> None:
        text = " ".join(self._words.split())
        if text:
            self.blocks.append((self._tag, text))
        self._tag, self._words = following, ""
