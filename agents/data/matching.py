"""Whether a response does what a demonstration does (paper, appendix B)."""

import math

from coach_gym.actions import Action

NEAR = 0.14
"""Distance up to which points count as equal, as a share of the screen's width (GUI-Odyssey's rule, as the paper)."""


def matches(action: Action, shown: Action, width: int, near: float = NEAR) -> bool:
    """Returns whether an action equals the demonstration's in kind, words and points.

    Words are compared without regard to case and white space; those of `finished` only if the demonstration gives an
    answer. Scrolls are equal if the finger moves the same way, wherever it starts.

    Args:
        action: The action in question.
        shown: The action of the demonstration.
        width: Width of the screen in pixels.
        near: Distance up to which points count as equal, as a share of `width`.
    """
    if action.kind != shown.kind:
        return False
    answered = shown.kind != "finished" or bool(shown.content.strip())
    if answered and _words(action.content) != _words(shown.content):
        return False
    if shown.kind == "scroll":
        return direction(action) == direction(shown)
    pairs = ((action.start, shown.start), (action.end, shown.end))
    return all(a is b or (a is not None and b is not None and math.dist(a, b) <= near * width) for a, b in pairs)


def direction(scroll: Action) -> str:
    """Returns which part of the content a scroll reveals: `"down"` if the finger moves up."""
    if scroll.direction is not None:
        return scroll.direction
    assert scroll.start is not None and scroll.end is not None  # as `Action` requires
    right, down = scroll.end[0] - scroll.start[0], scroll.end[1] - scroll.start[1]
    if abs(right) > abs(down):
        return "left" if right > 0 else "right"
    return "up" if down > 0 else "down"


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()
