"""Bytes become documents, and documents chunks. Names are imported on first use: search needs few of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.text.chunks import chunk_markdown, chunk_text
    from firstlight.text.document import (
        chunk_document,
        parse_content,
        parse_document,
        read_document,
    )
    from firstlight.text.entries import FileEntry, Skipped
    from firstlight.text.files import DEFAULT_EXTENSIONS, Walk, walk
    from firstlight.text.front_matter import FrontMatter, split_front_matter
    from firstlight.text.pages import split_pages
    from firstlight.text.read import MAX_BYTES, FileContent, decode, read_file
    from firstlight.text.tokens import est_tokens
    from firstlight.text.types import Chunk, Document

__all__ = [
    "DEFAULT_EXTENSIONS",
    "MAX_BYTES",
    "Chunk",
    "Document",
    "FileContent",
    "FileEntry",
    "FrontMatter",
    "Skipped",
    "Walk",
    "chunk_document",
    "chunk_markdown",
    "chunk_text",
    "decode",
    "est_tokens",
    "parse_content",
    "parse_document",
    "read_document",
    "read_file",
    "split_front_matter",
    "split_pages",
    "walk",
]

__getattr__ = lazy(
    __name__,
    {
        "chunks": ("chunk_markdown", "chunk_text"),
        "document": ("chunk_document", "parse_content", "parse_document", "read_document"),
        "files": ("DEFAULT_EXTENSIONS", "Walk", "walk"),
        "front_matter": ("FrontMatter", "split_front_matter"),
        "pages": ("split_pages",),
        "read": ("MAX_BYTES", "FileContent", "decode", "read_file"),
        "tokens": ("est_tokens",),
        "entries": ("FileEntry", "Skipped"),
        "types": ("Chunk", "Document"),
    },
)
