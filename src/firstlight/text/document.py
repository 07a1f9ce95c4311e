"""A file as a document: its text, its fields, its title."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError
from firstlight.text.front_matter import split_front_matter
from firstlight.text.read import MAX_BYTES, decode, read_file
from firstlight.text.titles import document_title, first_heading
from firstlight.text.tokens import MAX_TOKENS, MIN_TOKENS, OVERLAP
from firstlight.text.types import Document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from firstlight.text.read import FileContent
    from firstlight.text.types import Chunk, Value

__all__ = ["chunk_document", "is_html", "parse_content", "parse_document", "read_document"]

_HTML = (".html", ".htm", ".xhtml")
_PLAIN = (".txt",)


def is_html(path: str) -> bool:
    """Tell whether `path` names an HTML file."""
    return path.lower().endswith(_HTML)


def parse_document(path: str, text: str) -> Document:
    r"""Return the document that a decoded `text` is; of HTML, `Document.text` is the extracted text.

    Raises:
        DocumentError: Its front matter is damaged; `error.path` is `path`.

    Example:
        >>> document = parse_document("ops/drain.md", "---\narea: platform\n---\n# Drain\n")
        >>> document.title, document.fields, document.text[document.body_start :]
        ('Drain', {'area': 'platform'}, '# Drain\n')
    """
    try:
        matter = split_front_matter(text)
    except DocumentError as error:
        raise error.at(path) from None
    if is_html(path):
        return _html_document(path, text[matter.end :], matter.fields, matter.lines)
    body = text[matter.end :]
    find_heading = str if path.lower().endswith(_PLAIN) else partial(first_heading, body)
    title = document_title(path, matter.fields, find_heading)
    return Document(path, text, matter.end, title, matter.fields, matter.lines)


def _html_document(path: str, source: str, fields: Mapping[str, Value], lines: Mapping[str, int]) -> Document:
    # Only HTML pays for its parser.
    from firstlight.text.html import extract_html  # noqa: PLC0415

    page = extract_html(source)
    title = document_title(path, fields, lambda: page.title)
    return Document(path, page.text, 0, title, fields, lines)


def parse_content(content: FileContent, *, encoding: str | None = None) -> Document:
    """Decode and parse what `read_file` returned.

    Raises:
        DocumentError: It is not text, or its front matter is damaged; `error.path` is the file's.
    """
    if encoding is None and is_html(content.path):
        from firstlight.text.html import declared_encoding  # noqa: PLC0415

        encoding = declared_encoding(content.data)
    try:
        text = decode(content.data, encoding=encoding)
    except DocumentError as error:
        raise error.at(content.path) from None
    return parse_document(content.path, text)


def read_document(
    root: str | Path, path: str, *, encoding: str | None = None, max_bytes: int = MAX_BYTES
) -> Document:
    """Read and parse the file `path` below `root`.

    Raises:
        DocumentError: It cannot be read, or is no document; `error.path` is `path`.
    """
    return parse_content(read_file(root, path, max_bytes=max_bytes), encoding=encoding)


def chunk_document(
    document: Document,
    *,
    min_tokens: int = MIN_TOKENS,
    max_tokens: int = MAX_TOKENS,
    overlap: float = OVERLAP,
) -> list[Chunk]:
    """Return the chunks of a document's body: of plain text as paragraphs, of anything else as Markdown."""
    # Searching never chunks, and must not pay for the Markdown parser.
    from firstlight.text.chunks import chunk_markdown, chunk_text  # noqa: PLC0415

    chunk = chunk_text if document.path.lower().endswith(_PLAIN) else chunk_markdown
    return chunk(
        document.text, document.body_start, min_tokens=min_tokens, max_tokens=max_tokens, overlap=overlap
    )
