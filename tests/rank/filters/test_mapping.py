from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from firstlight.errors import FilterError
from firstlight.rank import parse_filter
from firstlight.rank.filters.mapping import MAX_NESTING


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({"area": "ai", "level": {"lte": 2}}, "area = ai and level <= 2"),
        ({"level": {"gte": 1, "lt": 3}, "draft": False}, "level >= 1 and level < 3 and draft = false"),
        (
            {"not": {"confidence": {"in": ["abandoned", "historic"]}}},
            "not confidence in (abandoned, historic)",
        ),
        ({"or": [{"a": 1, "b": 2}, {"c": {"ne": 3}}]}, "a = 1 and b = 2 or c != 3"),
        ({"and": [{"or": [{"a": 1}, {"b": 2}]}, {"c": 3}]}, "(a = 1 or b = 2) and c = 3"),
        ({"or": [{"a": 1}]}, "a = 1"),
        ({"tags": {"all": ("a", "b")}}, "tags all (a, b)"),
        ({"tags": {"in": {"b", "a"}}}, "tags in (a, b)"),
        ({"owner": {"exists": False}}, "not owner exists"),
        ({"owner.name": {"exists": True}}, "owner.name exists"),
        ({"seen": date(2024, 5, 1)}, "seen = 2024-05-01"),
        ({"seen": {"lt": "2024-05-01"}}, "seen < 2024-05-01"),
        ({"seen": datetime(2024, 5, 1, 12)}, "seen = 2024-05-01T12:00:00Z"),  # noqa: DTZ001 (naive is UTC)
        (
            {"seen": datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))},
            "seen = 2024-05-01T10:00:00Z",
        ),
        ({"seen": datetime(2024, 5, 1, tzinfo=UTC)}, "seen = 2024-05-01T00:00:00Z"),
        ({"level": np.int64(3), "share": np.float32(0.5)}, "level = 3 and share = 0.5"),
        (
            {"\\not": 1, "\\or": 2, "\\and": 3, "\\\\x": 4},
            r"'not' = 1 and 'or' = 2 and 'and' = 3 and '\\x' = 4",
        ),
    ],
)
def test_the_python_notation_says_the_same_as_the_text(where: dict[str, Any], text: str) -> None:
    assert parse_filter(where) == parse_filter(text)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"level": {"lessthan": 2}}, r"at level: unknown operator 'lessthan'.*The operators are eq, ne"),
        ({"level": {"ltee": 2}}, "unknown operator 'ltee': did you mean 'lte'?"),
        ({"owner": {"name": "Ada"}}, "a field inside a field is written 'owner.name'"),
        ({"area": ["a", "b"]}, r"use {'in': \[...\]}"),
        ({"area": {"in": "ai"}}, r"at area.in: expected a list of values, found 'ai' \(str\)"),
        ({"area": {"in": [["a"]]}}, r"at area.in\[0\]"),
        ({"area": None}, "{'exists': False}"),
        ({"area": {}}, "expected an operator"),
        ({"area": {"exists": 1}}, "expected True or False"),
        ({"area": float("nan")}, "use a finite number"),
        ({"area": 10**400}, "at most 300 digits"),
        ({"area": -(10**5000)}, "at most 300 digits"),
        ({"area": b"x"}, "expected a string, number"),
        ({"or": []}, "expected a list of filters"),
        ({"or": {"a": 1}}, "expected a list of filters"),
        ({"or": [{"a": 1}, {}]}, r"at or\[1\]: expected a field"),
        ({"or": [{"a": 1}, "b = 1"]}, r"at or\[1\]: expected a mapping"),
        ({"not": {}}, "at not: expected a field"),
        ({"": 1}, "a field is a string"),
        ({"\\": 1}, "this one is empty"),
        ({3: 1}, "a field is a string"),
        (["a"], "a filter is text or a mapping, not list"),
    ],
)
def test_what_is_no_filter_is_refused_and_the_place_named(where: Any, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        parse_filter(where)


def test_the_deepest_mapping_can_be_written_as_text_and_a_deeper_one_is_refused() -> None:
    where: dict[str, Any] = {"a": 1, "b": 2}
    for _ in range(MAX_NESTING - 1):
        where = {"not": where}
    assert parse_filter(str(parse_filter(where))) == parse_filter(where)
    with pytest.raises(FilterError, match="nested more than 32 deep"):
        parse_filter({"not": where})
    alternating: dict[str, Any] = {"a": 1, "b": 2}
    for _ in range((MAX_NESTING - 1) // 2):
        alternating = {"not": {"or": [alternating, {"c": 3}]}}
    assert parse_filter(str(parse_filter(alternating))) == parse_filter(alternating)


def test_an_instant_that_utc_has_no_date_for_is_refused() -> None:
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))
    with pytest.raises(FilterError, match=r"at seen\.lt: .*outside the years 1 to 9999"):
        parse_filter({"seen": {"lt": early}})
