"""How a provider's last calls went, and whether it is asked now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable

# After so many failures in a row a provider is not asked for so long; after that one more is enough.
_FAILURES = 3
_REST_SECONDS = 30.0


class Health:
    """Counts failures in a row; used under its owner's lock.

    Args:
        clock: Seconds, as `time.monotonic`.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._failures = 0
        self._until = clock()
        self._reason = ""

    def note(self, failure: str | None) -> None:
        """Count a failure, or forget them all."""
        if failure is None:
            self._failures = 0
            self._until = self._clock()
            return
        self._failures += 1
        self._reason = failure
        if self._failures >= _FAILURES:
            self._until = self._clock() + _REST_SECONDS

    def check(self, name: str) -> None:
        """Raise an EmbeddingError while the provider is left alone."""
        left = self._until - self._clock()
        if left > 0:
            raise EmbeddingError(
                f"{name} failed {self._failures} times in a row, and is asked again in {left:.0f} s; "
                f"the last reason: {self._reason}"
            )
