"""Scores to results: filters, the selection of hits, snippets, and the one JSON shape of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight._lazy import lazy

if TYPE_CHECKING:
    from firstlight.rank.filters import (
        Filter,
        canonical,
        check_fields,
        fields,
        matches,
        parse_filter,
        predicate,
        values,
    )
    from firstlight.rank.selection import select
    from firstlight.rank.snippets import snippet
    from firstlight.rank.types import Candidate, Hit, Results, Snippet

__all__ = [
    "Candidate",
    "Filter",
    "Hit",
    "Results",
    "Snippet",
    "canonical",
    "check_fields",
    "fields",
    "matches",
    "parse_filter",
    "predicate",
    "select",
    "snippet",
    "values",
]

__getattr__ = lazy(
    __name__,
    {
        "filters": (
            "Filter",
            "canonical",
            "check_fields",
            "fields",
            "matches",
            "parse_filter",
            "predicate",
            "values",
        ),
        "selection": ("select",),
        "snippets": ("snippet",),
        "types": ("Candidate", "Hit", "Results", "Snippet"),
    },
)
