from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.oracle import SlowIndex
from tests.lexical.texts import LANGUAGES, WORDS, items, pack_texts, spaced

from firstlight.lexical import (
    Index,
    Indexable,
    Segment,
    build_segment,
    merge_segments,
    parse_query,
    plan_merge,
)
from firstlight.lexical import index as module

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

QUESTIONS = [
    "draining nodes",
    "the node",
    "YouTube 東京 node_id v1.2.3",
    "C++ résumé Häuser",
    '"the pool" of it',
]
questions = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join) | st.sampled_from(QUESTIONS)
operations = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "edit", "delete", "merge", "merge all"]), st.integers(0, 99)
    ),
    max_size=14,
)


@dataclass
class History:
    """What a store does to an index: chunks come, change and go; segments are never changed, only merged."""

    parts: list[tuple[Segment, NDArray[np.bool_]]] = field(default_factory=list)
    living: dict[int, Indexable] = field(default_factory=dict)
    next_id: int = 1

    def add(self, chunks: list[Indexable]) -> None:
        ids = list(range(self.next_id, self.next_id + len(chunks)))
        self.next_id += len(chunks) + 1
        self.living.update(zip(ids, chunks, strict=True))
        self.parts.append((build_segment(ids, chunks), np.zeros(len(ids), np.bool_)))

    def delete(self, chunk: int) -> None:
        del self.living[chunk]
        self.parts = [(segment, dead | (segment.ids == chunk)) for segment, dead in self.parts]

    def merge(self, first: int, last: int) -> None:
        merged = merge_segments(self.parts[first:last])
        self.parts[first:last] = [(merged, np.zeros(len(merged), np.bool_))]

    def do(self, operation: str, number: int, chunks: list[Indexable]) -> None:
        ids = list(self.living)
        if operation == "add" or (operation == "edit" and not ids):
            self.add(chunks[number % len(chunks) :])
        elif operation == "edit":
            self.delete(ids[number % len(ids)])
            self.add([chunks[number % len(chunks)]])
        elif operation == "delete" and ids:
            self.delete(ids[number % len(ids)])
        elif operation == "merge" and len(self.parts) > 1:
            first = number % (len(self.parts) - 1)
            self.merge(first, first + 2)
        elif operation == "merge all":
            self.merge(0, len(self.parts))

    def index(self) -> Index:
        return Index([(segment, dead if dead.any() else None) for segment, dead in self.parts])

    def fresh(self) -> Index:
        return Index([(build_segment(list(self.living), list(self.living.values())), None)])


def corpus(*bodies: str) -> Index:
    """Index chunks 1, 2, 3 and so on."""
    chunks = [Indexable(body) for body in bodies]
    return Index([(build_segment(range(1, len(bodies) + 1), chunks), None)])


def found(index: Index, question: str, depth: int = 10) -> list[int]:
    return list(index.search(parse_query(question), depth=depth).ids.tolist())


@given(operations, st.lists(items(), min_size=3, max_size=4), st.lists(questions, min_size=1, max_size=3))
def test_any_history_scores_to_the_bit_like_a_fresh_build_and_like_the_formula(
    history: list[tuple[str, int]], chunks: list[Indexable], asked: list[str]
) -> None:
    store = History()
    for operation, number in history:
        store.do(operation, number, chunks)
    index, fresh, slow = store.index(), store.fresh(), SlowIndex(store.living)
    assert index.count == fresh.count == len(store.living)
    for question in asked:
        query = parse_query(question, ("en", "de"))
        ranked, again = index.search(query, depth=100), fresh.search(query, depth=100)
        assert ranked.ids.tolist() == again.ids.tolist()
        assert ranked.scores.tobytes() == again.scores.tobytes()
        expected = slow.scores(query)
        assert dict(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True)) == pytest.approx(
            expected, rel=1e-12
        )
        for term in query.terms:
            assert index.idf(term.variants) == fresh.idf(term.variants)


def test_a_long_history_with_planned_merges_scores_like_a_fresh_build() -> None:
    store = History()
    rng = np.random.default_rng(3)
    for step in range(120):
        store.add([Indexable(" ".join(rng.choice(WORDS, 12)), title=str(rng.choice(WORDS)))])
        if step % 3 == 2:
            store.delete(int(rng.choice(list(store.living))))
        while (plan := plan_merge([len(segment) for segment, _ in store.parts])) is not None:
            store.merge(min(plan), max(plan) + 1)
    assert len(store.parts) <= 16
    for question in (*QUESTIONS, *WORDS):
        ranked, fresh = (
            part.search(parse_query(question), depth=7) for part in (store.index(), store.fresh())
        )
        assert ranked.ids.tolist() == fresh.ids.tolist()
        assert ranked.scores.tobytes() == fresh.scores.tobytes()


