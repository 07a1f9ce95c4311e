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


class SpanHasher:
    """Hashes spans of a text: equal characters, equal hash.

    A prefix sum of `salt[code] * base**position` gives each span's polynomial in two look-ups, whatever
    its length. Salt and base are drawn anew by whoever makes one, so that nobody can prepare two words
    that collide; nothing that is stored depends on them.

    Args:
        entropy: 65,536 random uint64, and one more for the base.
    """

    def __init__(self, entropy: Hashes) -> None:
        self._salt = entropy[:0x10000] | np.uint64(1)
        self._base = int(entropy[0x10000]) | 1
        self._powers = np.empty(0, np.uint64), np.empty(0, np.uint64)

    def hash(self, codes: Codes, starts: Ints, ends: Ints) -> Hashes:
        """Return uint64[m], the hash of each span; never 0, which stands for an empty slot."""
        powers, inverses = self._powers_up_to(len(codes))
        salted = self._salted(codes)
        salted *= powers[: len(codes)]
        sums = np.zeros(len(codes) + 1, np.uint64)
        np.cumsum(salted, out=sums[1:])
        hashes = sums[ends]
        hashes -= sums[starts]
        hashes *= inverses[starts]
        hashes ^= hashes >> np.uint64(32)  # the slot is taken from the top bits: mix them
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        return np.maximum(hashes, np.uint64(1))

    def _salted(self, codes: Codes) -> Hashes:
        if not len(codes) or codes.max() <= 0xFFFF:
            return np.take(self._salt, codes)
        salted = np.take(self._salt, codes & 0xFFFF)
        salted += (codes >> 16).astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
        return salted

    def _powers_up_to(self, size: int) -> tuple[Hashes, Hashes]:
        """Return the base's powers and their inverses; threads may extend them at once, to the same end."""
        found = self._powers
        if len(found[0]) < size:
            size = max(size, 2 * len(found[0]))
            found = _powers(self._base, size), _powers(pow(self._base, -1, 1 << 64), size)
            self._powers = found
        return found


def _powers(base: int, size: int) -> Hashes:
    factors = np.full(size, base, np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)


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
