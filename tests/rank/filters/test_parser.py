from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.errors import FilterError
from firstlight.rank import parse_filter
from firstlight.rank.filters import All, And, Compare, Exists, Filter, In, Not, Number, Or
from firstlight.rank.filters.parser import MAX_LENGTH, MAX_NESTING, parse_text


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("area = ai", Compare("area", "eq", "ai")),
        ("area==ai", Compare("area", "eq", "ai")),
        ("level<=2", Compare("level", "lte", Number("2"))),
        ("level != -2.50", Compare("level", "ne", Number("-2.50"))),
        ("draft = TRUE", Compare("draft", "eq", True)),
        ("draft = 'true'", Compare("draft", "eq", "true")),
        ("period = '2024'", Compare("period", "eq", "2024")),
        ("seen >= 2024-05-01", Compare("seen", "gte", "2024-05-01")),
        ("seen < 2024-05-01T10:00:00+02:00", Compare("seen", "lt", "2024-05-01T10:00:00+02:00")),
        ("version = v1.2.3", Compare("version", "eq", "v1.2.3")),
        ("path = ops/drain.md", Compare("path", "eq", "ops/drain.md")),
        ('owner.name = "O\'Brien"', Compare("owner.name", "eq", "O'Brien")),
        (r"quote = 'it\'s \"so\"\n\\'", Compare("quote", "eq", 'it\'s "so"\n\\')),
        ("größe > 3", Compare("größe", "gt", Number("3"))),
        ("last-verified exists", Exists("last-verified")),
        ("'not' = 1", Compare("not", "eq", Number("1"))),
        ("in in (in, all)", In("in", ("in", "all"))),
        ("tags all [a, 'b c', 3]", All("tags", ("a", "b c", Number("3")))),
        ("tags in ()", In("tags", ())),
        ("tags not in (a)", Not(In("tags", ("a",)))),
        ("tags NOT exists", Not(Exists("tags"))),
        ("not not a exists", Not(Not(Exists("a")))),
        ("huge = " + "9" * 400, Compare("huge", "eq", "9" * 400)),
        ("huge = 1e999", Compare("huge", "eq", "1e999")),
    ],
)
def test_a_predicate_is_read_as_it_is_meant(text: str, where: Filter) -> None:
    assert parse_text(text) == where


def test_and_binds_tighter_than_or_and_not_tighter_than_both() -> None:
    a, b, c = Exists("a"), Exists("b"), Exists("c")
    assert parse_text("a exists or b exists and not c exists") == Or((a, And((b, Not(c)))))
    assert parse_text("(a exists or b exists) AND c exists") == And((Or((a, b)), c))
    assert parse_text("not (a exists or b exists)") == Not(Or((a, b)))
    assert parse_text("a exists and (b exists and c exists)") == And((a, b, c))


def test_blank_text_asks_for_nothing() -> None:
    assert parse_filter("") is parse_filter(" \n") is parse_filter({}) is parse_filter(None) is None


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        (
            "area",
            5,
            "an operator (=, !=, <, <=, >, >=, in, not in, all or exists) after 'area', found the end",
        ),
        ("area ai", 6, "expected an operator"),
        ("area =", 7, "expected a value after '=', found the end"),
        ("area = or", 8, "in quotes, if the word itself is meant"),
        ("area = ()", 8, "expected a value after '=', found '('"),
        ("area = machine learning", 16, "a value of several words needs quotes: 'machine learning'"),
        ("area = ai && level = 2", 11, "expected 'and', 'or' or the end, found '&&'"),
        ("area in ai", 9, "expected a list such as (a, b) after 'in'"),
        ("area in (a b)", 12, "expected ',' or ')', found 'b'"),
        ("area in (a,", 12, "expected a value, found the end"),
        ("area in [a)", 11, "expected ',' or ']', found ')'"),
        ("a exists and", 13, "expected a field, 'not' or '('"),
        ("(a exists", 10, "expected 'and', 'or' or ')' for the '(' in column 1"),
        ("a exists)", 9, "expected 'and', 'or' or the end, found ')'"),
        ("()", 2, "expected a field, 'not' or '('"),
        ("a not between 3", 3, "found 'not'"),
        ("a = 'b", 5, "the quote ' never closes"),
        ("a = o'brien", 6, "the quote ' never closes"),
        (r"a = 'C:\docs'", 8, r"\d means nothing"),
        ("a ! b", 3, "expected '!='"),
        ("'' = 1", 1, "this one is empty"),
    ],
)
def test_an_error_points_at_the_column_and_says_what_was_expected(
    text: str, column: int, reason: str
) -> None:
    with pytest.raises(FilterError) as caught:
        parse_text(text)
    first, shown, mark = str(caught.value).split("\n")
    assert first.startswith(f"filter, column {column}: ")
    assert reason in first
    assert shown == "  " + text
    assert mark.index("^") - 2 == column - 1


def test_only_the_part_around_the_mistake_is_shown() -> None:
    text = "\n and ".join(f"field{n} = {n}" for n in range(100)) + " and"
    with pytest.raises(FilterError) as caught:
        parse_text(text)
    _, shown, mark = str(caught.value).split("\n")
    assert shown.endswith("field99 = 99 and")
    assert len(mark) < 60


def test_length_and_nesting_are_bounded() -> None:
    assert parse_text("(" * MAX_NESTING + "a exists" + ")" * MAX_NESTING) == Exists("a")
    for opening in "(", "not ":
        with pytest.raises(FilterError, match="nested more than 64 deep"):
            parse_text(opening * (MAX_NESTING + 1) + "a exists")
    with pytest.raises(FilterError, match=r"at most 10,000"):
        parse_text("a" * (MAX_LENGTH + 1))


pieces = st.sampled_from(
    ["a", "=", "<", "!", "(", ")", "[", ",", "and", "or", "not", "in", "exists", "'", '"', "\\", " ", "1"]
)


@given(
    st.text(max_size=30)
    | st.lists(pieces, max_size=15).map(" ".join)
    | st.lists(pieces, max_size=15).map("".join)
)
def test_any_text_is_read_or_refused_with_a_column(text: str) -> None:
    try:
        where = parse_filter(text)
    except FilterError as error:
        place = re.match(r"filter, column (\d+): ", str(error))
        where = None if place and 1 <= int(place[1]) <= len(text) + 1 else Exists("an error without a place")
    assert where is None or (parse_filter(str(where)) == where != Exists("an error without a place"))
