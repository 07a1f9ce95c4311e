"""What hybrid search has to reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.hybrid import coverage
from benchmarks.report import Goal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Rows = Mapping[str, Mapping[str, float]]

TOLERANCE = 0.005
LEGS = ("bm25", "vector")
# The weights that were chosen on other questions than they are judged by.
VALIDATED = ("hybrid, folds", "hybrid, elsewhere")


def judge(figures: Mapping[str, Rows], known: Sequence[str]) -> list[Goal]:
    """Judge the figures; `known` are the collections that the model knows the language of."""
    quality = figures["ndcg@10"]
    return [
        *(goal for way in VALIDATED for goal in _quality(quality, known, way)),
        *(
            Goal(f"{name}: not below bm25", row["firstlight"], row["bm25"], True)
            for name, row in figures["unknown languages"].items()
        ),
        *(
            Goal(f"{name}: worst difference to bm25 while embedding", _worst(figures, name), -TOLERANCE, True)
            for name in known
        ),
    ]


def _quality(quality: Rows, known: Sequence[str], way: str) -> list[Goal]:
    average = quality["average"]
    near = [
        Goal(
            f"{name}: {way}, the better leg less {TOLERANCE}",
            quality[name][way],
            max(quality[name][leg] for leg in LEGS) - TOLERANCE,
            True,
        )
        for name in known
    ]
    above = [
        Goal(f"average: {way}, above {other}", average[way], average[other], True) for other in (*LEGS, "rrf")
    ]
    return near + above


def _worst(figures: Mapping[str, Rows], name: str) -> float:
    rows = [figures[f"coverage, {order} order"][name] for order in coverage.ORDERS]
    return min(row[f"{share:.0%}"] for row in rows for share in coverage.SHARES)
