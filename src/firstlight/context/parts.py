"""Some documents of a layer as one segment: built when first searched, once, and shared by every layer."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

from firstlight.corpus.prepare import content_hash, own_title, tags_of, told_language
from firstlight.lexical import Indexable, SegmentBuilder, merge_segments
from firstlight.text.document import chunk_document
from firstlight.text.titles import file_stem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight.context.documents import ContextDocument
    from firstlight.lexical import Segment
    from firstlight.text.types import Chunk

__all__ = ["Built", "Held", "Joined", "Part", "Piece"]


@dataclass(frozen=True)
class Held:
    """A passage in memory: its chunk, and its document's place in the layer."""

    number: int
    place: int
    document: ContextDocument
    language: str
    chunk: Chunk

    @cached_property
    def content_hash(self) -> bytes:
        """The sha256 of its text."""
        return content_hash(self.chunk.text)


class Built(NamedTuple):
    """What is built of some documents; languages are those of the documents."""

    segment: Segment
    passages: list[Held]
    languages: list[str]


class Piece(Protocol):
    """Documents that are built together."""

    @property
    def size(self) -> int:
        """How many documents they are."""
        ...

    def build(self, first: int, place: int) -> Built:
        """Return what is built of them.

        What comes before a piece is the same in every layer that has it, and so are these numbers.

        Args:
            first: The number of its first passage.
            place: How many documents come before it.
        """
        ...


class Part:
    """Documents that came at once."""

    def __init__(self, documents: Sequence[ContextDocument]) -> None:
        self._documents = documents
        self._lock = threading.Lock()
        self._built: Built | None = None
        self.size = len(documents)

    def build(self, first: int, place: int) -> Built:
        """Return their segment; see `Piece`."""
        with self._lock:
            if self._built is None:
                self._built = _build(self._documents, first, place)
            return self._built


class Joined:
    """Pieces that became too many to be searched one by one."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._lock = threading.Lock()
        self._built: Built | None = None
        self.size = sum(piece.size for piece in pieces)

    def build(self, first: int, place: int) -> Built:
        """Return their segment; see `Piece`."""
        with self._lock:
            if self._built is None:
                built = build_all(self._pieces, first, place)
                self._built = Built(
                    merge_segments([(each.segment, None) for each in built]),
                    [held for each in built for held in each.passages],
                    [language for each in built for language in each.languages],
                )
                self._pieces = ()
            return self._built


def build_all(pieces: Sequence[Piece], first: int = 0, place: int = 0) -> list[Built]:
    """Return what is built of pieces that follow each other."""
    built: list[Built] = []
    for piece in pieces:
        built.append(piece.build(first, place))
        first += len(built[-1].passages)
        place += piece.size
    return built


def _build(documents: Sequence[ContextDocument], first: int, place: int) -> Built:
    passages: list[Held] = []
    languages: list[str] = []
    builder = SegmentBuilder()
    for at, document in enumerate(documents, place):
        parsed = document.parsed
        language = told_language(parsed)
        languages.append(language)
        begin = first + len(passages)
        chunks = chunk_document(parsed)
        passages += [
            Held(number, at, document, language, chunk) for number, chunk in enumerate(chunks, begin)
        ]
        builder.add(range(begin, begin + len(chunks)), _indexed(document, language, chunks))
    built = Built(builder.finish(), passages, languages)
    builder.close()
    return built


def _indexed(document: ContextDocument, language: str, chunks: Sequence[Chunk]) -> list[Indexable]:
    parsed = document.parsed
    # A text has no name of its own, and `doc-1` must not be found by "doc".
    name = file_stem(document.origin) if document.is_file else ""
    title = parsed.title if document.is_file else own_title(document.origin, parsed.title)
    tags = tags_of(parsed.fields)
    return [Indexable(chunk.text, title, chunk.headings, name, tags, language) for chunk in chunks]
