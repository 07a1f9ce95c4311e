"""bm25s: its own English stop words, with the Snowball stemmer that its documentation recommends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bm25s
import Stemmer

if TYPE_CHECKING:
    from collections.abc import Sequence

# bm25s's default pattern, and one where each character of a script without spaces is a word.
WORDS = r"(?u)\b\w\w+\b"
CHARACTERS = r"[a-zA-Z0-9]+|\w"


class Bm25s:
    """The defaults of bm25s (Lucene's formula, k1 1.5, b 0.75)."""

    def __init__(self, *, english: bool = True, pattern: str = WORDS) -> None:
        self._options: dict[str, Any] = {
            "stopwords": "en" if english else None,
            "stemmer": Stemmer.Stemmer("english") if english else None,
            "token_pattern": pattern,
            "show_progress": False,
        }
        self._retriever = bm25s.BM25()
        self._size = 0

    def build(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        tokens = bm25s.tokenize(texts, **self._options)
        self._retriever.index(tokens, show_progress=False)

    def search(self, question: str, k: int) -> list[int]:
        tokens = bm25s.tokenize([question], return_ids=False, **self._options)
        if not tokens[0]:
            return []
        positions, scores = self._retriever.retrieve(tokens, k=min(k, self._size), show_progress=False)
        return [int(position) for position, score in zip(positions[0], scores[0], strict=True) if score > 0]

    def close(self) -> None:
        pass
