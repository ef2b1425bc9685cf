"""Model families: how each is asked, how it answers, and where its coordinates live."""

from coach_gym.dialects.dialect import IMAGE, Dialect, ImageSlot, Part, Turn
from coach_gym.dialects.frames import Frame, smart_resize
from coach_gym.dialects.qwen_mobile_use import QwenMobileUse
from coach_gym.dialects.ui_tars import UITars

__all__ = ["IMAGE", "Dialect", "Frame", "ImageSlot", "Part", "QwenMobileUse", "Turn", "UITars", "smart_resize"]
