"""The contenders, behind one interface: build from texts, then answer questions with positions of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias


class Engine(Protocol):
    """A search engine over texts that are known by their position."""

    def build(self, texts: Sequence[str]) -> None:
        """Index `texts`, ready to be searched."""

    def search(self, question: str, k: int) -> list[int]:
        """Return the positions of the best `k` texts, best first."""

    def close(self) -> None:
        """Give back what the index holds."""


if TYPE_CHECKING:
    Factory: TypeAlias = Callable[[], Engine]
