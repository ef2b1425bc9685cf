"""Dialects: how each model family is prompted, how it answers, and what its coordinates mean."""

from coach_gym.dialects.agent_cpm_gui import AgentCpmGui
from coach_gym.dialects.dialect import IMAGE, MARKED, Dialect, ImageSlot, Part, Turn, pictures
from coach_gym.dialects.frames import Frame, smart_resize
from coach_gym.dialects.gui_owl import GuiOwl
from coach_gym.dialects.names import DIALECTS
from coach_gym.dialects.os_genesis import OSGenesis
from coach_gym.dialects.qwen_mobile_use import Qwen3MobileUse, QwenMobileUse
from coach_gym.dialects.set_of_marks import SetOfMarks
from coach_gym.dialects.ui_genie import UIGenie
from coach_gym.dialects.ui_tars import UITars

__all__ = [
    "DIALECTS",
    "IMAGE",
    "MARKED",
    "AgentCpmGui",
    "Dialect",
    "Frame",
    "GuiOwl",
    "ImageSlot",
    "OSGenesis",
    "Part",
    "Qwen3MobileUse",
    "QwenMobileUse",
    "SetOfMarks",
    "Turn",
    "UIGenie",
    "UITars",
    "pictures",
    "smart_resize",
]
