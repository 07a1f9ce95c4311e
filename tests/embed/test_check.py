from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from firstlight.embed.check import checked
from firstlight.errors import EmbeddingError

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)


def refusal(answer: object, *, texts: int = 2, dimensions: int = 3) -> str:
    with pytest.raises(EmbeddingError) as caught:
        checked(answer, texts=texts, dimensions=dimensions)
    assert caught.value.kind == "wrong-answer"
    return str(caught.value)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int8, np.uint64])
def test_numbers_of_any_kind_become_unit_vectors_of_float32(kind: Any) -> None:
    vectors = checked(np.array([[3, 4, 0], [0, 0, 7]], kind), texts=2, dimensions=3)
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_array_equal(vectors, np.array([[0.6, 0.8, 0], [0, 0, 1]], np.float32))


@pytest.mark.parametrize(
    "answer",
    [
        [[1, 2, 2], [1, 2, 2]],
        ((1.0, 2.0, 2.0), [1, 2, 2]),
        [np.array([1, 2, 2], np.float32), [1, 2, 2]],
        np.asfortranarray([[1, 2, 2], [1, 2, 2]]),
        np.array([[1, 2, 2], [1, 2, 2]]).data,
    ],
)
def test_whatever_reads_as_a_table_of_numbers_serves(answer: object) -> None:
    third = checked(answer, texts=2, dimensions=0)
    np.testing.assert_array_equal(third, (np.array([[1, 2, 2], [1, 2, 2]]) / 3).astype(np.float32))


@given(
    arrays.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 9)), elements=FLOATS),
)
def test_every_vector_has_unit_length_and_the_same_bits_alone_as_among_others(table: Any) -> None:
    table[:, 0] = np.where(table.any(axis=1), table[:, 0], 1)
    vectors = checked(table, texts=len(table), dimensions=table.shape[1])
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-6)
    for row, vector in zip(table, vectors, strict=True):
        assert checked(row[None], texts=1, dimensions=0).tobytes() == vector.tobytes()


def test_the_answer_is_not_changed() -> None:
    answer = np.array([[3.0, 4.0]])
    checked(answer, texts=1, dimensions=2)
    assert answer.tolist() == [[3.0, 4.0]]


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e200, 1e308])
def test_huge_and_tiny_numbers_are_no_reason_to_refuse(scale: float) -> None:
    np.testing.assert_array_equal(checked([[scale, 0.0]], texts=1, dimensions=2), [[1.0, 0.0]])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused_with_their_position(value: float) -> None:
    assert "vector 2 of 3 holds NaN or infinity" in refusal(
        [[1, 0], [0, value], [value, 0]], texts=3, dimensions=2
    )


def test_a_zero_vector_is_refused_with_its_position() -> None:
    assert "vector 3 of 3 is all zeros" in refusal([[1, 0], [0, 1], [0, -0.0]], texts=3, dimensions=2)


def test_a_number_that_float64_cannot_hold_counts_as_infinite() -> None:
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("no longer floats on this platform")
    refusal(np.array([["1e4000"] * 3] * 2, np.longdouble))


def test_too_few_or_too_many_vectors_are_refused() -> None:
    assert "1 vectors for 2 texts" in refusal([[1, 2, 3]])
    assert "3 vectors for 2 texts" in refusal([[1, 2, 3]] * 3)
    assert "0 vectors for 2 texts" in refusal([])
    assert "1 vectors for 0 texts" in refusal([[1, 2, 3]], texts=0)


def test_vectors_of_another_length_are_refused() -> None:
    assert "2 numbers, not 3" in refusal([[1, 2], [3, 4]])
    assert "0 numbers" in refusal([[], []], dimensions=0)


class Broken:
    def __array__(self, dtype: object = None, copy: object = None) -> object:
        raise RuntimeError("on another device")


@pytest.mark.parametrize(
    "answer",
    [
        None,
        1.0,
        "secret words",
        b"secret words",
        ["secret", "words"],
        [["1", "2", "3"], ["4", "5", "6"]],
        [[1, 2, 3], [4, 5]],
        [[1, 2, None], [4, 5, 6]],
        [[1, 2, 10**400], [4, 5, 6]],
        [[True, False, True], [True, True, True]],
        [[1j, 2, 3], [4, 5, 6]],
        {"embeddings": [[1, 2, 3], [4, 5, 6]]},
        {1, 2},
        iter([[1, 2, 3]]),
        object(),
        Broken(),
        [1, 2, 3],
        [1.0, 2.0],
        np.ones((2, 3, 1)),
        np.ones((2, 3), "datetime64[s]"),
        np.float32(1),
        np.ma.masked,
    ],
    ids=lambda answer: str(type(answer).__name__),
)
def test_what_is_no_table_of_numbers_is_refused_without_being_quoted(answer: object) -> None:
    message = refusal(answer)
    assert "secret" not in message
    assert message.startswith("the embedder's answer cannot be used: ")


def test_no_texts_have_no_vectors() -> None:
    assert checked([], texts=0, dimensions=3).shape == (0, 3)
    assert checked(np.zeros((0, 5)), texts=0, dimensions=0).shape == (0, 0)
