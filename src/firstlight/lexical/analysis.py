"""A word as it is written -> the terms that it is found by.

A text is first cut into words (`kernels.word_spans`); everything else happens here, once for each distinct
word: compatibility folding, the parts of identifiers, case, accents, stems.
"""

from __future__ import annotations

import itertools
import re
import threading
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

import Stemmer

from firstlight.lexical.characters import BIGRAM, EXTENDER, INVISIBLE, character_class, classify, code_points
from firstlight.lexical.kernels import word_spans
from firstlight.lexical.languages import LATIN_STEMMERS, script, stemmer_name
from firstlight.lexical.types import Word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Raised whenever the same text would give other terms: an index made by another analysis is made anew.
ANALYSIS_VERSION = f"1/{unicodedata.unidata_version}"

# Longer runs are data, not words: they are found by their first characters.
LONGEST_WORD = 128
_PLAIN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_PLURAL = re.compile(r"([A-Z]{2,})e?s")  # GPUs, OSes
_DATA = re.compile(r"[a-z0-9]+|[A-Z0-9]+|0x[0-9A-Fa-f]+|[0-9A-Fa-f]{16,}")  # with a digit: not stemmed
_SEPARATORS = str.maketrans(".'\u2019", "___")
_CAMEL = re.compile(r"(?=[A-Z])(?:(?<=[a-z])|(?<=[A-Z0-9])(?=[A-Z][a-z]))")
_APOSTROPHE = re.compile(r"['\u2019]")
_DIGIT = re.compile(r"\d")
_SIGNS = "+#"
_CONTRACTIONS = frozenset({"ll", "re", "ve"})
_INVISIBLE = dict.fromkeys(map(ord, INVISIBLE))
# Latin letters that Unicode does not take apart into a letter and an accent.
_STROKES = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}
)
_ACCENTED_SCRIPTS = frozenset({"LATIN", "GREEK", "CYRILLIC"})
_local = threading.local()


def words(text: str, language: str = "en") -> Iterator[Word]:
    """Yield the words of `text` with the terms that each is found by.

    Args:
        text: Any text; offsets are its code points.
        language: The ISO 639-1 code of its Latin-script language.

    Example:
        >>> [text_word.terms for text_word in words("Draining node_id in C++")]
        [('drain',), ('node', 'id', 'node_id'), ('in',), ('c', 'c++')]
    """
    for start, end in spans(text):
        if found := word_terms(text[start:end], language):
            yield Word(start, end, found)


def words_with(terms: Iterable[str], text: str, language: str = "en") -> Iterator[Word]:
    """Yield the words of `text` that are found by one of `terms`; several times as quick as all of them.

    Example:
        >>> [(word.start, word.end) for word in words_with({"drain"}, "Drain it. It is drained.")]
        [(0, 5), (16, 23)]
    """
    is_other = frozenset(terms).isdisjoint
    cuts = spans(text)
    written = [text[start:end] for start, end in cuts]
    # Most words are met again: each is looked up once.
    found = {word: its for word in set(written) if not is_other(its := word_terms(word, language))}
    for word, (start, end) in itertools.compress(
        zip(written, cuts, strict=True), map(found.__contains__, written)
    ):
        yield Word(start, end, found[word])


def folded_words(text: str) -> list[str]:
    """Return the words of `text` with case and accents folded, for comparing phrases word for word.

    Example:
        >>> folded_words("Dräin the NODES")
        ['drain', 'the', 'nodes']
    """
    written = (unicodedata.normalize("NFKC", text[start:end]) for start, end in spans(text))
    return [_APOSTROPHE.sub("'", fold(word.translate(_INVISIBLE))) for word in written]


def spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the words of `text`, in order."""
    starts, ends = word_spans(classify(code_points(text)))
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@lru_cache(maxsize=1 << 16)
def word_terms(word: str, language: str) -> tuple[str, ...]:
    """Return the terms of one word, as `spans` cuts them: those of its parts, then the whole.

    Example:
        >>> word_terms("getUserNames", "en"), word_terms("v1.2", "en")
        (('get', 'user', 'name', 'getusernames'), ('v1', '2', 'v1.2'))
        >>> word_terms("Cafés", "en"), word_terms("E1234", "en")
        (('cafe',), ('e1234',))
    """
    if len(word) <= LONGEST_WORD and _PLAIN.fullmatch(word):
        return (stem(word.lower(), language),)
    return _terms_of_other(word[:LONGEST_WORD], language)


def terms_of_many(written: list[str], language: str) -> list[tuple[str, ...]]:
    """Return `word_terms` of each word; quicker than one by one, since most words are plain."""
    plain = [len(word) <= LONGEST_WORD and _PLAIN.fullmatch(word) is not None for word in written]
    name = LATIN_STEMMERS.get(language)
    lowered = [word.lower() for word in itertools.compress(written, plain)]
    stems = iter(_stemmer(name).stemWords(lowered) if name else lowered)
    return [
        (next(stems),) if is_plain else word_terms(word, language)
        for word, is_plain in zip(written, plain, strict=True)
    ]


def _terms_of_other(word: str, language: str) -> tuple[str, ...]:
    """Return the terms of a word that is not plain letters."""
    if _DATA.fullmatch(word):
        return (word.lower(),)
    if not word.isascii():
        compatible = unicodedata.normalize("NFKC", word).translate(_INVISIBLE)
        if character_class(word[0]) in (BIGRAM, EXTENDER) and len(compatible) <= 2:
            return (compatible,)
        if compatible != word:  # one word can become several (½ is 1⁄2): read them anew
            pieces = (compatible[start:end] for start, end in spans(compatible))
            return tuple(itertools.chain.from_iterable(word_terms(piece, language) for piece in pieces))
    if "'" in word or "\u2019" in word:
        return tuple(_part_term(part, language) for part in _without_contractions(_parts_of(word)))
    terms = tuple([_part_term(part, language) for part in _parts_of(word)])
    if len(terms) < 2 and word[-1:] not in _SIGNS and word[:1] != "." and not _plural(word):
        return terms
    whole = fold(word.strip("_"))
    return terms if whole in terms else (*terms, whole)


def _plural(word: str) -> re.Match[str] | None:
    return _PLURAL.fullmatch(word) if word[-1:] == "s" else None


def _parts_of(word: str) -> list[str]:
    """Return the parts of an identifier."""
    if plural := _plural(word):
        return [plural[1]]
    parts = [part for part in word.translate(_SEPARATORS).split("_") if part]
    if word == word.lower():
        return parts
    return [piece for part in parts for piece in _CAMEL.split(part)]


def _without_contractions(parts: list[str]) -> list[str]:
    return [part for part in parts if len(part) > 1 and part not in _CONTRACTIONS] or parts


@lru_cache(maxsize=1 << 15)
def _part_term(part: str, language: str) -> str:
    bare = part.rstrip(_SIGNS)
    return fold(bare) if _DIGIT.search(bare) else stem(bare.casefold(), language)


def fold(word: str) -> str:
    """Fold case, and the accents of Latin, Greek and Cyrillic letters.

    Example:
        >>> fold("ÉCOLE"), fold("Straße"), fold("हिन्दी") == "हिन्दी"
        ('ecole', 'strasse', True)
    """
    word = word.casefold()
    return word if word.isascii() else _without_accents(word)


def _without_accents(word: str) -> str:
    kept: list[str] = []
    accented = False
    for character in unicodedata.normalize("NFD", word):
        if unicodedata.combining(character):
            if accented:
                continue
        else:
            accented = script(character) in _ACCENTED_SCRIPTS
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept)).translate(_STROKES)


def stem(word: str, language: str) -> str:
    """Return the stem of a case-folded word, without accents.

    English is stemmed without accents, since it is written with and without them; elsewhere they tell the
    stemmer what it looks for, and are folded after it. (Snowball: https://snowballstem.org)

    Example:
        >>> stem("draining", "en"), stem("häuser", "de"), stem("узлами", "en")
        ('drain', 'haus', 'узл')
    """
    if not word.isascii() and language == "en":
        word = _without_accents(word)
    name = stemmer_name(word[0], language) if word else None
    if name is None:
        return word if word.isascii() else _without_accents(word)
    stemmed: str = _stemmer(name).stemWord(word)
    return stemmed if stemmed.isascii() else _without_accents(stemmed)


def _stemmer(name: str) -> Stemmer.Stemmer:
    """Return this thread's stemmer: they are not safe to share."""
    stemmers: dict[str, Stemmer.Stemmer] | None = getattr(_local, "stemmers", None)
    if stemmers is None:
        stemmers = _local.stemmers = {}
    if name not in stemmers:
        stemmers[name] = Stemmer.Stemmer(name, 0)  # no cache of its own: words are looked up once
    return stemmers[name]
