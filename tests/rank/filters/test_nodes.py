from __future__ import annotations

import pytest

from firstlight.rank.filters import And, Compare, Exists, Not, Number, Or


def test_nested_conjunctions_are_one() -> None:
    a, b, c = Exists("a"), Exists("b"), Exists("c")
    assert And((And((a, b)), c)) == And((a, And((b, c)))) == And((a, b, c))
    assert Or((Or((a, b)), c)) == Or((a, b, c))
    assert hash(And((a, b))) == hash(And((a, b)))


def test_a_conjunction_joins_at_least_two() -> None:
    for parts in (), (Exists("a"),):
        with pytest.raises(ValueError, match="at least two"):
            And(parts)
        with pytest.raises(ValueError, match="at least two"):
            Or(parts)


def test_a_filter_is_written_with_no_more_brackets_than_it_needs() -> None:
    a, b, c = Exists("a"), Exists("b"), Exists("c")
    assert str(Or((And((a, b)), Not(c)))) == "a exists and b exists or not c exists"
    assert str(And((Or((a, b)), Not(Or((a, c)))))) == "(a exists or b exists) and not (a exists or c exists)"


@pytest.mark.parametrize(
    ("value", "text"),
    [("ai", "x = ai"), ("2", "x = '2'"), ("True", "x = 'True'"), ("", "x = ''"), ("a'b\\", r"x = 'a\'b\\'")],
)
def test_a_string_is_quoted_where_it_would_be_read_as_something_else(value: str, text: str) -> None:
    assert str(Compare("x", "eq", value)) == text


def test_a_number_keeps_its_writing() -> None:
    assert (Number("1.10").value, str(Number("1.10")), Number("1.10") == Number("1.1")) == (
        1.1,
        "1.10",
        False,
    )
    for text in "nan", "inf", "1e999", "1_000", "", "½":
        with pytest.raises(ValueError, match="not a finite number"):
            Number(text)
