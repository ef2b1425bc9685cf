"""The accessibility tree of a screen, its uiautomator XML, and the compact text that agents read.

Three forms of one thing:

* :class:`Node` is the tree itself, as the embedded phone draws it or a real device reports it;
* :func:`to_xml` and :func:`node_from_xml` write and read it as uiautomator reports it, :func:`to_dump` writes
  what the command ``uiautomator dump`` does;
* :func:`compress` keeps what an agent can read or touch, one element a line, and :func:`parse_ui` reads that
  text back. It is the ``ui`` entry of an observation.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from xml.parsers import expat

Bounds = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels; right and bottom are exclusive, as on Android."""

SYSTEM_UI = "com.android.systemui"
_KEYBOARD = ".inputmethod"  # part of the packages of keyboards

# Deeper nodes of a reported tree hang on their ancestor at this depth: the walks below recurse.
MAX_DEPTH = 200

ILLEGAL_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 cannot hold, escaped or not."""

# Those, and what must be escaped: mark-up, and whatever Python takes for the end of a line.
_SPECIAL = re.compile('[&<>"\x00-\x1f\x85\u2028\u2029\ud800-\udfff\ufffe\uffff]')
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_ESCAPES |= {character: f"&#{ord(character)};" for character in "\n\t\r\x85\u2028\u2029"}
_CHARACTER_REFERENCE = re.compile(r"&#(?:x([0-9a-fA-F]{1,8})|([0-9]{1,8}));")
_BOUNDS = re.compile(r"\[(-?[0-9]{1,6}),(-?[0-9]{1,6})\]\[(-?[0-9]{1,6}),(-?[0-9]{1,6})\]")
_TEXT_FIELDS = ("EditText", "AutoCompleteTextView")
_VALUE_WIDGETS = (*_TEXT_FIELDS, "SeekBar", "ProgressBar")


@dataclass(slots=True)
class Node:
    """One node of an accessibility tree.

    Attributes:
        cls: Full class name, such as ``android.widget.Button``.
        bounds: Visible rectangle in screen pixels.
        text, desc, hint: What the widget shows, what it is called, what an empty field asks for.
        id: Full resource id, such as ``com.android.settings:id/title``.
        package: Package of the app that the node belongs to.
        visible: False hides the whole subtree from :func:`compress`.
        decor: True for the status and the navigation bar: present in :func:`to_xml`, absent from
            :func:`compress`.
    """

    cls: str = "android.view.View"
    bounds: Bounds = (0, 0, 0, 0)
    text: str = ""
    desc: str = ""
    id: str = ""
    package: str = ""
    hint: str = ""
    clickable: bool = False
    long_clickable: bool = False
    checkable: bool = False
    checked: bool = False
    focusable: bool = False
    focused: bool = False
    scrollable: bool = False
    selected: bool = False
    password: bool = False
    enabled: bool = True
    visible: bool = True
    decor: bool = False
    children: "list[Node]" = field(default_factory=list)

    def walk(self) -> "Iterator[Node]":
        """This node and everything below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(slots=True)
class Element:
    """One line of the compact screen text.

    Attributes:
        cls: Short class name, such as ``Button``.
        label: What the element is called: its text or description; for text fields and sliders, whose text is
            a value, their description or hint.
        bounds: Rectangle in screen pixels.
        id: Resource id without its package, ``""`` if none.
        editable: True for text fields.
        hint: What an empty text field asks for.
        value: Current text of a text field, current position of a slider.
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
        """Middle of the element, the pixel to touch."""
        left, top, right, bottom = self.bounds
        return (left + right) // 2, (top + bottom) // 2


def compress(root: Node) -> str:
    """The elements of a screen that can be read or touched, one XML element a line.

    A clickable node without a text of its own is named after the texts below it that cannot be touched on
    their own, joined with a comma, and takes over the state of a check box below it that cannot be touched:
    a row of a list becomes one line. Bars of the system, hidden nodes and mere layout are left out.

    Args:
        root: The whole tree of the screen.

    Returns:
        Lines such as ``<Button text="Save" id="save" bounds="[210,40][260,70]" clickable="1"/>``. Flags are
        written when set; ``checked`` is always there for what can be checked, ``enabled="0"`` when disabled.
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
    """Takes the texts and check marks of plain descendants; what is an element itself goes to ``rest``."""
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
    out = f'<{cls} text="{_escape(text)}"'
    if desc and desc != text:
        out += f' desc="{_escape(desc)}"'
    if node.hint:
        out += f' hint="{_escape(node.hint)}"'
    if node.id:
        out += f' id="{_escape(node.id.rpartition("/")[2])}"'
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


def _escape(text: str) -> str:
    """Text as an attribute value; what XML 1.0 cannot hold is dropped."""
    if _SPECIAL.search(text) is None:
        return text
    return _SPECIAL.sub(lambda found: _ESCAPES.get(found[0], ""), text)


@lru_cache(maxsize=512)
def _tag(cls: str) -> str:
    """Short class name as an XML name: ``android.app.ActionBar$Tab`` gives ``ActionBar_Tab``."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", cls.rpartition(".")[2])
    return name if name[:1].isalpha() else f"View{name}"


def parse_ui(text: str) -> list[Element]:
    """Reads the text of :func:`compress` back.

    Args:
        text: The ``ui`` entry of an observation.

    Returns:
        The elements in the order of the text.

    Raises:
        ValueError: The text is not what :func:`compress` writes.
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
        bounds=_bounds(get("bounds", "")),
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


def _bounds(text: str) -> Bounds:
    found = _BOUNDS.fullmatch(text)
    if found is None:
        raise ValueError(f"bounds={text[:60]!r} are not of the form [left,top][right,bottom]")
    left, top, right, bottom = map(int, found.groups())
    return left, top, right, bottom


