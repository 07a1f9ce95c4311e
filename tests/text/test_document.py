"""A file as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.errors import DocumentError
from firstlight.text.document import chunk_document, parse_content, parse_document, read_document
from firstlight.text.files import walk
from firstlight.text.read import read_file

if TYPE_CHECKING:
    from pathlib import Path


def test_a_document_keeps_its_whole_text_and_knows_where_its_body_begins() -> None:
    text = "---\r\ntitle: T\r\narea: ops\r\n---\r\n# H\r\n\r\nbody"
    document = parse_document("a/b.md", text)
    assert (document.path, document.text, document.title) == ("a/b.md", text, "T")
    assert document.fields == {"title": "T", "area": "ops"}
    assert document.field_lines == {"title": 2, "area": 3}
    assert text[document.body_start :] == "# H\r\n\r\nbody"


def test_plain_text_has_no_headings() -> None:
    assert parse_document("notes.TXT", "# not a heading\n").title == "notes"


def test_html_is_its_text() -> None:
    document = parse_document("a.HTML", "---\narea: ops\n---\n<title>T &amp; U</title><p>one<p>two")
    assert (document.title, document.text, document.body_start) == ("T & U", "one\n\ntwo\n", 0)
    assert (document.fields, document.field_lines) == ({"area": "ops"}, {"area": 2})


def test_errors_name_file_and_line() -> None:
    with pytest.raises(DocumentError) as caught:
        parse_document("a/b.md", "---\ntitle: a: b\n---\n")
    assert str(caught.value).startswith("a/b.md:2: ")


def test_a_file_is_read_as_a_document(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("\ufeff# Grüße\n".encode())
    document = read_document(tmp_path, "a.md")
    assert (document.path, document.title, document.text) == ("a.md", "Grüße", "# Grüße\n")


def test_a_declared_encoding_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("# Käse".encode("cp1252"))
    assert read_document(tmp_path, "a.md", encoding="cp1252").title == "Käse"
    with pytest.raises(DocumentError) as caught:
        read_document(tmp_path, "a.md")
    assert str(caught.value).startswith("a.md:1: byte 3 (0xe4) is not UTF-8")


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        ('<meta charset="iso-8859-1">', "cp1252"),
        ("<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>", "cp1251"),
        ("<meta charset=utf-8>", "utf-8"),
        ("", "utf-8"),
    ],
)
def test_html_may_declare_its_own_encoding(tmp_path: Path, head: str, codec: str) -> None:
    word = "Дом" if codec == "cp1251" else "Käse"
    (tmp_path / "a.html").write_bytes(f"{head}<h1>{word}</h1>".encode(codec))
    assert read_document(tmp_path, "a.html").title == word


def test_an_encoding_that_nobody_knows_is_refused_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<meta charset=klingon>x")
    with pytest.raises(DocumentError, match=r"a\.html: .*klingon"):
        read_document(tmp_path, "a.html")


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.sampled_from(["a.md", "a.txt", "a.html"]),
)
def test_any_text_is_a_document_or_an_error_with_its_path(text: str, path: str) -> None:
    try:
        document = parse_document(path, text)
    except DocumentError as error:
        where = error.path
    else:
        where = document.path
        assert document.title
        assert 0 <= document.body_start <= len(document.text)
    assert where == path


def test_chunks_cover_the_body(data_pack: Path) -> None:
    document = read_document(data_pack / "md" / "eips" / "EIPS", "eip-1.md")
    chunks = chunk_document(document)
    assert chunks[0].start >= document.body_start
    assert all(document.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


def test_every_real_document_is_read(data_pack: Path) -> None:
    root = data_pack / "md"
    for entry in walk(root).files[::5]:
        content = read_file(root, entry.path)
        assert (content.size, content.mtime_ns) == (entry.size, entry.mtime_ns)
        assert parse_content(content).text.encode()
