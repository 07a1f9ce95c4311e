from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from firstlight.rank import matches, parse_filter, values

NAN = float("nan")
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def holds(text: str, **payload: Any) -> bool:
    where = parse_filter(text)
    assert where is not None
    return matches(where, payload)


@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [
        ("x = ai", "ai", True),
        ("x = ai", "AI", False),
        ("x < b", "a", True),
        ("x = 2", 2.0, True),
        ("x < 10", 9, True),
        ("x = 1", True, False),
        ("x = true", True, True),
        ("x = true", 1, False),
        ("x >= true", True, False),
        ("x >= 0", True, False),
        ("x != true", False, True),
        # a bare number stands beside a string as it is written, a quoted one is only a string
        ("x = 2024", "2024", True),
        ("x = 1.10", "1.10", True),
        ("x = 1.10", "1.1", False),
        ("x = 1.10", 1.1, True),
        ("x = '2024'", 2024, False),
        ("x = '2024'", "2024", True),
        ("x = true", "true", True),
        ("x < 10", "9", False),
        ("x > 10", "9", False),
        # another kind of value is different, and has no order
        ("x != low", 2, True),
        ("x < low", 2, False),
        ("x >= low", 2, False),
        # some element of a list; nothing in it is nothing at all
        ("x = a", ["a", "b"], True),
        ("x != a", ["a", "b"], True),
        ("x != a", ["a"], False),
        ("not x = a", ["a", "b"], False),
        ("x in (b, c)", ["a", "b"], True),
        ("x all (a, b)", ["a", "b", "c"], True),
        ("x all (a, b)", ["a"], False),
        ("x all (a)", "a", True),
        ("x all ()", ["a"], True),
        ("x all ()", [], False),
        ("x in ()", ["a"], False),
        ("x exists", [], False),
        ("x exists", [None], False),
        ("x exists", None, False),
        ("x exists", {}, False),
        ("x exists", False, True),
        ("x exists", "", True),
        ("x = 1 and x = 9", [1, 9], True),
        # NaN matches nothing
        ("x exists", NAN, False),
        ("x != 1", NAN, False),
        ("x < 1", NAN, False),
        # a mapping has no value of its own
        ("x exists", {"a": 1}, True),
        ("x != 1", {"a": 1}, False),
        ("x.a = 1", {"a": 1}, True),
        ("x.a = 1", [{"a": 2}, {"a": [1]}], True),
        ("x.a.b exists", {"a": 1}, False),
    ],
)
def test_a_value_matches(text: str, value: Any, answer: bool) -> None:
    assert holds(text, x=value) is answer


@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [
        ("x = 2024-05-01", date(2024, 5, 1), True),
        ("x = '2024-05-01'", date(2024, 5, 1), True),
        ("x < 2024-05-01", date(2024, 4, 30), True),
        ("x <= 2024-05-01", date(2024, 5, 1), True),
        ("x != 2024-05-01", date(2024, 5, 2), True),
        # a date-time falls on a day, or before its start, or after its end
        ("x = 2024-05-01", NOON, True),
        ("x < 2024-05-01", NOON, False),
        ("x > 2024-05-01", NOON, False),
        ("x >= 2024-05-01", NOON, True),
        ("x > 2024-05-01", datetime(2024, 5, 2, tzinfo=UTC), True),
        ("x < 2024-05-01", datetime(2024, 5, 1, 0, 30, tzinfo=timezone(timedelta(hours=2))), True),
        # and the other way round
        ("x = 2024-05-01T12:00Z", date(2024, 5, 1), True),
        ("x > 2024-05-01T12:00Z", date(2024, 5, 1), False),
        ("x < 2024-05-01T00:00Z", date(2024, 4, 30), True),
        # instants are instants, in any zone; one without a zone is in UTC
        ("x = 2024-05-01T14:00+02:00", NOON, True),
        ("x = '2024-05-01 12:00'", NOON, True),
        ("x = 2024-05-01T12:00:00Z", NOON.replace(tzinfo=None), True),
        ("x > 2024-05-01T11:59:59.999999Z", NOON, True),
        # months and years are spans too
        ("x = 2024-02", date(2024, 2, 29), True),
        ("x > 2024-02", date(2024, 2, 29), False),
        ("x < 2024", date(2023, 12, 31), True),
        ("x = 2024", NOON, True),
        ("x > 2024", datetime(2025, 1, 1, tzinfo=UTC), True),
        # what is no date compares with none
        ("x < 2024-02-30", date(2024, 1, 1), False),
        ("x != soon", date(2024, 1, 1), True),
        ("x < 0000-01-01", date(2024, 1, 1), False),
        ("x > 0001-01-01T00:00+14:00", date(2024, 1, 1), False),
        # a string that looks like a date is a string
        ("x = 2024-05-01", "2024-05-01", True),
        ("x < 2024-05-01", "2024-04-30", True),
        ("x = 2024", "2024-05-01", False),
    ],
)
def test_a_date_is_a_day_and_a_date_time_an_instant(text: str, value: Any, answer: bool) -> None:
    assert holds(text, x=value) is answer


def test_a_key_with_a_dot_is_found_by_its_exact_name() -> None:
    assert holds("a.b = 1", **{"a.b": 1, "a": {"b": 2}})
    assert values({"a": {"b.c": 1}}, "a.b.c") == [1]
    assert values({"a": {"b": {"c": 1}}}, "a.b.c") == [1]
