from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embed.fakes import FakeEmbedder, vector_of

from firstlight.embed.cache import VectorCache
from firstlight.embed.embedding import Outcome, embed_documents
from firstlight.embed.inputs import input_hash
from firstlight.embed.types import Limits
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from firstlight.errors import Trouble

HARMLESS = "hello"


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VectorCache]:
    with closing(VectorCache(tmp_path / "vectors.db", warn=pytest.fail)) as opened:
        yield opened


def run(embedder: FakeEmbedder, texts: Sequence[str], cache: VectorCache | None = None) -> dict[int, Outcome]:
    outcomes = [it for part in embed_documents(embedder, enumerate(texts), cache=cache) for it in part]
    assert len({it.key for it in outcomes}) == len(outcomes)
    return {it.key: it for it in outcomes}


def until_it_raises(
    embedder: FakeEmbedder, texts: Sequence[str], cache: VectorCache | None = None
) -> tuple[list[Outcome], EmbeddingError]:
    return drained(embed_documents(embedder, enumerate(texts), cache=cache))


def drained(parts: Iterator[list[Outcome]]) -> tuple[list[Outcome], EmbeddingError]:
    outcomes: list[Outcome] = []
    try:
        for part in parts:
            outcomes += part
    except EmbeddingError as error:
        return outcomes, error
    return pytest.fail("nothing was raised")


def failing(kind: Trouble, when: Callable[[Sequence[str]], bool]) -> Callable[[Sequence[str]], object]:
    def script(texts: Sequence[str]) -> None:
        if when(texts):
            raise EmbeddingError(f"the fake says {kind}", kind=kind)

    return script


TEXTS = [f"text {number}" for number in range(10)]


def test_every_item_gets_its_own_texts_vector_in_order() -> None:
    embedder = FakeEmbedder()
    outcomes = run(embedder, TEXTS)
    assert list(outcomes) == list(range(10))
    for key, outcome in outcomes.items():
        assert outcome.vectors is not None
        np.testing.assert_allclose(outcome.vectors, [vector_of(TEXTS[key])], atol=1e-6)
        assert (outcome.reason, outcome.cached) == (None, False)
    assert [len(call) for call in embedder.calls] == [4, 4, 2]
    assert embedder.texts == TEXTS
    assert embedder.kinds == {"document"}


def test_what_is_cached_is_not_embedded_again(cache: VectorCache) -> None:
    first = run(FakeEmbedder(), TEXTS, cache)
    embedder = FakeEmbedder()
    second = run(embedder, [*TEXTS, "a new one"], cache)
    assert embedder.texts == ["a new one"]
    assert [it.cached for it in second.values()].count(True) == 10
    for key in range(10):
        np.testing.assert_array_equal(first[key].vectors, second[key].vectors)


def test_another_model_or_class_of_callers_gets_nothing_of_it(cache: VectorCache) -> None:
    run(FakeEmbedder(), TEXTS, cache)
    other = FakeEmbedder(fingerprint="other")
    run(other, TEXTS, cache)
    assert other.texts == TEXTS
    again = FakeEmbedder()
    assert len(list(embed_documents(again, enumerate(TEXTS), cache=cache, caller_class="alice"))) == 3
    assert again.texts == TEXTS


def test_cached_vectors_of_another_length_are_not_used(cache: VectorCache) -> None:
    run(FakeEmbedder(), TEXTS, cache)
    longer = FakeEmbedder(dimensions=16)
    assert all(
        it.vectors is not None and it.vectors.shape == (1, 16) for it in run(longer, TEXTS, cache).values()
    )
    assert longer.texts == TEXTS


@given(st.lists(st.sampled_from("abcdef"), max_size=40), st.integers(1, 5))
def test_equal_texts_are_embedded_once(texts: list[str], size: int) -> None:
    embedder = FakeEmbedder(limits=Limits(size, 100))
    outcomes = run(embedder, texts)
    assert outcomes.keys() == set(range(len(texts)))
    assert Counter(embedder.texts) == Counter(set(texts))


