from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.pdf_files import encrypted, pdf, scanned

from firstlight.errors import DocumentError
from firstlight.text import pdf as module
from firstlight.text.pages import split_pages
from firstlight.text.pdf import extract_pdf

if TYPE_CHECKING:
    from pathlib import Path


def reason(data: bytes) -> str:
    with pytest.raises(DocumentError) as error:
        extract_pdf(data)
    return str(error.value)


def test_pages_are_kept_apart_by_form_feeds() -> None:
    found = extract_pdf(pdf("Cordon the node first.\nThen drain it.", "Coffee is served."))
    assert found.text == "Cordon the node first.\nThen drain it.\fCoffee is served."
    assert found.pages == (0, 38)
    assert found.text[found.pages[1] :] == "Coffee is served."
    assert found.blank == 0


def test_pages_without_text_keep_their_numbers() -> None:
    found = extract_pdf(pdf("One.", "", "Three."))
    assert found.text == "One.\f\fThree."
    assert found.text.count("\f", 0, found.pages[2]) == 2
    assert found.blank == 1


def test_pieces_of_a_long_one_begin_where_pages_do() -> None:
    words = "\n".join("Cordon the node first and drain it then." for _ in range(20))
    found = extract_pdf(pdf(words, words, words))
    pieces = split_pages(found.text, 300)
    assert [piece.end for piece in pieces[:-1]] == [start - 1 for start in found.pages[1:]]
    assert [piece.text.strip() for piece in pieces] == [words] * 3


def test_an_encrypted_one_says_so() -> None:
    assert reason(encrypted()) == "is encrypted: save a copy without a password, and read that"


def test_a_scan_says_so() -> None:
    assert "OCR" in reason(scanned())


@pytest.mark.parametrize("data", [b"%PDF-1.4\nnothing", pdf("One.")[:200], b"%PDF-"])
def test_a_broken_one_says_so(data: bytes) -> None:
    assert reason(data).startswith("is a broken PDF")


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04"])
def test_what_is_none_says_so(data: bytes) -> None:
    assert "is no PDF" in reason(data)


def test_a_damaged_table_of_contents_is_repaired() -> None:
    data = pdf("Cordon the node first.").replace(b"startxref\n", b"startxref\n99")
    assert extract_pdf(data).text == "Cordon the node first."


def test_too_many_pages_and_too_long_a_time_are_refused() -> None:
    data = pdf(*["One."] * 5)
    with pytest.raises(DocumentError, match="has 5 pages, over the cap of 4"):
        extract_pdf(data, max_pages=4)
    with pytest.raises(DocumentError, match="takes too long"):
        extract_pdf(data, timeout=-1)


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    assert "more than 10 characters" in reason(pdf("One.", "Two, and three."))


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    assert "pip install 'firstlight[documents]'" in reason(pdf("One."))


def test_many_threads_read_at_once() -> None:
    data = pdf(*(f"Page {n}." for n in range(20)))
    expected = extract_pdf(data)
    found: list[bool] = []
    threads = [threading.Thread(target=lambda: found.append(extract_pdf(data) == expected)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


@given(st.integers(0, 900), st.binary(min_size=1, max_size=4))
def test_damage_anywhere_is_an_error_or_a_text(at: int, damage: bytes) -> None:
    data = bytearray(pdf("Cordon the node first.", "Then drain it."))
    data[at : at + len(damage)] = damage
    try:
        found = extract_pdf(bytes(data))
    except DocumentError:
        return
    assert found.text.count("\f") == len(found.pages) - 1
    assert all(found.text[start - 1] == "\f" for start in found.pages[1:])


def test_real_ones_are_read(data_pack: Path) -> None:
    four = extract_pdf((data_pack / "long" / "pypdf_pdflatex-4-pages.pdf").read_bytes())
    assert len(four.pages) == 4
    assert four.text.startswith("Hello, here is some text without a meaning.")
    columns = extract_pdf((data_pack / "long" / "pypdf_multicolumn.pdf").read_bytes())
    assert "Two-Column Document with Lorem Ipsum" in columns.text
