"""Files, folders and globs -> documents of a layer."""

from __future__ import annotations

import os
from glob import glob, has_magic
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from firstlight.context.documents import ContextDocument, in_a_list
from firstlight.errors import DocumentError
from firstlight.text.document import is_html
from firstlight.text.files import DEFAULT_EXTENSIONS, walk
from firstlight.text.read import MAX_BYTES, decode, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

__all__ = ["read_documents"]

_PDF, _DOCX = (".pdf",), (".docx", ".docm", ".dotx")
_EXTRACTED = (".html", ".htm", ".xhtml", *_PDF, *_DOCX)


class _Named(NamedTuple):
    """A file: what it is cited by, and where it is below which folder, whose path is real."""

    origin: str
    root: str
    path: str


def read_documents(paths: Iterable[str | PathLike[str]]) -> tuple[ContextDocument, ...]:
    """Read files, each once, and return them in the order of their paths.

    Args:
        paths: Files; folders, of which the documents are read as a Corpus would; and globs.

    Raises:
        DocumentError: Something named is not there or cannot be read; the error names it.
        TypeError: It is no list, or something in it is no path.
    """
    found: dict[str, _Named] = {}
    for given in in_a_list(paths, "paths", "paths"):
        if not isinstance(given, str | os.PathLike) or not isinstance(name := os.fspath(given), str):
            raise TypeError(f"a path must be a str or a Path, not a {type(given).__name__}")
        for file in _files(name):
            found.setdefault(f"{file.root}/{file.path}", file)
    return tuple(_read(file) for file in sorted(found.values(), key=attrgetter("origin")))


def _files(name: str) -> Iterator[_Named]:
    """Yield the files that a name stands for; what is there under that very name is no glob."""
    place = str(Path(name).expanduser()) if name.startswith("~") else name
    if os.path.lexists(place) or not has_magic(place):
        yield from _file_or_folder(place, name)
        return
    matches = sorted(glob(place, recursive=True))  # noqa: PTH207  # names as they were given
    if not matches:
        raise DocumentError("matches no file", path=name)
    # `docs/*` means the documents in it, `docs/*.rst` means those files.
    is_exact = "." in place.rpartition("/")[2].rpartition("*")[2]
    documents = (*DEFAULT_EXTENSIONS, *_EXTRACTED)
    for match in matches:
        if is_exact or os.path.isdir(match) or match.lower().endswith(documents):  # noqa: PTH112
            yield from _file_or_folder(match, match)


def _file_or_folder(place: str, name: str) -> Iterator[_Named]:
    if os.path.isdir(place):  # noqa: PTH112
        root = os.path.realpath(place)
        walked = walk(root)
        above = "" if place in (".", "./") else f"{place.rstrip('/')}/"
        for error in walked.errors:
            raise DocumentError(error.reason, path=f"{above}{error.path}")
        for entry in walked.files:
            yield _Named(f"{above}{entry.path}", root, entry.path)
        return
    if not os.path.exists(place):  # noqa: PTH110
        raise DocumentError("there is no such file or folder", path=name)
    # Who names a file means where its links lead.
    folder, _, base = os.path.realpath(place).rpartition("/")
    yield _Named(place.removeprefix("./"), folder, base)


def _read(file: _Named) -> ContextDocument:
    lower = file.path.lower()
    try:
        if lower.endswith(_PDF):
            from firstlight.text.pdf import MAX_PDF_BYTES, extract_pdf  # noqa: PLC0415  # an extra

            data = read_file(file.root or "/", file.path, max_bytes=MAX_PDF_BYTES).data
            return ContextDocument(file.origin, extract_pdf(data).text, is_file=True)
        data = read_file(file.root or "/", file.path, max_bytes=MAX_BYTES).data
        return ContextDocument(file.origin, _decoded(lower, data), is_file=True)
    except DocumentError as error:
        raise error.at(file.origin) from None


def _decoded(name: str, data: bytes) -> str:
    if name.endswith(_DOCX):
        from firstlight.text.docx import extract_docx  # noqa: PLC0415

        return extract_docx(data)
    if is_html(name):
        from firstlight.text.html import declared_encoding  # noqa: PLC0415

        return decode(data, encoding=declared_encoding(data))
    return decode(data)
