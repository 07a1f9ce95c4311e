"""An answer as it is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Self

    from firstlight.digest.types import Digest

__all__ = ["DigestStream"]


class DigestStream(Iterator[str]):
    """Yields the parts of an answer; closing it, or leaving its `with` block, ends what is under way.

    Args:
        parts: Yields the parts, and returns the digest.
    """

    def __init__(self, parts: Generator[str, None, Digest]) -> None:
        self._parts = parts
        self._digest: Digest | None = None

    @property
    def digest(self) -> Digest:
        """The digest, once the answer is whole.

        Raises:
            ValueError: It is not.
        """
        if self._digest is None:
            raise ValueError("the answer is not whole yet: go through the stream first")
        return self._digest

    def __next__(self) -> str:
        try:
            return next(self._parts)
        except StopIteration as end:
            if end.value is not None:
                self._digest = end.value
            raise StopIteration from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it, and release all that it holds."""
        self._parts.close()