def test_equal_texts_far_apart_are_embedded_once_without_a_cache() -> None:
    embedder = FakeEmbedder()
    texts = [f"text {number % 150}" for number in range(600)]
    assert len(run(embedder, texts)) == 600
    assert len(embedder.texts) == 150


def test_items_are_consumed_lazily_and_outcomes_come_call_by_call() -> None:
    taken = 0

    def source() -> Iterator[tuple[int, str]]:
        nonlocal taken
        for number in range(10_000):
            taken += 1
            yield number, f"text {number}"

    parts = embed_documents(FakeEmbedder(), source(), cache=None)
    assert [it.key for it in next(parts)] == [0, 1, 2, 3]
    assert taken <= 64
    for _ in range(99):
        next(parts)
    assert taken <= 400 + 64


def test_calls_are_full_across_portions() -> None:
    embedder = FakeEmbedder(limits=Limits(50, 100_000))
    run(embedder, [f"text {number}" for number in range(200)])
    assert [len(call) for call in embedder.calls] == [50] * 4


def test_each_finished_call_is_in_the_cache_before_it_is_told(cache: VectorCache) -> None:
    for part in embed_documents(FakeEmbedder(), enumerate(TEXTS), cache=cache):
        hashes = [input_hash(TEXTS[it.key]) for it in part]
        assert cache.get_many("fake", hashes).keys() == set(hashes)


def test_a_long_text_is_embedded_in_windows_that_stay_together(cache: VectorCache) -> None:
    embedder = FakeEmbedder(max_tokens=20, limits=Limits(4, 10_000))
    long = "drain the node and wait " * 7
    outcomes = run(embedder, ["short", "brief", long, "terse"], cache)
    pieces = [text for text in embedder.texts if text not in ("short", "brief", "terse")]
    assert "".join(pieces) == long
    assert len(pieces) > 2
    assert sum(pieces[0] in call for call in embedder.calls) == 1
    assert any(set(pieces) <= set(call) for call in embedder.calls)
    vectors = outcomes[2].vectors
    assert vectors is not None
    np.testing.assert_allclose(vectors, [vector_of(piece) for piece in pieces], atol=1e-6)
    again = FakeEmbedder(max_tokens=20)
    np.testing.assert_array_equal(run(again, [long], cache)[0].vectors, vectors)
    assert again.calls == []


def test_a_text_of_more_windows_than_a_call_takes_completes_with_the_last() -> None:
    embedder = FakeEmbedder(max_tokens=10, limits=Limits(2, 10_000))
    text = "drain the node and wait " * 10
    parts = list(embed_documents(embedder, [(7, text), (8, "short")], cache=None))
    assert len(embedder.calls) > 3
    assert parts[0][0].key == 7
    assert parts[0][0].vectors is not None
    assert len(parts[0][0].vectors) == len(embedder.texts) - 1


def test_too_large_halves_the_call_and_the_next_ones_are_smaller_from_the_start() -> None:
    embedder = FakeEmbedder(failing("too-large", lambda texts: len(texts) > 3), limits=Limits(8, 10_000))
    texts = [f"text {number:04}" for number in range(64)]
    outcomes = run(embedder, texts)
    assert all(it.vectors is not None for it in outcomes.values())
    assert [len(call) for call in embedder.calls[:7]] == [8, 4, 2, 2, 4, 2, 2]
    assert sum(len(call) > 3 for call in embedder.calls) < 6


def test_a_text_that_is_too_large_alone_is_cut_until_it_fits() -> None:
    embedder = FakeEmbedder(failing("too-large", lambda texts: sum(map(len, texts)) > 200))
    long = "wait for the drain to end " * 30
    outcomes = run(embedder, ["a", long, "b"])
    assert len(outcomes) == 3
    vectors = outcomes[1].vectors
    assert vectors is not None
    answered = [call[0] for call in embedder.calls if len(call) == 1 and len(call[0]) <= 200]
    pieces = [text for text in answered if text not in ("a", "b")]
    assert "".join(pieces) == long
    np.testing.assert_allclose(vectors, [vector_of(piece) for piece in pieces], atol=1e-6)


