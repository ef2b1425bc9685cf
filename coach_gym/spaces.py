"""The Gymnasium spaces of actions, goals and screen texts, and of screenshots."""

import copy
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
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


class Pixels(spaces.Box):
    """Every array of bytes of a shape: screenshots, and batches of them.

    ``Box`` stores its bounds as four arrays as large as the image, 31 MB for the screen of a Pixel 6 and as much
    again for each environment of a batch. Here the bounds are views of single values, and no pixel is compared
    with them.

    Args:
        shape: For a screenshot height, width and 3.
        seed: Seed of :meth:`sample`.

    Example:
        >>> np.zeros((600, 270, 3), np.uint8) in Pixels((600, 270, 3))
        True
    """

    def __init__(self, shape: tuple[int, ...], seed: int | np.random.Generator | None = None) -> None:
        super().__init__(0, 255, (1,) * len(shape), np.uint8, seed)
        self._shape = shape
        for name in ("low", "high", "bounded_below", "bounded_above"):
            setattr(self, name, np.broadcast_to(getattr(self, name), shape))

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is an array of bytes of that shape."""
        return isinstance(x, np.ndarray) and x.dtype == np.uint8 and x.shape == self._shape

    def sample(self, mask: None = None, probability: None = None) -> NDArray[np.uint8]:
        """Noise."""
        return self.np_random.integers(0, 256, self._shape, np.uint8)

    def __eq__(self, other: object, /) -> bool:
        if isinstance(other, Pixels):
            return self._shape == other._shape
        return super().__eq__(other)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Pixels":
        return Pixels(self._shape, copy.deepcopy(self.np_random, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        return Pixels, (self._shape, self.np_random)


@batch_space.register(Pixels)
def _batch_pixels(space: Pixels, n: int = 1) -> Pixels:
    return Pixels((n, *space.shape), copy.deepcopy(space.np_random))
