from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.digest.extract import MOST, MOST_CHARACTERS, extract
from firstlight.digest.types import Passage
from firstlight.text.pages import split_pages

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = """\
# Drain a node

Lunch is at noon. Cordon the node first, so that nothing new is scheduled. Then drain it, and wait.

## Pods

A pod without a controller blocks the drain: delete it by hand. Coffee is served at four.
"""


def passages(text: str, tokens: int = 40) -> list[Passage]:
    return [
        Passage(n, chunk.start, chunk.end, chunk.line_start, chunk.line_end, None, chunk.text)
        for n, chunk in enumerate(split_pages(text, tokens), 1)
    ]


def verify(text: str, given_passages: list[Passage], question: str) -> str:
    answer, citations = extract(question, given_passages)
    by_number = {passage.number: passage for passage in given_passages}
    for citation in citations:
        assert answer[citation.answer_start : citation.answer_end] == text[citation.start : citation.end]
        passage = by_number[citation.number]
        assert passage.start <= citation.start < citation.end <= passage.end
        assert answer[citation.answer_end :].startswith(f" [{citation.number}]")
    places = [citation.start for citation in citations]
    assert places == sorted(places)
    return answer


def test_the_best_sentences_come_word_for_word_in_the_documents_order() -> None:
    answer = verify(DOCUMENT, passages(DOCUMENT), "what blocks the drain of a node?")
    assert "A pod without a controller blocks the drain: delete it by hand. [2]" in answer
    assert "Lunch" not in answer
    assert "Coffee" not in answer


def test_a_heading_is_no_answer_while_sentences_are() -> None:
    assert "# Drain a node" not in extract("drain a node", passages(DOCUMENT))[0]


def test_a_heading_is_an_answer_where_nothing_else_is() -> None:
    assert extract("pods", passages("## Pods\n\nNone."))[0].startswith("## Pods")


@pytest.mark.parametrize("question", ["zeppelin", "?!", "zeppelin the of"])
def test_what_matches_nothing_gives_nothing(question: str) -> None:
    assert extract(question, passages("Cordon the node. Drain it.")) == ("", ())


def test_without_passages_there_is_nothing() -> None:
    assert extract("drain", []) == ("", ())
    assert extract("", []) == ("", ())


def test_without_a_question_the_first_sentences_come() -> None:
    answer = verify(DOCUMENT, passages(DOCUMENT), " ")
    assert answer.startswith("# Drain a node [1]")
    assert len(answer) < len(DOCUMENT)


def test_it_stays_short_however_long_the_passages_are() -> None:
    text = " ".join(f"The drain number {n} of node {n} takes its time and more." for n in range(400))
    answer = verify(text, passages(text, 1200), "drain node")
    assert answer.count(" [") <= MOST
    assert len(answer) <= MOST_CHARACTERS + 10 * MOST


def test_a_table_gives_the_rows_that_answer() -> None:
    rows = "\n".join(f"| node-{n} | pool {n} | {'x' * 40} |" for n in range(40))
    answer = verify(rows, passages(rows, 2000), "which pool has node-17?")
    assert "node-17 | pool 17" in answer
    assert len(answer) < 800


def test_a_line_without_end_is_cut_at_words() -> None:
    text = "drain " * 5000
    answer = verify(text, passages(text, 3000), "drain")
    assert len(answer) <= MOST_CHARACTERS + 10 * MOST


def test_what_stands_twice_comes_once() -> None:
    text = "Drain the node before the upgrade.\fDrain  the node before the upgrade.\f"
    assert extract("drain node", passages(text))[0] == "Drain the node before the upgrade. [1]"


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Schönes Wetter. Die Häuser wurden 1952 in Köln gebaut.", "Wann wurde das Haus gebaut?", "1952"),
        ("天气很好。节点在升级之前必须排空。咖啡在四点。", "节点 升级", "节点在升级之前必须排空。"),
    ],
)  # fmt: skip
def test_other_languages_are_read_too(text: str, question: str, expected: str) -> None:
    assert expected in extract(question, passages(text, 400))[0]


@given(st.text("aé漢. \n[1]\f!drain", max_size=200), st.sampled_from(["drain", "漢", "", "a é"]))
def test_offsets_are_exact_in_any_text(text: str, question: str) -> None:
    verify(text, passages(text, 10), question)


def test_offsets_are_exact_in_a_real_book(data_pack: Path) -> None:
    book = next(iter(sorted((data_pack / "long").rglob("*.txt"))))
    text = book.read_text(encoding="utf-8", errors="replace")[:60_000]
    assert verify(text, passages(text, 1200), "who is the captain of the ship?") is not None


def test_of_code_the_lines_that_answer_are_taken_and_no_fence() -> None:
    text = 'It is so.\n\n```json\n{\n  "drain": "the node",\n  "pool": "another one"\n}\n```\n\nDone.\n'
    assert verify(text, passages(text, 400), "drain node") == '"drain": "the node", [1]'
