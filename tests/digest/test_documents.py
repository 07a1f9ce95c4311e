from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.digest.documents import document

from firstlight.digest import documents
from firstlight.digest.documents import Documents, LongText, cleaned
from firstlight.lexical import parse_query
from firstlight.text import est_tokens, split_pages

if TYPE_CHECKING:
    from pathlib import Path


@given(st.text(st.sampled_from("a\0ä\ud800\udfff水🙂\n")))
def test_cleaning_keeps_every_offset_and_leaves_text_that_can_be_encoded(text: str) -> None:
    clean, size = cleaned(text)
    assert len(clean) == len(text)
    assert len(clean.encode()) == size
    kept = [(a, b) for a, b in zip(text, clean, strict=True) if a != b]
    assert all(a in "\0\ud800\udfff" and b in " \ufffd" for a, b in kept)
    assert "\0" not in clean


def test_a_document_is_known_again_by_its_text() -> None:
    kept = Documents()
    text = document(10)
    first = kept.get(text, "a")
    assert kept.get(text, "a") is first
    assert kept.get(str(text.encode(), "utf-8"), "a") is first
    assert kept.get(text + ".", "a") is not first


def test_one_class_of_callers_never_meets_another() -> None:
    kept = Documents()
    assert kept.get("text", "a") is not kept.get("text", "b")


def test_no_more_are_kept_than_may_be_the_last_ones() -> None:
    kept = Documents(most=2, characters=100)
    first, second = kept.get("a" * 40, "c"), kept.get("b" * 40, "c")
    assert kept.get("a" * 40, "c") is first
    kept.get("c" * 40, "c")
    assert kept.get("a" * 40, "c") is first
    assert kept.get("b" * 40, "c") is not second
    kept.get("d" * 1000, "c")  # the last one is kept however long it is
    assert len(kept._kept) == 1


def test_of_many_who_ask_at_once_one_cuts_and_one_indexes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(text: str, tokens: int) -> list[object]:
        calls.append(1)
        return list(split_pages(text, tokens))

    monkeypatch.setattr(documents, "split_pages", counted)
    kept, text = Documents(), document(50)
    found: list[LongText] = []
    indexes: set[int] = set()

    def ask() -> None:
        found.append(kept.get(text, "a"))
        indexes.add(id(found[-1].index()))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == len(calls) == len(indexes) == 1


@pytest.mark.parametrize("question", ["whale ship captain", "the", "?!", 'the "white whale"', "Ahab's leg"])
def test_scores_are_the_same_bits_with_an_index_and_without(data_pack: Path, question: str) -> None:
    long = LongText((data_pack / "long" / "moby_dick.txt").read_text(encoding="utf-8"))
    query = parse_query(question, (long.language,))
    without = long.bm25(query)
    long.index()
    assert long.bm25(query).tolist() == without.tolist()


def test_what_is_known_of_a_document_is_true() -> None:
    text = document(10)
    long = LongText(text)
    assert long.tokens == est_tokens(text)
    assert long.chunks == split_pages(text)
    assert long.sizes == [est_tokens(chunk.text) for chunk in long.chunks]
    assert long.language == "en"
    assert long.pages == []
