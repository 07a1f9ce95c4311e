"""An embedder in this process: counts what it is asked, and fails as it is told to."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

import numpy as np

from firstlight.embed.types import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firstlight.embed.types import Kind, Vectors


def vector_of(text: str, dimensions: int = 8) -> Vectors:
    """The vector that the fake gives for a text: float32[dimensions], of unit length."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    row = np.random.default_rng(seed).normal(size=dimensions)
    return (row / np.linalg.norm(row)).astype(np.float32)


class FakeEmbedder:
    """Satisfies the protocol.

    Args:
        script: Sees the texts of each call before it is answered; what it raises is raised, what it returns
            (unless None) is the answer.
    """

    def __init__(
        self,
        script: Callable[[Sequence[str]], object] | None = None,
        *,
        limits: Limits = Limits(4, 10_000),  # noqa: B008  # a tuple
        dimensions: int = 8,
        max_tokens: int = 1000,
        fingerprint: str = "fake",
    ) -> None:
        self.name = "fake model"
        self.dimensions = dimensions
        self.max_tokens = max_tokens
        self.fingerprint = fingerprint
        self.languages: frozenset[str] | None = None
        self.limits = limits
        self.script = script
        self.calls: list[tuple[str, ...]] = []
        self.kinds: set[str] = set()
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        with self._lock:
            self.calls.append(tuple(texts))
            self.kinds.add(kind)
        answer = self.script(texts) if self.script is not None else None
        if answer is not None:
            return answer  # type: ignore[return-value]
        return np.stack([vector_of(text, self.dimensions or 8) for text in texts])

    @property
    def texts(self) -> list[str]:
        """Every text of every call, in order."""
        return [text for call in self.calls for text in call]
