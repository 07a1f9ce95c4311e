"""A question -> the terms to look up. It is text, never syntax: only balanced quotes mean something."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from firstlight.lexical.analysis import fold, folded_words, spans, stem, word_terms
from firstlight.lexical.languages import is_stop_word
from firstlight.lexical.types import Phrase, Query, QueryTerm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_QUOTED = re.compile(r'"([^"]+)"|\u201c([^\u201d]+)\u201d|\u201e([^\u201c]+)\u201c|«([^»]+)»')
_SPACE_AND_WORD = re.compile(r"(?<!\s)\s++\S*+\Z")
_NO_NAMES = frozenset({"I", "AND", "OR", "NOT"})  # capitals that do not make a name
_APOSTROPHE = re.compile("['\u2019]")
# A question is read this far: every distinct term costs a look-up. What is longer was meant to be a file.
LONGEST_QUESTION = 10_000  # characters


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
    read = text if len(text) <= LONGEST_QUESTION else _SPACE_AND_WORD.sub("", text[:LONGEST_QUESTION])
    quoted = list(_QUOTED.finditer(read))
    inside = [(match.start(), match.end()) for match in quoted]
    words = list(_spoken(read))
    chosen = [span for span in words if any(a <= span[0] < b for a, b in inside)]
    kept = [span for span in words if span in chosen or _says_something(read, span, words, languages)]
    terms = _terms(read, kept or words, languages)
    phrases = [_phrase(next(filter(None, match.groups())), languages) for match in quoted]
    return Query(text, terms, tuple(phrase for phrase in phrases if phrase.words))


def _phrase(text: str, languages: Sequence[str]) -> Phrase:
    # Of a word of several parts only the whole: in another case it may have been indexed without parts.
    terms = [_terms(text, [span], languages)[-1:] for span in _spoken(text)]
    return Phrase(tuple(folded_words(text)), tuple(itertools.chain.from_iterable(terms)))


def _spoken(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans to look up: in scripts without spaces pairs, and a character only where it is alone."""
    found = spans(text)
    pairs = {span for before, span in itertools.pairwise(found) if before[0] == span[0]}
    firsts, lasts = {start for start, _ in pairs}, {end for _, end in pairs}
    return (span for span in found if span in pairs or (span[0] not in firsts and span[1] not in lasts))


def _says_something(
    text: str, span: tuple[int, int], words: list[tuple[int, int]], languages: Sequence[str]
) -> bool:
    """Tell whether a word is worth looking up: no stop word, or a name (`The Who`, `IT`)."""
    word = text[slice(*span)]
    bare = _APOSTROPHE.split(word.casefold())[0]
    if not any(is_stop_word(bare, code) for code in languages) or _is_hyphenated(text, span):
        return True
    if span == words[0] or not word[0].isupper() or word in _NO_NAMES:
        return False
    capitalised = sum(text[start].isupper() for start, _ in words)
    return capitalised * 2 <= len(words)  # in A Title Like This a capital says nothing


def _is_hyphenated(text: str, span: tuple[int, int]) -> bool:
    """Tell whether a word is part of another: the `if` of `v-if`."""
    start, end = span
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    return (before[1:] == "-" and before[0].isalnum()) or (after[:1] == "-" and after[1:].isalnum())


def _terms(text: str, found: Iterable[tuple[int, int]], languages: Sequence[str]) -> tuple[QueryTerm, ...]:
    words: dict[tuple[str, ...], list[str]] = {}
    whole: dict[tuple[str, ...], set[str]] = {}
    for start, end in found:
        word = fold(text[start:end])
        parts = _stems(text[start:end], languages)
        for stems in parts:
            words.setdefault(stems, []).append(word)
        if parts:
            # `YouTube` is indexed by its parts and whole, unstemmed; `youtube` by its stem. Ask for both.
            whole.setdefault(parts[-1], set()).update((word, *(stem(word, code) for code in languages)))
    return tuple(
        QueryTerm(said[0], tuple(dict.fromkeys((*stems, *sorted(whole.get(stems, ()))))), len(said))
        for stems, said in words.items()
    )


def _stems(word: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """Return, for each part of a word, its stem in each language."""
    by_language = [word_terms(word, code) for code in languages or ("en",)]
    return [tuple(dict.fromkeys(stems)) for stems in zip(*by_language, strict=True)]
