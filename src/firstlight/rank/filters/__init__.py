"""One filter language in two notations, text and Python, with one meaning.

`parser` says how the text is written, `mapping` how the Python notation is, `match` what both mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firstlight.errors import FilterError
from firstlight.rank.filters.fields import check_fields, fields
from firstlight.rank.filters.mapping import parse_mapping
from firstlight.rank.filters.match import matches, predicate, values
from firstlight.rank.filters.nodes import All, And, Compare, Exists, Filter, In, Literal, Not, Number, Or
from firstlight.rank.filters.parser import parse_text

__all__ = [
    "All",
    "And",
    "Compare",
    "Exists",
    "Filter",
    "In",
    "Literal",
    "Not",
    "Number",
    "Or",
    "canonical",
    "check_fields",
    "fields",
    "matches",
    "parse_filter",
    "predicate",
    "values",
]


def parse_filter(where: str | Mapping[str, Any] | None) -> Filter | None:
    """Return the tree of a filter in either notation; None where nothing is asked.

    Raises:
        FilterError: The filter cannot be understood; the message points at the place.

    Example:
        >>> parse_filter("area = ai and level <= 2") == parse_filter({"area": "ai", "level": {"lte": 2}})
        True
    """
    if where is None:
        return None
    if isinstance(where, str):
        return parse_text(where) if where.strip() else None
    if isinstance(where, Mapping):
        return parse_mapping(where) if where else None
    raise FilterError(f"a filter is text or a mapping, not {type(where).__name__}")


def canonical(where: Filter) -> str:
    """Return the filter in the text notation: equal filters have equal texts, so that it serves as a key."""
    return str(where)
