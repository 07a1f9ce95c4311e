"""An embedder for tests: quick, deterministic, and it counts what it is given."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

import numpy as np

from firstlight.embed.types import Limits
from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# Words that mean the same: what BM25 cannot know, and a model does.
SYNONYMS = {"automobile": "car", "vehicle": "car", "physician": "doctor", "purchase": "buy"}


class WordEmbedder:
    """Sums a random direction for each word; synonyms share theirs.

    Attributes:
        texts: Every document text that it was given, in order.
        questions: Every question.
        before: Called before every call; may wait or raise.
    """

    def __init__(
        self, name: str = "words", *, dimensions: int = 64, languages: frozenset[str] | None = None
    ) -> None:
        self.name = name
        self.dimensions = dimensions
        self.max_tokens = 10_000
        self.fingerprint = f"{name}/{dimensions}"
        self.languages = languages
        self.texts: list[str] = []
        self.questions: list[str] = []
        self.before: Callable[[Sequence[str], str], None] = lambda texts, kind: None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        self.before(texts, kind)
        with self._lock:
            (self.questions if kind == "query" else self.texts).extend(texts)
        return np.array([self._vector(text) for text in texts], np.float32)

    def _vector(self, text: str) -> NDArray[np.float64]:
        words = [word.strip('#.,?!:"').lower() for word in text.split()]
        summed = sum(
            (self._direction(SYNONYMS.get(word, word)) for word in words), np.full(self.dimensions, 1e-6)
        )
        vector: NDArray[np.float64] = summed / np.linalg.norm(summed)
        return vector

    def _direction(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(f"{self.name}/{word}".encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(self.dimensions)


def refuse(reason: str = "down", kind: str = "unavailable") -> Callable[[Sequence[str], str], None]:
    """Return a `before` that refuses every call."""

    def before(texts: Sequence[str], asked: str) -> None:
        raise EmbeddingError(reason, kind=kind)  # type: ignore[arg-type]

    return before


class Words(WordEmbedder):
    """The same with a floor of its own, and a bound on how many texts it takes at a time and in all.

    Attributes:
        most: How many documents' texts it takes before it refuses all others for good.
    """

    def __init__(
        self,
        name: str = "words",
        *,
        floor: float = 0.4,
        texts: int = 32,
        most: int | None = None,
        languages: frozenset[str] | None = None,
    ) -> None:
        super().__init__(name, dimensions=256, languages=languages)
        self.floor = floor
        self.limits = Limits(texts=texts, tokens=1_000_000)
        self.most = most
        self.before = self._bounded

    def _bounded(self, texts: Sequence[str], kind: str) -> None:
        if kind == "document" and self.most is not None and len(self.texts) + len(texts) > self.most:
            raise EmbeddingError("that was enough", kind="quota")
