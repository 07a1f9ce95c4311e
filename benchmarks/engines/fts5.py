"""SQLite's FTS5 with the Porter stemmer."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PORTER = "porter unicode61"
TRIGRAM = "trigram"

# FTS5's own notion of a word: letters, digits and marks of any script (not the underscore).
_WORD = re.compile(r"[^\W_]+")


class Fts5:
    """One table of one column, filled in one transaction; a question is an OR of its words, each quoted."""

    def __init__(self, path: str = ":memory:", *, tokenizer: str = PORTER) -> None:
        self._connection = sqlite3.connect(path)
        self._trigrams = tokenizer == TRIGRAM
        self._connection.execute(f"CREATE VIRTUAL TABLE texts USING fts5(body, tokenize='{tokenizer}')")

    def build(self, texts: Sequence[str]) -> None:
        with self._connection:
            self._connection.executemany("INSERT INTO texts(body) VALUES (?)", ((text,) for text in texts))

    def search(self, question: str, k: int) -> list[int]:
        expression = self._expression(question)
        if not expression:
            return []
        rows = self._connection.execute(
            "SELECT rowid - 1 FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?", (expression, k)
        )
        return [position for (position,) in rows]

    def close(self) -> None:
        self._connection.close()

    def _expression(self, question: str) -> str:
        words = _WORD.findall(question)
        if self._trigrams:
            words = [word[at : at + 3] for word in words for at in range(len(word) - 2)]
        return " OR ".join(f'"{word}"' for word in words)
