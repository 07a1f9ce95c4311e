"""Small PDFs, written by hand: from any folder of tests, `from tests.text.pdf_files import pdf`."""

from __future__ import annotations

_LINE = 14


def pdf(*pages: str) -> bytes:
    """Return a PDF of these pages, each with the lines of its text; Latin-1 is all that it can write."""
    return _file([*_tree(len(pages)), *(item for text in pages for item in _page(text))])


def scanned() -> bytes:
    """Return a PDF of one page with a rectangle and no text."""
    return _file([*_tree(1), _leaf(), _stream(b"10 10 200 300 re f")])


def encrypted() -> bytes:
    """Return a PDF that asks for a password, which nobody has."""
    unknown = b"<" + b"5a" * 32 + b">"
    lock = b"<< /Filter /Standard /V 1 /R 2 /O %b /U %b /P -4 >>" % (unknown, unknown)
    return _file([*_tree(1), *_page("Secret."), lock], trailer=b"/Encrypt 6 0 R /ID [<00> <00>]")


def _tree(pages: int) -> list[bytes]:
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(pages))
    return [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%b] >>" % (pages, kids),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]


def _leaf(content: int = 5) -> bytes:
    return (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
        b" /Resources << /Font << /F1 3 0 R >> >> >>" % content
    )


def _page(text: str) -> list[bytes]:
    lines = [line.translate({ord(c): f"\\{c}" for c in "()\\"}) for line in text.split("\n")]
    shown = "".join(f"({line}) Tj T*\n" for line in lines if line)
    return [b"", _stream(f"BT /F1 11 Tf {_LINE} TL 50 760 Td\n{shown}ET".encode("latin-1"))]


def _stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content)


def _file(objects: list[bytes], trailer: bytes = b"") -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content or _leaf(number + 1))
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R %b >>\n" % (len(objects) + 1, trailer)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)
