"""A file -> the rows and postings of one document."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from firstlight.embed.inputs import input_hash, input_text
from firstlight.errors import DocumentError
from firstlight.lexical import Indexable, detect_language
from firstlight.store.checksums import checksum
from firstlight.store.documents import ChunkRow, DocumentRow
from firstlight.store.outline import dump_outline
from firstlight.store.payload import dump_payload
from firstlight.text.document import chunk_document, parse_content
from firstlight.text.read import read_file
from firstlight.text.titles import file_stem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firstlight.corpus.config import Config
    from firstlight.text.types import Chunk, Document, Value

# How much of a document is looked at to tell its language.
_LANGUAGE_SAMPLE = 4000
# Front matter fields that count as tags.
_TAG_FIELDS = ("tags", "keywords")


class PreparedChunk(NamedTuple):
    """A chunk ready to be written, but for its ids; its hashes are in hexadecimal."""

    start: int
    end: int
    line_start: int
    line_end: int
    content_hash: str
    input_hash: str
    headings: Sequence[str]
    outline: str
    text: str


class Prepared(NamedTuple):
    """A document ready to be written, but for its ids: nothing that JSON does not carry."""

    path: str
    size: int
    mtime_ns: int
    digest: str
    title: str
    language: str
    payload: str
    tags: Sequence[str]
    chunks: Sequence[PreparedChunk]

    @property
    def characters(self) -> int:
        """How much text its chunks hold."""
        return sum(len(chunk.text) for chunk in self.chunks)

    def rows(self, recipe: str, document: int, first_chunk: int) -> tuple[DocumentRow, list[ChunkRow]]:
        """Return its rows, the chunks numbered from `first_chunk`."""
        chunks = [
            ChunkRow(
                first_chunk + position,
                document,
                position,
                chunk.start,
                chunk.end,
                chunk.line_start,
                chunk.line_end,
                bytes.fromhex(chunk.content_hash),
                bytes.fromhex(chunk.input_hash),
                chunk.outline,
                chunk.text,
            )
            for position, chunk in enumerate(self.chunks)
        ]
        row = DocumentRow(
            document,
            self.path,
            self.size,
            self.mtime_ns,
            bytes.fromhex(self.digest),
            recipe,
            self.language,
            len(chunks),
            self.title,
            self.payload,
        )
        return row._replace(checksum=checksum(row, chunks)), chunks

    def indexables(self) -> list[Indexable]:
        """Return what is indexed of its chunks."""
        name, tags = file_stem(self.path), tuple(self.tags)
        return [
            Indexable(chunk.text, self.title, tuple(chunk.headings), name, tags, self.language)
            for chunk in self.chunks
        ]


class Refused(NamedTuple):
    """A file that cannot be indexed, why, and its bytes' sha256 in hexadecimal where they could be read."""

    path: str
    reason: str
    line: int | None
    digest: str | None


def prepare(root: str, path: str, config: Config) -> Prepared | Refused:
    """Read, decode, parse and cut a document."""
    digest = None
    try:
        content = read_file(root, path, max_bytes=config.max_file_size)
        digest = content.digest.hex()
        document = parse_content(content, encoding=config.encoding)
        chunks = chunk_document(document, **config.sizes)
    except DocumentError as error:
        return Refused(path, error.reason, error.line, digest)
    return Prepared(
        path,
        content.size,
        content.mtime_ns,
        digest,
        document.title,
        told_language(document) if config.language == "auto" else config.language,
        dump_payload(document.fields),
        tags_of(document.fields),
        [_prepared(chunk, own_title(path, document.title)) for chunk in chunks],
    )


def told_language(document: Document) -> str:
    """Return what a document is in, as far as it is in Latin letters."""
    return detect_language(document.text[document.body_start : document.body_start + _LANGUAGE_SAMPLE])


def own_title(path: str, title: str) -> str:
    """Return a document's title, or nothing where it is only its file's name."""
    return "" if title == file_stem(path) else title


def _prepared(chunk: Chunk, title: str) -> PreparedChunk:
    return PreparedChunk(
        chunk.start,
        chunk.end,
        chunk.line_start,
        chunk.line_end,
        content_hash(chunk.text).hex(),
        input_hash(input_text(title, chunk.headings, chunk.text)).hex(),
        chunk.headings,
        dump_outline(chunk.headings, chunk.sections),
        chunk.text,
    )


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