def test_real_texts_score_like_the_formula(data_pack: Path) -> None:
    chunks = {number: Indexable(text) for number, text in enumerate(pack_texts(data_pack)[::6])}
    index = Index([(build_segment(list(chunks), list(chunks.values())), None)])
    slow = SlowIndex(chunks)
    for question in (
        "How do I install the operator?",
        "什么是黑豹队",
        "trait objects and dyn",
        "gas_limit 0x",
    ):
        query = parse_query(question)
        ranked = index.search(query, depth=1000)
        expected = slow.ranked(query)
        assert ranked.scores.tolist() == pytest.approx([score for _, score in expected], rel=1e-12)
        assert set(ranked.ids.tolist()) == {chunk for chunk, _ in expected}


@given(
    st.lists(items(), min_size=1, max_size=5),
    questions,
    st.sampled_from([(0.9, 0.4), (2.0, 0.0), (1.2, 1.0)]),
)
def test_the_constants_are_those_given(
    chunks: list[Indexable], question: str, constants: tuple[float, float]
) -> None:
    k1, b = constants
    query = parse_query(question)
    ranked = Index([(build_segment(range(len(chunks)), chunks), None)], k1=k1, b=b).search(query, depth=9)
    expected = SlowIndex(dict(enumerate(chunks)), k1=k1, b=b).scores(query)
    got = dict(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True))
    assert got == pytest.approx(expected, rel=1e-12)


@given(st.lists(items(), min_size=1, max_size=8), questions, st.data())
def test_a_mask_filters_and_changes_no_score(
    chunks: list[Indexable], question: str, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(chunks)))
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=len(chunks), max_size=len(chunks))))
    parts = [
        (build_segment(range(cut), chunks[:cut]), None),
        (build_segment(range(cut, len(chunks)), chunks[cut:]), None),
    ]
    query, index = parse_query(question), Index(parts)
    whole = index.search(query, depth=99)
    masked = index.search(query, depth=99, masks=[allowed[:cut], allowed[cut:]])
    kept = allowed[whole.ids]
    assert masked.ids.tolist() == whole.ids[kept].tolist()
    assert masked.scores.tobytes() == whole.scores[kept].tobytes()
    half = index.search(query, depth=99, masks=[None, allowed[cut:]])
    kept = allowed[whole.ids] | (whole.ids < cut)
    assert half.ids.tolist() == whole.ids[kept].tolist()


@given(st.lists(items(), max_size=12), questions, st.integers(1, 12))
def test_the_first_few_are_the_first_of_many_and_ties_are_complete(
    chunks: list[Indexable], question: str, depth: int
) -> None:
    chunks = chunks + chunks[:5]  # twins tie
    index = Index([(build_segment(range(len(chunks)), chunks), None)])
    few, all_ = (index.search(parse_query(question), depth=size) for size in (depth, 1000))
    assert few.ids.tolist() == all_.ids[: len(few.ids)].tolist()
    assert few.scores.tobytes() == all_.scores[: len(few.ids)].tobytes()
    assert len(few.ids) >= min(depth, len(all_.ids))
    if len(few.ids) < len(all_.ids):
        assert all_.scores[len(few.ids)] < few.scores[-1]


def test_equal_chunks_tie_and_all_come_in_the_order_of_their_ids() -> None:
    assert found(corpus("node", "pool", "node", "node", "a node"), "node", depth=1) == [1, 3, 4]


@given(st.lists(items(), min_size=1, max_size=6), questions)
def test_an_explanation_adds_up_to_the_score_and_no_score_exceeds_the_bound(
    chunks: list[Indexable], question: str
) -> None:
    index, query = Index([(build_segment(range(len(chunks)), chunks), None)]), parse_query(question)
    ranked = index.search(query, depth=99)
    scores = dict(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True))
    for chunk in range(len(chunks)):
        explained = index.explain(query, chunk)
        assert [term for term, _ in explained] == list(query.terms)
        assert sum(score for _, score in explained) == pytest.approx(scores.get(chunk, 0.0), rel=1e-12)
    assert all(score <= index.upper_bound(query) for score in scores.values())


