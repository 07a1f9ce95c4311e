"""The border that vectors cross: what an embedder answers becomes unit vectors, or an error saying where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firstlight.embed.types import MOST_DIMENSIONS
from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from firstlight.embed.types import Vectors


def checked(answer: object, *, texts: int, dimensions: int) -> Vectors:
    """Return `answer` as float32[texts, d] of unit length.

    Args:
        answer: What an embedder gave: an array, nested lists, anything that NumPy reads as numbers.
        texts: How many texts it was given.
        dimensions: How long a vector must be; 0 where that is not known yet.

    Raises:
        EmbeddingError: It is something else (`wrong-answer`); the message names the first vector at fault by
            its position, never a text.

    Example:
        >>> checked([[3, 4], [0, 2]], texts=2, dimensions=2).round(3).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 1.0]]
    """
    given = _numbers(answer)
    if texts == 0 and given.size == 0:
        return np.zeros((0, dimensions), np.float32)
    if given.ndim != 2 and given.size:
        raise _wrong(f"it has {given.ndim} dimensions where 2 are due: one vector for each text")
    if len(given) != texts:
        raise _wrong(f"there are {len(given)} vectors for {texts} texts")
    length = given.size // texts
    if length == 0 or (dimensions and length != dimensions):
        raise _wrong(f"its vectors have {length} numbers{f', not {dimensions}' if dimensions else ''}")
    if length > MOST_DIMENSIONS:
        raise _wrong(f"its vectors have {length} numbers, more than any model's")
    return _unit(given)


def _numbers(answer: object) -> NDArray[Any]:
    """Return the answer as an array of numbers, of whatever shape."""
    try:
        given = np.asarray(answer)
    except (
        TypeError,
        ValueError,
        OverflowError,
        RuntimeError,
    ) as error:  # ragged, or a tensor of some device
        raise _wrong("it is no table of numbers; perhaps its vectors differ in length") from error
    if given.size and given.dtype.kind not in "fiu":  # text, objects, booleans, complex numbers
        raise _wrong("it is no table of numbers")
    return given


def _unit(given: NDArray[Any]) -> Vectors:
    """Bring rows to unit length; in float64, and row by row alike whatever else is in the table."""
    with np.errstate(over="ignore"):  # what does not fit is infinite, and refused as such
        rows = given.astype(np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    _refuse(~np.isfinite(largest), "holds NaN or infinity")
    _refuse(largest == 0, "is all zeros")
    rows /= largest  # so that the squares of huge or tiny numbers neither overflow nor vanish
    rows /= np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    return rows.astype(np.float32)


def _refuse(bad: NDArray[np.bool_], reason: str) -> None:
    if bad.any():
        raise _wrong(f"vector {int(bad.argmax()) + 1} of {len(bad)} {reason}")


def _wrong(reason: str) -> EmbeddingError:
    return EmbeddingError(f"the embedder's answer cannot be used: {reason}", kind="wrong-answer")
