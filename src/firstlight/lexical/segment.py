"""A segment: the postings of some chunks as flat arrays, which never change once made."""

from __future__ import annotations

import itertools
import struct
import zlib
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from firstlight.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Buffer = bytes | bytearray | memoryview

_MAGIC = b"FLSEG\x00\x00\x01"  # the last byte is the format's version
# magic, bytes of a term frequency, checksum, chunks, terms, postings, bytes of the dictionary
_HEADER = struct.Struct("<8sIIQQQQ")
_KEY_BYTES = 8
_KEY_MASKS = ~np.array([(1 << 8 * rest) - 1 for rest in range(_KEY_BYTES, -1, -1)], np.uint64)
HIGHEST_FREQUENCY = 0xFFFF  # beyond it BM25 has long been saturated


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The postings of some chunks.

    Attributes:
        ids: int64[n], the chunks' ids, ascending.
        lengths: uint32[n], their lengths in words.
        offsets: int64[t + 1], where each term's postings begin.
        chunks: uint32[p], for each posting the position of its chunk in `ids`, ascending within a term.
        frequencies: uint8[p] or uint16[p], its term frequency, fields weighted.
        term_offsets: int64[t + 1], where each term begins in `term_bytes`.
        term_keys: uint64[t], the first eight bytes of each term as a number, which sorts as they do.
        term_bytes: The terms in UTF-8, sorted.
    """

    ids: NDArray[np.int64]
    lengths: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    chunks: NDArray[np.uint32]
    frequencies: NDArray[np.uint8] | NDArray[np.uint16]
    term_offsets: NDArray[np.int64]
    term_keys: NDArray[np.uint64]
    term_bytes: Buffer

    def __len__(self) -> int:
        return len(self.ids)

    def postings(self, term: str) -> tuple[NDArray[np.uint32], NDArray[np.unsignedinteger]]:
        """Return the chunks that have `term`, as positions in `ids`, and its frequency in each."""
        number = self._find(term.encode())
        if number < 0:
            return self.chunks[:0], self.frequencies[:0]
        first, last = int(self.offsets[number]), int(self.offsets[number + 1])
        return self.chunks[first:last], self.frequencies[first:last]

    def terms(self) -> Iterator[str]:
        """Yield the terms, sorted by their UTF-8 bytes."""
        return (term.decode() for term in self.encoded_terms())

    def encoded_terms(self) -> Iterator[bytes]:
        """Yield the terms in UTF-8, sorted."""
        data, bounds = bytes(self.term_bytes), self.term_offsets.tolist()
        return (data[first:last] for first, last in itertools.pairwise(bounds))

    def _find(self, term: bytes) -> int:
        """Return the number of a term by binary search, -1 where it is not there."""
        key = np.uint64(int.from_bytes(term[:_KEY_BYTES].ljust(_KEY_BYTES, b"\0")))
        low = int(self.term_keys.searchsorted(key))
        high = int(self.term_keys.searchsorted(key, "right"))
        number = bisect_left(range(high), term, low, key=self._term)
        return number if number < high and self._term(number) == term else -1

    def _term(self, number: int) -> bytes:
        bounds = self.term_offsets
        return bytes(self.term_bytes[bounds.item(number) : bounds.item(number + 1)])

    def to_bytes(self) -> bytes:
        """Return the segment as bytes, which `from_buffer` reads."""
        body = b"".join((*(array.tobytes() for array in self._arrays()), bytes(self.term_bytes)))
        header = _HEADER.pack(
            _MAGIC,
            self.frequencies.itemsize,
            zlib.crc32(body),
            len(self.ids),
            len(self.term_offsets) - 1,
            len(self.chunks),
            len(self.term_bytes),
        )
        return header + body

    def _arrays(self) -> tuple[NDArray[np.integer], ...]:
        """The arrays as they are stored: wide items first, so that each stands aligned."""
        wide = self.ids, self.offsets, self.term_offsets, self.term_keys
        return *wide, self.lengths, self.chunks, self.frequencies

    @classmethod
    def from_buffer(cls, buffer: Buffer, *, check: bool = False) -> Segment:
        """Read a segment without copying: the arrays look into `buffer`, which may be a mapped file.

        Args:
            buffer: What `to_bytes` made.
            check: Also compare the checksum, which reads all of it.

        Raises:
            StoreError: `buffer` is not a whole segment, or comes from another version.
        """
        view = memoryview(buffer)
        if len(view) < _HEADER.size or view[:7] != _MAGIC[:7]:
            raise StoreError("a segment of the index is damaged: run `firstlight verify --repair`")
        if view[7] != _MAGIC[7]:
            raise StoreError(
                "the index was written by another version of firstlight: run `firstlight sync --rebuild`"
            )
        _, width, checksum, chunks, terms, postings, size = _HEADER.unpack_from(view)
        layout = _layout(width, chunks, terms, postings)
        expected = _HEADER.size + sum(dtype.itemsize * count for dtype, count in layout) + size
        if width not in (1, 2) or len(view) != expected:
            raise StoreError("a segment of the index is cut short: run `firstlight verify --repair`")
        if check and zlib.crc32(view[_HEADER.size :]) != checksum:
            raise StoreError("a segment of the index is damaged: run `firstlight verify --repair`")
        position, arrays = _HEADER.size, []
        for dtype, count in layout:
            arrays.append(np.frombuffer(view, dtype, count, position))
            position += dtype.itemsize * count
        ids, offsets, term_offsets, keys, lengths, posted, frequencies = arrays
        return cls(ids, lengths, offsets, posted, frequencies, term_offsets, keys, view[position:])


def _layout(width: int, chunks: int, terms: int, postings: int) -> list[tuple[np.dtype[np.generic], int]]:
    kinds = "<i8", "<i8", "<i8", "<u8", "<u4", "<u4", f"<u{min(max(width, 1), 2)}"
    counts = chunks, terms + 1, terms + 1, terms, chunks, postings, postings
    return [(np.dtype(kind), count) for kind, count in zip(kinds, counts, strict=True)]


def living(segment: Segment, dead: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return bool[n], true where a chunk of `segment` is not dead; `dead` is None while all of them live."""
    return np.ones(len(segment), np.bool_) if dead is None else ~dead