@pytest.mark.parametrize("chunk", [0, 2, 99])
def test_explaining_a_chunk_that_is_not_there_is_an_error(chunk: int) -> None:
    index = Index([(build_segment([1, 3], [Indexable("node")] * 2), None)])
    with pytest.raises(KeyError):
        index.explain(parse_query("node"), chunk)


def test_a_dead_chunk_is_explained_as_matching_nothing() -> None:
    segment = build_segment([1, 2], [Indexable("node")] * 2)
    index = Index([(segment, np.array([True, False]))])
    assert [score for _, score in index.explain(parse_query("node"), 1)] == [0.0]


def test_a_question_without_terms_finds_nothing() -> None:
    for question in ("", " ", "???", "👍", "\ud800"):
        assert found(corpus("node", "pool"), question) == []


def test_terms_of_several_languages_count_as_one_term() -> None:
    """`Häuser` is `hauser` in an English chunk, `haus` in a German one: one term, one idf."""
    chunks = [Indexable("Häuser", language="de"), Indexable("Häuser"), Indexable("pool")]
    index = Index([(build_segment([1, 2, 3], chunks), None)])
    query = parse_query("Häuser", ("en", "de"))
    ranked = index.search(query, depth=5)
    assert ranked.ids.tolist() == [1, 2]
    assert ranked.scores[0] == ranked.scores[1]
    assert index.idf(query.terms[0].variants) == pytest.approx(math.log(1 + 1.5 / 2.5))


def test_a_chunk_that_has_several_forms_of_one_term_has_it_as_often_as_all_together() -> None:
    """`YouTube` is indexed whole, `youtube` by its stem: a question for `youtube` asks for both."""
    chunks = {1: Indexable("YouTube youtube"), 2: Indexable("youtube"), 3: Indexable("YouTube YouTube tv")}
    query = parse_query("youtube")
    ranked = Index([(build_segment(list(chunks), list(chunks.values())), None)]).search(query, depth=5)
    got = dict(zip(ranked.ids.tolist(), ranked.scores.tolist(), strict=True))
    assert got == pytest.approx(SlowIndex(chunks).scores(query), rel=1e-12)
    assert set(got) == {1, 2, 3}
    assert got[1] > got[2]


def test_a_small_cache_changes_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [Indexable(" ".join(WORDS[start : start + 9])) for start in range(len(WORDS) - 9)]
    parts = [(build_segment(range(len(chunks)), chunks), None)]
    expected = [Index(parts).search(parse_query(question), depth=9) for question in QUESTIONS]
    monkeypatch.setattr(module, "_CACHE_BYTES", 1)
    index = Index(parts)
    for _ in range(2):
        for question, ranked in zip(QUESTIONS, expected, strict=True):
            again = index.search(parse_query(question), depth=9)
            assert again.ids.tolist() == ranked.ids.tolist()
            assert again.scores.tobytes() == ranked.scores.tobytes()


@given(st.lists(spaced, max_size=4), st.sampled_from(LANGUAGES), st.sampled_from(WORDS))
def test_a_search_leaves_segments_and_masks_as_they_were(
    bodies: list[str], language: str, question: str
) -> None:
    segment = build_segment(range(len(bodies)), [Indexable(body, language=language) for body in bodies])
    before, mask = segment.to_bytes(), np.ones(len(bodies), np.bool_)
    Index([(segment, None)]).search(parse_query(question), depth=2, masks=[mask])
    assert segment.to_bytes() == before
    assert mask.all()


def test_eight_threads_on_one_index_get_identical_answers() -> None:
    rng = np.random.default_rng(5)
    chunks = [Indexable(" ".join(rng.choice(WORDS, 30))) for _ in range(400)]
    parts = [(build_segment(range(400), chunks), np.arange(400) % 7 == 0)]
    queries = [parse_query(" ".join(rng.choice(WORDS, 4))) for _ in range(60)]
    expected = [Index(parts).search(query, depth=10) for query in queries]
    shared, barrier, wrong = Index(parts), threading.Barrier(8), list[int]()

    def ask(offset: int) -> None:
        barrier.wait()
        for step in range(len(queries)):
            number = (step + offset) % len(queries)
            ranked = shared.search(queries[number], depth=10)
            if ranked.scores.tobytes() != expected[number].scores.tobytes() or not np.array_equal(
                ranked.ids, expected[number].ids
            ):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(7 * number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
