"""What other libraries' users report of their lexical search: one test for each kind of fault."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firstlight.lexical import Index, Indexable, Segment, build_segment, parse_query

if TYPE_CHECKING:
    from pathlib import Path


def corpus(*bodies: str) -> Index:
    """Index chunks 1, 2, 3 and so on."""
    chunks = [Indexable(body) for body in bodies]
    return Index([(build_segment(range(1, len(bodies) + 1), chunks), None)])


def found(index: Index, question: str, depth: int = 10) -> list[int]:
    return list(index.search(parse_query(question), depth=depth).ids.tolist())


def test_a_term_in_half_of_the_chunks_or_in_all_still_weighs() -> None:
    for having in range(1, 11):
        index = corpus(*["node"] * having, *["pool"] * (10 - having))
        ranked = index.search(parse_query("node"), depth=10)
        assert len(ranked.ids) == having
        assert (ranked.scores > 0).all()
        assert index.idf(("node",)) == pytest.approx(math.log(1 + (10 - having + 0.5) / (having + 0.5)))


def test_results_are_never_padded_with_chunks_that_match_nothing() -> None:
    index = corpus("drain a node", "a pool", "something else")
    assert found(index, "drain") == [1]
    assert found(index, "nowhere") == []
    allowed = np.array([False, True, True])
    assert index.search(parse_query("drain"), depth=10, masks=[allowed]).ids.tolist() == []


@pytest.mark.parametrize("bodies", [[], [""], ["", ""], ["---", "***", "👍 → …"]])
def test_a_corpus_of_empty_or_symbol_only_chunks_is_no_error_and_no_hit(bodies: list[str]) -> None:
    index = corpus(*bodies)
    with np.errstate(all="raise"):
        for question in ("node", "", "---", "👍", '"node"'):
            assert found(index, question) == []
        assert index.upper_bound(parse_query("node")) >= 0
    assert index.count == len(bodies)


def test_an_index_without_any_segment_finds_nothing() -> None:
    index = Index([])
    assert (index.count, found(index, "node")) == (0, [])
    assert index.phrase_candidates(parse_query('"node"')).tolist() == []


def test_a_corpus_that_was_deleted_finds_nothing() -> None:
    index = Index([(build_segment([1, 2], [Indexable("node")] * 2), np.ones(2, np.bool_))])
    assert (index.count, found(index, "node")) == (0, [])


def test_more_results_than_chunks_may_be_asked_for() -> None:
    index = corpus(*["a node"] * 3, "pool")
    for depth in (3, 4, 5, 1000, 10**9):
        assert found(index, "node", depth) == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("黑豹队的防守只丢了308分", "防守"),
        ("黑豹队的防守只丢了308分", "黑豹队丢了多少分？"),
        ("機器學習是人工智慧的一個分支", "機器學習"),
        ("東京都の天気は晴れです", "天気"),
        ("カタカナとひらがな", "ひらがな"),
        ("ภาษาไทยไม่มีช่องว่างระหว่างคำ", "ช่องว่าง"),
        ("한국어 문서를 검색합니다", "문서 검색"),
        ("機", "機"),
    ],
)
def test_chinese_japanese_thai_and_korean_are_found(text: str, question: str) -> None:
    assert found(corpus("something else", text, "other text"), question) == [2]


@pytest.mark.parametrize(
    ("body", "question"),
    [
        ("listens on port 20455.", "20455"),
        ("fails with E1234: disk full", "E1234"),
        ("fails with E1234: disk full", "error e1234?"),
        ("set MAX_RETRIES=5", "max_retries"),
        ("since v1.2.3", "v1.2.3"),
        ("commit 9f86d081884c7d65", "9f86d081884c7d65"),
        ("about 3.14", "3.14"),
        ("IPv4 10.0.0.1", "10.0.0.1"),
    ],
)
def test_numbers_and_identifiers_are_found(body: str, question: str) -> None:
    index = corpus("something else", body, "20456 E1235 v9.8.7 6.28")
    assert found(index, question)[:1] == [2]


_SYNTAX = ["drain-node", "drain:node", "drain's node's", '"drain node', "drain AND node", "drain OR node"]
_SYNTAX += ["NOT drain", "drain* node*", "(drain node", "drain) node(", "drain^2 node~1", "+drain -node"]
_SYNTAX += ["drain NEAR/3 node", "'drain' ''node''", "body:drain", "drain\x00node", "{drain} [node]"]
_SYNTAX += ["drain; DROP TABLE node; --", "drain\\", "/drain/", "drain?", "%drain%"]


@pytest.mark.parametrize("question", _SYNTAX)
def test_signs_and_operators_neither_break_nor_empty_a_question(question: str) -> None:
    assert found(corpus("something else", "drain the node"), question) == [2]


@pytest.mark.parametrize(
    "question", ["how do I drain the node", "the node", "is it a node?", "to the node of the"]
)
def test_stop_words_keep_no_chunk_from_matching(question: str) -> None:
    assert found(corpus("drain node", "something else"), question) == [1]


def test_a_question_of_stop_words_alone_is_answered() -> None:
    assert found(corpus("to be or not to be", "node"), "to be or not to be") == [1]


def test_an_index_is_kept_and_not_rebuilt_for_each_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "segment"
    file.write_bytes(build_segment([1, 2], [Indexable("drain a node"), Indexable("a pool")]).to_bytes())

    def forbidden(*_: object) -> None:
        pytest.fail("a chunk was read again")

    monkeypatch.setattr("firstlight.lexical.tokenizer.Tokenizer.tokenize", forbidden)
    index = Index([(Segment.from_buffer(file.read_bytes()), None)])
    assert found(index, "draining") == [1]
    assert found(index, "pools") == [2]


def test_a_new_chunk_is_found_as_soon_as_its_segment_is_there() -> None:
    old = build_segment([1], [Indexable("drain a node")])
    before = old.to_bytes()
    new = build_segment([2], [Indexable("drain a pool")])
    assert found(Index([(old, None)]), "pool") == []
    assert found(Index([(old, None), (new, None)]), "pool") == [2]
    assert found(Index([(old, None), (new, None)]), "drain") == [1, 2]
    assert old.to_bytes() == before


def test_after_edits_and_deletes_every_statistic_is_that_of_a_fresh_build() -> None:
    chunks = [Indexable(f"node {'pool ' * number} drain") for number in range(6)]
    edited = [*chunks[:2], Indexable("a pool of its own"), *chunks[4:]]  # 3 deleted, 2 edited
    parts = [
        (build_segment(range(6), chunks), np.array([False, False, True, True, False, False])),
        (build_segment([6], [edited[2]]), None),
    ]
    index, fresh = (
        Index(parts),
        Index([(build_segment([0, 1, 4, 5, 6], [*chunks[:2], *chunks[4:], edited[2]]), None)]),
    )
    assert index.count == fresh.count == 5
    for question in ("node", "pool", "drain", "own node pool"):
        query = parse_query(question)
        left, right = index.search(query, depth=9), fresh.search(query, depth=9)
        assert left.ids.tolist() == right.ids.tolist()
        assert left.scores.tobytes() == right.scores.tobytes()
        assert index.upper_bound(query) == fresh.upper_bound(query)
