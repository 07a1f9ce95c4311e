"""A file's bytes -> the rows and postings of one document."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from firstlight.lexical import Indexable, detect_language
from firstlight.store.checksums import checksum
from firstlight.store.documents import ChunkRow, DocumentRow
from firstlight.store.outline import dump_outline
from firstlight.store.payload import dump_payload
from firstlight.text.document import chunk_document, parse_content
from firstlight.text.titles import file_stem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firstlight.corpus.config import Config
    from firstlight.text.read import FileContent
    from firstlight.text.types import Chunk, Document, Value

# How much of a document is looked at to tell its language.
_LANGUAGE_SAMPLE = 4000
# Front matter fields that count as tags.
_TAG_FIELDS = ("tags", "keywords")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be written, but for its ids."""

    content: FileContent
    document: Document
    language: str
    chunks: Sequence[Chunk]

    def rows(self, recipe: str, document: int, first_chunk: int) -> tuple[DocumentRow, list[ChunkRow]]:
        """Return its rows, the chunks numbered from `first_chunk`."""
        content = self.content
        chunks = [
            ChunkRow(
                first_chunk + chunk.index,
                document,
                chunk.index,
                chunk.start,
                chunk.end,
                chunk.line_start,
                chunk.line_end,
                content_hash(chunk.text),
                dump_outline(chunk.headings, chunk.sections),
                chunk.text,
            )
            for chunk in self.chunks
        ]
        row = DocumentRow(
            document,
            content.path,
            content.size,
            content.mtime_ns,
            content.digest,
            recipe,
            self.language,
            len(self.chunks),
            self.document.title,
            dump_payload(self.document.fields),
        )
        return row._replace(checksum=checksum(row, chunks)), chunks

    def indexables(self) -> list[Indexable]:
        """Return what is indexed of its chunks."""
        document = self.document
        name, tags = file_stem(document.path), tags_of(document.fields)
        return [
            Indexable(chunk.text, document.title, chunk.headings, name, tags, self.language)
            for chunk in self.chunks
        ]


def prepare(content: FileContent, config: Config) -> Prepared:
    """Decode, parse and cut a document; DocumentError says what is wrong with it."""
    document = parse_content(content, encoding=config.encoding)
    sample = document.text[document.body_start : document.body_start + _LANGUAGE_SAMPLE]
    language = detect_language(sample) if config.language == "auto" else config.language
    return Prepared(content, document, language, chunk_document(document, **config.sizes))


def content_hash(text: str) -> bytes:
    """Return the sha256 of a chunk's text."""
    return hashlib.sha256(text.encode()).digest()


def tags_of(fields: Mapping[str, Value]) -> tuple[str, ...]:
    """Return a document's tags.

    Example:
        >>> tags_of({"tags": ["ops", 2026], "keywords": "drain, node"})
        ('ops', '2026', 'drain, node')
    """
    found: list[str] = []
    for name in _TAG_FIELDS:
        value = fields.get(name)
        items = value if isinstance(value, list) else [value]
        found += [str(item) for item in items if isinstance(item, str | int) and not isinstance(item, bool)]
    return tuple(found)
