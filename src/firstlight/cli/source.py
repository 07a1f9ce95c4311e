"""The one document of a digest: a file of any kind that is read, or standard input."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from firstlight.cli.terminal import count, talk
from firstlight.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Source", "read_source"]

STDIN, STDIN_TITLE = "-", "standard input"
_PDF, _DOCX = (".pdf",), (".docx", ".docm", ".dotx")
_MARKDOWN = (".md", ".markdown", ".mdx")
_OLD = (".doc", ".odt", ".rtf", ".epub", ".pptx", ".xlsx")


class Source(NamedTuple):
    """A document.

    Attributes:
        name: As it was named.
        text: Its text.
        has_pages: Whether a person finds a place in it by the page rather than by the line.
        has_lines: Whether the lines of the text are the file's own.
    """

    name: str
    text: str
    has_pages: bool = False
    has_lines: bool = True

    @property
    def title(self) -> str:
        """What a person calls it."""
        return STDIN_TITLE if self.name == STDIN else self.name


def read_source(name: str) -> Source:
    """Read a file, or standard input for `-`, by what its name ends in, or its first bytes.

    Raises:
        DocumentError: It cannot be read; the error names it.
    """
    data = _stdin() if name == STDIN else _file(name)
    try:
        return _read_as(name, data, _kind(name, data))
    except DocumentError as error:
        raise error.at(STDIN_TITLE if name == STDIN else name) from None


def _read_as(name: str, data: bytes, kind: str) -> Source:
    if kind == "pdf":
        from firstlight.text.pdf import extract_pdf

        found = extract_pdf(data)
        if found.blank:
            some = f"{found.blank:,} of {count(len(found.pages), 'page')}"
            talk(f"warning: {some} without text, as pictures have none; OCR would find what they say")
        return Source(name, found.text, has_pages=True)
    if kind == "docx":
        from firstlight.text.docx import extract_docx

        return Source(name, extract_docx(data), has_lines=False)
    from firstlight.text.read import decode

    if kind == "html":
        from firstlight.text.html import declared_encoding, extract_html

        text = extract_html(decode(data, encoding=declared_encoding(data))).text
        return Source(name, text, has_lines=False)
    text = decode(data)
    return Source(name, _without_front_matter(text) if name.lower().endswith(_MARKDOWN) else text)


def _without_front_matter(text: str) -> str:
    """Blank what stands before a page's body: nobody asks for it, and every line stays where it is.

    Where it is damaged, nobody can tell where it ends: it is text like the rest.
    """
    from firstlight.text.front_matter import split_front_matter

    try:
        end = split_front_matter(text).end
    except DocumentError:
        return text
    return "".join(letter if letter in "\r\n" else " " for letter in text[:end]) + text[end:]


def _kind(name: str, data: bytes) -> str:
    if name == STDIN:
        return "pdf" if data.startswith(b"%PDF-") else "docx" if data.startswith(b"PK\x03\x04") else "text"
    from firstlight.text.document import is_html

    lower = name.lower()
    if lower.endswith(_OLD):
        ending = os.path.splitext(lower)[1]  # noqa: PTH122  # a name, which a Path would change
        raise DocumentError(f"{ending} is not read: save it as .pdf, .docx, .html, .md or .txt")
    kinds: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("pdf", lambda it: it.endswith(_PDF)),
        ("docx", lambda it: it.endswith(_DOCX)),
        ("html", is_html),
    )
    return next((kind for kind, fits in kinds if fits(lower)), "text")


def _file(name: str) -> bytes:
    from firstlight.text.pdf import MAX_PDF_BYTES
    from firstlight.text.read import MAX_BYTES, read_file

    most = MAX_PDF_BYTES if name.lower().endswith((*_PDF, *_DOCX)) else MAX_BYTES
    # Who names a file means where its links lead.
    folder, _, base = os.path.realpath(os.path.expanduser(name)).rpartition("/")  # noqa: PTH111
    try:
        return read_file(folder or "/", base, max_bytes=most).data
    except DocumentError as error:
        raise error.at(name) from None


def _stdin() -> bytes:
    from firstlight.text.pdf import MAX_PDF_BYTES

    data = sys.stdin.buffer.read(MAX_PDF_BYTES + 1)
    if len(data) > MAX_PDF_BYTES:
        raise DocumentError(f"is more than {MAX_PDF_BYTES:,} bytes: split it", path=STDIN_TITLE)
    return data
