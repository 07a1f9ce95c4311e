"""A DOCX as text, in reading order: headings, lists and tables as in Markdown.

It is read with zipfile and expat alone. The libraries for it bring lxml, build trees of the whole document
and leave out text boxes or insertions; what is wanted here are the paragraphs, one after another.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING

from firstlight.errors import DocumentError
from firstlight.text.docx_body import Body
from firstlight.text.docx_styles import Numbering, Styles
from firstlight.text.docx_xml import XmlError, parse

if TYPE_CHECKING:
    from firstlight.text.docx_xml import Handler

__all__ = ["MAX_DOCX_BYTES", "extract_docx"]

MAX_DOCX_BYTES = 256 * 2**20  # most of which are pictures, which are not unpacked
# War and Peace takes some 15 MB of XML; a bomb of a hundred kilobytes can take gigabytes.
_MAX_XML = 128 * 2**20
_PIECE = 1 << 16
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAIN = re.compile(r"(?:document|template)\.(?:macroEnabled(?:Template)?\.)?main\+xml\Z")


def extract_docx(data: bytes) -> str:
    """Return the text of a DOCX.

    Raises:
        DocumentError: It is encrypted, broken, too large, no DOCX, or has no text.
    """
    if data.startswith(_OLE):
        raise DocumentError(
            "is encrypted, or of Word 97: open it in Word or LibreOffice, and save it as .docx"
        )
    if len(data) > MAX_DOCX_BYTES:
        raise DocumentError(f"is {len(data):,} bytes, over the cap of {MAX_DOCX_BYTES:,}: split it")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            text = _read(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError):
        raise DocumentError("is a broken DOCX: open it in a word processor, and save it anew") from None
    except XmlError as error:
        raise DocumentError(f"is a broken DOCX: {error}") from None
    if not text.strip():
        raise DocumentError("has no text, only pictures or nothing")
    return text


def _read(archive: zipfile.ZipFile) -> str:
    package = _Package(archive)
    types = _Types()
    package.parse("[Content_Types].xml", types)
    main = next((name for name, kind in types.kinds.items() if _MAIN.search(kind)), "word/document.xml")
    styles, numbering = Styles(), Numbering()
    for kind, handler in ((".styles+xml", styles), (".numbering+xml", numbering)):
        for name in (name for name, found in types.kinds.items() if found.endswith(kind)):
            package.parse(name, handler)
    body = Body(styles, numbering)
    if not package.parse(main, body):
        raise DocumentError("is no DOCX: it has no document part")
    return body.joined()


class _Package:
    """The parts of a DOCX, unpacked within one bound for all."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._size = 0

    def parse(self, name: str, handler: Handler) -> bool:
        """Parse a part as it is unpacked; return whether it is there."""
        try:
            entry = self._archive.getinfo(name)
        except KeyError:
            return False
        if entry.flag_bits & 1:
            raise DocumentError("is encrypted: save a copy without a password, and read that")
        self._size += entry.file_size
        if self._size > _MAX_XML:
            raise DocumentError(f"holds more than {_MAX_XML:,} bytes of XML: split it")
        with self._archive.open(entry) as part:  # gives no more than the size that it states
            parse(iter(lambda: part.read(_PIECE), b""), handler)
        return True


class _Types:
    """What each part of the package is: `[Content_Types].xml`."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "Override":
            self.kinds[attributes.get("PartName", "").lstrip("/")] = attributes.get("ContentType", "")

    def end(self, name: str) -> None:
        pass

    def text(self, text: str) -> None:
        pass