def make_segment(
    ids: Sequence[int] | NDArray[np.int64],
    lengths: NDArray[np.integer],
    terms: Sequence[bytes],
    postings: tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint16]],
) -> Segment:
    """Put a segment together from the postings of `terms`, in UTF-8, which are sorted."""
    offsets, chunks, frequencies = postings
    term_bytes, bounds = _joined(terms)
    narrow = not len(frequencies) or int(frequencies.max()) <= 0xFF
    return Segment(
        ids=np.asarray(ids, np.int64),
        lengths=lengths.astype(np.uint32),
        offsets=offsets,
        chunks=chunks,
        frequencies=frequencies.astype(np.uint8) if narrow else frequencies,
        term_offsets=bounds,
        term_keys=_keys(term_bytes, bounds),
        term_bytes=term_bytes,
    )


def order_of(terms: Sequence[bytes]) -> NDArray[np.int64]:
    """Return the positions of distinct terms in the order of their bytes: few are compared beyond their keys.

    Example:
        >>> order_of([b"nodes", b"pool", b"node"]).tolist()
        [2, 0, 1]
    """
    keys = _keys(*_joined(terms))
    order = np.argsort(keys)
    keys = keys[order]
    alike = np.flatnonzero(np.diff(keys[1:] == keys[:-1], prepend=False, append=False))
    for first, last in zip(alike[0::2].tolist(), alike[1::2].tolist(), strict=True):
        order[first : last + 1] = sorted(order[first : last + 1].tolist(), key=terms.__getitem__)
    return order


def _joined(terms: Sequence[bytes]) -> tuple[bytes, NDArray[np.int64]]:
    """Return the terms in a row, and where each begins."""
    bounds = np.zeros(len(terms) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, terms), np.int64, len(terms)), out=bounds[1:])
    return b"".join(terms), bounds


def _keys(data: bytes, bounds: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the first bytes of each term as a number, a shorter term filled up with zeros."""
    numbers = np.ndarray(len(data) + 1, ">u8", data + bytes(_KEY_BYTES), 0, (1,))  # from every byte on
    return numbers[bounds[:-1]].astype(np.uint64) & _KEY_MASKS.take(np.diff(bounds), mode="clip")
