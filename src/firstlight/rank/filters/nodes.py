"""The words of the filter language: one syntax tree for every notation and every store.

`str(filter)` writes the tree in the text notation, so that parsing it again gives an equal tree.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

Operator: TypeAlias = OneOf["eq", "ne", "lt", "lte", "gt", "gte"]

SYMBOLS: dict[Operator, str] = {"eq": "=", "ne": "!=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
KEYWORDS = frozenset({"and", "or", "not", "in", "all", "exists", "true", "false"})

# 300 digits hold every finite float, and stay below Python's own limit on reading integers.
_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,300}(?:\.[0-9]{1,300})?|\.[0-9]{1,300})(?:[eE][+-]?[0-9]{1,4})?")
_PLAIN_WORD = re.compile(r"[\w./:@#+-]+")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written: `1.10` is the number 1.1, and the text `1.10` beside a string."""

    text: str

    def __post_init__(self) -> None:
        if not is_number(self.text):
            raise ValueError(f"{self.text!r} is not a finite number")

    @property
    def value(self) -> int | float:
        """The number itself."""
        return float(self.text) if set(self.text) & set(".eE") else int(self.text)

    def __str__(self) -> str:
        return self.text


Literal: TypeAlias = str | bool | Number
"""What a field is compared with. A date is the string of its ISO form."""


class Node:
    """What every part of a filter can do: write itself in the text notation."""

    __slots__ = ()

    def __str__(self) -> str:
        return _write(self)


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """Some value of the field stands in this relation to the literal."""

    field: str
    operator: Operator
    value: Literal


@dataclass(frozen=True, slots=True)
class In(Node):
    """Some value of the field equals one of the literals."""

    field: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class All(Node):
    """Each of the literals equals some value of the field."""

    field: str
    values: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """The field has a value."""

    field: str


@dataclass(frozen=True, slots=True)
class Not(Node):
    """The plain complement: whatever the part does not match."""

    part: Filter


@dataclass(frozen=True, slots=True)
class And(Node):
    """Every part matches. Nested conjunctions are flattened, so that equal meanings are equal trees."""

    parts: tuple[Filter, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flattened(self, self.parts))


@dataclass(frozen=True, slots=True)
class Or(Node):
    """At least one part matches. Nested disjunctions are flattened."""

    parts: tuple[Filter, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flattened(self, self.parts))


Filter: TypeAlias = Compare | In | All | Exists | Not | And | Or


def conjunction(parts: list[Filter]) -> Filter:
    """Return the only part, or all of them joined by `and`."""
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def disjunction(parts: list[Filter]) -> Filter:
    """Return the only part, or all of them joined by `or`."""
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def is_number(text: str) -> bool:
    """Say whether a bare word is a finite number."""
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def quote(text: str) -> str:
    """Return `text` in quotes, as the text notation reads it back."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _flattened(node: And | Or, parts: tuple[Filter, ...]) -> tuple[Filter, ...]:
    flat: list[Filter] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, type(node)) else (part,))
    if len(flat) < 2:
        raise ValueError(f"{type(node).__name__} joins at least two parts")
    return tuple(flat)


def _write(node: Node) -> str:
    if isinstance(node, And):
        return " and ".join(_bracketed(part, Or) for part in node.parts)
    if isinstance(node, Or):
        return " or ".join(map(str, node.parts))
    if isinstance(node, Not):
        return f"not {_bracketed(node.part, And, Or)}"
    return _write_predicate(node)


def _write_predicate(node: Node) -> str:
    match node:
        case Exists(field):
            return f"{_word(field)} exists"
        case Compare(field, operator, value):
            return f"{_word(field)} {SYMBOLS[operator]} {_literal(value)}"
        case In(field, values) | All(field, values):
            name = type(node).__name__.lower()
            return f"{_word(field)} {name} ({', '.join(map(_literal, values))})"
    raise TypeError(f"{type(node).__name__} is not a filter")


def _bracketed(node: Filter, *weaker: type) -> str:
    return f"({node})" if isinstance(node, weaker) else str(node)


def _literal(value: Literal) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Number):
        return value.text
    return quote(value) if is_number(value) else _word(value)


def _word(text: str) -> str:
    plain = _PLAIN_WORD.fullmatch(text) and text.lower() not in KEYWORDS
    return text if plain else quote(text)
