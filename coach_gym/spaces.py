"""The Gymnasium space of actions, goals and screen texts."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

# Blocks that samples are drawn from: mostly ASCII, then letters with marks, CJK, and characters above the
# basic plane, so that a random agent meets what people type. No block touches the surrogates.
_BLOCKS = ((0x20, 0x7E), (0xA1, 0x24F), (0x4E00, 0x9FBF), (0x1F300, 0x1F64F))
_BLOCK_WEIGHTS = (0.85, 0.07, 0.04, 0.04)
_MAX_SAMPLE = 256


class Unicode(spaces.Text):
    """Every string of up to ``max_length`` characters.

    Gymnasium's ``Text`` lists the characters it admits, which no list does for what people type. This space
    admits them all, and checks membership by the length alone.

    Args:
        max_length: Longest string, in characters.
        seed: Seed of :meth:`sample`.

    Example:
        >>> "Grüße 👋" in Unicode(32)
        True
    """

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, seed=seed)

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is a string that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(
        self,
        mask: tuple[int | None, NDArray[np.int8] | None] | None = None,
        probability: tuple[int | None, NDArray[np.float64] | None] | None = None,
    ) -> str:
        """A string of up to 256 valid characters, most of them ASCII.

        Raises:
            ValueError: ``mask`` or ``probability`` is given; both index a list of characters that this space
                does not have.
        """
        if mask is not None or probability is not None:
            raise ValueError("Unicode has no list of characters to mask; call sample() without arguments")
        length = int(self.np_random.integers(min(self.max_length, _MAX_SAMPLE) + 1))
        blocks = self.np_random.choice(len(_BLOCKS), size=length, p=_BLOCK_WEIGHTS)
        low, high = np.array(_BLOCKS)[blocks].T
        return "".join(map(chr, self.np_random.integers(low, high + 1)))

    @property
    def is_np_flattenable(self) -> bool:
        """False: without a list of characters there is nothing to number."""
        return False

    def __repr__(self) -> str:
        return f"Unicode({self.max_length})"

    def __eq__(self, other: object, /) -> bool:
        return isinstance(other, Unicode) and self.max_length == other.max_length
