"""What a filter means, in two values: a payload matches, or it does not.

- A field's values are its value, or each element of its list; None, NaN, `[]` and `{}` are no value. A
  field without a value is missing, and a missing field fails every predicate, `!=` too; `not` is the plain
  complement.
- A predicate holds when it holds for some value: `tags != a` is true of `[a, b]`, and `not tags = a` is
  not. `all` asks that each of its literals equals some value; with no literals it asks what `exists` does.
  `in ()` never holds.
- Strings are compared exactly, by code points. Numbers compare with numbers; a bool is not a number, and
  has no order. Where the field holds a string, a number or bool is equal to it by its text: `period = 2024`
  finds 2024 and "2024". A string in the filter never equals a number.
- A literal that is an ISO date or date-time, a month (`2024-05`) or a year compares with dates: a date is
  its whole day, a date-time an instant in UTC. Equal means falling into the other; `<` before its start;
  `>` after its end.
- `owner.name` looks into mappings, and into each mapping of a list; a key with a dot in it is found by its
  exact name. A mapping itself has no value to compare: only `exists` is true of it.
"""

from __future__ import annotations

import operator
import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from firstlight.rank.filters.nodes import All, And, Compare, Exists, Filter, In, Literal, Not, Number, Or

Predicate: TypeAlias = Callable[[Mapping[str, Any]], bool]
_Test: TypeAlias = Callable[[Any], bool]
_Span: TypeAlias = tuple[datetime, datetime]

_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "lt": operator.lt,
    "lte": operator.le,
    "gt": operator.gt,
    "gte": operator.ge,
}
_WHOLE = frozenset({str, int, bool, date, datetime})  # of these types a value is always one value
_DATE = re.compile(
    r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2}"
    r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?)?)?",
    re.ASCII,
)


def matches(where: Filter, payload: Mapping[str, Any]) -> bool:
    """Say whether a payload matches; for many payloads, make a `predicate` once."""
    return predicate(where)(payload)


def predicate(where: Filter) -> Predicate:
    """Return the filter as a function of a payload (about 0.2 µs a term).

    Example:
        >>> old = predicate(Compare("last_verified", "lt", "2024-05-01"))
        >>> old({"last_verified": date(2024, 4, 30)}), old({"last_verified": date(2024, 5, 1)}), old({})
        (True, False, False)
    """
    match where:
        case And(parts):
            return _every([predicate(part) for part in parts])
        case Or(parts):
            return _some([predicate(part) for part in parts])
        case Not(part):
            inner = predicate(part)
            return lambda payload: not inner(payload)
        case All(field, literals):
            return _every(
                [predicate(Exists(field)), *(_leaf(field, _equal(literal)) for literal in literals)]
            )
        case _:
            return _leaf(where.field, _test(where))


def values(payload: Mapping[str, Any], field: str) -> list[Any]:
    """Return the values of a field: lists opened, what counts as missing left out.

    Example:
        >>> values({"owners": [{"name": "Ada"}, {"name": None}, {"name": ["Eve", "Bo"]}]}, "owners.name")
        ['Ada', 'Eve', 'Bo']
    """
    found: list[Any] = []
    _collect(payload, field, found)
    return found


def _collect(node: Mapping[str, Any], field: str, found: list[Any]) -> None:
    if field in node:
        found.extend(_opened(node[field]))
        return
    head, dot, rest = field.partition(".")
    if dot and head in node:
        for inner in _opened(node[head]):
            if isinstance(inner, Mapping):
                _collect(inner, rest, found)


def _opened(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [single for element in value for single in _opened(element)]
    missing = value is None or value != value or (isinstance(value, Mapping) and not value)  # noqa: PLR0124 (NaN)
    return [] if missing else [value]


def _every(tests: list[Predicate]) -> Predicate:
    def run(payload: Mapping[str, Any]) -> bool:
        for test in tests:  # noqa: SIM110 (a generator would double the time)
            if not test(payload):
                return False
        return True

    return run


def _some(tests: list[Predicate]) -> Predicate:
    def run(payload: Mapping[str, Any]) -> bool:
        for test in tests:  # noqa: SIM110 (a generator would double the time)
            if test(payload):
                return True
        return False

    return run


def _leaf(field: str, test: _Test) -> Predicate:
    def run(payload: Mapping[str, Any]) -> bool:
        value: Any = payload.get(field)
        kind = type(value)
        if kind in _WHOLE:
            return test(value)
        if kind is list and _WHOLE.issuperset(map(type, value)):
            return any(map(test, value))
        return any(map(test, values(payload, field)))

    return run


def _test(where: Exists | In | Compare) -> _Test:
    match where:
        case Exists():
            return lambda _: True
        case In(_, literals):
            return _equal(*literals)
        case Compare(_, "eq", literal):
            return _equal(literal)
        case Compare(_, "ne", literal):
            return _different(literal)
        case Compare(_, relation, literal):
            return _ordered(_ORDER[relation], literal)


def _equal(*literals: Literal) -> _Test:
    texts = frozenset(_text(literal) for literal in literals)
    numbers = frozenset(literal.value for literal in literals if isinstance(literal, Number))
    flags = frozenset(literal for literal in literals if isinstance(literal, bool))
    spans = [span for literal in literals if (span := _span(literal))]

    def test(value: Any) -> bool:
        if isinstance(value, str):
            return value in texts
        if isinstance(value, bool):
            return value in flags
        if isinstance(value, (int, float)):
            return value in numbers
        return isinstance(value, date) and any(_side(value, span) == 0 for span in spans)

    return test


def _different(literal: Literal) -> _Test:
    equal = _equal(literal)
    return lambda value: not isinstance(value, Mapping) and not equal(value)


def _ordered(relation: Callable[[Any, Any], bool], literal: Literal) -> _Test:
    span = _span(literal)

    def test(value: Any) -> bool:
        if isinstance(value, str):
            return isinstance(literal, str) and relation(value, literal)
        if isinstance(value, (int, float)):
            return number is not None and not isinstance(value, bool) and relation(value, number)
        return span is not None and isinstance(value, date) and relation(_side(value, span), 0)

    number = literal.value if isinstance(literal, Number) else None
    return test


def _text(literal: Literal) -> str:
    return str(literal).lower() if isinstance(literal, bool) else str(literal)


def _span(literal: Literal) -> _Span | None:
    """Return the first and last instant of the time that a literal names, or None where it names none."""
    text = "" if isinstance(literal, bool) else str(literal)
    if not _DATE.fullmatch(text):
        return None
    try:
        start = datetime.fromisoformat(text + "0001-01-01"[len(text) :])
        start = start.replace(tzinfo=UTC) if start.tzinfo is None else start.astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of February, or a moment before the year 1
        return None
    return start, _last(start, len(text))


def _last(start: datetime, precision: int) -> datetime:
    """Return the last instant of the year (4 characters), month (7) or day (10) that begins at `start`."""
    if precision > 10:
        return start
    day = start
    if precision == 4:
        day = start.replace(month=12, day=31)
    elif precision == 7:
        day = start.replace(day=monthrange(start.year, start.month)[1])
    return day.replace(hour=23, minute=59, second=59, microsecond=999_999)


def _side(value: date, span: _Span) -> int:
    """Return -1 where the value ends before the span, 1 where it begins after it, else 0."""
    start, end = span
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (moment > end) - (moment < start)
    return (value > end.date()) - (value < start.date())
