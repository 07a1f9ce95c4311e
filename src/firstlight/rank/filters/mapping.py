r"""The Python notation: `{"area": "ai", "level": {"lte": 2}, "not": {...}, "or": [{...}, {...}]}`.

The keys of a mapping are joined by `and`. A key is a field, or `and`, `or` or `not`; a field of that very
name is written with a backslash in front: `{"\\not": 1}`. A field's value is a string, number, bool, date
or datetime, or a mapping of operators: `eq ne lt lte gt gte` with one value, `in` and `all` with a list,
`exists` with a bool.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from firstlight.errors import FilterError
from firstlight.rank.filters.nodes import (
    SYMBOLS,
    All,
    Compare,
    Exists,
    In,
    Not,
    Number,
    conjunction,
    disjunction,
)

if TYPE_CHECKING:
    from firstlight.rank.filters.nodes import Filter, Literal

MAX_NESTING = 32  # mappings inside each other; written as text that is at most 64 brackets and `not`s

_TOO_LARGE = 10**300
_OPERATORS = (*SYMBOLS, "in", "all", "exists")


def parse_mapping(where: Mapping[str, Any]) -> Filter:
    """Return the tree of a filter in the Python notation.

    Raises:
        FilterError: An operator or a value is not one; the message names the place.

    Example:
        >>> str(parse_mapping({"area": "ai", "level": {"lte": 2}, "not": {"draft": True}}))
        'area = ai and level <= 2 and not draft = true'
    """
    return _mapping(where, "", 1)


def _mapping(where: object, place: str, nesting: int) -> Filter:
    if nesting > MAX_NESTING:
        raise _error(place, f"nested more than {MAX_NESTING} deep")
    if not isinstance(where, Mapping):
        raise _error(place, f"expected a mapping of fields, found {_kind(where)}")
    if not where:
        raise _error(place, "expected a field, found an empty mapping")
    return conjunction([_entry(key, value, place, nesting) for key, value in where.items()])


def _entry(key: object, value: object, place: str, nesting: int) -> Filter:
    if not isinstance(key, str) or not key:
        raise _error(place, f"a field is a string with something in it, not {key!r}")
    inside = f"{place}.{key}" if place else key
    if key == "not":
        return Not(_mapping(value, inside, nesting + 1))
    if key in {"and", "or"}:
        parts = _parts(value, inside, nesting)
        return conjunction(parts) if key == "and" else disjunction(parts)
    return _field(key.removeprefix("\\"), value, inside)


def _parts(value: object, place: str, nesting: int) -> list[Filter]:
    if not isinstance(value, (list, tuple)) or not value:
        raise _error(place, f"expected a list of filters, found {_kind(value)}")
    return [_mapping(part, f"{place}[{index}]", nesting + 1) for index, part in enumerate(value)]


def _field(field: str, value: object, place: str) -> Filter:
    if not field:
        raise _error(place, "a field has a name, and this one is empty")
    if not isinstance(value, Mapping):
        return Compare(field, "eq", _literal(value, place))
    if not value:
        raise _error(place, f"expected an operator ({', '.join(_OPERATORS)}), found an empty mapping")
    return conjunction([_predicate(field, name, operand, place) for name, operand in value.items()])


def _predicate(field: str, operator: object, operand: object, place: str) -> Filter:
    inside = f"{place}.{operator}"
    for name in SYMBOLS:
        if operator == name:
            return Compare(field, name, _literal(operand, inside))
    if operator == "in":
        return In(field, _literals(operand, inside))
    if operator == "all":
        return All(field, _literals(operand, inside))
    if operator != "exists":
        raise _error(place, _unknown_operator(field, operator))
    if not isinstance(operand, bool):
        raise _error(inside, f"expected True or False, found {_kind(operand)}")
    return Exists(field) if operand else Not(Exists(field))


def _unknown_operator(field: str, operator: object) -> str:
    import difflib  # noqa: PLC0415  # only where something is wrong

    close = difflib.get_close_matches(str(operator), _OPERATORS, n=1)
    meant = f": did you mean {close[0]!r}?" if close else "."
    nested = f"a field inside a field is written {f'{field}.{operator}'!r}, a complement {{'not': {{…}}}}"
    return f"unknown operator {operator!r}{meant} The operators are {', '.join(_OPERATORS)}; {nested}"


def _literals(operand: object, place: str) -> tuple[Literal, ...]:
    if isinstance(operand, AbstractSet):
        return tuple(sorted((_literal(value, place) for value in operand), key=str))  # sets have no order
    if not isinstance(operand, (list, tuple)):
        raise _error(place, f"expected a list of values, found {_kind(operand)}")
    return tuple(_literal(value, f"{place}[{index}]") for index, value in enumerate(operand))


def _literal(value: object, place: str) -> Literal:
    match value:
        case str():
            return str(value)
        case bool():
            return value
        case Integral():
            return _number(int(value), place)
        case Real():
            if not math.isfinite(value):
                raise _error(place, f"{value} compares with nothing; use a finite number")
            return Number(repr(float(value)))
        case datetime():
            return _iso(value, place)
        case date():
            return value.isoformat()
        case None:
            raise _error(place, "None is no value; a missing field is asked for with {'exists': False}")
        case list() | tuple() | AbstractSet():
            raise _error(place, "expected one value, found a list; use {'in': [...]} or {'all': [...]}")
    raise _error(place, f"expected a string, number, bool, date or datetime, found {_kind(value)}")


def _number(value: int, place: str) -> Number:
    if abs(value) >= _TOO_LARGE:  # Python itself refuses to write one of 4,300 digits
        raise _error(place, "the number is too large: at most 300 digits are read")
    return Number(str(value))


def _iso(moment: datetime, place: str) -> str:
    try:
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise _error(place, f"{moment} in UTC is outside the years 1 to 9999; use another date") from None
    return moment.isoformat().replace("+00:00", "Z")


def _kind(value: object) -> str:
    if isinstance(value, (list, tuple, Mapping)) and not value:
        return "an empty one"
    return f"{value!r:.60} ({type(value).__name__})"


def _error(place: str, reason: str) -> FilterError:
    return FilterError(f"filter, at {place}: {reason}" if place else f"filter: {reason}")
