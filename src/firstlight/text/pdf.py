"""A PDF as text: its pages, one after another, with a form feed between them."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from firstlight.errors import DocumentError
from firstlight.text.read import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

__all__ = ["MAX_PAGES", "MAX_PDF_BYTES", "PAGE_END", "PdfText", "extract_pdf"]

PAGE_END = "\f"
# A book has a thousand pages, the largest standards five: at some 400 pages a second that is half a minute.
MAX_PAGES = 10_000
MAX_PDF_BYTES = 256 * 2**20  # most of which are pictures
_TIMEOUT = 60.0
_INSTALL = "pip install 'firstlight[documents]'"
# Error codes of PDFium.
_WRONG_FORMAT, _NEEDS_PASSWORD, _UNKNOWN_SECURITY = 3, 4, 5
# PDFium, in one process, is used by one thread at a time.
_LOCK = threading.Lock()

_LINE_END = re.compile(r"\r\n?")
# PDFium's mark of a hyphen at which a word was broken; what stood before and after it is one word.
_BROKEN_WORD = re.compile("[\ufffe\x02]\n?")
_NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class PdfText(NamedTuple):
    """The text of a PDF.

    Attributes:
        text: The pages' texts, with a form feed between two of them and nowhere else.
        pages: The offset of each page's start.
        blank: How many pages have no text: pictures, or nothing.
    """

    text: str
    pages: tuple[int, ...]
    blank: int


def extract_pdf(data: bytes, *, max_pages: int = MAX_PAGES, timeout: float = _TIMEOUT) -> PdfText:
    """Return the text of a PDF.

    Args:
        data: The file's bytes.
        max_pages: A PDF with more pages is refused.
        timeout: Seconds after which it is given up; looked at between pages.

    Raises:
        DocumentError: It is encrypted, broken, too large, or has no text at all, as a scan has none; or the
            extra `documents` is not installed.
    """
    pdfium = _pdfium()
    if len(data) > MAX_PDF_BYTES:
        raise DocumentError(f"is {len(data):,} bytes, over the cap of {MAX_PDF_BYTES:,}: split it")
    if b"%PDF-" not in data[:1024]:
        raise DocumentError("is no PDF: it does not begin with %PDF-")
    with _LOCK:
        texts = list(_pages(pdfium, data, max_pages, time.monotonic() + timeout))
    blank = sum(not text.strip() for text in texts)
    if blank == len(texts):
        raise DocumentError("has no text, only pictures, as a scan does: run it through OCR first (ocrmypdf)")
    starts = []
    at = 0
    for text in texts:
        starts.append(at)
        at += len(text) + len(PAGE_END)
    return PdfText(PAGE_END.join(texts), tuple(starts), blank)


def _pages(pdfium: ModuleType, data: bytes, max_pages: int, deadline: float) -> Iterator[str]:
    size = 0
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise _refused(getattr(error, "err_code", None)) from None
    try:
        count = len(document)
        if count > max_pages:
            raise DocumentError(f"has {count:,} pages, over the cap of {max_pages:,}: split it")
        for number in range(count):
            if time.monotonic() > deadline:
                raise DocumentError(f"takes too long to read: page {number + 1} of {count:,}; split it")
            text = _page(pdfium, document, number)
            size += len(text)
            if size > MAX_BYTES:
                raise DocumentError(f"has more than {MAX_BYTES:,} characters: split it")
            yield text
        if not count:
            raise DocumentError("has no pages")
    finally:
        document.close()


def _page(pdfium: ModuleType, document: object, number: int) -> str:
    """Return the text of a page; of one that is broken, none: the others are still worth reading."""
    try:
        page = document[number]  # type: ignore[index]
    except pdfium.PdfiumError:
        return ""
    try:
        text_page = page.get_textpage()
        try:
            return _cleaned(text_page.get_text_bounded())
        finally:
            text_page.close()
    except pdfium.PdfiumError:
        return ""
    finally:
        page.close()


def _cleaned(text: str) -> str:
    return _NO_TEXT.sub("", _BROKEN_WORD.sub("", _LINE_END.sub("\n", text)))


def _refused(code: int | None) -> DocumentError:
    if code in (_NEEDS_PASSWORD, _UNKNOWN_SECURITY):
        return DocumentError("is encrypted: save a copy without a password, and read that")
    return DocumentError("is a broken PDF: open it in a viewer, and save or print it to a new one")


def _pdfium() -> ModuleType:
    try:
        import pypdfium2  # noqa: PLC0415  # an extra, and 0.2 s: loaded for a PDF
    except ImportError as error:
        raise DocumentError(f"is a PDF, which an extra reads: {_INSTALL}") from error
    module: ModuleType = pypdfium2
    return module
