"""uiautomator's methods that scroll lists."""

from __future__ import annotations

from coach_gym.envs.phone.input import scrolling
from coach_gym.envs.phone.phone import Phone
from coach_gym.envs.phone.servers.uiautomator.finder import Finder, Selector
from coach_gym.envs.phone.servers.uiautomator.gestures import STEP_SECONDS


class Lists:
    """Lists that scroll. Methods that scroll once return whether anything moved.

    Args:
        phone: The phone.
        finder: Finds objects on its screen.
    """

    def __init__(self, phone: Phone, finder: Finder) -> None:
        self._phone, self._finder = phone, finder

    def scrollForward(self, selector: Selector, vertical: bool, steps: int = 55) -> bool:
        """Scrolls once towards the end."""
        return scrolling.scroll(self._phone, self._finder.node(selector), vertical, 1, _slow(steps))

    def scrollBackward(self, selector: Selector, vertical: bool, steps: int = 55) -> bool:
        """Scrolls once towards the beginning."""
        return scrolling.scroll(self._phone, self._finder.node(selector), vertical, -1, _slow(steps))

    def scrollToEnd(self, selector: Selector, vertical: bool, swipes: int, steps: int = 55) -> bool:
        """Scrolls to the end."""
        return scrolling.to_end(self._phone, self._finder.node(selector), vertical, 1, _slow(steps), swipes)

    def scrollToBeginning(self, selector: Selector, vertical: bool, swipes: int, steps: int = 55) -> bool:
        """Scrolls to the beginning."""
        return scrolling.to_end(self._phone, self._finder.node(selector), vertical, -1, _slow(steps), swipes)

    def flingForward(self, selector: Selector, vertical: bool) -> bool:
        """Flings once towards the end."""
        return scrolling.scroll(self._phone, self._finder.node(selector), vertical, 1, scrolling.FLING_SECONDS)

    def flingBackward(self, selector: Selector, vertical: bool) -> bool:
        """Flings once towards the beginning."""
        return scrolling.scroll(self._phone, self._finder.node(selector), vertical, -1, scrolling.FLING_SECONDS)

    def flingToEnd(self, selector: Selector, vertical: bool, swipes: int) -> bool:
        """Flings to the end."""
        return scrolling.to_end(self._phone, self._finder.node(selector), vertical, 1, scrolling.FLING_SECONDS, swipes)

    def flingToBeginning(self, selector: Selector, vertical: bool, swipes: int) -> bool:
        """Flings to the beginning."""
        return scrolling.to_end(self._phone, self._finder.node(selector), vertical, -1, scrolling.FLING_SECONDS, swipes)

    def scrollTo(self, selector: Selector, wanted: Selector, vertical: bool = True) -> bool:
        """Scrolls from the beginning of a list until an object is seen. Returns whether it is."""
        if self._finder.first(wanted):
            return True
        area = self._finder.node(selector)
        scrolling.to_end(self._phone, area, vertical, -1, scrolling.SCROLL_SECONDS, scrolling.MOST_SWIPES)
        for _ in range(scrolling.MOST_SWIPES):
            if self._finder.first(wanted):
                return True
            if not scrolling.scroll(self._phone, area, vertical, 1, scrolling.SCROLL_SECONDS):
                return False
        return self._finder.first(wanted) is not None


def _slow(steps: int) -> float:
    return max(scrolling.SCROLL_SECONDS, steps * STEP_SECONDS)
