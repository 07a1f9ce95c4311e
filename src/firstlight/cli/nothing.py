"""Nothing was found: say what was searched, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.cli.corpora import why_empty
from firstlight.cli.terminal import count

if TYPE_CHECKING:
    from firstlight.corpus import Corpus
    from firstlight.rank.types import Results

__all__ = ["unknown_words", "why_nothing"]

_UNQUOTED = str.maketrans(dict.fromkeys('"“”„«»', " "))
_SHOWN = 200  # characters of the question that are repeated


def why_nothing(corpus: Corpus, results: Results, *, where: str | None) -> str:
    """Return one line; without a filter and quotes, a chunk with any of the words would have been a hit."""
    from firstlight.lexical import parse_query

    status = corpus.status()
    if status.synced is None and not status.documents:
        return f"nothing to search: nothing of {corpus.root} is indexed yet; leave out --no-sync"
    if not status.documents:
        return f"nothing to search: {why_empty(corpus)}"
    searched = f"{count(results.total, 'chunk')} of {count(status.documents, 'document')} ({results.mode})"
    query = parse_query(results.query)
    if not query.terms:
        return f"nothing found in {searched}: the question has no words to look for"
    found = f"nothing found for {_shortened(results.query)} in {searched}"
    if where is not None and corpus.search(results.query, top_k=1):
        return f"{found}; there are hits without --where {where!r}"
    if query.phrases and corpus.search(results.query.translate(_UNQUOTED), top_k=1, where=where):
        return f"{found}; there are hits without the quotes"
    words = ", ".join(dict.fromkeys(term.word for term in query.terms))
    why = f"no document has: {_shortened(words)}"
    if results.mode == "vector":
        why = f"{results.reason}, and none is near enough; --mode auto goes by the words, too"
    return f"{found}; {why}"


def unknown_words(corpus: Corpus, results: Results) -> str:
    """Return the words of the question that no document has, where none of the hits has them either."""
    missed = [word for word in results[0].unmatched if all(word in hit.unmatched for hit in results)]
    return ", ".join(word for word in missed if not corpus.search(word, top_k=1, mode="bm25"))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
