"""Tantivy through tantivy-py, its index in memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import tantivy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD = re.compile(r"\w+")
_HEAP = 128_000_000  # tantivy-py's default


class Tantivy:
    """The English stemmer; the default writer, whose threads number `threads` (0: as many as it likes)."""

    def __init__(self, *, threads: int = 0, ngrams: bool = False) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("position", stored=True)
        schema.add_text_field("body", tokenizer_name="bigrams" if ngrams else "en_stem")
        self._index = tantivy.Index(schema.build())
        if ngrams:
            bigrams = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(min_gram=2, max_gram=2))
            self._index.register_tokenizer("bigrams", bigrams.filter(tantivy.Filter.lowercase()).build())
        self._threads = threads
        self._ngrams = ngrams

    def build(self, texts: Sequence[str]) -> None:
        self.add(enumerate(texts))

    def add(self, texts: Iterable[tuple[int, str]]) -> None:
        """Add texts under the given positions and make them searchable."""
        writer = self._index.writer(_HEAP, self._threads)
        for position, text in texts:
            writer.add_document(tantivy.Document(position=position, body=text))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def search(self, question: str, k: int) -> list[int]:
        words = [word.lower() for word in _WORD.findall(question)]  # in lower case, AND, OR and NOT are words
        if self._ngrams:  # one by one: several tokens from one word would make a phrase
            words = [word[at : at + 2] for word in words for at in range(len(word) - 1)]
        if not words:
            return []
        searcher = self._index.searcher()
        # Lenient: the stemmer drops words of over 40 bytes, and with all words gone the strict parser raises.
        query, _ = self._index.parse_query_lenient(" ".join(words), ["body"])
        found = searcher.search(query, k, count=False)
        return [int(searcher.doc(address)["position"][0]) for _, address in found.hits]

    def close(self) -> None:
        pass
