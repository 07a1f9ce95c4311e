"""Vectors of unit length: which are, and the direction of several together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from firstlight.embed.types import Vectors

# How far a squared length may be from 1; what float32 rounds stays far below.
_TOLERANCE = 1e-3


def is_unit(rows: Vectors) -> NDArray[np.bool_]:
    """Return bool[n]: which of float32[n, d] are of unit length; what is not finite is not.

    Example:
        >>> is_unit(np.array([[0.6, 0.8], [0.0, np.nan], [0.0, 2.0]], np.float32)).tolist()
        [True, False, False]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("ij,ij->i", rows, rows)
        close: NDArray[np.bool_] = np.abs(squares - np.float32(1)) <= _TOLERANCE
    return close


def mean(rows: Vectors) -> NDArray[np.float32]:
    """Return the direction of float32[n, d], each of unit length, as float32[d] of unit length, read-only.

    Example:
        >>> mean(np.array([[1, 0], [0, 1]], np.float32)).round(3).tolist()
        [0.7070000171661377, 0.7070000171661377]
    """
    kept: NDArray[np.float32] = rows[0].astype(np.float32)
    if len(rows) > 1:
        middle = rows.astype(np.float64).mean(axis=0)
        length = float(np.linalg.norm(middle))
        # Those that cancel each other out have no direction together: the first speaks for them.
        if length > _TOLERANCE:
            kept = (middle / length).astype(np.float32)
    kept.flags.writeable = False
    return kept
