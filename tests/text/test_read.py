"""What bytes become text, what is refused, and which files may be opened at all."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.errors import DocumentError
from firstlight.text.read import decode, read_file

if TYPE_CHECKING:
    from pathlib import Path

# Text that a file can hold: no surrogates, no NULs, no mark at its start.
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(
    lambda text: not text.startswith("\ufeff")
)
BOMS = {
    "utf-8-sig": b"",
    "utf-16-le": b"\xff\xfe",
    "utf-16-be": b"\xfe\xff",
    "utf-32-le": b"\xff\xfe\0\0",
    "utf-32-be": b"\0\0\xfe\xff",
}


def refusal(data: bytes, encoding: str | None = None) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        decode(data, encoding=encoding)
    return caught.value


@given(TEXTS)
def test_utf8_round_trips(text: str) -> None:
    assert decode(text.encode()) == text


@given(TEXTS, st.sampled_from(sorted(BOMS)))
def test_a_byte_order_mark_names_the_encoding(text: str, encoding: str) -> None:
    assert decode(BOMS[encoding] + text.encode(encoding)) == text


@given(TEXTS, st.sampled_from(["utf-16-le", "utf-16-be", "utf-32", "utf-8", "utf-7", "gb18030"]))
def test_a_declared_encoding_round_trips(text: str, encoding: str) -> None:
    try:
        data = text.encode(encoding)
    except UnicodeEncodeError:
        return
    assert decode(data, encoding=encoding) == text


@given(st.binary(max_size=64), st.sampled_from([None, "utf-7", "utf-16", "latin-1", "cp1252", "gb18030"]))
def test_any_bytes_become_text_that_can_be_encoded_again_or_are_refused(
    data: bytes, encoding: str | None
) -> None:
    try:
        text = decode(data, encoding=encoding)
    except DocumentError:
        return
    assert decode(text.encode()) == text
    assert "\0" not in text


def test_marks_alone_are_empty_text_and_a_doubled_mark_is_dropped_whole() -> None:
    assert decode(b"\xef\xbb\xbf") == ""
    assert decode(b"\xff\xfe") == ""
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbf---\n") == "---\n"


def test_a_mark_inside_the_text_stays() -> None:
    assert decode("a\ufeffb".encode()) == "a\ufeffb"


@pytest.mark.parametrize(
    ("data", "offset", "line"),
    [
        (b"# T\n\ntext \xe6\x97\xa5\xe6\x9c", 13, 3),  # cut off
        (b"\xed\xa0\x80", 0, 1),  # a surrogate
        (b"a\r\nb\rc\n\xc0\xaf", 7, 4),  # overlong
        (b"caf\xe9", 3, 1),
    ],
)
def test_undecodable_bytes_are_refused_with_offset_line_and_the_setting(
    data: bytes, offset: int, line: int
) -> None:
    error = refusal(data)
    assert f"byte {offset} " in error.reason
    assert "encoding = " in error.reason
    assert error.line == line


def test_a_nul_is_refused_with_its_offset() -> None:
    error = refusal(b"one\ntwo\0three")
    assert (error.line, "byte 7 is NUL" in error.reason) == (2, True)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_refused_by_name(encoding: str) -> None:
    assert f'encoding = "{encoding}"' in refusal("Grüße aus Köln".encode(encoding)).reason
    assert decode("Grüße aus Köln".encode(encoding), encoding=encoding) == "Grüße aus Köln"


def test_a_nul_is_refused_in_a_declared_encoding_too() -> None:
    assert "NUL" in refusal(b"a\0b", "latin-1").reason
    assert "NUL" in refusal(b"\xff\xfea\0\0\0").reason


@pytest.mark.parametrize(
    "encoding", ["klingon", "base64", "rot13", "a\0b", "undefined", "unicode_escape", "x" * 999]
)
def test_an_encoding_that_is_none_is_a_clear_error(encoding: str) -> None:
    assert "encoding" in refusal(b"text", encoding).reason


def test_surrogates_from_a_declared_codec_are_refused() -> None:
    assert "surrogate" in refusal(b"+2AA-", "utf-7").reason


def test_every_adversarial_file_is_text_or_refused_by_reason(data_pack: Path) -> None:
    refused = {}
    for file in sorted((data_pack / "adversarial" / "synthetic").rglob("*.*")):
        try:
            decode(file.read_bytes()).encode()
        except DocumentError as error:
            refused[file.name] = error.reason
    assert all("byte " in reason for reason in refused.values())
    assert {"nul_in_text.md", "png_named.md", "overlong.md", "lone_surrogates.md"} <= set(refused)
    assert not {"bom_only.md", "double_bom.md", "german_utf-16.md", "german_utf-32.md"} & set(refused)


def test_content_comes_with_the_hash_and_stat_of_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"text")
    content = read_file(tmp_path, "a.md")
    assert (content.path, content.data, content.digest) == ("a.md", b"text", hashlib.sha256(b"text").digest())
    assert (content.size, content.mtime_ns) == (4, file.stat().st_mtime_ns)


def read_refusal(root: Path, path: str, **options: int) -> str:
    with pytest.raises(DocumentError) as caught:
        read_file(root, path, **options)
    assert caught.value.path == path
    return caught.value.reason


def test_links_are_read_inside_the_root_and_refused_outside(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (tmp_path / "secret.md").write_text("secret")
    (root / "real" / "a.md").write_text("a")
    (root / "file.md").symlink_to("real/a.md")
    (root / "folder").symlink_to("real")
    (root / "out.md").symlink_to("../secret.md")
    (root / "up").symlink_to("..")
    assert read_file(root, "file.md").data == read_file(root, "folder/a.md").data == b"a"
    for path in ("out.md", "up/secret.md", "../secret.md", "real/../../secret.md"):
        assert "out of the folder" in read_refusal(root, path)
    assert read_refusal(root, str(tmp_path / "secret.md"))


def test_a_root_that_is_a_link_is_read(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_text("a")
    (tmp_path / "root").symlink_to("real")
    assert read_file(tmp_path / "root", "a.md").data == b"a"


def test_what_is_no_regular_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "device.md").symlink_to("/dev/zero")
    assert "not a regular file" in read_refusal(tmp_path, "pipe.md")
    assert "not a regular file" in read_refusal(tmp_path, "folder.md")
    assert "out of the folder" in read_refusal(tmp_path, "device.md")


@pytest.mark.parametrize("path", ["missing.md", "a.md/b.md", "a\0.md", "x" * 300, "", "."])
def test_what_cannot_be_opened_says_so(tmp_path: Path, path: str) -> None:
    (tmp_path / "a.md").write_text("a")
    assert read_refusal(tmp_path, path)


def test_links_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop.md").symlink_to("loop.md")
    (tmp_path / "gone.md").symlink_to("nothing.md")
    assert "cannot be read" in read_refusal(tmp_path, "loop.md")
    assert "cannot be read" in read_refusal(tmp_path, "gone.md")


def test_a_file_over_the_cap_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big.md").write_bytes(b"x" * 11)
    assert "over the cap of 10" in read_refusal(tmp_path, "big.md", max_bytes=10)
    assert len(read_file(tmp_path, "big.md", max_bytes=11).data) == 11


def test_a_file_that_never_holds_still_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "log.md"
    file.write_text("x")
    fstat = os.fstat

    def writing(descriptor: int) -> os.stat_result:
        with file.open("a") as handle:
            handle.write("more\n")
        return fstat(descriptor)

    monkeypatch.setattr("firstlight.text.read.os.fstat", writing)
    assert "changed while it was being read" in read_refusal(tmp_path, "log.md")


def test_a_folder_that_turns_into_a_link_between_walk_and_read_does_not_lead_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "docs", outside):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text(folder.name)
    assert read_file(root, "docs/a.md").data == b"docs"
    (root / "docs").rename(root / "old")
    (root / "docs").symlink_to(outside)
    assert "out of the folder" in read_refusal(root, "docs/a.md")
