"""Gymnasium spaces for text of any script (actions, goals, screen text) and for screenshots."""

import copy
import multiprocessing
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space, create_shared_memory, read_from_shared_memory, write_to_shared_memory
from numpy.typing import NDArray

# Code point ranges of samples: mostly ASCII, then accented letters, CJK and emoji, so that a random agent meets what
# people type. No range contains surrogates.
_BLOCKS = ((0x20, 0x7E), (0xA1, 0x24F), (0x4E00, 0x9FBF), (0x1F300, 0x1F64F))
_BLOCK_WEIGHTS = (0.85, 0.07, 0.04, 0.04)
_MAX_SAMPLE = 256


class Unicode(spaces.Text):
    """All strings of up to `max_length` characters.

    Gymnasium's `Text` enumerates the characters it accepts, which is hopeless for what people type. This space accepts
    all characters and checks only the length.

    Args:
        max_length: Length of the longest string, in characters.
        seed: Seed of `sample`.

    Example:
        >>> "Grüße 👋" in Unicode(32)
        True
    """

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, seed=seed)
        # Stable-Baselines3 keeps observations in arrays of a space's shape and type; `str` would keep one character.
        self._shape, self.dtype = (), np.dtype(object)

    def contains(self, x: Any) -> bool:
        """Returns whether `x` is a string of at most `max_length` characters."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(
        self,
        mask: tuple[int | None, NDArray[np.int8] | None] | None = None,
        probability: tuple[int | None, NDArray[np.float64] | None] | None = None,
    ) -> str:
        """Draws a string of up to 256 characters, most of them ASCII.

        Raises:
            ValueError: `mask` or `probability` is given. Both index a list of characters, which this space lacks.
        """
        if mask is not None or probability is not None:
            raise ValueError("Unicode has no list of characters to mask; call sample() without arguments")
        length = int(self.np_random.integers(min(self.max_length, _MAX_SAMPLE) + 1))
        blocks = self.np_random.choice(len(_BLOCKS), size=length, p=_BLOCK_WEIGHTS)
        low, high = np.array(_BLOCKS)[blocks].T
        return "".join(map(chr, self.np_random.integers(low, high + 1)))

    @property
    def is_np_flattenable(self) -> bool:
        """False, because characters cannot be numbered without a list of them."""
        return False

    def __repr__(self) -> str:
        return f"Unicode({self.max_length})"

    def __eq__(self, other: object, /) -> bool:
        return isinstance(other, Unicode) and self.max_length == other.max_length


class Pixels(spaces.Box):
    """All uint8 arrays of one shape: screenshots, and batches of them.

    Gymnasium's `Box` stores its bounds in four arrays as large as the image: 31 MB for a Pixel 6 screen, times the
    number of environments in a batch. Here the bounds are views of single values, and pixels are never compared.

    Args:
        shape: Height, width and 3 for a screenshot.
        seed: Seed of `sample`.

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
        """Returns whether `x` is a uint8 array of this shape."""
        return isinstance(x, np.ndarray) and x.dtype == np.uint8 and x.shape == self._shape

    def sample(self, mask: None = None, probability: None = None) -> NDArray[np.uint8]:
        """Draws uniform noise."""
        return self.np_random.integers(0, 256, self._shape, np.uint8)

    def __eq__(self, other: object, /) -> bool:
        if isinstance(other, Pixels):
            return self._shape == other._shape
        return super().__eq__(other)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Pixels":
        return Pixels(self._shape, copy.deepcopy(self.np_random, memo))

    def __reduce__(self) -> tuple[Any, ...]:
        return Pixels, (self._shape, self.np_random)


def misfit(observation: Any, space: spaces.Space[Any]) -> str | None:
    """Returns in what way an observation is not of a space; None if it is of it."""
    if space.contains(observation):
        return None
    if not isinstance(space, spaces.Dict) or not isinstance(observation, dict):
        return f"the observation is of type {type(observation).__name__}, which is not of {space}"
    if missing := sorted(space.spaces.keys() ^ observation.keys()):
        return f"the observation lacks keys, or has too many: {', '.join(missing)}"
    wrong = next(key for key, part in space.spaces.items() if not part.contains(observation[key]))
    value = observation[wrong]
    is_array = isinstance(value, np.ndarray)
    found = f"{value.shape} of {value.dtype}" if is_array else f"of type {type(value).__name__}"
    long = f" with {len(value)} characters" if isinstance(value, str) else ""
    return f"the observation's {wrong} is {found}{long}, which is not of {space[wrong]}"


@batch_space.register(Pixels)
def _batch_pixels(space: Pixels, n: int = 1) -> Pixels:
    return Pixels((n, *space.shape), copy.deepcopy(space.np_random))


# AsyncVectorEnv keeps observations in memory that its processes share: each text as its length and its code points.


class _SharedTexts(Sequence[str]):
    """The texts in shared memory as they are now; a deep copy, which AsyncVectorEnv returns, is a tuple."""

    def __init__(self, shared: Any, max_length: int) -> None:
        self._rows = _rows_of(shared, max_length)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...

    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        row = self._rows[index]
        return row[1 : row[0] + 1].tobytes().decode("utf-32-le", "surrogatepass")

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)


@create_shared_memory.register(Unicode)
def _create_shared_texts(space: Unicode, n: int = 1, ctx: Any = multiprocessing) -> Any:
    return ctx.Array("i", n * (1 + space.max_length))


@read_from_shared_memory.register(Unicode)
def _read_shared_texts(space: Unicode, shared_memory: Any, n: int = 1) -> _SharedTexts:
    return _SharedTexts(shared_memory, space.max_length)


@write_to_shared_memory.register(Unicode)
def _write_shared_text(space: Unicode, index: int, value: str, shared_memory: Any) -> None:
    codes = np.frombuffer(value.encode("utf-32-le", "surrogatepass"), np.int32)
    row = _rows_of(shared_memory, space.max_length)[index]
    row[0], row[1 : len(codes) + 1] = len(codes), codes


def _rows_of(shared: Any, max_length: int) -> NDArray[np.int32]:
    return np.frombuffer(shared.get_obj(), np.int32).reshape(-1, 1 + max_length)
