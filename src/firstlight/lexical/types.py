"""The words of the lexical floor: what is indexed of a chunk, a word in a text, a question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Indexable:
    """What is indexed of one chunk.

    Attributes:
        body: The chunk's text.
        title: Its document's title.
        headings: Its heading path.
        name: Its file's name, without the folder and the extension.
        tags: Its document's tags.
        language: The ISO 639-1 code of its Latin-script language; other scripts tell their own.
    """

    body: str
    title: str = ""
    headings: tuple[str, ...] = ()
    name: str = ""
    tags: tuple[str, ...] = ()
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands in a text: `text[start:end]`, and the terms that it is found by."""

    start: int
    end: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term of a question.

    Attributes:
        word: The word as it was asked, for `matched` and `unmatched`.
        variants: The terms that it is looked up by: one, or one for each language of the corpus.
        count: How often the question says it.
    """

    word: str
    variants: tuple[str, ...]
    count: int = 1


@dataclass(frozen=True, slots=True)
class Phrase:
    """A quoted phrase, which a hit has to contain word for word.

    Attributes:
        words: Its words, case and accents folded, as `folded_words` gives them for a text.
        terms: What its words are looked up by.
    """

    words: tuple[str, ...]
    terms: tuple[QueryTerm, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A question, analysed."""

    text: str
    terms: tuple[QueryTerm, ...]
    phrases: tuple[Phrase, ...] = ()
