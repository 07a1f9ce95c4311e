"""Properties of the filter language as a whole: two notations, one tree, one meaning."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from firstlight.rank import canonical, matches, parse_filter, predicate
from firstlight.rank.filters import All, And, Compare, Exists, Filter, In, Literal, Not, Number, Or

FIELDS = [
    "area",
    "level",
    "tags",
    "owner.name",
    "seen",
    "dotted.key",
    "größe",
    "a b",
    "it's",
    "not",
    "Or",
    "\\not",
]
FIELDS += ["in", "exists", "true", "2024", "last-verified", "back\\slash", 'say "x"', "日付", "a=b"]
WORDS = [
    "ai",
    "edge",
    "Ai",
    "",
    "2024",
    "1.10",
    "true",
    "it's",
    "b c",
    "and",
    "x\\",
    "2024-05-01",
    "2024-05",
    "\n",
]
MOMENTS = ["2024-05-01T10:00:00Z", "2024-05-01T00:30+02:00", "2024-02-30", "2024-05-01 23:59:59.999999"]

texts = st.sampled_from(WORDS + MOMENTS) | st.text(max_size=5)
numbers = st.sampled_from([0, 1, 2, 2.0, 1.1, 2024, -3, 1e300]) | st.integers() | st.floats(-1e9, 1e9)
written = st.sampled_from(["1.10", "007", "+2", ".5", "2e3", "1E-4", "-0", "2024"]).map(Number)
python_literals: st.SearchStrategy[Literal] = texts | st.booleans() | numbers.map(lambda n: Number(repr(n)))


def predicates(literals: st.SearchStrategy[Literal]) -> st.SearchStrategy[Filter]:
    names = st.sampled_from(FIELDS) | st.text(min_size=1, max_size=4)
    some = st.lists(literals, max_size=3).map(tuple)
    operators = st.sampled_from(["eq", "ne", "lt", "lte", "gt", "gte"])
    return (
        st.builds(Compare, names, operators, literals)
        | st.builds(In, names, some)
        | st.builds(All, names, some)
        | st.builds(Exists, names)
    )


def trees(literals: st.SearchStrategy[Literal]) -> st.SearchStrategy[Filter]:
    def grow(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.builds(Not, inner) | st.builds(And, several) | st.builds(Or, several)

    return st.recursive(predicates(literals), grow, max_leaves=8)


scalars = (
    texts
    | numbers
    | st.booleans()
    | st.none()
    | st.just(float("nan"))
    | st.dates(date(2024, 4, 29), date(2024, 6, 2))
    | st.sampled_from([date(2023, 12, 31), date(2024, 5, 1), date(2024, 12, 31), date(2025, 1, 1)])
    | st.datetimes(datetime(2024, 4, 30), datetime(2024, 5, 2))  # noqa: DTZ001 (naive is UTC)
    | st.sampled_from(
        [datetime(2024, 5, 1, 10, tzinfo=UTC), datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=2)))]
    )
)
payload_values = scalars | st.lists(scalars | st.lists(scalars, max_size=2), max_size=3)
owners = st.fixed_dictionaries({}, optional={"name": payload_values})
payloads = st.fixed_dictionaries(
    {},
    optional={name: payload_values for name in FIELDS if name != "owner.name"}
    | {"owner": owners | st.lists(owners, max_size=2) | scalars},
)


def as_python(where: Filter) -> dict[str, Any]:
    """Write a tree in the Python notation."""

    def plain(literal: Literal) -> Any:
        return literal.value if isinstance(literal, Number) else literal

    def key(field: str) -> str:
        return "\\" + field if field in {"and", "or", "not"} or field.startswith("\\") else field

    match where:
        case And(parts):
            return {"and": [as_python(part) for part in parts]}
        case Or(parts):
            return {"or": [as_python(part) for part in parts]}
        case Not(part):
            return {"not": as_python(part)}
        case Exists(field):
            return {key(field): {"exists": True}}
        case In(field, literals) | All(field, literals):
            return {key(field): {type(where).__name__.lower(): [plain(literal) for literal in literals]}}
        case Compare(field, operator, literal):
            return {key(field): {operator: plain(literal)}}


# The slow, obvious meaning: relations between a value and a literal, dates as intervals of microseconds.


def microseconds(moment: datetime) -> int:
    shifted = moment - (moment.utcoffset() or timedelta())
    day = shifted.toordinal() * 86_400
    return (day + shifted.hour * 3600 + shifted.minute * 60 + shifted.second) * 10**6 + shifted.microsecond


def interval(value: Any) -> tuple[int, int] | None:  # noqa: PLR0911 (one for each kind of date)
    if isinstance(value, datetime):
        return microseconds(value), microseconds(value) + 1
    if isinstance(value, date):
        start = value.toordinal() * 86_400 * 10**6
        return start, start + 86_400 * 10**6
    if not isinstance(value, str):
        return None
    try:
        if re.fullmatch("[0-9]{4}", value):
            return interval(date(int(value), 1, 1))[0], interval(date(int(value), 12, 31))[1]  # type: ignore[index]
        if re.fullmatch("[0-9]{4}-[0-9]{2}", value):
            first = date.fromisoformat(value + "-01")
            last = max(
                first + timedelta(days=n)
                for n in range(31)
                if (first + timedelta(days=n)).month == first.month
            )
            return interval(first)[0], interval(last)[1]  # type: ignore[index]
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
            return interval(date.fromisoformat(value))
        if re.match("[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:", value):
            return interval(datetime.fromisoformat(value))
    except ValueError:
        pass
    return None


def relation(value: Any, literal: Literal) -> str:  # noqa: PLR0911 (one for each pair of kinds)
    text = str(literal).lower() if isinstance(literal, bool) else str(literal)
    if isinstance(value, str):
        if isinstance(literal, str):
            return "eq" if value == text else "lt" if [*map(ord, value)] < [*map(ord, text)] else "gt"
        return "same" if value == text else "none"  # equal, and without an order
    if isinstance(value, bool) or isinstance(literal, bool):
        return "same" if value is literal else "none"
    if isinstance(value, (int, float)):
        if not isinstance(literal, Number):
            return "none"
        difference = Fraction(value) - Fraction(literal.value)
        return "eq" if difference == 0 else "lt" if difference < 0 else "gt"
    ours, theirs = interval(value), interval(text)
    if ours is None or theirs is None:
        return "none"
    return "lt" if ours[1] <= theirs[0] else "gt" if ours[0] >= theirs[1] else "eq"


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def values_of(node: Any, path: str) -> list[Any]:
    if isinstance(node, list):
        return [value for element in node for value in values_of(element, path)]
    if path == "":
        return [] if node is None or node in ({}, []) or is_nan(node) else [node]
    if not isinstance(node, Mapping):
        return []
    if path in node:
        return values_of(node[path], "")
    head, _, tail = path.partition(".")
    return values_of(node.get(head), tail) if tail else []


EQUAL = {"eq", "same"}
ALLOWED = {"eq": EQUAL, "lt": {"lt"}, "gt": {"gt"}, "lte": {"lt", "eq"}, "gte": {"gt", "eq"}}
ALLOWED["ne"] = {"lt", "gt", "none"}


def truth(where: Filter, payload: Mapping[str, Any]) -> bool:
    if isinstance(where, Not):
        return not truth(where.part, payload)
    if isinstance(where, And | Or):
        answers = {truth(part, payload) for part in where.parts}
        return answers == {True} if isinstance(where, And) else True in answers
    values = values_of(payload, where.field)
    singles = [value for value in values if not isinstance(value, Mapping)]
    if isinstance(where, Compare):
        return any(relation(value, where.value) in ALLOWED[where.operator] for value in singles)
    if isinstance(where, In):
        return any(relation(value, literal) in EQUAL for value in singles for literal in where.values)
    held = [
        any(relation(value, literal) in EQUAL for value in singles)
        for literal in getattr(where, "values", ())
    ]
    return bool(values) and all(held)


@given(trees(python_literals | written))
def test_a_filter_written_out_and_read_again_is_the_same(where: Filter) -> None:
    assert parse_filter(str(where)) == where
    assert canonical(where) == str(parse_filter(canonical(where)))


@given(trees(python_literals))
def test_both_notations_give_the_same_tree(where: Filter) -> None:
    assert parse_filter(as_python(where)) == where == parse_filter(str(where))


@given(trees(python_literals | written), st.lists(payloads, min_size=1, max_size=5))
def test_a_filter_means_what_the_slow_oracle_says(where: Filter, candidates: list[dict[str, Any]]) -> None:
    compiled = predicate(where)
    for payload in candidates:
        assert compiled(payload) is matches(where, payload) is truth(where, payload)


leaves = predicates(python_literals)


@given(st.lists(leaves, min_size=2, max_size=4).map(tuple), payloads)
def test_de_morgan_holds_also_for_missing_fields(parts: tuple[Filter, ...], payload: dict[str, Any]) -> None:
    denied = tuple(Not(part) for part in parts)
    assert matches(Not(And(parts)), payload) == matches(Or(denied), payload)
    assert matches(Not(Or(parts)), payload) == matches(And(denied), payload)


@given(leaves, payloads)
def test_a_missing_field_fails_every_predicate_and_passes_its_complement(
    where: Any, payload: dict[str, Any]
) -> None:
    bare = {name: value for name, value in payload.items() if name not in {where.field, "owner"}}
    assert not matches(where, bare)
    assert matches(Not(where), bare)
