from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firstlight.text.tokens import est_tokens, max_bytes, min_bytes, tokens_of


def test_an_estimate_is_utf8_bytes_by_3_3_rounded_up() -> None:
    assert [est_tokens(text) for text in ("", "a", "abc", "abcd", "é", "水水", "😀")] == [0, 1, 1, 2, 1, 2, 2]
    assert est_tokens("x" * 33) == 10
    assert est_tokens("x" * 34) == 11


def test_a_lone_surrogate_is_counted_like_its_replacement() -> None:
    assert est_tokens("\ud800" * 11) == est_tokens("\ufffd" * 11)


@given(st.integers(1, 100_000))
def test_the_byte_limits_are_exact(tokens: int) -> None:
    assert tokens_of(max_bytes(tokens)) <= tokens < tokens_of(max_bytes(tokens) + 1)
    assert tokens_of(min_bytes(tokens) - 1) < tokens <= tokens_of(min_bytes(tokens))


@given(st.text(), st.text())
def test_parts_never_estimate_to_less_than_the_whole(left: str, right: str) -> None:
    assert est_tokens(left + right) <= est_tokens(left) + est_tokens(right)
