"""Vectors as the cache stores them: float32, little-endian, a row for each window; checked on both ways."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from firstlight.embed.cache_rows import New
from firstlight.embed.unit import is_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firstlight.embed.cache_rows import Found
    from firstlight.embed.types import Vectors

_STORED = np.dtype("<f4")


def pack(vectors: Mapping[bytes, Vectors]) -> list[New]:
    """Return what is fit to be stored, of the dimension of the first that is."""
    rows: list[New] = []
    for key, array in vectors.items():
        if array.ndim == 2 and array.size and is_unit(array).all():
            windows, dimensions = array.shape
            rows.append(New(key, windows, dimensions, array.astype(_STORED).tobytes()))
    return [row for row in rows if row.dimensions == rows[0].dimensions]


def unpack(rows: Sequence[Found]) -> tuple[dict[bytes, Vectors], list[int]]:
    """Return float32[windows, d] by hash, read-only, and the ids of what is damaged."""
    whole = [row for row in rows if _is_as_written(row)]
    if not whole:
        return {}, [row.id for row in rows]
    # One check for all: they belong to one space, and so have one length.
    matrix = np.frombuffer(b"".join(row.vector for row in whole), _STORED).reshape(-1, whole[0].dimensions)
    ends = np.cumsum([len(row.vector) // (4 * row.dimensions) for row in whole]).tolist()
    is_good = np.logical_and.reduceat(is_unit(matrix), [0, *ends[:-1]]).tolist()
    good: dict[bytes, Vectors] = {}
    for row, start, end, fine in zip(whole, [0, *ends], ends, is_good, strict=False):
        if fine:
            good[row.hash] = matrix[start:end].astype(np.float32, copy=False)
    return good, [row.id for row in rows if row.hash not in good]


def _is_as_written(row: Found) -> bool:
    return (
        isinstance(row.vector, bytes)
        and isinstance(row.dimensions, int)
        and row.dimensions > 0
        and len(row.vector) > 0
        and len(row.vector) % (4 * row.dimensions) == 0
        and zlib.crc32(row.vector) == row.checksum
    )