def test_a_text_that_cannot_get_smaller_fails_alone() -> None:
    embedder = FakeEmbedder(failing("too-large", lambda texts: any("水" in text for text in texts)))
    outcomes = run(embedder, ["a", "水" * 1000, "b", "c", "d"])
    assert {key for key, it in outcomes.items() if it.vectors is None} == {1}
    assert outcomes[1].reason is not None
    assert "水" not in outcomes[1].reason
    assert len(embedder.calls) < 15


@pytest.mark.parametrize("bad", [{0}, {3}, {7}, {0, 1}, {2, 5}, {0, 1, 2, 3, 4, 5, 6}, set(range(8))])
@pytest.mark.parametrize("kind", ["refused", "wrong-answer"])
def test_poisonous_texts_fail_alone_and_the_others_go_on(
    kind: Trouble, bad: set[int], cache: VectorCache
) -> None:
    poison = {f"text {number}" for number in bad}
    embedder = FakeEmbedder(failing(kind, lambda texts: bool(poison & set(texts))), limits=Limits(8, 1000))
    outcomes = run(embedder, [f"text {number}" for number in range(12)], cache)
    assert {key for key, it in outcomes.items() if it.vectors is None} == bad
    for key in bad:
        reason = outcomes[key].reason
        assert reason is not None
        assert kind in reason
        assert input_hash(f"text {key}").hex()[:12] in reason
        assert f"text {key}" not in reason
    assert len(embedder.calls) <= 4 + 2 * 3 * len(bad)  # two calls, one repeated, a harmless text; halves


@given(
    st.sets(st.integers(0, 29)), st.integers(1, 9), st.sampled_from(["refused", "wrong-answer", "too-large"])
)
def test_whatever_is_at_fault_every_item_gets_exactly_its_outcome(
    bad: set[int], size: int, kind: Trouble
) -> None:
    texts = [f"text {number}" for number in range(30)]
    poison = {texts[number] for number in bad}
    embedder = FakeEmbedder(failing(kind, lambda given: bool(poison & set(given))), limits=Limits(size, 1000))
    outcomes = run(embedder, texts)
    assert outcomes.keys() == set(range(30))
    assert {key for key, it in outcomes.items() if it.vectors is None} == bad


@pytest.mark.parametrize("kind", ["refused", "wrong-answer", "too-large"])
def test_no_text_is_given_up_where_none_at_all_is_taken(kind: Trouble) -> None:
    embedder = FakeEmbedder(failing(kind, lambda texts: True))
    outcomes, error = until_it_raises(embedder, TEXTS)
    assert outcomes == []
    assert error.kind == kind
    assert embedder.calls[-1] == (HARMLESS,)
    assert len(embedder.calls) < 8


def test_a_wrong_answer_is_asked_for_once_more() -> None:
    answers = iter([np.zeros((4, 8), np.float32), None, None, None])
    embedder = FakeEmbedder(lambda _: next(answers))
    outcomes = run(embedder, TEXTS)
    assert all(it.vectors is not None for it in outcomes.values())
    assert [len(call) for call in embedder.calls] == [4, 4, 4, 2]


@pytest.mark.parametrize(
    "rubbish", [[], "vectors", object(), [[1, 2], [3]], np.full((1, 8), np.nan), {"a": 1}]
)
def test_rubbish_for_one_text_costs_that_text(rubbish: object) -> None:
    embedder = FakeEmbedder(lambda texts: rubbish if "text 5" in texts else None)
    outcomes = run(embedder, TEXTS)
    assert {key for key, it in outcomes.items() if it.vectors is None} == {5}


