"""Dialects: how each model family is prompted, how it answers, and what its coordinates mean."""

from coach_gym.dialects.dialect import IMAGE, Dialect, ImageSlot, Part, Turn
from coach_gym.dialects.frames import Frame, smart_resize
from coach_gym.dialects.qwen_mobile_use import QwenMobileUse
from coach_gym.dialects.ui_tars import UITars

__all__ = ["IMAGE", "Dialect", "Frame", "ImageSlot", "Part", "QwenMobileUse", "Turn", "UITars", "smart_resize"]
