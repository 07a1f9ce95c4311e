"""A question -> the terms to look up. It is text, never syntax: only balanced quotes mean something."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from firstlight.lexical.analysis import fold, folded_words, spans, word_terms
from firstlight.lexical.characters import BIGRAM, character_class
from firstlight.lexical.languages import is_stop_word
from firstlight.lexical.types import Phrase, Query, QueryTerm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_QUOTED = re.compile(r'"([^"]+)"|\u201c([^\u201d]+)\u201d|\u201e([^\u201c]+)\u201c|«([^»]+)»')
_APOSTROPHE = re.compile("['\u2019]")
# A question is read this far: nobody types more, and every distinct term costs a look-up.
LONGEST_QUESTION = 10_000


def parse_query(text: str, languages: Sequence[str] = ("en",)) -> Query:
    """Analyse a question.

    Args:
        text: The question as it was asked.
        languages: The ISO 639-1 codes of the corpus' Latin-script languages: a word is looked up by its
            stem in each.

    Example:
        >>> query = parse_query('how do I drain "node pools"?')
        >>> [term.word for term in query.terms], [phrase.words for phrase in query.phrases]
        (['drain', 'node', 'pools'], [('node', 'pools')])
    """
    read = text[:LONGEST_QUESTION]
    quoted = list(_QUOTED.finditer(read))
    inside = [(match.start(), match.end()) for match in quoted]
    words = list(_spoken(read))
    chosen = [span for span in words if any(a <= span[0] < b for a, b in inside)]
    kept = [span for span in words if span in chosen or _says_something(read, span, words, languages)]
    terms = _terms(read, kept or words, languages)
    phrases = [_phrase(next(filter(None, match.groups())), languages) for match in quoted]
    return Query(text, terms, tuple(phrase for phrase in phrases if phrase.words))


def _phrase(text: str, languages: Sequence[str]) -> Phrase:
    return Phrase(tuple(folded_words(text)), _terms(text, _spoken(text), languages))


def _spoken(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans to look up: in scripts without spaces pairs, and a character only where it is alone."""
    found = spans(text)
    paired = {
        position
        for start, end in found
        if end - start == 2 and character_class(text[start]) == BIGRAM
        for position in (start, start + 1)
    }
    return (span for span in found if span[1] - span[0] > 1 or span[0] not in paired)


def _says_something(
    text: str, span: tuple[int, int], words: list[tuple[int, int]], languages: Sequence[str]
) -> bool:
    """Tell whether a word is worth looking up: no stop word, or a name (`The Who`, `IT`)."""
    word = text[slice(*span)]
    bare = _APOSTROPHE.split(word.casefold())[0]
    if not any(is_stop_word(bare, code) for code in languages):
        return True
    if span == words[0] or not word[0].isupper() or word == "I":
        return False
    capitalised = sum(text[start].isupper() for start, _ in words)
    return capitalised * 2 <= len(words)  # in A Title Like This a capital says nothing


def _terms(text: str, found: Iterable[tuple[int, int]], languages: Sequence[str]) -> tuple[QueryTerm, ...]:
    asked: dict[tuple[str, ...], list[str]] = {}
    whole: dict[tuple[str, ...], list[str]] = {}
    for start, end in found:
        word = fold(text[start:end])
        parts = _stems(text[start:end], languages)
        for stems in parts:
            asked.setdefault(stems, []).append(word)
        if len(parts) == 1:
            # `YouTube` is indexed whole beside its parts, and wholes are not stemmed: look up `youtube` too.
            whole.setdefault(parts[0], []).append(word)
    return tuple(
        QueryTerm(words[0], tuple(dict.fromkeys((*stems, *whole.get(stems, ())))), len(words))
        for stems, words in asked.items()
    )


def _stems(word: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """Return, for each part of a word, its stem in each language."""
    by_language = [word_terms(word, code) for code in languages or ("en",)]
    return [tuple(dict.fromkeys(stems)) for stems in zip(*by_language, strict=True)]