@pytest.mark.parametrize("kind", ["unavailable", "quota", "budget"])
def test_what_was_finished_before_a_final_failure_was_yielded_and_kept(
    kind: Trouble, cache: VectorCache
) -> None:
    embedder = FakeEmbedder(failing(kind, lambda texts: "text 8" in texts))
    outcomes, error = until_it_raises(embedder, TEXTS, cache)
    assert [it.key for it in outcomes] == list(range(8))
    assert error.kind == kind
    again = FakeEmbedder()
    run(again, TEXTS, cache)
    assert again.texts == TEXTS[8:]


def test_the_budget_is_asked_before_each_call_and_may_refuse() -> None:
    spent: list[int] = []

    def spend(tokens: int) -> None:
        if len(spent) == 2:
            raise EmbeddingError("that is all", kind="budget")
        spent.append(tokens)

    embedder = FakeEmbedder()
    parts = embed_documents(embedder, enumerate(TEXTS), cache=None, spend=spend)
    outcomes, error = drained(parts)
    assert (str(error), error.kind) == ("that is all", "budget")
    assert [it.key for it in outcomes] == list(range(8))
    assert spent == [4 * 2, 4 * 2]
    assert len(embedder.calls) == 2


def test_it_stops_between_calls() -> None:
    embedder = FakeEmbedder()
    parts = list(
        embed_documents(embedder, enumerate(TEXTS), cache=None, stop=lambda: len(embedder.calls) == 2)
    )
    assert [it.key for part in parts for it in part] == list(range(8))


def test_it_stops_in_the_middle_of_a_search_for_the_culprit() -> None:
    embedder = FakeEmbedder(failing("refused", lambda texts: "text 3" in texts))
    parts = list(
        embed_documents(embedder, enumerate(TEXTS), cache=None, stop=lambda: len(embedder.calls) == 2)
    )
    assert [it.key for part in parts for it in part] == [0, 1]


class OddError(Exception):
    pass


@pytest.mark.parametrize(
    "error", [OddError("text 0"), KeyError("text 0"), StopIteration("text 0"), RecursionError()]
)
def test_an_odd_exception_is_named_by_its_type_and_holds_no_text(error: Exception) -> None:
    def script(_: Sequence[str]) -> None:
        raise error

    outcomes, raised = until_it_raises(FakeEmbedder(script), TEXTS)
    assert outcomes == []
    assert str(raised) == f"fake model failed with {type(error).__name__}"
    assert raised.kind == "unavailable"
    assert raised.__suppress_context__


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), ConfigError("install it")])
def test_what_is_no_mistake_of_the_embedder_passes(error: BaseException) -> None:
    def script(_: Sequence[str]) -> None:
        raise error

    with pytest.raises(type(error)):
        list(embed_documents(FakeEmbedder(script), enumerate(TEXTS), cache=None))


def test_an_odd_way_of_cutting_is_contained_too() -> None:
    embedder = FakeEmbedder()
    embedder.split = lambda text: 1 / 0  # type: ignore[attr-defined]
    assert str(until_it_raises(embedder, TEXTS)[1]) == "fake model failed with ZeroDivisionError"


def test_an_embedder_that_learns_its_length_from_the_first_answer_keeps_to_it() -> None:
    embedder = FakeEmbedder(
        lambda texts: np.ones((len(texts), 5)) if "text 6" in texts else None, dimensions=0
    )
    outcomes = run(embedder, TEXTS)
    assert {key for key, it in outcomes.items() if it.vectors is None} == {6}


def test_a_text_that_failed_is_not_tried_again_for_its_copies() -> None:
    embedder = FakeEmbedder(failing("refused", lambda texts: "poison" in texts))
    outcomes = run(embedder, ["poison", *TEXTS, *[f"more {number}" for number in range(100)], "poison"])
    assert outcomes[111].vectors is None
    assert outcomes[111].reason == outcomes[0].reason
    assert embedder.texts.count("poison") <= 4
