"""A screen as a tree (`Node`), as uiautomator's XML, and as the compact text that agents read."""

from coach_gym.ui.compact import Element, compress, parse_ui
from coach_gym.ui.forest import node_from_forest
from coach_gym.ui.markup import ILLEGAL_IN_XML, start_tags
from coach_gym.ui.tree import SYSTEM_UI, Bounds, Node
from coach_gym.ui.uiautomator import MAX_DEPTH, as_reported, node_from_xml, to_dump, to_xml

__all__ = [
    "ILLEGAL_IN_XML",
    "MAX_DEPTH",
    "SYSTEM_UI",
    "Bounds",
    "Element",
    "Node",
    "as_reported",
    "compress",
    "node_from_forest",
    "node_from_xml",
    "parse_ui",
    "start_tags",
    "to_dump",
    "to_xml",
]
