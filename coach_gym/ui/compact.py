"""The compact screen text: what an agent can read or touch, one element per line.

It is the `ui` entry of an observation.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from coach_gym.ui.markup import escape, read_bounds, start_tags
from coach_gym.ui.tree import Bounds, Node

_TEXT_FIELDS = ("EditText", "AutoCompleteTextView")
_VALUE_WIDGETS = (*_TEXT_FIELDS, "SeekBar", "ProgressBar")


@dataclass(slots=True)
class Element:
    """A line of the compact screen text.

    Attributes:
        cls: Short class name, such as `Button`.
        label: Name of the element: its text or description. For text fields and sliders, whose text is a value, their
            description or hint.
        bounds: Rectangle in screen pixels.
        id: Resource id without its package, `""` if there is none.
        editable: True for text fields.
        hint: What an empty text field asks for.
        value: Text in a text field, or position of a slider.
        desc: Description of an element that also has a text of its own.
    """

    cls: str
    label: str
    bounds: Bounds
    id: str = ""
    clickable: bool = False
    long_clickable: bool = False
    checkable: bool = False
    checked: bool = False
    focused: bool = False
    selected: bool = False
    scrollable: bool = False
    editable: bool = False
    enabled: bool = True
    hint: str = ""
    value: str = ""
    desc: str = ""

    @property
    def center(self) -> tuple[int, int]:
        """The pixel in the middle of the element, where to touch it."""
        left, top, right, bottom = self.bounds
        return (left + right) // 2, (top + bottom) // 2


def compress(root: Node) -> str:
    """Writes the elements that can be read or touched, one XML element per line.

    A clickable node without a text of its own takes the texts of those descendants that are not clickable themselves,
    joined by commas, and the state of a check box among them. So a row of a list becomes one line. System bars, hidden
    nodes and pure layout are omitted.

    Args:
        root: The complete tree of the screen.

    Returns:
        Lines such as `<Button text="Save" id="save" bounds="[210,40][260,70]" clickable="1"/>`. Flags appear only when
        set, except that everything checkable has `checked`; disabled elements have `enabled="0"`.
    """
    lines: list[str] = []
    _compress(root, lines)
    return "\n".join(lines)


def _compress(node: Node, lines: list[str]) -> None:
    if node.decor or not node.visible:
        return
    text, touchable = node.text, node.clickable or node.long_clickable
    checkable, checked = node.checkable, node.checked
    rest = node.children
    if touchable and rest and not text and not node.desc and not node.scrollable:
        texts: list[str] = []
        checks: list[bool] = []
        rest = []
        _absorb(node.children, texts, checks, rest)
        text = ", ".join(texts)
        if checks and not checkable:
            checkable, checked = True, checks[0]
    named = text or node.desc or node.hint
    if named or touchable or checkable or node.scrollable or node.cls.endswith(_TEXT_FIELDS):
        left, top, right, bottom = node.bounds
        if right > left and bottom > top:
            lines.append(_line(node, text, checkable, checked))
    for child in rest:
        _compress(child, lines)


def _absorb(children: list[Node], texts: list[str], checks: list[bool], rest: list[Node]) -> None:
    """Collects texts and check marks of plain descendants; descendants that are elements themselves go to `rest`."""
    for child in children:
        if child.decor or not child.visible:
            continue
        if child.clickable or child.long_clickable or child.scrollable or child.cls.endswith(_VALUE_WIDGETS):
            rest.append(child)
            continue
        if child.text or child.desc:
            texts.append(child.text or child.desc)
        if child.checkable:
            checks.append(child.checked)
        if child.children:
            _absorb(child.children, texts, checks, rest)


def _line(node: Node, text: str, checkable: bool, checked: bool) -> str:
    cls, desc = _tag(node.cls), node.desc
    if not text and not cls.endswith(_VALUE_WIDGETS):
        text, desc = desc, ""
    out = f'<{cls} text="{escape(text)}"'
    if desc and desc != text:
        out += f' desc="{escape(desc)}"'
    if node.hint:
        out += f' hint="{escape(node.hint)}"'
    if node.id:
        out += f' id="{escape(node.id.rpartition("/")[2])}"'
    left, top, right, bottom = node.bounds
    out += f' bounds="[{left},{top}][{right},{bottom}]"'
    if node.clickable:
        out += ' clickable="1"'
    if node.long_clickable:
        out += ' long-clickable="1"'
    if checkable:
        out += ' checked="1"' if checked else ' checked="0"'
    if node.focused:
        out += ' focused="1"'
    if node.selected:
        out += ' selected="1"'
    if node.scrollable:
        out += ' scrollable="1"'
    return out + "/>" if node.enabled else out + ' enabled="0"/>'


@lru_cache(maxsize=512)
def _tag(cls: str) -> str:
    """Shortens a class name to an XML name: `android.app.ActionBar$Tab` becomes `ActionBar_Tab`."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", cls.rpartition(".")[2])
    return name if name[:1].isalpha() else f"View{name}"


def parse_ui(text: str) -> list[Element]:
    """Reads what `compress` wrote.

    Args:
        text: The `ui` entry of an observation.

    Returns:
        The elements in the order of the text.

    Raises:
        ValueError: `compress` does not write such a text.
    """
    elements: list[Element] = []
    for depth, tag, attributes in start_tags(f"<ui>{text}</ui>"):
        if depth == 1:
            elements.append(_element(tag, attributes))
    return elements


def _element(cls: str, attributes: dict[str, str]) -> Element:
    get = attributes.get
    text, desc, hint = get("text", ""), get("desc", ""), get("hint", "")
    holds_value = cls.endswith(_VALUE_WIDGETS)
    return Element(
        cls=cls,
        label=desc or hint if holds_value else text or hint,
        bounds=read_bounds(get("bounds", "")),
        id=get("id", ""),
        clickable="clickable" in attributes,
        long_clickable="long-clickable" in attributes,
        checkable="checked" in attributes,
        checked=get("checked") == "1",
        focused="focused" in attributes,
        selected="selected" in attributes,
        scrollable="scrollable" in attributes,
        editable=cls.endswith(_TEXT_FIELDS),
        enabled=get("enabled") != "0",
        hint=hint,
        value=text if holds_value else "",
        desc=desc,
    )
