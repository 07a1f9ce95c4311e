"""The figures of an evaluation as plain text: tables that are read down a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from firstlight.evaluate.report import Comparison, Report

__all__ = ["compared", "mode_table", "table", "tuning_table"]


def mode_table(report: Report) -> list[str]:
    """Return a line a mode, below the names of the measures."""
    rows = [(each.mode, _shown(each.ndcg), _shown(each.recall), _shown(each.mrr)) for each in report.modes]
    return table([("", "nDCG@10", "recall@10", "MRR@10"), *rows])


def compared(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """Yield a sentence a comparison, and what it is made of."""
    for each in comparisons:
        yield each.verdict
        if each.better or each.worse:
            same = each.questions - each.better - each.worse
            yield f"  by question: {each.better:,} better, {each.worse:,} worse, {same:,} the same"


def tuning_table(report: Report) -> list[str]:
    """Return what tuning found, beside what there is without it."""
    tuning = report.tuning
    assert tuning is not None  # noqa: S101  # asked for only where there is one
    now = "" if tuning.present_weight is None else _weight(tuning.present_weight)
    others = [(each.mode, "", _shown(each.ndcg)) for each in report.modes if each.mode != "hybrid"]
    chosen = _span(fold.weight for fold in tuning.folds)
    lines = table([
        ("", "weight", "nDCG@10"),
        ("tuned, cross-validated", chosen, _shown(tuning.cross_validated)),
        ("in force now", now, _shown(tuning.present)),
        *others,
        ("best on all questions", _weight(tuning.weight), _shown(tuning.ndcg)),
    ])  # fmt: skip
    low, high = min(fold.ndcg for fold in tuning.folds), max(fold.ndcg for fold in tuning.folds)
    lines.append(f"  over {len(tuning.folds)} folds: nDCG@10 {_shown(low)} to {_shown(high)}")
    return [*lines, *compared(tuning.comparisons)]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows with their columns aligned: the first to the left, figures to the right.

    Example:
        >>> table([("", "nDCG@10"), ("bm25", "0.7")])
        ['      nDCG@10', 'bm25      0.7']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]


def _shown(value: float) -> str:
    return f"{value:.3f}"


def _weight(value: float) -> str:
    return f"{value:.2f}"


def _span(weights: Iterable[float]) -> str:
    """Return the weights that the folds chose.

    Example:
        >>> _span([0.35, 0.3]), _span([0.35, 0.35])
        ('0.30-0.35', '0.35')
    """
    low, *_, high = sorted([*weights] * 2)
    return _weight(low) if low == high else f"{_weight(low)}-{_weight(high)}"