def start_tags(xml: str) -> list[tuple[int, str, dict[str, str]]]:
    """Depth, name and attributes of every element. A document type is refused: it could define entities."""
    tags: list[tuple[int, str, dict[str, str]]] = []
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        tags.append((depth, name, attributes))
        depth += 1

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def doctype(*_: object) -> None:
        raise ValueError("a screen's XML must not carry a document type")

    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(xml.encode(), True)
    except expat.ExpatError as error:
        raise ValueError(f"the screen's XML is malformed: {error}") from error
    return tags


def to_xml(root: Node, rotation: int = 0) -> str:
    """The tree in the format of ``uiautomator dump``.

    Args:
        root: The tree; a root of class ``hierarchy`` stands for several windows side by side.
        rotation: Quarter turns of the display, 0 to 3.
    """
    parts = [f"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"{rotation}\">"]
    windows = root.children if root.cls == "hierarchy" else [root]
    for index, window in enumerate(windows):
        _write(window, index, parts)
    parts.append("</hierarchy>")
    return "".join(parts)


def to_dump(root: Node) -> str:
    """The tree as the command ``uiautomator dump`` writes it.

    Other than :func:`to_xml`: only the window in front, without the system's bars and the keyboard; only what is
    visible; an empty field has its hint for a text; and no attributes for these.
    """
    window = Node(cls=root.cls, package=root.package, bounds=root.bounds, children=list(_in_front(root)))
    return to_xml(window).replace(' visible-to-user="true"', "").replace(' hint=""', "")


def _in_front(node: Node) -> "Iterator[Node]":
    for child in node.children:
        if not child.decor and child.visible and _KEYBOARD not in child.package:
            yield replace(child, text=child.text or child.hint, hint="", children=list(_in_front(child)))


def _write(node: Node, index: int, parts: list[str]) -> None:
    left, top, right, bottom = node.bounds
    parts.append(
        f'<node index="{index}" text="{_escape(node.text)}" resource-id="{_escape(node.id)}"'
        f' class="{_escape(node.cls)}" package="{_escape(node.package)}" content-desc="{_escape(node.desc)}"'
        f' checkable="{_bool(node.checkable)}" checked="{_bool(node.checked)}"'
        f' clickable="{_bool(node.clickable)}" enabled="{_bool(node.enabled)}"'
        f' focusable="{_bool(node.focusable)}" focused="{_bool(node.focused)}"'
        f' scrollable="{_bool(node.scrollable)}" long-clickable="{_bool(node.long_clickable)}"'
        f' password="{_bool(node.password)}" selected="{_bool(node.selected)}"'
        f' visible-to-user="{_bool(node.visible)}" bounds="[{left},{top}][{right},{bottom}]"'
        f' hint="{_escape(node.hint)}">'
    )
    for position, child in enumerate(node.children):
        _write(child, position, parts)
    parts.append("</node>")


def _bool(value: bool) -> str:
    return "true" if value else "false"


def node_from_xml(xml: str) -> Node:
    """Reads the XML of ``uiautomator dump``, as a real device or :func:`to_xml` writes it.

    Args:
        xml: The dump. Characters that XML forbids, which real dumps hold, are dropped.

    Returns:
        The root node; a node of class ``hierarchy`` over them where the dump has several windows.

    Raises:
        ValueError: Not well-formed, without any node, or with a document type.
    """
    hierarchy = Node(cls="hierarchy")
    path = [hierarchy]
    legal = ILLEGAL_IN_XML.sub("", _CHARACTER_REFERENCE.sub(_legal_reference, xml))
    for depth, _, attributes in start_tags(legal):
        if depth == 0:
            continue
        node = _node(attributes)
        del path[min(depth, MAX_DEPTH) :]
        path[-1].children.append(node)
        path.append(node)
    windows = hierarchy.children
    if not windows:
        raise ValueError("the screen's XML holds no node")
    _mark_decor(hierarchy)
    return windows[0] if len(windows) == 1 else hierarchy


def _legal_reference(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else int(found[2])
    legal = code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD
    return found[0] if legal or 0x10000 <= code <= 0x10FFFF else ""


def _node(attributes: dict[str, str]) -> Node:
    get = attributes.get
    return Node(
        cls=get("class", "") or "android.view.View",
        bounds=_bounds(get("bounds", "[0,0][0,0]")),
        text=get("text", ""),
        desc=get("content-desc", ""),
        id=get("resource-id", ""),
        package=get("package", ""),
        hint=get("hint", ""),
        clickable=get("clickable") == "true",
        long_clickable=get("long-clickable") == "true",
        checkable=get("checkable") == "true",
        checked=get("checked") == "true",
        focusable=get("focusable") == "true",
        focused=get("focused") == "true",
        scrollable=get("scrollable") == "true",
        selected=get("selected") == "true",
        password=get("password") == "true",
        enabled=get("enabled") != "false",
        visible=get("visible-to-user") != "false",
    )


def _mark_decor(hierarchy: Node) -> None:
    """Finds the status and navigation bar of a reported tree, which does not say what they are.

    They are what the system UI alone puts into the top or the bottom fifteenth of the screen. The opened
    notification shade belongs to the same package but reaches further, so it stays, with all that is in it.
    """
    height = max(window.bounds[3] for window in hierarchy.children)
    strip = height // 15

    def visit(node: Node) -> None:
        for child in node.children:
            if child.package != SYSTEM_UI:
                visit(child)
                continue
            child.decor = child.bounds[3] <= strip or child.bounds[1] >= height - strip

    visit(hierarchy)
