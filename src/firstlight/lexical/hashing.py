"""Words as numbers: the hash of every span of a text at once, and a table from hashes to small integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Codes = NDArray[np.uint32]
    Hashes = NDArray[np.uint64]

MISSING = -1  # the value of a hash that a table does not have


_WORD = 8  # bytes that are read at once
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_WORD + 1)], np.uint64)


class SpanHasher:
    """Hashes the words of a text: equal characters, equal hash; up to eight of Latin-1 never collide.

    The low bytes of eight characters are read as one number and mixed, then those of the next eight; what
    characters beyond Latin-1 have above their low byte is mixed by itself. The factors are drawn anew by
    whoever makes one, so that nobody can prepare two words that collide; nothing that is stored depends on
    them.

    Args:
        entropy: Four random uint64.
        longest: How many characters of a word are looked at, or up to seven more.
    """

    def __init__(self, entropy: Hashes, *, longest: int) -> None:
        self._first, self._second, *self._of_planes = entropy | np.uint64(1)
        self._longest = longest

    def hash(self, codes: Codes, starts: Ints, ends: Ints) -> Hashes:
        """Return the hash of each word, never 0, which stands for an empty slot.

        Args:
            codes: The code points of the text.
            starts: Where the words begin, int64[m], ascending. Words that overlap begin beyond Latin-1.
            ends: Where they end.
        """
        sizes = ends - starts
        hashes = self._folded(codes.astype(np.uint8), starts, sizes)
        wide = np.flatnonzero(codes > 0xFF)
        for shift, factor in zip((8, 16), self._of_planes, strict=True):
            wide = wide[codes[wide] >= 1 << shift]
            if not len(wide) or not len(starts):
                break
            # The words around each wide character: to those without one this adds nothing.
            near = np.searchsorted(starts, np.concatenate([wide, wide + 1]))
            near[len(wide) :] -= 1
            near = near.clip(0, len(starts) - 1)
            plane = (codes >> shift).astype(np.uint8)
            hashes[near] ^= self._folded(plane, starts[near], sizes[near]) * factor
        return np.maximum(hashes, np.uint64(1))

    def _folded(self, plane: NDArray[np.uint8], starts: Ints, sizes: Ints) -> Hashes:
        """Return the hash of the bytes of each word; that of zeros is 0."""
        padded = plane.tobytes() + bytes(_WORD)
        eights = np.ndarray(len(plane) + 1, "<u8", padded, 0, (1,))  # from every byte on
        hashes = self._mixed(eights[starts] & _MASKS.take(sizes, mode="clip"))
        longer = np.flatnonzero(sizes > _WORD)
        for depth in range(_WORD, self._longest, _WORD):
            if not len(longer):
                break
            rest = sizes[longer] - depth
            following = eights[starts[longer] + depth] & _MASKS.take(rest, mode="clip")
            hashes[longer] = self._mixed(hashes[longer] + following)
            longer = longer[rest > _WORD]
        return hashes

    def _mixed(self, hashes: Hashes) -> Hashes:
        """Mix in place, one to one; the slot is taken from the top bits."""
        hashes *= self._first
        hashes ^= hashes >> np.uint64(32)
        hashes *= self._second
        return hashes


class HashTable:
    """Maps hashes to integers, many at a time; open addressing with linear probing."""

    def __init__(self, capacity: int = 1 << 14) -> None:
        self._keys = np.zeros(capacity, np.uint64)
        self._values = np.full(capacity, MISSING, np.int64)
        self._size = 0

    def lookup(self, hashes: Hashes) -> Ints:
        """Return the value of each hash, MISSING where it has none."""
        slots = self._slots(hashes)
        keys = self._keys.take(slots)
        values = self._values.take(slots)
        pending = np.flatnonzero(keys != hashes)
        pending = pending[keys[pending] != 0]
        mask = len(self._keys) - 1
        while len(pending):
            slots[pending] += 1
            slots[pending] &= mask
            slot = slots[pending]
            keys = self._keys[slot]
            values[pending] = self._values[slot]
            pending = pending[(keys != hashes[pending]) & (keys != 0)]
        return values

    def insert(self, hashes: Hashes, values: Ints) -> None:
        """Add distinct `hashes` that the table does not have."""
        while (self._size + len(hashes)) * 3 > len(self._keys):
            self._grow()
        self._size += len(hashes)
        self._place(hashes, values)

    def _place(self, hashes: Hashes, values: Ints) -> None:
        slots = self._slots(hashes)
        mask = len(self._keys) - 1
        pending = np.arange(len(hashes))
        while len(pending):
            slot = slots[pending]
            free = self._keys[slot] == 0
            self._keys[slot[free]] = hashes[pending[free]]  # of several that want a slot the last one wins
            won = free & (self._keys[slot] == hashes[pending])
            self._values[slot[won]] = values[pending[won]]
            pending = pending[~won]
            slots[pending] += 1
            slots[pending] &= mask

    def _slots(self, hashes: Hashes) -> Ints:
        shift = np.uint64(65 - len(self._keys).bit_length())
        return (hashes >> shift).view(np.int64)

    def _grow(self) -> None:
        used = self._keys != 0
        keys, values = self._keys[used], self._values[used]
        self._keys = np.zeros(len(self._keys) * 4, np.uint64)
        self._values = np.full(len(self._keys), MISSING, np.int64)
        self._place(keys, values)
