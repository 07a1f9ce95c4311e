"""Quoted phrases, verified on the text: an index without positions is half the size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.lexical.analysis import folded_words

if TYPE_CHECKING:
    from firstlight.lexical.types import Query


def contains_phrases(text: str, query: Query) -> bool:
    """Tell whether `text` has every phrase of the question word for word, case and accents aside.

    Example:
        >>> from firstlight.lexical.query import parse_query
        >>> query = parse_query('"drain a node"')
        >>> contains_phrases("How to Drain a Node.", query), contains_phrases("a drained node", query)
        (True, False)
    """
    words = folded_words(text)
    return all(_contains(words, phrase.words) for phrase in query.phrases)


def _contains(words: list[str], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(
        word == phrase[0] and tuple(words[start : start + size]) == phrase
        for start, word in enumerate(words[: len(words) - size + 1])
    )
