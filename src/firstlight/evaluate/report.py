"""What an evaluation found, in words and in its one JSON shape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from firstlight.rank.json import rounded
from firstlight.rank.quality import CUTOFF

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firstlight.evaluate.types import Values

# What is usual: of differences that are told, one in twenty may be none.
LEVEL = 0.05
_SMALLEST_SHOWN = 0.001


@dataclass(frozen=True, slots=True)
class ModeScores:
    """How one mode did: means over all questions.

    Attributes:
        mode: The mode that was asked for.
        ndcg: nDCG@10, with linear gain; `recall` is recall@10 and `mrr` MRR@10.
        fallbacks: How many questions were answered in another mode than this, by that mode.
        reason: Why the first of them was.
    """

    mode: str
    ndcg: float
    recall: float
    mrr: float
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the scores in their JSON shape."""
        means = {
            f"ndcg@{CUTOFF}": rounded(self.ndcg),
            f"recall@{CUTOFF}": rounded(self.recall),
            f"mrr@{CUTOFF}": rounded(self.mrr),
        }
        return {"mode": self.mode} | means | {"fallbacks": dict(self.fallbacks), "reason": self.reason}


class NotEvaluated(NamedTuple):
    """A mode that could not be used, and why."""

    mode: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two rankings of the same questions, by their nDCG@10.

    Attributes:
        name: What is compared with `base`.
        difference: The mean of the differences by question; above zero where `name` is better.
        p: How often chance alone would make as large a difference (Fisher's randomisation test).
        low: Where the 95 % confidence interval of the difference begins (Student's t), and `high` where it
            ends; None for a single question.
        better: For how many questions `name` is better; `worse` likewise.
        questions: How many questions there are.
    """

    name: str
    base: str
    difference: float
    p: float
    low: float | None
    high: float | None
    better: int
    worse: int
    questions: int

    @property
    def verdict(self) -> str:
        """What a person should make of it.

        Example:
            >>> Comparison("hybrid", "bm25", 0.031, 0.002, 0.012, 0.05, 14, 3, 40).verdict
            'hybrid is better than bm25 by 0.031 (p = 0.002, 95 % interval 0.012 to 0.050)'
            >>> Comparison("vector", "bm25", -0.011, 0.61, -0.05, 0.03, 9, 12, 40).verdict
            'no difference between vector and bm25 can be told from 40 questions (-0.011, p = 0.610)'
        """
        by = self.difference
        p = "p < 0.001" if self.p < _SMALLEST_SHOWN else f"p = {self.p:.3f}"
        if not self.better and not self.worse:
            return f"{self.name} and {self.base} score the same on every question"
        if self.p >= LEVEL or self.low is None or self.high is None:
            asked = f"{self.questions:,} question{'' if self.questions == 1 else 's'}"
            return (
                f"no difference between {self.name} and {self.base} can be told from {asked} ({by:+.3f}, {p})"
            )
        low, high = (self.low, self.high) if by > 0 else (-self.high, -self.low)
        how = "better" if by > 0 else "worse"
        size = f"{abs(by):.3f} ({p}, 95 % interval {low:.3f} to {high:.3f})"
        return f"{self.name} is {how} than {self.base} by {size}"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison in its JSON shape."""
        return {
            "name": self.name,
            "base": self.base,
            "difference": rounded(self.difference),
            "p": rounded(self.p),
            "interval": None
            if self.low is None or self.high is None
            else [rounded(self.low), rounded(self.high)],
            "better": self.better,
            "worse": self.worse,
            "questions": self.questions,
            "verdict": self.verdict,
        }


class Fold(NamedTuple):
    """A share of the questions, scored with the weight that is best for all others."""

    questions: int
    weight: float
    ndcg: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """Which share of the cosine is best in a hybrid score.

    Attributes:
        weight: The best on all questions.
        ndcg: nDCG@10 with it on those same questions: what it was chosen by, so it flatters.
        cross_validated: nDCG@10 of questions that had no part in the choice of their weight.
        present: nDCG@10 with the weight in force.
        present_weight: That weight, where it is known.
        folds: The parts of the cross-validation.
        curve: nDCG@10 on all questions by weight.
        comparisons: The cross-validated ranking beside the one in force, and beside the base.
        warning: Why the choice should not be trusted; empty where nothing speaks against it.
    """

    weight: float
    ndcg: float
    cross_validated: float
    present: float
    present_weight: float | None
    folds: tuple[Fold, ...]
    curve: Mapping[float, float]
    comparisons: tuple[Comparison, ...] = ()
    warning: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the tuning in its JSON shape."""
        key = f"ndcg@{CUTOFF}"
        return {
            "weight": self.weight,
            key: rounded(self.ndcg),
            f"cross_validated_{key}": rounded(self.cross_validated),
            f"present_{key}": rounded(self.present),
            "present_weight": self.present_weight,
            "folds": [
                {"questions": fold.questions, "weight": fold.weight, key: rounded(fold.ndcg)}
                for fold in self.folds
            ],
            "curve": [{"weight": weight, key: rounded(ndcg)} for weight, ndcg in self.curve.items()],
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "warning": self.warning,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What an evaluation found.

    Attributes:
        questions: How many questions were asked.
        judgements: How many documents are judged for them.
        modes: How each mode did.
        comparisons: Every other mode beside the base: bm25, else the first.
        not_evaluated: The modes that could not be used.
        by_question: nDCG@10 by mode, then by question.
        notes: What was left out of the files.
        tuning: What `tune_weight` found, where it was asked.
        saved: The file that the weight was written to.
        seconds: How long it all took.
    """

    questions: int
    judgements: int
    modes: tuple[ModeScores, ...]
    comparisons: tuple[Comparison, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    by_question: Mapping[str, Values] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    tuning: Tuning | None = None
    saved: str | None = None
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the report in its one JSON shape."""
        ids = dict.fromkeys(question for values in self.by_question.values() for question in values)
        return {
            "questions": self.questions,
            "judgements": self.judgements,
            "modes": [scores.to_dict() for scores in self.modes],
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "not_evaluated": [missing._asdict() for missing in self.not_evaluated],
            "tuning": None if self.tuning is None else self.tuning.to_dict(),
            "saved": self.saved,
            "by_question": [
                {
                    "id": question,
                    f"ndcg@{CUTOFF}": {
                        mode: rounded(values[question]) for mode, values in self.by_question.items()
                    },
                }
                for question in ids
            ],
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        }
