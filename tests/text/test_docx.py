from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.docx_files import TYPES, docx, p, table

from firstlight.errors import DocumentError
from firstlight.text import docx as module
from firstlight.text.docx import extract_docx

if TYPE_CHECKING:
    from pathlib import Path


def reason(data: bytes) -> str:
    with pytest.raises(DocumentError) as error:
        extract_docx(data)
    return str(error.value)


def test_paragraphs_come_in_their_order() -> None:
    assert extract_docx(docx(p("Cordon the node.") + p(" ") + p("Drain &amp; wait."))) == (
        "Cordon the node.\n\nDrain & wait.\n"
    )


def test_headings_are_known_by_their_styles_whatever_the_language() -> None:
    body = p("Handbook", "Titel") + p("Nodes", "berschrift1") + p("Mine", "Mine") + p("Deep", "Deep")
    assert extract_docx(docx(body)) == "# Handbook\n\n# Nodes\n\n# Mine\n\n### Deep\n"
    assert (
        extract_docx(docx(p("No heading", "Circle") + p("Nor this", "Unknown"))) == "No heading\n\nNor this\n"
    )


def test_lists_keep_their_items_together_with_numbers_and_depth() -> None:
    body = p("Steps:") + p("Cordon", item=(2, 0)) + p("first", item=(2, 1)) + p("Drain", item=(2, 0))
    body += p("Then") + p("wait", "Liste") + p("rest", item=(9, 0)) + p("no item", item=(0, 0))
    assert extract_docx(docx(body)) == (
        "Steps:\n\n1. Cordon\n  - first\n2. Drain\n\nThen\n\n- wait\n- rest\n\nno item\n"
    )


def test_tables_become_pipe_tables() -> None:
    body = p("Before") + table([p("Node"), p("Pool")], [p("a|1") + p("more"), ""], ["", ""]) + p("After")
    assert extract_docx(docx(body)) == (
        "Before\n\n| Node | Pool |\n| --- | --- |\n| a\\|1 more |  |\n\nAfter\n"
    )


def test_a_table_in_a_cell_is_the_cells_text_and_one_of_one_column_is_a_frame() -> None:
    inner = table([p("x"), p("y")])
    assert extract_docx(docx(table([p("a") + inner, p("b")]))) == "| a x y | b |\n| --- | --- |\n"
    assert extract_docx(docx(table([p("One.")], [p("Two.")]))) == "One.\n\nTwo.\n"


def test_what_stands_for_itself_in_a_run_is_kept() -> None:
    body = (
        '<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t>'
        "<w:br/><w:t>c</w:t><w:softHyphen/><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>"
    )
    assert extract_docx(docx(body)) == "a\tb\nc\u2011d\n"


def test_what_was_deleted_or_moved_is_gone_and_what_was_inserted_is_there() -> None:
    body = (
        "<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:del><w:r><w:tab/><w:delText>old</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:hyperlink><w:r><w:t> link</w:t></w:r></w:hyperlink>"
        '<w:pPr><w:pPrChange><w:pPr><w:pStyle w:val="Titel"/></w:pPr></w:pPrChange></w:pPr></w:p>'
    )
    assert extract_docx(docx(body)) == "new link\n"


def test_a_text_box_comes_once_and_after_its_paragraph() -> None:
    box = f"<w:drawing><w:txbxContent>{p('One.')}{p('Two.')}</w:txbxContent></w:drawing>"
    both = f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
    body = f"<w:p><w:r><w:t>Around</w:t><mc:AlternateContent>{both}</mc:AlternateContent></w:r></w:p>"
    assert extract_docx(docx(body)) == "Around\n\nOne.\n\nTwo.\n"


def test_the_main_part_is_found_whatever_its_name_and_dialect() -> None:
    assert extract_docx(docx(p("One."), main="word/document2.xml")) == "One.\n"
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    assert extract_docx(docx(p("Title", "berschrift1"), namespace=strict)) == "# Title\n"


