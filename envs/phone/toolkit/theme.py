"""Colours and sizes of the phone's look (Material, light)."""

PRIMARY = "#1a73e8"
ON_PRIMARY = "#ffffff"
SURFACE = "#ffffff"
SURFACE_VARIANT = "#eef1f6"
TEXT = "#1f1f1f"
SECONDARY = "#5f6368"
OUTLINE = "#c4c7c5"
DIVIDER = "#e3e3e3"
ERROR = "#b3261e"
SCRIM = "#8e8e93"
AVATARS = ("#1a73e8", "#b06000", "#188038", "#a142f4", "#c5221f", "#007b83")

SHORT = 480  # dp; where less is left of the height, as in landscape, what does not fit scrolls
BAR_HEIGHT = 56  # dp, app bar and bottom navigation
ROW_HEIGHT = 56  # dp, one line of a list
TOUCH = 44  # dp, smallest thing to touch
