"""How long each step of a run took."""

from __future__ import annotations

from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Timings"]


class Timings:
    """The seconds of each step, from the moment that this is made."""

    def __init__(self) -> None:
        self._begin = perf_counter()
        self._steps: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Count what is done inside to a step."""
        begin = perf_counter()
        try:
            yield
        finally:
            self._steps[name] = self._steps.get(name, 0.0) + perf_counter() - begin

    def total(self) -> dict[str, float]:
        """Return the steps, and the time from the beginning on."""
        return {**self._steps, "total": perf_counter() - self._begin}