@pytest.mark.parametrize("body", ["", p(""), "<w:p/>"])
def test_a_document_without_text_says_so(body: str) -> None:
    assert "has no text" in reason(docx(body))


def test_an_encrypted_one_says_so() -> None:
    assert "is encrypted" in reason(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))
    data = bytearray(docx(p("One.")))
    at = 0
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        data[at + 8] |= 1
        at += 4
    assert "is encrypted" in reason(bytes(data))


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04", docx(p("One."))[:300]])
def test_a_broken_one_says_so(data: bytes) -> None:
    assert reason(data).startswith("is a broken DOCX")


def test_another_kind_of_zip_says_so() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "hello")
    assert "is no DOCX" in reason(file.getvalue())


def test_xml_that_is_none_says_where() -> None:
    assert "its XML ends in line" in reason(docx("<w:p>"))


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    ],
)
def test_entities_are_refused(head: str) -> None:
    assert "declares a document type" in reason(docx(p("&a;"), head=head))


def test_a_bomb_is_not_unpacked() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES.replace("{main}", "word/document.xml"))
        with archive.open("word/document.xml", "w", force_zip64=True) as part:
            for _ in range(140):
                part.write(b" " * 2**20)
    assert len(file.getvalue()) < 500_000
    assert "bytes of XML" in reason(file.getvalue())


def test_a_size_that_lies_is_no_way_around() -> None:
    data = docx(p("x" * 100_000))
    at = data.find(b"PK\x01\x02", data.find(b"PK\x01\x02") + 4)  # the second entry: the document
    lie = data[: at + 24] + (100).to_bytes(4, "little") + data[at + 28 :]
    assert "broken" in reason(lie)


def test_deep_nesting_is_refused() -> None:
    assert "nested more than" in reason(docx("<w:p>" * 2000 + "</w:p>" * 2000))


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstlight.text.docx_body.MAX_BYTES", 10)
    assert "more than 10 characters" in reason(docx(p("One.") + p("Two, and three.")))
    monkeypatch.setattr(module, "MAX_DOCX_BYTES", 10)
    assert "over the cap" in reason(docx(p("One.")))


@given(st.integers(0, 3000), st.binary(min_size=1, max_size=4))
def test_damage_anywhere_is_an_error_or_a_text(at: int, damage: bytes) -> None:
    data = bytearray(docx(p("Cordon the node.", "berschrift1") + table([p("a"), p("b")])))
    data[at : at + len(damage)] = damage
    with suppress(DocumentError):
        assert extract_docx(bytes(data)).strip()


ELEMENTS = st.sampled_from(
    ["p", "r", "t", "tbl", "tr", "tc", "pPr", "del", "tab", "br", "numId", "txbxContent"]
)


TREES = st.recursive(
    st.text("ab|\n", max_size=5),
    lambda inner: st.tuples(ELEMENTS, st.lists(inner, max_size=4)),
    max_leaves=25,
)


@given(TREES)
def test_any_tree_of_elements_is_read(tree: str | tuple[str, list[object]]) -> None:
    def xml(node: object) -> str:
        if isinstance(node, str):
            return node
        assert isinstance(node, tuple)
        return f'<w:{node[0]} w:val="1">{"".join(map(xml, node[1]))}</w:{node[0]}>'

    text = extract_docx(docx(p("First") + xml(tree) + p("Last")))
    assert text.startswith("First")
    assert text.endswith("Last\n")


def test_real_ones_are_read(data_pack: Path) -> None:
    tables = extract_docx((data_pack / "long" / "docling_word_tables.docx").read_bytes())
    assert tables.startswith(
        "# Test with tables\n\nA uniform table\n\n| Header 0.0 | Header 0.1 | Header 0.2 |\n"
    )
    assert extract_docx((data_pack / "long" / "docx-hdrftr.docx").read_bytes()) == "Main document\n"
