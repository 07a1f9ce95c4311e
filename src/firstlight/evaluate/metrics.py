"""Retrieval quality by question, through `ir-measures` (the extra `eval`).

It counts as trec_eval does: nDCG with linear gain over the ideal ranking of all judged documents.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.errors import ConfigError
from firstlight.rank.quality import CUTOFF

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from firstlight.evaluate.types import Grades

    Rankings = Mapping[str, Sequence[str]]


class Measured(NamedTuple):
    """What each question scored, by its id."""

    ndcg: dict[str, float]
    recall: dict[str, float]
    mrr: dict[str, float]


def require_extra() -> None:
    """Raise a ConfigError where the extra is missing; nothing of it is imported."""
    if not all(find_spec(name) for name in ("ir_measures", "scipy")):
        raise ConfigError("evaluating needs more packages: pip install 'firstlight[eval]'")


def measure(rankings: Rankings, qrels: Mapping[str, Grades]) -> Measured:
    """Return nDCG@10, recall@10 and MRR@10 of each judged question; 0 where it has no ranking.

    Args:
        rankings: By question, documents by their path, best first.
        qrels: By question, the grade of each judged document; 0 and below is not relevant.

    Example:
        >>> measured = measure({"q": ["b", "a"]}, {"q": {"a": 1}, "r": {"a": 1}})
        >>> round(measured.ndcg["q"], 4), measured.recall["q"], measured.mrr["q"], measured.ndcg["r"]
        (0.6309, 1.0, 0.5, 0.0)
    """
    ir_measures = _library()
    ndcg, recall, mrr = (
        ir_measures.nDCG @ CUTOFF,
        ir_measures.R @ CUTOFF,
        ir_measures.RR @ CUTOFF,
    )
    # Its readers know no grade below 0, and order equal scores by name: a rank is never equal to another.
    grades = {name: {path: max(grade, 0) for path, grade in judged.items()} for name, judged in qrels.items()}
    run = {name: _scored(rankings.get(name, ())) for name in qrels}
    values: dict[Any, dict[str, float]] = {what: dict.fromkeys(qrels, 0.0) for what in (ndcg, recall, mrr)}
    for metric in ir_measures.iter_calc([ndcg, recall, mrr], grades, run):
        values[metric.measure][metric.query_id] = float(metric.value)
    return Measured(values[ndcg], values[recall], values[mrr])


def mean(values: Mapping[str, float]) -> float:
    """Return the mean over all questions; 0 of none."""
    return sum(values.values()) / len(values) if values else 0.0


def _scored(ranking: Sequence[str]) -> dict[str, float]:
    return {path: float(-place) for place, path in enumerate(ranking)}


def _library() -> Any:
    require_extra()
    import ir_measures  # noqa: PLC0415  # the extra, when it is first needed

    return ir_measures
